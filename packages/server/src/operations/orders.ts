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
  attempted,
  hasOtherOpenAttempts,
  isOverdue,
  isProvenNotFound,
  isRepeatable,
  isRepeatableAgain,
  isUnansweredTooLong,
  nextDueAt,
  notFoundFacts,
  OUTCOME_KNOWN,
  queryRequested,
  retryDelayMs,
  type SendFacts,
  statusQueryFact,
  statusQueryOf,
  unanswered,
} from './attempts.ts'

/** Inputs, guards and facts common to payouts and refunds. Pure. */

/** `isVerified`: the bank reported it in an answer, not only in an event. */
export type OrderInput =
  | WorkInput
  /** `isShown`: a debit on the bank's statement names it; `false`: that debit is booked on another operation. */
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
    }
  | { readonly on: 'send.unknown'; readonly reason: string }
  | {
      readonly on: 'send.contradicted'
      readonly reason: string
      /** The bank's reference, if its answer is about our id. */
      readonly transactionId: string | null
    }
  | FailureInput
  | {
      readonly on: 'partner.not_found'
      readonly windowMs: number
      readonly askedAt: number
      /** {@link Clock.steadySince} of the querying process. */
      readonly steadySince?: number
    }

export interface FailureInput {
  readonly on: 'partner.failed'
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly transactionId: string | null
  readonly occurredAt: number | null
  readonly isVerified: boolean
}

/** The claimer sends within {@link SEND_WITHIN_MS}. */
export interface SendClaim {
  readonly on: 'send.claimed'
  readonly leaseMs: number
  readonly again?: Again
}

export type WorkInput =
  | SendClaim
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | { readonly on: 'work.done'; readonly isUnanswered?: boolean }
  | { readonly on: 'clock.overdue' }
  | { readonly on: 'clock.released' }

/**
 * `IGNORED`: no change, or too late. `IMPLAUSIBLE`: the bank's timestamp is in the future. `EARLY`: not possible yet;
 * the bank is queried. `UNEXPECTED`: cannot be true. `DISPUTED`: its references contradict the records; the bank is
 * queried.
 */
export type Result = 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE' | 'EARLY' | 'UNEXPECTED' | 'DISPUTED'

const FAILURE_CODE_MAX = 64

/** Input of an attempt's answer without details of the order. @source failure-modes#P5 */
export function inputWithoutOrder({ attempts = 0 }: SendFacts, answer: Rejected | NotSent | Unknown): OrderInput {
  switch (answer.kind) {
    case 'REJECTED':
      return {
        on: 'send.rejected',
        attempt: attempts,
        errorCode: answer.errorCode.slice(0, FAILURE_CODE_MAX),
        errorMessage: answer.errorMessage ?? null,
      }
    case 'NOT_SENT':
      return { on: 'send.not_sent', attempt: attempts, reason: answer.reason }
    case 'UNKNOWN':
      return { on: 'send.unknown', reason: answer.reason }
  }
}

/**
 * Inputs of a query's answer without details of the order. A failed query settles nothing and is repeated.
 * @param windowMs as {@link Again.windowMs}
 * @param clock this process's, read after the answer
 */
export function inputsWithoutOrder(
  { updatedAt }: Pick<Operation, 'updatedAt'>,
  answer: NotFound | NotSent | Unknown,
  windowMs: number,
  { steadySince }: Pick<Clock, 'steadySince'>,
): OrderInput[] {
  const steady = steadySince ? { steadySince: steadySince() } : {}
  return answer.kind === 'NOT_FOUND'
    ? [{ on: 'partner.not_found', windowMs, askedAt: updatedAt, ...steady }, { on: 'work.done' }]
    : [
        { on: 'send.unknown', reason: answer.reason },
        { on: 'work.done', isUnanswered: true },
      ]
}

export function failureInput(reported: {
  readonly transactionId: string
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
  readonly occurredAt: number | undefined
}): OrderInput {
  return {
    on: 'partner.failed',
    errorCode: (reported.errorCode ?? 'failed').slice(0, FAILURE_CODE_MAX),
    errorMessage: reported.errorMessage ?? null,
    transactionId: reported.transactionId,
    occurredAt: reported.occurredAt ?? null,
    isVerified: true,
  }
}

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
    isProvenNotFound({ ...facts, ...notFoundFacts(facts, input.askedAt) }, input.steadySince),
  'it may be sent again': ({ order: { facts }, input, nowMs }) =>
    is(input, 'partner.not_found') && isRepeatable(facts, input.windowMs, nowMs),
}

/**
 * Guards of orders, for a resource's own context.
 * @param orderGiven maps the context
 * @source rules#cash-out.states, rules#refund-in.states
 */
export function orderGuardsBy<Given>(
  orderGiven: (given: Given) => OrderGiven,
): Readonly<Record<OrderGuard, (given: Given) => boolean>> {
  const guards = Object.entries(ORDER_GUARDS).map(([name, holds]) => [name, (given: Given) => holds(orderGiven(given))])
  return Object.fromEntries(guards)
}

export interface Schedule<Order> {
  /** Time of the next work while nothing is in flight. */
  restingDueAt(order: Order, nowMs: number): number | null
  planOf(order: Order, nowMs: number): Plan
}

