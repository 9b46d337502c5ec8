import type { Availability, RefundPartner } from '../banks/port.ts'
import type { StatementLines } from '../cases/case.ts'
import type { PartnerReferences, ReportedMovement } from '../engine/operation-store.ts'
import { isDueNow } from '../operations/attempts.ts'
import type { OrderModuleOptions } from '../operations/dispatcher.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import { own } from '../platform/own.ts'
import { createRefundInHandlers, detailView } from './api.ts'
import {
  createRefundInCommands,
  createRefundInStore,
  type RefundInRequest,
  type RefundInTerms,
  requestedCommandOf,
} from './commands.ts'
import { createRefundInJobs } from './jobs.ts'
import type { BankReturn, RefundInInput } from './refund-in.ts'
import { createCashInDecider, createPayableHeldDecider } from './to-payer.ts'

export { type RefundInRequest, refundContent, whyNotRefundable } from './commands.ts'
export { refundInDecider } from './decide-case.ts'
export type { BankReturn, RefundIn, RefundInInput } from './refund-in.ts'
export { isRefundIn } from './refund-in.ts'
export { createCashInDecider } from './to-payer.ts'

export interface RefundInOptions extends OrderModuleOptions {
  readonly partner: RefundPartner & Availability
  readonly terms: RefundInTerms
}

export type RefundInModule = ReturnType<typeof createRefundInModule>

export function createRefundInModule(options: RefundInOptions) {
  const { database, clock, partner, terms, onReserved, isAskedFirst: isNearRestore = () => false } = options
  const store = createRefundInStore(database)
  const isUnsupported = !partner.capabilities.has('refund')
  const canVerify = partner.capabilities.has('query-charge')
  const commands = createRefundInCommands({ ...options, store, isUnsupported, canVerify })
  const jobs = createRefundInJobs({ ...options, commands, store })
  const toPayer = { terms, isUnsupported, isNearRestore }
  return {
    handlers: createRefundInHandlers({ ...options, commands, store }),
    /** Decides cases of charges, including refunds of money in suspense. */
    cashInDecider: createCashInDecider(toPayer),
    /** Decides cases of unexplained credits, including refunds to their payers. */
    heldDecider: (statement: StatementLines) => createPayableHeldDecider(toPayer, statement),
    /** Orders a refund. @throws HoldersChanged · as `commands.create` */
    order: async (request: RefundInRequest) => {
      const created = await commands.create(request)
      if (!created.isReplayed) onReserved()
      return created
    },
    requestedCommand: requestedCommandOf(toPayer),
    onOrdered: onReserved,
    processNext: () => jobs.processNext(),
    get: store.get,
    /** All refunds that each set of references matches. @source rules#refund-in.told.2 */
    match: (references: readonly PartnerReferences[]) =>
      store.match(references.map((reference) => ({ ...reference, endToEndId: null }))),
    apply: async (id: string, input: RefundInInput) => {
      const outcome = await commands.apply(id, [input])
      if (outcome && isDueNow(outcome.refund, clock)) onReserved()
      return outcome
    },
    /** `apply` as a command, to be combined with others. */
    command: (id: string, input: RefundInInput) => commands.command(id, [input]),
    applyReturn: async (cashInId: string, returned: BankReturn) => ({
      result: await commands.applyReturn(cashInId, returned),
    }),
    returnCommand: commands.returnCommand,
    /** Applies a return found in the bank's answer about a charge. @source rules#cash-in.returns.6 */
    applyEvent: async (cashInId: string, returned: BankReturn): Promise<void> => {
      const [matches = []] = await store.match([{ ...returned, externalId: null, endToEndId: null }])
      const named = await Promise.all(matches.map(({ id }) => store.get(id)))
      const refund = named.find((one) => one?.detail.cashInId === cashInId)
      if (refund) await commands.apply(refund.id, [confirmation(returned)])
      else await commands.applyReturn(cashInId, returned)
    },
    settleReturns: commands.settleReturns,
    refuse: async (id: string, refusal: OperatorRefusal, live: LiveRequest) => {
      const refund = await commands.refuse(id, refusal, live)
      return refund && detailView(refund)
    },
    askAboutOpen: commands.askAboutOpen,
    /** The bank supports queries of refunds, so reported failures can be verified. */
    canAsk: partner.capabilities.has('query-refund'),
    hasBooked: async (id: string, { returnId, valueCents }: ReportedMovement): Promise<boolean> => {
      const refund = await store.get(id)
      return returnId !== null && own(refund?.facts.returns, returnId) === Number(valueCents)
    },
  }
}

/** Reported in an answer, hence verified. */
function confirmation({ transactionId, returnId, valueCents, occurredAt }: BankReturn): RefundInInput {
  return { on: 'partner.confirmed', returned: { returnId, valueCents, occurredAt }, transactionId, isVerified: true }
}
