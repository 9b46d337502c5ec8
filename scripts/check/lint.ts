import type { Check } from './check.ts'
import { failureLinesOf } from './command.ts'

/** Format and lint. */
export const lint: Check = {
  name: 'lint',
  run: () => failureLinesOf('biome', 'check', '--error-on-warnings', '--colors=off', '.'),
}
