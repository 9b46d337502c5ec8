import type { Check } from './check.ts'
import { failureLinesOf } from './command.ts'

/** Unused files, exports and dependencies, and undeclared dependencies. */
export const unused: Check = {
  name: 'unused',
  run: () => failureLinesOf('knip', '--no-progress', '--no-config-hints'),
}
