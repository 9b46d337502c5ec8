import type { Database } from '../../platform/db/database.ts'
import type { Ids } from '../../platform/ids.ts'
import { LooseCommands, type LooseDesk } from './commands.ts'
import type { ChargeDesk, EventDesk, StatementDesk } from './ports.ts'
import { createLooseStore } from './store.ts'

export type * from './case.ts'
export { CasesMoved, type LooseDesk, type PreparedLoose } from './commands.ts'
export { createDriftCases, type Verified } from './drifts.ts'
export type * from './ports.ts'
export { acceptedBy, looseCents } from './rules.ts'

/** What the desk of cases of no operation needs. */
export interface LooseDeskOptions {
  readonly database: Database
  readonly ids: Ids
  readonly events: EventDesk
  readonly statement: StatementDesk
  readonly charges: ChargeDesk
}

/** Makes the desk. */
export function createLooseDesk(options: LooseDeskOptions): LooseDesk {
  return new LooseCommands({ ...options, store: createLooseStore(options.database) })
}
