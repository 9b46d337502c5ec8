import type { OrderGuard } from '@pixgate/spec'
import {
  hasOtherOpenAttempts,
  isOverdue,
  isProvenNotFound,
  isRepeatable,
  isRepeatableAgain,
  isUnansweredTooLong,
  notFound,
  type SendFacts,
} from './attempts.ts'
import type { OrderInput } from './inputs.ts'

/** What the conditions mean that every kind of order has. Pure. */

/** What such a condition looks at. */
export interface OrderGiven {
  readonly order: { readonly dueAt: number | null; readonly facts: SendFacts }
  readonly input: { readonly on: string; readonly isVerified?: boolean } | OrderInput
  readonly nowMs: number
}

type Input<On extends OrderInput['on']> = Extract<OrderInput, { readonly on: On }>

function is<On extends OrderInput['on']>(input: OrderGiven['input'], on: On): input is Input<On> {
  return input.on === on
}

const ORDER_GUARDS: Readonly<Record<OrderGuard, (given: OrderGiven) => boolean>> = {
  'work is due': ({ order: { dueAt }, nowMs }) => dueAt !== null && dueAt <= nowMs,
  'asked in vain and safe to repeat': ({ order: { facts }, input, nowMs }) =>
    is(input, 'send.claimed') &&
    input.again !== undefined &&
    input.again.askedAt >= (facts.lastAttemptAt ?? nowMs) &&
    isRepeatableAgain(facts, input.again, nowMs),
  'the bank has it': ({ order: { facts } }) => facts.isAccepted === true,
  'refusal is of the latest attempt': ({ order: { facts }, input }) =>
    is(input, 'send.rejected') && input.attempt === facts.attempts,
  'another attempt may arrive': ({ order: { facts } }) => hasOtherOpenAttempts(facts),
  'no answer for 15 minutes': ({ order: { facts }, nowMs }) => isUnansweredTooLong(facts, nowMs),
  'the bank has had it for a day': ({ order: { facts }, nowMs }) => isOverdue(facts, nowMs),
  'only an event reports it': ({ input }) => 'isVerified' in input && !input.isVerified,
  'the statement shows it': ({ order: { facts } }) => facts.isShown === true,
  'absence is proven': ({ order: { facts }, input }) =>
    is(input, 'partner.not_found') &&
    isProvenNotFound({ ...facts, ...notFound(facts, input.askedAt) }, input.steadySince),
  'it may be sent again': ({ order: { facts }, input, nowMs }) =>
    is(input, 'partner.not_found') && isRepeatable(facts, input.windowMs, nowMs),
}

/**
 * Whether each of these conditions holds.
 * @param orderGiven what of all that a resource's conditions look at these look at
 * @source rules#cash-out.states, rules#refund-in.states
 */
export function orderGuardsBy<Given>(
  orderGiven: (given: Given) => OrderGiven,
): Readonly<Record<OrderGuard, (given: Given) => boolean>> {
  const guards = Object.entries(ORDER_GUARDS).map(([name, holds]) => [name, (given: Given) => holds(orderGiven(given))])
  return Object.fromEntries(guards)
}
