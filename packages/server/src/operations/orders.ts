import type { OrderGuard } from '@pixgate/spec'
import type { NotFound, NotSent, Rejected, Unknown } from '../banks/port.ts'
import { doubtCaseIds } from '../engine/cases.ts'
import { type Changes, reasonAfter, type Target } from '../engine/follow.ts'
import {
  type BookedMovement,
  type Decision,
  type Document,
  mergeDecisions,
  type Operation,
  type Plan,
} from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import {
  type Again,
  type Asking,
  afterAnswer,
  hasOtherOpenAttempts,
  isOverdue,
  isProvenNotFound,
  isRepeatable,
  isRepeatableAgain,
  isUnansweredTooLong,
  nextDueAt,
  notFound,
  queryRequested,
  type SendFacts,
  statusQueryFact,
  statusQueryOf,
  unanswered,
} from './attempts.ts'

/** What sending an order and asking about it teaches, whatever kind of order it is. Pure. */

/**
 * What can happen to any order after its creation. `isVerified`: the bank said it when asked, not only in an event.
 */
export type OrderInput =
  | WorkInput
  /** `isShown`: because the bank's statement shows money that left for it. */
  | { readonly on: 'work.requested'; readonly isShown?: boolean }
  | { readonly on: 'send.accepted'; readonly transactionId: string }
  | {
      readonly on: 'send.rejected'
      readonly attempt: number
      readonly errorCode: string
      readonly errorMessage: string | null
    }
  | {
      readonly on: 'send.not_sent'
      readonly attempt: number
      readonly reason: string
      /** For a reason of this order alone: another may well leave. */
      readonly isOfOrderAlone?: boolean
    }
  | { readonly on: 'send.unknown'; readonly reason: string }
  | {
      readonly on: 'send.contradicted'
      readonly reason: string
      /** The bank's reference, where what it told is about our id. */
      readonly transactionId: string | null
    }
  | FailureInput
  | {
      readonly on: 'partner.not_found'
      readonly windowMs: number
      readonly askedAt: number
      /** As {@link Clock.steadySince} of the process that asked. */
      readonly steadySince?: number
    }

/** The bank says that an operation came to nothing. */
export interface FailureInput {
  readonly on: 'partner.failed'
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly transactionId: string | null
  readonly occurredAt: number | null
  /** The bank said it when asked, or cannot be asked. */
  readonly isVerified: boolean
}

/** Who claims an order sends it, within {@link SEND_WITHIN_MS}. */
export interface SendClaim {
  readonly on: 'send.claimed'
  readonly leaseMs: number
  readonly again?: Again
}

/** What a worker does with an order, as it saw it. */
export type WorkInput =
  | SendClaim
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | { readonly on: 'work.done'; readonly isUnanswered?: boolean }
  | { readonly on: 'clock.overdue' }
  | { readonly on: 'clock.released' }

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed. `EARLY`: it cannot be true yet, but may be soon; the bank is asked.
 * `UNEXPECTED`: it cannot be true. `DISPUTED`: what it names and what is known here do not agree; the bank is asked.
 */
export type Result = 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE' | 'EARLY' | 'UNEXPECTED' | 'DISPUTED'

/** What the detail shows of a bank's code at most. */
const FAILURE_CODE_MAX = 64

/** An order as the answer to one of its tries finds it. */
export interface Tried {
  readonly orderId: string
  readonly facts: SendFacts
}

/** What an answer to a try means that tells nothing of the order itself. @source failure-modes#P5 */
export function inputWithoutOrder(tried: Tried, answer: Rejected | NotSent | Unknown): OrderInput {
  switch (answer.kind) {
    case 'REJECTED':
      return {
        on: 'send.rejected',
        attempt: tried.facts.attempts ?? 0,
        errorCode: answer.errorCode.slice(0, FAILURE_CODE_MAX),
        errorMessage: answer.errorMessage ?? null,
      }
    case 'NOT_SENT':
      return notSentInput(tried, answer.reason)
    case 'UNKNOWN':
      return { on: 'send.unknown', reason: answer.reason }
  }
}

/** Not one byte of the latest try left. */
export function notSentInput({ facts }: Pick<Tried, 'facts'>, reason: string): OrderInput {
  return { on: 'send.not_sent', attempt: facts.attempts ?? 0, reason }
}

/** An order as a question about it finds it. */
export interface Asked {
  readonly orderId: string
  /** When the question was claimed, epoch milliseconds. */
  readonly updatedAt: number
}

/**
 * The same of a question. One that failed tells nothing: it is asked again.
 * @param windowMs as {@link Again.windowMs}
 * @param clock that of this process, read once the answer is there
 */
export function inputsWithoutOrder(
  { updatedAt }: Asked,
  answer: NotFound | NotSent | Unknown,
  windowMs: number,
  { steadySince }: Pick<Clock, 'steadySince'> = {},
): OrderInput[] {
  const steady = steadySince ? { steadySince: steadySince() } : {}
  return answer.kind === 'NOT_FOUND'
    ? [{ on: 'partner.not_found', windowMs, askedAt: updatedAt, ...steady }, { on: 'work.done' }]
    : [
        { on: 'send.unknown', reason: answer.reason },
        { on: 'work.done', isUnanswered: true },
      ]
}

/** Whether the answer to a question told no outcome, and not that the bank has the order either. */
export function isWithoutOutcome(inputs: readonly { readonly on: string }[]): boolean {
  return inputs.some(({ on }) => on === 'partner.not_found' || on === 'send.unknown')
}

/** An order that came to nothing, as the bank tells it when it answers us. */
export function failureInput(told: {
  readonly transactionId: string
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
  readonly occurredAt: number | undefined
}): OrderInput {
  return {
    on: 'partner.failed',
    errorCode: (told.errorCode ?? 'failed').slice(0, FAILURE_CODE_MAX),
    errorMessage: told.errorMessage ?? null,
    transactionId: told.transactionId,
    occurredAt: told.occurredAt ?? null,
    isVerified: true,
  }
}

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
 * @source rules#cases.14
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

/** What the operator of a case is told of an input that any order knows. */
export function evidenceOfOrder(input: OrderInput): Document {
  switch (input.on) {
    case 'partner.failed':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage, isVerified: input.isVerified }
    case 'send.rejected':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage }
    case 'send.accepted':
      return { transactionId: input.transactionId }
    case 'send.contradicted':
      return { reason: input.reason, transactionId: input.transactionId }
    default:
      return {}
  }
}

/** Deciding on any order. Pure. */

/**
 * Decides inputs one after the other, as one change: a confirmation and the returns that came with it. What one of them
 * came to is what all did, unless it was ignored.
 * @param before where the order stands
 * @param decideOne decides the next input, where the one before left the order
 * @source failure-modes#EV-22
 */
export function decideInTurn<Input, Outcome extends { readonly result: Result }>(
  before: Outcome,
  inputs: readonly Input[],
  decideOne: (standing: Outcome, input: Input) => Decision<Outcome>,
): Decision<Outcome> {
  let decision: Decision<Outcome> = { outcome: before }
  for (const input of inputs) {
    const next = decideOne(decision.outcome, input)
    const { result } = next.outcome.result === 'IGNORED' ? decision.outcome : next.outcome
    decision = mergeDecisions(decision, { ...next, outcome: { ...next.outcome, result } })
  }
  return decision
}
