import { Differences } from '../../src/bank-statement/differences.ts'
import { createReceivers as createStatementReceivers } from '../../src/bank-statement/receivers.ts'
import type { StatementStore } from '../../src/bank-statement/store.ts'
import type { Difference } from '../../src/bank-statement/trip-wire.ts'
import { lacking } from '../../src/banks/bank.ts'
import { createEventQueryBudget } from '../../src/banks/event-query-budget.ts'
import { type CashInModule, createCashInModule } from '../../src/cash-in/index.ts'
import { type CashOutCommands, type CashOutTerms, createCashOutCommands } from '../../src/cash-out/commands.ts'
import { type CashOutModule, createCashOutModule } from '../../src/cash-out/index.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createInboxJobs, createInboxReports, type InboxJobs } from '../../src/inbox/jobs.ts'
import { createInboxCommands, type InboxCommands } from '../../src/inbox/receive.ts'
import { createReceivers } from '../../src/inbox/receivers.ts'
import { createInboxStore } from '../../src/inbox/store.ts'
import type { DatabaseClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Ids } from '../../src/platform/ids.ts'
import type { Pause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import { createRefundInModule, type RefundInModule } from '../../src/refund-in/index.ts'
import { inbound } from './bank-events.ts'
import { createMemoryEngine, type MemoryEngineOptions } from './engine.ts'
import type { SimulatedPartner } from './network.ts'
import type { StatementTable } from './statement-table.ts'

/** A process of ours: the modules as they are composed, on an engine, tables and a bank in memory. */

/** What a process can be told to do. */
export interface SimulatedProcess {
  readonly name: string
  readonly engine: Engine
  readonly cashIns: CashInModule
  readonly cashOuts: CashOutModule
  readonly cashOutCommands: CashOutCommands
  readonly refunds: RefundInModule
  readonly inbox: InboxCommands & Pick<InboxJobs, 'processNext'>
  readonly statement: Differences
}

/** What a process is made with. */
export interface ProcessOptions extends Omit<MemoryEngineOptions, 'logger'> {
  readonly name: string
  readonly database: Database
  readonly statement: StatementTable
  readonly partner: SimulatedPartner
  readonly terms: CashOutTerms
  readonly credits: { readonly verifyFromCents: bigint }
  /** Whether it has a hand free for a payout that is being made. */
  readonly isSending: () => boolean
}

const nothing = () => undefined

/** Nobody reads the log of a simulated process. */
const logger = { info: nothing, warn: nothing, error: nothing, debug: nothing } as unknown as Logger

/** A pause ends at once: waits are steps of the driver. */
const pause: Pause = { for: async () => undefined, jittered: async () => undefined }

/** Starts a process: nothing of an earlier one is in its memory. */
export function startProcess(given: ProcessOptions): SimulatedProcess {
  const options = { ...given, logger }
  const { database, clock, ids, partner, terms } = options
  const engine = createMemoryEngine(options)
  const eventQueries = createEventQueryBudget()
  const bounds = { callTimeoutMs: 8_000, eventQueries, monotonic: clock.now }
  const shared = {
    database,
    engine,
    clock,
    ids,
    partner,
    bounds,
    logger,
    pause,
    onReserved: nothing,
  }
  const refunds = createRefundInModule({ ...shared, terms })
  const holders = { people: async () => [], deactivatedAt: async () => new Map() }
  let failure: { readonly reason: unknown } | undefined
  const onFailure = (reason: unknown) => {
    failure = { reason }
  }
  // The endpoints of approvals are not called: their command is.
  const payouts = createCashOutModule({
    ...shared,
    terms,
    holders: holders as never,
    refunds,
    sending: { isHere: options.isSending, onFailure },
  })
  const cashOuts = {
    ...payouts,
    // The driver knows of its own tasks alone, and judges what they end with: why a new payout could not be sent is what the next does.
    processNext: async () => {
      const failed = failure
      failure = undefined
      if (failed) throw failed.reason
      return payouts.processNext()
    },
  }
  const cashIns = createCashInModule({
    ...shared,
    terms: { installation: terms.installation, merchant: MERCHANT, fee: terms.fee, maxValueCents: terms.maxValueCents },
    createBudgetMs: 8_000,
    returns: { take: (cashIn, returned) => refunds.applyEvent(cashIn.id, returned), settle: refunds.settleReturns },
    eventQueries,
    credits: options.credits,
  })
  const modules = { engine, cashIns, cashOuts, refunds }
  return {
    name: options.name,
    ...modules,
    cashOutCommands: createCashOutCommands(engine, terms),
    inbox: createInbox({ ...shared, ...modules }),
    statement: createStatement({ ...modules, ids, statement: options.statement }),
  }
}

const MERCHANT = { pixKey: 'merchant@example.com', name: 'Merchant', city: 'SAO PAULO' }

interface InboxParts extends Pick<SimulatedProcess, 'engine' | 'cashIns' | 'cashOuts' | 'refunds'> {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
}

function createInbox(parts: InboxParts) {
  const store = createInboxStore(parts.database)
  const receivers = createReceivers(parts)
  const reports = createInboxReports(logger, undefined, { report: nothing } as never)
  const options = { ...parts, store, receivers, reports, inbound, logger }
  const jobs = createInboxJobs({ ...options, marksEveryMs: 0 })
  const commands = createInboxCommands({ ...options, onStored: (rows) => void jobs.apply(rows).catch(nothing) })
  return { ...commands, processNext: jobs.processNext }
}

function createStatement({
  statement,
  ids,
  ...modules
}: Pick<SimulatedProcess, 'engine' | 'cashIns' | 'cashOuts' | 'refunds'> &
  Pick<ProcessOptions, 'statement' | 'ids'>): Differences {
  // Tells operators; suspending is the driver's.
  const report = async (differences: readonly Omit<Difference, 'isDanger'>[]) => {
    for (const { kind, reference, facts } of differences) {
      await modules.engine.execute({
        reads: [],
        decide: () => ({ cases: [{ operationId: null, kind, reference, facts }], outcome: undefined }),
      })
    }
  }
  return new Differences({
    // Nobody decides here about cases of no operation.
    store: { ...statement.store, casesOf: async () => new Map() } as Partial<StatementStore> as StatementStore,
    receivers: createStatementReceivers(modules),
    tripWire: { report },
    partner: { statementDelayMs: lacking.statementDelayMs },
    engine: modules.engine,
    ids,
    logger,
    isAccountShared: false,
  })
}
