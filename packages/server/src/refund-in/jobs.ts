import type {
  Availability,
  Refund,
  RefundAnswer,
  RefundPartner,
  RefundQueryAnswer,
  RefundRequest,
  RefundTerms,
  ReportedRefund,
  SettledRefund,
} from '../banks/port.ts'
import { type IsAskedFirst, sendFirst } from '../operations/attempts.ts'
import { createDispatcher, type DispatchBounds, type Dispatcher, type Orders } from '../operations/dispatcher.ts'
import { type Asked, failureInput, inputsWithoutOrder, inputWithoutOrder, type Tried } from '../operations/orders.ts'
import type { Clock } from '../platform/clock.ts'
import type { RefundInCommands, RefundInStore } from './commands.ts'
import { nextStep } from './facts.ts'
import type { RefundIn, RefundInInput } from './refund-in.ts'

export interface RefundInJobsOptions {
  readonly commands: RefundInCommands
  readonly store: RefundInStore
  readonly partner: RefundPartner & Availability
  readonly clock: Clock
  readonly bounds: DispatchBounds
  readonly isAskedFirst?: IsAskedFirst
}

/** @source rules#refund-in.work.4 */
export function createRefundInJobs(options: RefundInJobsOptions): Dispatcher {
  const { commands, store, partner, clock, bounds, isAskedFirst = () => false } = options
  const canAsk = partner.capabilities.has('query-refund')
  const windowMs = partner.capabilities.has('idempotent-refund') ? partner.idempotencyWindowMs : 0

  const orders: Orders<RefundIn, RefundInInput> = {
    due: store.due,
    nextStep,
    apply: async ({ id }, inputs) => {
      const taken = await commands.apply(id, inputs)
      if (taken?.result === 'APPLIED') return taken.refund
      // Postponed, as it would be due again at once.
      if (inputs.some(({ on }) => on === 'send.claimed')) await commands.apply(id, [{ on: 'send.postponed' }])
      return undefined
    },
    send: async (refund, window) => {
      const answer = await sendFirst({
        order: refund,
        isAskedFirst: (createdAt) => canAsk && isAskedFirst(createdAt),
        ask: (deadline) => partner.getRefund(refund.orderId, termsOf(refund), deadline),
        send: () => partner.sendRefund(refund.orderId, requestOf(refund), window),
      })
      return inputsOfSending(refund, answer)
    },
    query: async (refund) =>
      inputsOfAsking(refund, await partner.getRefund(refund.orderId, termsOf(refund)), windowMs, clock),
    queryBeforeRelease: async (refund) => {
      if (!canAsk || !isAskedFirst(refund.createdAt)) return undefined
      const answer = await partner.getRefund(refund.orderId, termsOf(refund))
      if (!isReported(answer)) return answer.kind === 'NOT_FOUND' ? undefined : []
      return answer.kind === 'FINAL' && answer.refund.status === 'FAILED'
        ? undefined
        : inputsOfRefund(refund.orderId, answer)
    },
    windowMs,
  }
  return createDispatcher(orders, clock, async () => ((await store.isEnabled()) ? partner.sendsWanted() : 0), bounds)
}

/** Inputs of the answer to an attempt. @source failure-modes#P5 */
export function inputsOfSending(tried: Tried, answer: RefundAnswer): RefundInInput[] {
  return isReported(answer) ? inputsOfRefund(tried.orderId, answer) : [inputWithoutOrder(tried, answer)]
}

/** Inputs of the answer to a query. A failed query settles nothing and is repeated. */
export function inputsOfAsking(
  asked: Asked,
  answer: RefundQueryAnswer,
  windowMs: number,
  clock?: Clock,
): RefundInInput[] {
  return isReported(answer)
    ? [...inputsOfRefund(asked.orderId, answer), { on: 'work.done' }]
    : inputsWithoutOrder(asked, answer, windowMs, clock)
}

function isReported(answer: RefundAnswer | RefundQueryAnswer): answer is ReportedRefund {
  return 'refund' in answer
}

function inputsOfRefund(id: string, answer: ReportedRefund): RefundInInput[] {
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
