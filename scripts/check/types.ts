import type { Check } from './check.ts'
import { failureLinesOf } from './command.ts'

/** TypeScript's checks; what runs in a browser is a project of its own, with other globals. */
export const types: Check = {
  name: 'types',
  run: async () => [
    ...(await failureLinesOf('tsc', '--noEmit', '--pretty', 'false')),
    ...(await failureLinesOf('tsc', '--noEmit', '--pretty', 'false', '-p', 'packages/console')),
    ...(await failureLinesOf('tsc', '--noEmit', '--pretty', 'false', '-p', 'packages/docs')),
  ],
}
