import type { PayoutPartner, StatementPartner } from '../banks/port.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { Differences } from './differences.ts'
import { createStatementJobs } from './jobs.ts'
import { createStatementLines } from './lines.ts'
import { createReceivers, type Subjects } from './receivers.ts'
import { createStatementStore } from './store.ts'
import { createTripWire } from './trip-wire.ts'
import { createUnreadableItems } from './unreadable.ts'

interface StatementOptions extends Subjects {
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

export type StatementModule = ReturnType<typeof createStatementModule>

/** Reads, stores and reconciles the bank's statement. @source rules#statement.1 */
export function createStatementModule(options: StatementOptions) {
  const receivers = createReceivers(options)
  const tripWire = createTripWire(options)
  const store = createStatementStore(options.database)
  const jobs = createStatementJobs({
    ...options,
    store,
    differences: new Differences({ ...options, store, tripWire, receivers }),
    unreadable: createUnreadableItems({ ...options, report: tripWire.report }),
  })
  return {
    /** Nothing is ever due if the bank has no statement. */
    processNext: options.partner.capabilities.has('statement') ? jobs.processNext : async () => false,
    lines: createStatementLines(options.database, receivers),
    report: tripWire.report,
  }
}
