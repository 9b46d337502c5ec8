import type { Check } from './check.ts'
import { complaintsOf } from './command.ts'

/** Format and lint. */
export const lint: Check = {
  name: 'lint',
  run: () => complaintsOf('biome', 'check', '--error-on-warnings', '--colors=off', '.'),
}
