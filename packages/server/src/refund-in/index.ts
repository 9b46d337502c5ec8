import type { Availability, RefundPartner } from '../banks/port.ts'
import type { CaseDecider, StatementLines } from '../cases/case.ts'
import type { Held } from '../cases/unexplained.ts'
import type { CashIn } from '../cash-in/index.ts'
import type { Command } from '../engine/operation.ts'
import { isDueNow } from '../operations/attempts.ts'
import type { OrderModule, OrderModuleOptions } from '../operations/module.ts'
import type { Result } from '../operations/orders.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import { own } from '../platform/own.ts'
import { createRefundInHandlers, detailView, type RefundInHandlers, type RefundInView } from './api.ts'
import { createRefundInCommands, createRefundInStore, type RefundInTerms } from './commands.ts'
import { createRefundInJobs } from './jobs.ts'
import type { BankReturn, RefundInInput, RefundInOutcome } from './refund-in.ts'
import { createCashInDecider, createPayableHeldDecider } from './to-payer.ts'

export { refundInDecider } from './decide-case.ts'
export type { BankReturn, RefundInInput } from './refund-in.ts'
export { createCashInDecider } from './to-payer.ts'

/** Refunds: their endpoints, their work, and what other modules may do with them. */
export interface RefundInModule extends OrderModule<RefundInInput, RefundInOutcome> {
  readonly handlers: RefundInHandlers
  /** Decides the cases of charges: money in suspense goes back by a refund. */
  readonly cashInDecider: CaseDecider<CashIn>
  /** Decides the cases of incoming money that nothing explains, which goes back to its payer in the same way. */
  heldDecider(statement: StatementLines): CaseDecider<Held>
  /**
   * Takes a return that names no refund of ours: it is in doubt while one of ours may be it, else the bank took the money
   * back by itself (MED). Each return id is booked once.
   * @source rules#cash-in.returns.1
   */
  applyReturn(cashInId: string, returned: BankReturn): Promise<{ readonly result: Result }>
  /** The same as a command, to be carried out with another one. */
  returnCommand(cashInId: string, returned: BankReturn): Promise<Command<{ readonly result: Result }>>
  /** Takes a return that the bank told when it was asked about the charge. @source rules#cash-in.returns.6 */
  applyEvent(cashInId: string, returned: BankReturn): Promise<void>
  /** Does what is due about the returns in doubt of a cash-in. @source rules#cash-in.returns.4 */
  settleReturns(cashIn: CashIn): Promise<void>
  /**
   * Lets an operator refuse a refund that nobody tried to send; `undefined` where it does not exist.
   * @throws not_possible_in_state (409)
   * @source rules#refund-in.refusal.2
   */
  refuse(id: string, refusal: OperatorRefusal, live: LiveRequest): Promise<RefundInView | undefined>
  /** Wants the bank asked about every refund of a cash-in that is open. @source rules#cash-in.returns.7 */
  askAboutOpen(cashInId: string): Promise<Result>
}

/** What the module needs. */
export interface RefundInOptions extends OrderModuleOptions {
  readonly partner: RefundPartner & Availability
  readonly terms: RefundInTerms
}

/** Builds the module. */
export function createRefundInModule(options: RefundInOptions): RefundInModule {
  const store = createRefundInStore(options.database)
  const isUnsupported = !options.partner.capabilities.has('refund')
  const canVerify = options.partner.capabilities.has('query-charge')
  const commands = createRefundInCommands({ ...options, store, isUnsupported, canVerify })
  const jobs = createRefundInJobs({ ...options, commands, store })
  const isNearRestore = options.isAskedFirst ?? (() => false)
  const toPayer = { terms: options.terms, isUnsupported, isNearRestore }
  return {
    handlers: createRefundInHandlers({ ...options, commands, store }),
    cashInDecider: createCashInDecider(toPayer),
    heldDecider: (statement) => createPayableHeldDecider(toPayer, statement),
    processNext: jobs.processNext,
    apply: async (id, input) => {
      const outcome = await commands.apply(id, [input])
      if (outcome && isDueNow(outcome.refund, options.clock)) options.onReserved()
      return outcome
    },
    command: (id, input) => commands.command(id, [input]),
    returnCommand: commands.returnCommand,
    match: (references) => store.match(references.map((reference) => ({ ...reference, endToEndId: null }))),
    applyReturn: async (cashInId, returned) => ({ result: await commands.applyReturn(cashInId, returned) }),
    applyEvent: async (cashInId, returned) => {
      const [matches = []] = await store.match([{ ...returned, externalId: null, endToEndId: null }])
      const named = await Promise.all(matches.map(({ id }) => store.get(id)))
      const refund = named.find((one) => one?.detail.cashInId === cashInId)
      if (refund) await commands.apply(refund.id, [confirmation(returned)])
      else await commands.applyReturn(cashInId, returned)
    },
    settleReturns: commands.settleReturns,
    refuse: async (id, refusal, live) => {
      const refund = await commands.refuse(id, refusal, live)
      return refund && detailView(refund)
    },
    askAboutOpen: commands.askAboutOpen,
    hasBooked: async (id, { returnId, valueCents }) => {
      const refund = await store.get(id)
      return returnId !== null && own(refund?.facts.returns, returnId) === Number(valueCents)
    },
    exists: async (id) => (await store.get(id)) !== undefined,
    orderIdOf: async (id) => (await store.get(id))?.orderId,
    canAsk: options.partner.capabilities.has('query-refund'),
  }
}

/** The bank said it when it was asked. */
function confirmation({ transactionId, returnId, valueCents, occurredAt }: BankReturn): RefundInInput {
  return { on: 'partner.confirmed', returned: { returnId, valueCents, occurredAt }, transactionId, isVerified: true }
}
