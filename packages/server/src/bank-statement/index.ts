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

/** Reads, stores and reconciles the bank's statement. */
export interface StatementModule extends StatementJobs {
  readonly lines: StatementLines
  /** Opens cases about differences, and suspends payouts and refunds for dangerous ones. */
  readonly report: TripWire['report']
}

export interface StatementOptions extends Subjects {
  readonly engine: Engine
  readonly database: Database
  readonly partner: StatementPartner & Partial<Pick<PayoutPartner, 'getPayout'>>
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly isAccountShared: boolean
  /** Called after each suspension of payouts and refunds. */
  readonly onTrip?: () => void
}

/** Nothing is ever due if the bank has no statement. @source rules#statement.1 */
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
