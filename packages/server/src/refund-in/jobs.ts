import type {
  Availability,
  Refund,
  RefundPartner,
  RefundRequest,
  RefundTerms,
  ReportedRefund,
  SettledRefund,
} from '../banks/port.ts'
import type { IsAskedFirst } from '../operations/attempts.ts'
import { type DispatchBounds, Dispatcher, type Orders } from '../operations/dispatcher.ts'
import { failureInput } from '../operations/orders.ts'
import type { Clock } from '../platform/clock.ts'
import type { RefundInCommands, RefundInStore } from './commands.ts'
import { nextStep } from './facts.ts'
import type { RefundIn, RefundInInput } from './refund-in.ts'

export interface RefundInJobsOptions {
  readonly commands: Pick<RefundInCommands, 'apply'>
  readonly store: Pick<RefundInStore, 'due' | 'isEnabled'>
  readonly partner: RefundPartner & Availability
  readonly clock: Clock
  readonly bounds: DispatchBounds
  readonly isAskedFirst?: IsAskedFirst
}

/** @source rules#refund-in.work.4 */
export function createRefundInJobs(options: RefundInJobsOptions) {
  const { commands, store, partner, clock, bounds, isAskedFirst = () => false } = options
  const canAsk = partner.capabilities.has('query-refund')
  const orders: Orders<RefundIn, RefundInInput, ReportedRefund> = {
    due: store.due,
    nextStep,
    apply: async ({ id }, inputs) => {
      const taken = await commands.apply(id, inputs)
      if (taken?.result === 'APPLIED') return taken.refund
      // Postponed, as it would be due again at once.
      if (inputs.some(({ on }) => on === 'send.claimed')) await commands.apply(id, [{ on: 'send.postponed' }])
      return undefined
    },
    send: (refund, window) => partner.sendRefund(refund.orderId, requestOf(refund), window),
    query: (refund, deadline) => partner.getRefund(refund.orderId, termsOf(refund), deadline),
    inputsOf: ({ orderId }, report) => inputsOfRefund(orderId, report),
    isAskedFirst: ({ createdAt }) => canAsk && isAskedFirst(createdAt),
    windowMs: partner.capabilities.has('idempotent-refund') ? partner.idempotencyWindowMs : 0,
  }
  const allowedSends = async () => ((await store.isEnabled()) ? partner.allowedSends() : 0)
  return new Dispatcher(orders, clock, allowedSends, bounds)
}

/** Inputs of an answer by which the bank has the refund. @source failure-modes#P5 */
export function inputsOfRefund(id: string, answer: ReportedRefund): RefundInInput[] {
  const { refund } = answer
  const { transactionId } = refund
  if (answer.kind === 'CONTRADICTED') {
    // Debits count even if the rest of the answer contradicts; those of another id are not ours.
    if (isSettled(refund) && refund.id === id) return [confirmation(refund)]
    return [{ on: 'send.contradicted', reason: answer.reason, transactionId: refund.id === id ? transactionId : null }]
  }
  const accepted: RefundInInput = { on: 'send.accepted', transactionId }
  if (isSettled(refund)) return [accepted, confirmation(refund)]
  return [refund.status === 'FAILED' ? failureInput(refund) : accepted]
}

function isSettled(refund: Refund): refund is SettledRefund {
  return refund.status === 'CONFIRMED' && refund.returnId !== undefined && refund.occurredAt !== undefined
}

function confirmation({ transactionId, returnId, valueCents, occurredAt }: SettledRefund): RefundInInput {
  return { on: 'partner.confirmed', returned: { returnId, valueCents, occurredAt }, transactionId, isVerified: true }
}

function termsOf({ valueCents, endToEndId }: RefundIn): RefundTerms {
  if (endToEndId === null) throw new Error('refund has no payment')
  return { valueCents, endToEndId }
}

function requestOf(refund: RefundIn): RefundRequest {
  const { reason } = refund.detail
  return { ...termsOf(refund), ...(reason === null ? {} : { reason }) }
}
