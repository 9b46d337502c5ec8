import { doubtCaseIds } from '../engine/cases.ts'
import { type Changes, reasonAfter, type Target } from '../engine/follow.ts'
import { type BookedMovement, type Decision, mergeDecisions, type Operation, type Plan } from '../engine/operation.ts'
import { afterAnswer, type SendFacts, unanswered } from './attempts.ts'
import type { OrderInput } from './inputs.ts'
import { type Asking, nextDueAt, queryRequested } from './schedule.ts'
import { statusQueryFact, statusQueryOf } from './status-query.ts'

/** What becomes known of any order by each input. Pure. */

/** When a kind of order needs work, and what. */
export interface Schedule<Order> {
  /** When a worker must look at an order that nobody is working on. */
  restingDueAt(order: Order, nowMs: number): number | null
  /** What is to be done about it when it is due. */
  planOf(order: Order, nowMs: number): Plan
}

/**
 * What a move of an order changes besides status and reason: what the input teaches, and when the next work is due.
 * @param known what the input teaches of this kind of order
 */
export function changesByMove<Order extends Operation & { readonly facts: SendFacts }>(
  order: Order,
  input: { readonly on: string; readonly attempt?: number },
  row: Target<Order>,
  known: Changes,
  { restingDueAt, planOf }: Schedule<Order>,
  nowMs: number,
): Changes {
  const asked = row.asks ? queryRequested(order, endsCall(input, order.facts), nowMs) : {}
  const facts = { ...known.facts, ...asked.facts, ...callEnded(input, order.facts), ...reasonAfter(order, row) }
  const after = { ...order, status: row.to, facts: { ...order.facts, ...facts } }
  const planned = asked.dueAt ?? known.dueAt
  const dueAt = planned === undefined ? nextDueAt(order, after.facts, restingDueAt(after, nowMs), nowMs) : planned
  return { ...known, facts, dueAt, plan: planOf({ ...after, dueAt }, nowMs) }
}

/** Inputs that teach the same of every kind of order. */
type PlainInput = Extract<
  OrderInput,
  {
    readonly on: 'work.requested' | 'work.claimed' | 'work.done' | 'clock.overdue' | 'send.unknown'
  }
>

/**
 * What an input teaches. A `dueAt` here is when a worker looks next; otherwise the state says when work is due.
 * @param resting when the state alone would have it looked at
 */
export function factsAfterWork(input: PlainInput, now: Asking, resting: number | null, nowMs: number): Changes {
  const { facts } = now
  switch (input.on) {
    case 'work.requested':
      // What the statement shows did arrive, whatever the bank says when it is asked.
      return input.isShown ? { facts: { isAccepted: true, isShown: true } } : {}
    case 'work.claimed':
      return {
        dueAt: nowMs + input.leaseMs,
        facts: { leaseEndsAt: nowMs + input.leaseMs, ...(statusQueryOf(facts) ? statusQueryFact('in_flight') : {}) },
      }
    case 'work.done':
      return afterAnswer(facts, resting, input.isUnanswered === true, nowMs)
    case 'clock.overdue':
      return { dueAt: nowMs, facts: { isOverdue: true } }
    case 'send.unknown':
      return { facts: unanswered(facts, nowMs) }
  }
}

const CALL_ENDS = new Set<OrderInput['on']>([
  'send.accepted',
  'send.rejected',
  'send.not_sent',
  'send.unknown',
  'send.contradicted',
  'work.done',
])

/** Whether an input is the answer to the call that is under way: not one to an attempt that another followed. */
function endsCall(input: { readonly on: string; readonly attempt?: number }, { attempts }: SendFacts): boolean {
  const isLate = input.attempt !== undefined && input.attempt !== attempts
  return (CALL_ENDS as ReadonlySet<string>).has(input.on) && !isLate
}

/** What an input that ends a call teaches besides: nobody works on the order any more. */
function callEnded(input: { readonly on: string; readonly attempt?: number }, facts: SendFacts): SendFacts {
  return facts.leaseEndsAt != null && endsCall(input, facts) ? { leaseEndsAt: null } : {}
}

/** Whether another operation has a movement that is told of this one. @source rules#ledger.movements */
export function isBookedElsewhere({ id }: { readonly id: string }, booked: BookedMovement | undefined): boolean {
  return booked !== undefined && booked.operationId !== id
}

/**
 * What a confirmation of an order under way, which no case tells of, is where it tells a movement that an operator decided to be
 * another's: all that the bank says is that it has the order, whose outcome is missing still.
 * @source rules#desk.14
 */
export function acceptanceIn(
  { isVerified, transactionId }: { readonly isVerified: boolean; readonly transactionId: string | null },
  { isAccepted }: SendFacts,
): Extract<OrderInput, { readonly on: 'send.accepted' }> | 'IGNORED' {
  return isVerified && !isAccepted && transactionId !== null ? { on: 'send.accepted', transactionId } : 'IGNORED'
}

/**
 * The case of an overdue outcome closes with the outcome: nobody waits for it any more.
 * @param order as it was before the decision
 * @param isOutcome whether the order was open before, and has ended with this decision
 * @source failure-modes#CO-41
 */
export function endsOverdue<Outcome>(
  order: Operation & { readonly facts: SendFacts },
  isOutcome: boolean,
  decision: Decision<Outcome>,
): Decision<Outcome> {
  return order.facts.isOverdue && isOutcome ? mergeDecisions({ closes: doubtCaseIds(order) }, decision) : decision
}
