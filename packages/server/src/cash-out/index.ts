import type { Availability, PayoutPartner, QrCodeAvailability } from '../banks/port.ts'
import { isDueNow } from '../operations/attempts.ts'
import type { DirectSending, NewOrderDispatcher } from '../operations/dispatcher.ts'
import type { OrderModule, OrderModuleOptions } from '../operations/module.ts'
import { type CashOutHandlers, createCashOutHandlers } from './api.ts'
import { type ApprovalHandlers, createApprovalHandlers, type Holders, type RefusableRefunds } from './approval.ts'
import { bookedMovement, bookedReturn, type CashOut, type CashOutInput, type CashOutOutcome } from './cash-out.ts'
import { type CashOutTerms, createCashOutCommands, createCashOutStore } from './commands.ts'
import { createCashOutJobs } from './jobs.ts'

export type { CashOutInput } from './cash-out.ts'
export { cashOutDecider } from './decide-case.ts'

export interface CashOutModule
  extends OrderModule<CashOutInput, CashOutOutcome>,
    Pick<NewOrderDispatcher<CashOut>, 'drained'> {
  readonly handlers: CashOutHandlers & ApprovalHandlers
}

export interface CashOutOptions extends OrderModuleOptions {
  readonly partner: PayoutPartner & Availability & QrCodeAvailability
  readonly terms: CashOutTerms
  readonly holders: Holders
  readonly refunds: RefusableRefunds
  /** Sending by this process, and the callback for failures of new payouts; by default it sends none. */
  readonly sending?: Pick<DirectSending, 'onFailure'> & { readonly isHere: () => boolean }
}

export function createCashOutModule(options: CashOutOptions): CashOutModule {
  const store = createCashOutStore(options.database)
  const { capabilities } = options.partner
  const terms = { ...options.terms, isUnsupported: !capabilities.has('payout') }
  const commands = createCashOutCommands(options.engine, terms, options.onLimitExceeded)
  const { sending, partner, onReserved } = options
  const directSending = sending && {
    wanted: () => (sending.isHere() ? partner.sendsWanted() : 0),
    onDue: onReserved,
    onFailure: sending.onFailure,
  }
  const jobs = createCashOutJobs({ ...options, commands, store, directSending })
  return {
    handlers: {
      ...createCashOutHandlers({ ...options, commands, jobs, store }),
      ...createApprovalHandlers({ ...options, commands, jobs, store }),
    },
    processNext: jobs.processNext,
    drained: jobs.drained,
    apply: async (id, input) => {
      const outcome = await commands.apply(id, [input])
      if (outcome && isDueNow(outcome.cashOut, options.clock)) options.onReserved()
      return outcome
    },
    command: async (id, input) => commands.command(id, [input]),
    match: store.match,
    canAsk: capabilities.has('query-payout'),
    hasBooked: async (id, { endToEndId, returnId, valueCents }) => {
      const cashOut = await store.get(id)
      if (!cashOut) return false
      const booked = returnId === null ? bookedMovement(cashOut, endToEndId) : bookedReturn(cashOut, returnId)
      return booked === valueCents
    },
    exists: async (id) => (await store.get(id)) !== undefined,
    orderIdOf: async (id) => (await store.get(id))?.orderId,
  }
}
