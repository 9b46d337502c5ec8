import type { StatementPartner } from '../banks/port.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { type CreditQuestions, createCreditQuestions } from './credit-questions/questions.ts'
import { createCreditQuestionStore } from './credit-questions/store.ts'
import { createEntryDesk, type EntryDesk } from './desk/desk.ts'
import { createEntryStore } from './desk/store.ts'
import { createDifferences } from './differences.ts'
import { createStatementJobs, type StatementJobs } from './jobs.ts'
import { createReceivers, type Subjects } from './receivers.ts'
import { createStatementStore } from './store.ts'
import { createTripWireStore, type TripWireStore } from './trip-wire/store.ts'
import { createTripWire, type TripWire } from './trip-wire/wire.ts'

/** The bank's statement: read, kept, and held against our books; and what is asked before it can be believed. */
export interface StatementModule extends StatementJobs {
  /** Asks the bank about credits of which only events told: one look. @source rules#trip-wire.9 */
  readonly askAboutCredits: CreditQuestions['processNext']
  /** What an operator decides of entries that the books do not have. */
  readonly desk: EntryDesk
}

/** What the module needs. */
export interface StatementOptions extends Subjects {
  readonly engine: Engine
  readonly database: Database
  readonly partner: StatementPartner
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** Others pay from the account too. */
  readonly isAccountShared: boolean
  /** Told of each time that payouts and refunds were suspended. */
  readonly onTrip?: () => void
}

const nothingDue = async () => false

/**
 * Builds the module. Where the bank has no statement, or cannot be asked about a charge, nothing of that is ever due.
 * @source rules#statement.1, rules#trip-wire.9
 */
export function createStatementModule(options: StatementOptions): StatementModule {
  const { database, partner } = options
  const wireStore = createTripWireStore(database)
  const tripWire = createTripWire({ ...options, store: wireStore })
  const questions = createCreditQuestions({
    ...options,
    store: createCreditQuestionStore(database),
    wireStore,
    tripWire,
  })
  return {
    processNext: partner.capabilities.has('statement')
      ? createReading(options, wireStore, tripWire).processNext
      : nothingDue,
    desk: createEntryDesk({ store: createEntryStore(database), receivers: createReceivers(options) }),
    askAboutCredits: partner.capabilities.has('query-charge') ? questions.processNext : nothingDue,
  }
}

function createReading(options: StatementOptions, wireStore: TripWireStore, tripWire: TripWire): StatementJobs {
  const store = createStatementStore(options.database)
  const entries = createEntryStore(options.database)
  const differences = createDifferences({ ...options, store, entries, tripWire, receivers: createReceivers(options) })
  const { confirmCredits } = wireStore
  return createStatementJobs({ ...options, store, differences, confirmCredits })
}
