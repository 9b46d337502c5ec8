import { goneLines, SURFACE } from '../generate/sdk-surface-text.ts'
import type { Check } from './check.ts'

/** Nothing that users of the SDK rely on has gone. What is new is a matter of {@link generated}. */
export const sdkSurface: Check = {
  name: 'sdk surface',
  run: async () =>
    goneLines().map(
      (line) => `«${line}» is gone from the SDK, which needs a major version; then remove it from ${SURFACE}`,
    ),
}
