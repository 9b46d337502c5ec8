import type { Engine } from '../engine/engine.ts'
import type { Command } from '../engine/operation.ts'
import type { Match, PartnerReferences, ReportedMovement } from '../engine/operation-store.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { type CashInHandlers, createCashInHandlers } from './api.ts'
import { bookedAmount, type CashIn, type CashInInput, type CashInOutcome } from './cash-in.ts'
import { type CashInTerms, createCashInCommands, createCashInStore } from './commands.ts'
import type { ReversalOrder } from './decide-case.ts'
import {
  type CashInJobs,
  type CashInJobsOptions,
  type CreditTerms,
  createCashInJobs,
  createEventApplier,
} from './jobs.ts'
import { bookedReturn } from './returns.ts'

export type { CashIn, CashInInput, CashInOutcome } from './cash-in.ts'
export { isCashIn, refundDeadline } from './cash-in.ts'
export { cashInDecider } from './decide-case.ts'
export { reportedPayments } from './reported.ts'
export {
  bookedReturn,
  countedReturn,
  decidedPaymentOf,
  explanationsOf,
  hasReturnStep,
  inDoubtOf,
  isKnownReturn,
  isToBeVerified,
  namedRefund,
  type OpenRefund,
  ownReference,
  type RefundEvent,
  type ReturnInDoubt,
  refundableCents,
  returnedPayment,
  returnInDoubt,
  returningCents,
  returnOrdersOf,
  returnStep,
  returnsAnswered,
  returnsInDoubt,
  suspendedCents,
} from './returns.ts'
export { decideCashIn } from './rules.ts'

export interface CashInModule extends Pick<CashInJobs, 'processNext' | 'atPartner' | 'drainNewReferences'> {
  readonly handlers: CashInHandlers
  apply(id: string, input: CashInInput): Promise<CashInOutcome | undefined>
  /** {@link apply} as a command, to be combined with others. */
  command(id: string, input: CashInInput): Command<CashInOutcome | undefined>
  /** Reverses a credit that the bank's statement lacks. @source rules#cash-in.cases.16 */
  reversal(id: string, order: ReversalOrder): Command<CashIn | undefined>
  /**
   * Applies an input reported by an event only. Queries the bank at once where verification is required.
   * @source rules#cash-in.credits, rules#cash-in.work.5
   */
  applyEvent(id: string, input: CashInInput): Promise<CashInOutcome | undefined>
  readonly canAsk: boolean
  /** Resolves when no background query or charge request of this process is in flight. */
  drained(): Promise<void>
  match(references: readonly PartnerReferences[]): Promise<Match[][]>
  /** This movement, payment or return, is booked on the cash-in. Amounts in centavos. */
  hasBooked(id: string, movement: ReportedMovement): Promise<boolean>
  exists(id: string): Promise<boolean>
  /** Id at the bank; `undefined` if the cash-in does not exist. */
  orderIdOf(id: string): Promise<string | undefined>
}

export interface CashInOptions extends Omit<CashInJobsOptions, 'commands' | 'store'> {
  readonly engine: Engine
  readonly database: Database
  readonly ids: Ids
  readonly terms: CashInTerms
  readonly credits: CreditTerms
}

export function createCashInModule(options: CashInOptions): CashInModule {
  const { engine, database, clock, ids, partner } = options
  const terms = { ...options.terms, isUnsupported: !partner.capabilities.has('charge') }
  const store = createCashInStore(database)
  const commands = createCashInCommands(engine, clock, terms)
  const jobs = createCashInJobs({ ...options, commands, store })
  const canAsk = partner.capabilities.has('query-charge')
  const events = createEventApplier({ ...options, commands, jobs, canAsk })
  return {
    handlers: createCashInHandlers({ commands, jobs, store, clock, ids }),
    processNext: jobs.processNext,
    atPartner: jobs.atPartner,
    drainNewReferences: jobs.drainNewReferences,
    apply: commands.apply,
    command: commands.command,
    reversal: commands.reversal,
    applyEvent: events.apply,
    drained: async () => {
      await events.drained()
      await jobs.drained()
    },
    canAsk,
    match: store.match,
    hasBooked: async (id, { endToEndId, returnId, valueCents }) => {
      const cashIn = await store.get(id)
      if (!cashIn) return false
      const booked = returnId === null ? bookedAmount(cashIn, { endToEndId }) : bookedReturn(cashIn, returnId)
      return booked === valueCents
    },
    exists: async (id) => (await store.get(id)) !== undefined,
    orderIdOf: async (id) => (await store.get(id))?.orderId,
  }
}
