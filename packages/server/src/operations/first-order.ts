import type { NotFound, NotSent, Unknown } from '../banks/port.ts'
import { within } from '../platform/clock.ts'
import { hasOtherOpenAttempts, type SendFacts } from './attempts.ts'

/**
 * Whether an order is queried at the bank before it is sent for the first time, or given up unsent: a restored database may have
 * forgotten that it was sent.
 * @source rules#restored.4
 */
export type IsAskedFirst = (createdAt: number) => boolean

/** Time for the question, of the two seconds in which an order may leave. */
const ASK_WITHIN_MS = 1_500

/** An order, and the two calls about it. */
export interface FirstOrder<Found, Answer> {
  readonly order: { readonly createdAt: number; readonly facts: SendFacts }
  readonly isAskedFirst: IsAskedFirst
  readonly ask: (deadline: AbortSignal) => Promise<Found>
  readonly send: () => Promise<Answer>
}

/**
 * Sends an order, after a query where that is wanted. An order that the bank already has is the answer. Without an answer nothing is
 * sent, and the outcome is unknown: the bank may have carried the order out before the restore.
 */
export async function sendFirst<Found extends { readonly kind: string }, Answer>({
  order,
  isAskedFirst,
  ask,
  send,
}: FirstOrder<Found, Answer>): Promise<Answer | Exclude<Found, NotFound | NotSent> | Unknown> {
  if (hasOtherOpenAttempts(order.facts) || !isAskedFirst(order.createdAt)) return send()
  const known: Found | NotFound | NotSent = await within(ASK_WITHIN_MS, ask)
  if (isNotFound(known)) return send()
  if (isNotSent(known)) return { kind: 'UNKNOWN', reason: known.reason, httpStatus: known.httpStatus }
  return known as Exclude<Found, NotFound | NotSent>
}

function isNotFound(answer: { readonly kind: string }): answer is NotFound {
  return answer.kind === 'NOT_FOUND'
}

function isNotSent(answer: { readonly kind: string }): answer is NotSent {
  return answer.kind === 'NOT_SENT'
}
