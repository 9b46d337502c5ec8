import type { Check } from './check.ts'
import { complaintsOf } from './command.ts'

/** Every file is well typed. */
export const types: Check = {
  name: 'types',
  run: () => complaintsOf('tsc', '--noEmit', '--pretty', 'false'),
}
