import type { Check } from './check.ts'
import { failureLinesOf } from './command.ts'

/** TypeScript's checks. */
export const types: Check = {
  name: 'types',
  run: () => failureLinesOf('tsc', '--noEmit', '--pretty', 'false'),
}
