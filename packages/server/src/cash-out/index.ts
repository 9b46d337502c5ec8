import type { Availability, PayoutPartner } from '../banks/port.ts'
import type { Engine } from '../engine/engine.ts'
import type { Match, PartnerReferences, ReportedMovement } from '../engine/operation-store.ts'
import type { DispatchBounds } from '../operations/dispatcher.ts'
import { isDueNow } from '../operations/schedule.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { bookedMovement, bookedReturn, type CashOutInput, type CashOutOutcome } from './cash-out.ts'
import { createCashOutCommands } from './commands.ts'
import type { CashOutTerms } from './create.ts'
import { accountingDay } from './day.ts'
import { createCashOutJobs } from './jobs.ts'
import { type CashOutHandlers, createCashOutHandlers } from './routes.ts'
import { createCashOutStore } from './store.ts'

export type { CashOutInput, CashOutOutcome } from './cash-out.ts'

/** Cash-outs: their endpoints, their work, and what other modules may do with them. */
export interface CashOutModule {
  readonly handlers: CashOutHandlers
  /** Does what is due; see the worker that calls it. */
  processNext(): Promise<boolean>
  /** Lets a cash-out take an input; `undefined` where it does not exist. */
  apply(id: string, input: CashOutInput): Promise<CashOutOutcome | undefined>
  /** For each set of references, every one that a reference names. */
  match(references: readonly PartnerReferences[]): Promise<Match[][]>
  /** Whether this very movement was booked on a cash-out: its own, or a return. */
  hasBooked(id: string, movement: ReportedMovement): Promise<boolean>
  exists(id: string): Promise<boolean>
  /** Whether the bank can be asked about a payout, so that a failure need not be believed unasked. */
  readonly canAsk: boolean
}

/** What the module needs. */
export interface CashOutOptions {
  readonly engine: Engine
  readonly database: Database
  readonly partner: PayoutPartner & Availability
  readonly clock: Clock
  readonly ids: Ids
  readonly terms: CashOutTerms
  readonly bounds: DispatchBounds
  /** Called when there is something to send, or to ask at once. */
  readonly onReserved: () => void
}

/** Builds the module. A cap on the day counts what was sent before it was configured. */
export async function createCashOutModule(options: CashOutOptions): Promise<CashOutModule> {
  const store = createCashOutStore(options.database)
  if (options.terms.cashOutDailyMaxCents !== null) await store.recountDay(accountingDay(options.clock.now()))
  const { capabilities } = options.partner
  const terms = { ...options.terms, isUnsupported: !capabilities.has('payout') }
  const commands = createCashOutCommands(options.engine, terms)
  const jobs = createCashOutJobs({ ...options, commands, store })
  return {
    handlers: createCashOutHandlers({ ...options, commands, jobs, store }),
    processNext: jobs.processNext,
    apply: async (id, input) => {
      const outcome = await commands.apply(id, [input])
      if (outcome && isDueNow(outcome.cashOut, options.clock)) options.onReserved()
      return outcome
    },
    match: store.match,
    canAsk: capabilities.has('query-payout'),
    hasBooked: async (id, { endToEndId, returnId, valueCents }) => {
      const cashOut = await store.get(id)
      if (!cashOut) return false
      const booked = returnId === null ? bookedMovement(cashOut, endToEndId) : bookedReturn(cashOut, returnId)
      return booked === valueCents
    },
    exists: async (id) => (await store.get(id)) !== undefined,
  }
}
