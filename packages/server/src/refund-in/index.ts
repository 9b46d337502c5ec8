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

export interface RefundInModule extends OrderModule<RefundInInput, RefundInOutcome> {
  readonly handlers: RefundInHandlers
  /** Decides cases of charges, including refunds of money in suspense. */
  readonly cashInDecider: CaseDecider<CashIn>
  /** Decides cases of unexplained credits, including refunds to their payers. */
  heldDecider(statement: StatementLines): CaseDecider<Held>
  /**
   * Applies a return that names no refund of ours: in doubt while one of ours may explain it, otherwise the bank's own
   * (MED). Each return id is booked once.
   * @source rules#cash-in.returns.1
   */
  applyReturn(cashInId: string, returned: BankReturn): Promise<{ readonly result: Result }>
  returnCommand(cashInId: string, returned: BankReturn): Promise<Command<{ readonly result: Result }>>
  /** Applies a return found in the bank's answer about a charge. @source rules#cash-in.returns.6 */
  applyEvent(cashInId: string, returned: BankReturn): Promise<void>
  /** Performs the due steps of a cash-in's returns in doubt. @source rules#cash-in.returns.4 */
  settleReturns(cashIn: CashIn): Promise<void>
  /**
   * An operator refuses a refund that was never claimed; `undefined` if it does not exist.
   * @throws not_possible_in_state (409)
   * @source rules#refund-in.refusal.2
   */
  refuse(id: string, refusal: OperatorRefusal, live: LiveRequest): Promise<RefundInView | undefined>
  /** Requests a status query for every open refund of a cash-in. @source rules#cash-in.returns.7 */
  askAboutOpen(cashInId: string): Promise<Result>
}

export interface RefundInOptions extends OrderModuleOptions {
  readonly partner: RefundPartner & Availability
  readonly terms: RefundInTerms
}

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

/** Reported in an answer, hence verified. */
function confirmation({ transactionId, returnId, valueCents, occurredAt }: BankReturn): RefundInInput {
  return { on: 'partner.confirmed', returned: { returnId, valueCents, occurredAt }, transactionId, isVerified: true }
}
