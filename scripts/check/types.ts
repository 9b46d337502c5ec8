import type { Check } from './check.ts'
import { failureLinesOf } from './command.ts'

/** TypeScript's checks; the console is a project of its own, as a browser has other globals. */
export const types: Check = {
  name: 'types',
  run: async () => [
    ...(await failureLinesOf('tsc', '--noEmit', '--pretty', 'false')),
    ...(await failureLinesOf('tsc', '--noEmit', '--pretty', 'false', '-p', 'packages/console')),
  ],
}
