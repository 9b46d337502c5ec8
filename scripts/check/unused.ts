import type { Check } from './check.ts'
import { complaintsOf } from './command.ts'

/** Files, exports and dependencies that nothing uses, and dependencies that are used and not declared. */
export const unused: Check = {
  name: 'unused',
  run: () => complaintsOf('knip', '--no-progress', '--no-config-hints'),
}
