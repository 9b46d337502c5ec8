import type { Availability, PayoutPartner, QrCodeAvailability } from '../banks/port.ts'
import type { ReportedMovement } from '../engine/operation-store.ts'
import { isDueNow } from '../operations/attempts.ts'
import type { DirectSending, OrderModuleOptions } from '../operations/dispatcher.ts'
import { createCashOutHandlers } from './api.ts'
import { createApprovalHandlers, type Holders, type RefusableRefunds } from './approval.ts'
import { bookedMovement, bookedReturn, type CashOutInput } from './cash-out.ts'
import { type CashOutTerms, createCashOutCommands, createCashOutStore } from './commands.ts'
import { createCashOutJobs, decodeQrCode } from './jobs.ts'

export type { CashOut, CashOutInput } from './cash-out.ts'
export { isCashOut, reversedCents } from './cash-out.ts'
export { cashOutDecider } from './decide-case.ts'

export interface CashOutOptions extends OrderModuleOptions {
  readonly partner: PayoutPartner & Availability & QrCodeAvailability
  readonly terms: CashOutTerms
  readonly holders: Holders
  readonly refunds: RefusableRefunds
  /** Sending by this process, and the callback for failures of new payouts; by default it sends none. */
  readonly sending?: Pick<DirectSending, 'onFailure'> & { readonly isHere: () => boolean }
}

export type CashOutModule = ReturnType<typeof createCashOutModule>

export function createCashOutModule(options: CashOutOptions) {
  const { engine, database, clock, sending, partner, onReserved, onLimitExceeded } = options
  const { capabilities } = partner
  const store = createCashOutStore(database)
  const terms = { ...options.terms, isUnsupported: !capabilities.has('payout') }
  const commands = createCashOutCommands(engine, terms, onLimitExceeded)
  const directSending = sending && {
    wanted: () => (sending.isHere() ? partner.allowedSends() : 0),
    onDue: onReserved,
    onFailure: sending.onFailure,
  }
  const jobs = createCashOutJobs({ ...options, commands, store, directSending })
  const decode = (pixCode: string, asker: string) => decodeQrCode(partner, pixCode, asker)
  return {
    handlers: {
      ...createCashOutHandlers({ ...options, commands, jobs, decode, store }),
      ...createApprovalHandlers({ ...options, commands, decode, store }),
    },
    processNext: () => jobs.processNext(),
    drained: () => jobs.drained(),
    get: store.get,
    match: store.match,
    apply: async (id: string, input: CashOutInput) => {
      const outcome = await commands.apply(id, [input])
      if (outcome && isDueNow(outcome.cashOut, clock)) onReserved()
      return outcome
    },
    /** `apply` as a command, to be combined with others. */
    command: async (id: string, input: CashOutInput) => commands.command(id, [input]),
    /** The bank supports queries of payouts, so reported failures can be verified. */
    canAsk: capabilities.has('query-payout'),
    hasBooked: async (id: string, { endToEndId, returnId, valueCents }: ReportedMovement): Promise<boolean> => {
      const cashOut = await store.get(id)
      if (!cashOut) return false
      const booked = returnId === null ? bookedMovement(cashOut, endToEndId) : bookedReturn(cashOut, returnId)
      return booked === valueCents
    },
  }
}
