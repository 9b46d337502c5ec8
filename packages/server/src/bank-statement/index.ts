import type { BalancePartner, StatementPartner } from '../banks/port.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { createDifferences } from './differences.ts'
import { createStatementJobs, type StatementJobs } from './jobs.ts'
import { createReceivers, type Subjects } from './receivers.ts'
import { createStatementStore } from './store.ts'
import { createShortfalls } from './trip-wire/shortfalls.ts'
import { createTripWireStore } from './trip-wire/store.ts'
import { createTripWire } from './trip-wire/wire.ts'

/** The bank's statement: read, kept, and held against our books. */
export type StatementModule = StatementJobs

/** What the module needs. */
export interface StatementOptions extends Subjects {
  readonly engine: Engine
  readonly database: Database
  readonly partner: StatementPartner & Partial<Pick<BalancePartner, 'readBalance'>>
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** Others pay from the account too. */
  readonly isAccountShared: boolean
  /** Told of each time that payouts and refunds were suspended. */
  readonly onTrip?: () => void
}

/** Builds the module. Where the bank has no statement nothing is ever due. @source rules#statement.1 */
export function createStatementModule(options: StatementOptions): StatementModule {
  if (!options.partner.capabilities.has('statement')) return { processNext: async () => false }
  const store = createStatementStore(options.database)
  const wireStore = createTripWireStore(options.database)
  const tripWire = createTripWire({ ...options, store: wireStore })
  const differences = createDifferences({ ...options, store, tripWire, receivers: createReceivers(options) })
  const shortfalls = createShortfalls({ ...options, store: wireStore, tripWire })
  const { confirmCredits } = wireStore
  return createStatementJobs({ ...options, store, differences, shortfalls, confirmCredits })
}
