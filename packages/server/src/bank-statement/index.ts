import type { PayoutPartner, StatementPartner } from '../banks/port.ts'
import type { StatementLines } from '../cases/case.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { createDifferences, createHolding } from './differences.ts'
import { createStatementJobs, type StatementJobs } from './jobs.ts'
import { createLineStore, createStatementLines } from './lines.ts'
import { createReceivers, type Subjects } from './receivers.ts'
import { createStatementStore } from './store.ts'
import { createTripWire, type TripWire } from './trip-wire.ts'
import { createUnreadableItems } from './unreadable.ts'

/** The bank's statement: read, kept, and held against our books. */
export interface StatementModule extends StatementJobs {
  /** What an operator decides of entries that the books do not have. */
  readonly lines: StatementLines
  /** Opens cases about differences, and suspends payouts and refunds for those that are dangerous. */
  readonly report: TripWire['report']
}

/** What the module needs. */
export interface StatementOptions extends Subjects {
  readonly engine: Engine
  readonly database: Database
  readonly partner: StatementPartner & Partial<Pick<PayoutPartner, 'getPayout'>>
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** Others pay from the account too. */
  readonly isAccountShared: boolean
  /** Told of each time that payouts and refunds were suspended. */
  readonly onTrip?: () => void
}

/**
 * Builds the module. Where the bank has no statement, nothing of that is ever due.
 * @source rules#statement.1
 */
export function createStatementModule(options: StatementOptions): StatementModule {
  const entries = createLineStore(options.database)
  const receivers = createReceivers(options)
  const tripWire = createTripWire(options)
  const holding = createHolding(options)
  const store = createStatementStore(options.database)
  const jobs = createStatementJobs({
    ...options,
    store,
    differences: createDifferences({ ...options, store, entries, tripWire, holding, receivers }),
    unreadable: createUnreadableItems({ ...options, report: tripWire.report }),
  })
  return {
    processNext: options.partner.capabilities.has('statement') ? jobs.processNext : async () => false,
    lines: createStatementLines(entries, receivers),
    report: tripWire.report,
  }
}