/**
 * Facts after an input, and the time of the next work.
 * @param known facts specific to this kind of order
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

const ENDED: ReadonlySet<string> = new Set(['CONFIRMED', 'FAILED', 'REVERSED', 'RELEASED'])

/**
 * Facts after an input that payouts and refunds treat alike. A `dueAt` here overrides the time derived from the state.
 * @param resting next work by state alone
 */
export function factsAfterOrderInput(
  input: OrderInput,
  { dueAt, facts }: Asking,
  to: string,
  resting: number | null,
  nowMs: number,
): Changes {
  switch (input.on) {
    case 'send.claimed':
      return { dueAt: nowMs + input.leaseMs, facts: attempted(facts, nowMs, input.leaseMs) }
    case 'send.accepted':
      return { facts: { isAccepted: true, ...(to === 'DISPATCHED' || to === 'PENDING' ? OUTCOME_KNOWN : {}) } }
    case 'send.rejected': {
      if (to === 'FAILED') return { facts: failureFacts(input) }
      const { errorCode, errorMessage } = input
      // Another attempt may have arrived: the order is not sent again.
      return { facts: facts.isAccepted || ENDED.has(to) ? {} : { refusal: { errorCode, errorMessage } } }
    }
    case 'send.not_sent':
      return {
        // A late answer about a superseded attempt keeps the lease of the current one.
        dueAt: input.attempt === facts.attempts ? nowMs + retryDelayMs(facts) : dueAt,
        facts: { unsentAttempts: (facts.unsentAttempts ?? 0) + 1 },
      }
    case 'send.unknown':
      return { facts: unanswered(facts, nowMs) }
    case 'send.contradicted':
      return {}
    case 'partner.failed':
      return { facts: to === 'FAILED' ? failureFacts(input) : {} }
    case 'partner.not_found':
      return {
        facts: {
          ...notFoundFacts(facts, input.askedAt),
          ...(ENDED.has(to) ? {} : unanswered(facts, nowMs)),
          ...(to === 'FAILED' ? failureFacts(facts.refusal ?? { errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'work.requested':
      // A debit on the statement proves arrival, whatever queries say.
      if (input.isShown === undefined) return {}
      return { facts: input.isShown ? { isAccepted: true, isShown: true } : { isShown: false } }
    case 'work.claimed':
      return {
        dueAt: nowMs + input.leaseMs,
        facts: { leaseEndsAt: nowMs + input.leaseMs, ...(statusQueryOf(facts) ? statusQueryFact('in_flight') : {}) },
      }
    case 'work.done':
      return afterAnswer(facts, resting, input.isUnanswered === true, nowMs)
    case 'clock.overdue':
      return { dueAt: nowMs, facts: { isOverdue: true } }
    case 'clock.released':
      return { facts: failureFacts({ errorCode: 'never_sent', errorMessage: null }) }
  }
}

/** Facts of a failed order: its reservation is released. */
export function failureFacts({
  errorCode,
  errorMessage,
}: {
  readonly errorCode: string
  readonly errorMessage: string | null
}) {
  return { failureCode: errorCode, failureReason: errorMessage, ...OUTCOME_KNOWN }
}

const CALL_ENDS = new Set<OrderInput['on']>([
  'send.accepted',
  'send.rejected',
  'send.not_sent',
  'send.unknown',
  'send.contradicted',
  'work.done',
])

/** The input answers the call in flight, not a superseded attempt. */
function endsCall(input: { readonly on: string; readonly attempt?: number }, { attempts }: SendFacts): boolean {
  const isLate = input.attempt !== undefined && input.attempt !== attempts
  return (CALL_ENDS as ReadonlySet<string>).has(input.on) && !isLate
}

function callEnded(input: { readonly on: string; readonly attempt?: number }, facts: SendFacts): SendFacts {
  return facts.leaseEndsAt != null && endsCall(input, facts) ? { leaseEndsAt: null } : {}
}

/** @source rules#ledger.movements */
export function isBookedElsewhere({ id }: { readonly id: string }, booked: BookedMovement | undefined): boolean {
  return booked !== undefined && booked.operationId !== id
}

/**
 * A confirmation of a movement that an operator decided otherwise only proves that the bank has the order; its outcome
 * is still missing.
 * @source rules#cases.14
 */
export function acceptanceIn(
  { isVerified, transactionId }: { readonly isVerified: boolean; readonly transactionId: string | null },
  { isAccepted }: SendFacts,
): Extract<OrderInput, { readonly on: 'send.accepted' }> | 'IGNORED' {
  return isVerified && !isAccepted && transactionId !== null ? { on: 'send.accepted', transactionId } : 'IGNORED'
}

/**
 * Closes the case of an overdue outcome.
 * @param order before the decision
 * @param isOutcome the decision ended an open order
 * @source failure-modes#CO-41
 */
export function endsOverdue<Outcome>(
  order: Operation & { readonly facts: SendFacts },
  isOutcome: boolean,
  decision: Decision<Outcome>,
): Decision<Outcome> {
  return order.facts.isOverdue && isOutcome ? mergeDecisions({ closes: doubtCaseIds(order) }, decision) : decision
}

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

/**
 * Applies inputs in order, in one commit: a confirmation and its returns. The result is the last one that is not
 * `IGNORED`.
 * @param before the order's standing
 * @param decideOne decides an input on the previous standing
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
