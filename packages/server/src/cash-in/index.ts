import type { Engine } from '../engine/engine.ts'
import type { ReportedMovement } from '../engine/operation-store.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { createCashInHandlers } from './api.ts'
import { bookedAmount } from './cash-in.ts'
import { type CashInTerms, createCashInCommands, createCashInStore } from './commands.ts'
import { type CashInJobsOptions, type CreditTerms, createCashInJobs, createEventApplier } from './jobs.ts'
import { bookedReturn } from './returns.ts'

export { detailView as chargeView, pixCodeOf } from './api.ts'
export type { CashIn, CashInInput } from './cash-in.ts'
export { isCancelRequested, isCashIn, isOver, isWanted, refundDeadline, statusAt } from './cash-in.ts'
export { createCashInStore } from './commands.ts'
export { cashInDecider } from './decide-case.ts'
export { qrCodeSvg } from './qr-image.ts'
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
  paidCents,
  type RefundEvent,
  type ReturnInDoubt,
  refundableCents,
  refundedCents,
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

export interface CashInOptions extends Omit<CashInJobsOptions, 'commands' | 'store'> {
  readonly engine: Engine
  readonly database: Database
  readonly ids: Ids
  readonly terms: CashInTerms
  readonly credits: CreditTerms
}

export type CashInModule = ReturnType<typeof createCashInModule>

export function createCashInModule(options: CashInOptions) {
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
    get: store.get,
    match: store.match,
    apply: commands.apply,
    command: commands.command,
    reversal: commands.reversal,
    applyEvent: events.apply,
    /** Resolves when no background query or charge request of this process is in flight. */
    drained: async () => {
      await events.drained()
      await jobs.drained()
    },
    canAsk,
    /** This movement, payment or return, is booked on the cash-in. */
    hasBooked: async (id: string, { endToEndId, returnId, valueCents }: ReportedMovement): Promise<boolean> => {
      const cashIn = await store.get(id)
      if (!cashIn) return false
      const booked = returnId === null ? bookedAmount(cashIn, { endToEndId }) : bookedReturn(cashIn, returnId)
      return booked === valueCents
    },
  }
}
