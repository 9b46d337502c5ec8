import { limits } from '@pixgate/spec'
import type { NotFound, NotSent, Unknown } from '../banks/port.ts'
import type { Changes, ReasonFact } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import { type Clock, within } from '../platform/clock.ts'
import type { KeyCapsFact } from './limits.ts'
import type { WorkInput } from './orders.ts'
import type { MadeByFact } from './requests.ts'

/**
 * What is known of sending an order to the bank, a payout or a refund: how often it was tried, whether it can have
 * arrived, and since when its outcome is missing. Pure.
 */

/** The part of an operation's facts that tells of its sending. Instants are epoch milliseconds. */
export interface SendFacts extends MadeByFact, KeyCapsFact, ReasonFact, StatusQueryFact {
  /** When the last approval came that it needed: from then on it may be sent. */
  readonly approvedAt?: number
  /** Claims for sending; each is committed before its call starts. */
  readonly attempts?: number
  /** Those of which it is proven that no byte left. */
  readonly unsentAttempts?: number
  readonly firstAttemptAt?: number
  readonly lastAttemptAt?: number
  /** The bank told that it has the order. */
  readonly isAccepted?: boolean
  /** The bank's statement shows money that left for it, and its operation has yet to take that. */
  readonly isShown?: boolean
  /** A case was opened because the outcome is overdue. */
  readonly isOverdue?: boolean
  /** Since when the bank's answer is missing, and how often it was asked. */
  readonly unknownSince?: number | null
  readonly questions?: number
  /** How often it was asked again because no answer told an outcome. */
  readonly repeats?: number
  /** When the claim of whoever works on it ends; `null` once the call has ended. */
  readonly leaseEndsAt?: number | null
  /** The bank refused an attempt while another one may still arrive: it is not sent again. */
  readonly refusal?: { readonly errorCode: string; readonly errorMessage: string | null } | null
  /** When the bank was first and last asked, since the last attempt, and said that it does not know the order. */
  readonly notFoundSince?: number | null
  readonly notFoundAt?: number | null
}

/** Facts after the bank's answer came. */
export const ANSWERED = { unknownSince: null } as const

/** The first byte of an order leaves within this time of its claim, or it never does. @source failure-modes#CO-40 */
export const SEND_WITHIN_MS = 2_000

const LEASE_MARGIN_MS = 500

/**
 * A claim is nobody else's for this long: until an order may leave, then one call, and a little. It is short, so that what
 * a process that died had claimed is taken up soon; nothing that releases money relies on it.
 * @param callTimeoutMs how long one call to the bank may take
 * @source rules#cash-out.work.2
 */
export function leaseMsFor(callTimeoutMs: number): number {
  return SEND_WITHIN_MS + callTimeoutMs + LEASE_MARGIN_MS
}

/** Facts after a claim for sending. What was found about earlier attempts proves nothing about this one. */
export function attempted(facts: SendFacts, nowMs: number, leaseMs: number): SendFacts {
  return {
    attempts: (facts.attempts ?? 0) + 1,
    firstAttemptAt: facts.firstAttemptAt ?? nowMs,
    lastAttemptAt: nowMs,
    leaseEndsAt: nowMs + leaseMs,
    notFoundSince: null,
    notFoundAt: null,
  }
}

/** Whether it was tried, and not one byte of any attempt left. @source failure-modes#P6 */
export function isUnsent({ attempts = 0, unsentAttempts = 0 }: SendFacts): boolean {
  return attempts > 0 && attempts === unsentAttempts
}

/** Whether another attempt than the latest may have arrived, or may still arrive. @source failure-modes#CO-43 */
export function hasOtherOpenAttempts({ attempts = 0, unsentAttempts = 0 }: SendFacts): boolean {
  return attempts - unsentAttempts > 1
}

/**
 * Whether an attempt may still arrive at the bank: then nobody may say that it failed. What the bank has did arrive.
 * @source rules#cases.11
 */
export function mayStillArrive(facts: SendFacts, nowMs: number): boolean {
  if (facts.leaseEndsAt != null && facts.leaseEndsAt > nowMs) return true
  if (facts.isAccepted || !facts.attempts || isUnsent(facts)) return false
  return nowMs - (facts.lastAttemptAt ?? 0) < limits.notFoundAfterAttemptMs
}

/**
 * Whether the same order may be put to the bank again although it may have arrived: the bank does once what it is told
 * twice, for a while; it has neither taken the order nor refused it.
 * @param windowMs for how long after the first attempt the bank knows a repeat; 0: not at all
 * @source rules#cash-out.unknown.7
 */
export function isRepeatable(
  { isAccepted, refusal, firstAttemptAt }: SendFacts,
  windowMs: number,
  nowMs: number,
): boolean {
  return !isAccepted && refusal == null && nowMs - (firstAttemptAt ?? nowMs) < windowMs
}

/** Why an order may be sent again that may have arrived. */
export interface Again {
  /** When the query that told no outcome was claimed. */
  readonly askedAt: number
  /** For how long after the first attempt the bank takes a repeat for the same order; 0: never. */
  readonly windowMs: number
  /** When the clock was last set back: how long ago an order was tried before that nobody knows. */
  readonly setBackAt?: number | undefined
}

/**
 * As {@link isRepeatable}, as far as the window can be measured: a clock that was set back since the first attempt shows it
 * longer than it is.
 * @source failure-modes#CO-61
 */
export function isRepeatableAgain(facts: SendFacts, { windowMs, setBackAt }: Again, nowMs: number): boolean {
  return (
    isRepeatable(facts, windowMs, nowMs) && (setBackAt === undefined || (facts.firstAttemptAt ?? nowMs) > setBackAt)
  )
}

/** Since when an order waits to be sent, epoch milliseconds. @source rules#cash-out.approval.4 */
export function sendableSince(order: { readonly createdAt: number; readonly facts: SendFacts }): number {
  return order.facts.approvedAt ?? order.createdAt
}

/** Whether nobody has tried to send it for as long as it may wait. @source rules#cash-out.states.3 */
export function isUnclaimedTooLong(
  order: { readonly createdAt: number; readonly facts: SendFacts },
  nowMs: number,
): boolean {
  return (order.facts.attempts ?? 0) === 0 && nowMs - sendableSince(order) >= limits.unclaimedReleaseMs
}

/** Whether it has been tried for as long as an order is tried that never leaves. @source rules#cash-out.states.10 */
export function isTriedLongEnough({ firstAttemptAt }: SendFacts, nowMs: number): boolean {
  return nowMs - (firstAttemptAt ?? nowMs) >= limits.unsentReleaseMs
}

/** Whether an answer has been missing for so long that a case is opened. @source failure-modes#P8 */
export function isUnansweredTooLong({ unknownSince }: SendFacts, nowMs: number): boolean {
  return nowMs - (unknownSince ?? nowMs) >= limits.unknownResultEscalationMs
}

/** Whether the bank has had the order for so long without an outcome that a case is opened. @source failure-modes#CO-22 */
export function isOverdue({ isAccepted, isOverdue: isReported, firstAttemptAt }: SendFacts, nowMs: number): boolean {
  return isAccepted === true && isReported !== true && nowMs - (firstAttemptAt ?? nowMs) >= limits.outcomeOverdueMs
}

/** Facts after one more question that told no outcome. */
export function unanswered({ questions = 0, unknownSince }: SendFacts, nowMs: number): SendFacts {
  return { questions: questions + 1, unknownSince: unknownSince ?? nowMs }
}

/**
 * Facts after the bank said that it does not know the order. What it was asked before an attempt proves nothing about that
 * attempt, and an answer proves nothing about the time after its question.
 * @param askedAt when the question was claimed
 */
export function notFound(facts: SendFacts, askedAt: number): SendFacts {
  if (askedAt < (facts.lastAttemptAt ?? 0)) return {}
  return { notFoundSince: facts.notFoundSince ?? askedAt, notFoundAt: askedAt }
}

/**
 * Whether it is proven that no attempt arrived: not found twice, a minute apart, the last time five minutes after the
 * last attempt began, by a clock that did not step in these five minutes. A claim starts the proof anew, so that no lease
 * is alive where this holds. What the bank once had did arrive.
 * @param steadySince since when the clock of the process that asked last has not stepped
 * @source failure-modes#P6
 */
export function isProvenNotFound(
  { notFoundSince, notFoundAt, lastAttemptAt = 0, isAccepted }: SendFacts,
  steadySince = 0,
): boolean {
  if (notFoundSince == null || notFoundAt == null || isAccepted) return false
  return (
    notFoundAt - notFoundSince >= limits.notFoundApartMs &&
    notFoundAt - Math.max(lastAttemptAt, steadySince) >= limits.notFoundAfterAttemptMs
  )
}

const FIRST_RETRY_MS = 1_000
const LAST_DELAY_MS = 60_000

/** How long until an order that never left is tried again: doubled each time, at most a minute. @source failure-modes#CO-10 */
export function retryDelayMs({ unsentAttempts = 0 }: SendFacts): number {
  return Math.min(FIRST_RETRY_MS * 2 ** unsentAttempts, LAST_DELAY_MS)
}

/** How long until the next question about an unknown outcome. @source rules#partner.4 */
export function questionDelayMs({ questions = 0 }: SendFacts): number {
  return limits.unknownResultQueryDelaysMs[questions] ?? LAST_DELAY_MS
}

/** Waits after an answer that told no outcome, where a status query was requested. @source rules#cash-out.work.4 */
const REPEAT_DELAYS_MS: readonly number[] = [1_000, 5_000, 15_000]

/**
 * What becomes of a query after its answer, which told no outcome.
 * @param resting when the order's state alone would have it looked at; `null`: any answer is enough
 * @param isUnanswered the bank told nothing
 * @returns when it is asked again at the latest, where the state alone does not say it
 */
export function afterAnswer(
  facts: SendFacts,
  resting: number | null,
  isUnanswered: boolean,
  nowMs: number,
): { readonly dueAt?: number; readonly facts: SendFacts } {
  // One that was requested meanwhile is due at once as it is.
  if (statusQueryOf(facts) !== 'in_flight') return { facts: {} }
  const answered = { facts: statusQueryFact(null) }
  if (resting === null && !isUnanswered) return answered
  const { repeats = 0 } = facts
  const delayMs = REPEAT_DELAYS_MS[repeats]
  if (delayMs !== undefined) {
    return { dueAt: Math.min(nowMs + delayMs, resting ?? Number.POSITIVE_INFINITY), facts: { repeats: repeats + 1 } }
  }
  return resting === null ? { dueAt: nowMs + LAST_DELAY_MS, facts: {} } : answered
}

/** The ages at which an order that the bank has is asked about; then each minute. */
const POLLED_AT_MS = [10_000, 20_000, 40_000, 60_000]

/**
 * How long until the bank is asked again about an order that it has, and of which it told no outcome: an event that was lost
 * in a crash costs seconds.
 * @source failure-modes#CO-22
 */
export function pollDelayMs({ lastAttemptAt }: SendFacts, nowMs: number): number {
  const ageMs = nowMs - (lastAttemptAt ?? nowMs)
  const next = POLLED_AT_MS.find((atMs) => atMs > ageMs)
  return next === undefined ? LAST_DELAY_MS : next - ageMs
}

/** When any order needs work, and whether it still does. Pure. */

/**
 * What is to be done about an order that is due: what its table lets a worker do, else the bank is asked.
 * @param applies whether a row of the table applies to the input of a worker for whom it is due
 */
export function stepBy(applies: (input: WorkInput) => boolean): Step {
  if (applies({ on: 'clock.released' })) return 'release'
  if (applies({ on: 'clock.overdue' })) return 'case'
  return applies({ on: 'send.claimed', leaseMs: 0 }) ? 'send' : 'ask'
}

/** An order as far as its next step goes. */
interface Planned {
  readonly dueAt: number | null
  readonly createdAt: number
  readonly facts: SendFacts
}

/**
 * What is to be done about an order when it is due, and when that would become another step without a move: by the passing
 * of time alone an order is given back, or its outcome is overdue.
 * @param nextStep what is to be done about it at an instant
 * @source rules#cash-out.work.6
 */
export function planOfOrder<Order extends Planned>(
  order: Order,
  nextStep: (order: Order, nowMs: number) => Step,
  nowMs: number,
): Plan {
  const step = nextStep(order, Math.max(order.dueAt ?? nowMs, nowMs))
  const changesAt = endOf(order, step)
  return { step, changesAt: changesAt !== null && nextStep(order, changesAt) !== step ? changesAt : null }
}

function endOf(order: Planned, step: Step): number | null {
  const { facts } = order
  const { attempts = 0, firstAttemptAt = order.createdAt } = facts
  if (step === 'send')
    return attempts > 0 ? firstAttemptAt + limits.unsentReleaseMs : sendableSince(order) + limits.unclaimedReleaseMs
  return step === 'ask' && facts.isAccepted ? firstAttemptAt + limits.outcomeOverdueMs : null
}

/** Whether a worker has something to do about an order right now. */
export function isDueNow({ dueAt }: Pick<Asking, 'dueAt'>, clock: Clock): boolean {
  return dueAt !== null && dueAt <= clock.now()
}

/** An order as far as asking about it goes. */
export interface Asking {
  readonly dueAt: number | null
  readonly facts: SendFacts
}

/**
 * A status query is requested. It stays so until one that was claimed later is answered. While the order is being sent, or
 * asked about, it waits for that to end: one call at a time, and one that is requested after it.
 * @param endsCall the input that requests it is the answer to the call under way
 * @source rules#cash-out.work.4, failure-modes#CO-19
 */
export function queryRequested({ dueAt, facts }: Asking, endsCall: boolean, nowMs: number): Changes {
  const isUnderWay = !endsCall && dueAt !== null && dueAt > nowMs && dueAt === facts.leaseEndsAt
  const repeats = facts.repeats ? { repeats: 0 } : {}
  return { dueAt: isUnderWay ? dueAt : nowMs, facts: { ...repeats, ...statusQueryFact('requested') } }
}

/**
 * When a worker looks at an order next, after an input that does not say it.
 * @param after what is known of the order then
 * @param resting when its state alone would have it looked at
 */
export function nextDueAt(before: Asking, after: SendFacts, resting: number | null, nowMs: number): number | null {
  const query = statusQueryOf(after)
  if (query === 'requested') return nowMs
  // Should the process that asks die, its lease is the reminder.
  if (query === 'in_flight') return Math.min(before.dueAt ?? nowMs, resting ?? Number.POSITIVE_INFINITY)
  return resting
}

/**
 * Whether a status query that has ended is forgotten already, and nothing follows from it: between a worker's look and its
 * word another process may have been faster.
 * @param resting when the order's state alone would have it looked at
 * @source failure-modes#CO-21
 */
export function isAtRest({ dueAt, facts }: Asking, resting: number | null, nowMs: number): boolean {
  const query = statusQueryOf(facts)
  if (query === 'requested') return dueAt !== null && dueAt <= nowMs
  return query === null && dueAt === resting
}

/** A status query that is requested at once, beyond the schedule; `in_flight` while the bank is being asked. */
export type StatusQuery = 'requested' | 'in_flight'

/** A status query as the database keeps it among the facts, in the words of the first version. @see docs/adr/0021 */
const STORED = { requested: 'wanted', in_flight: 'asked' } as const

/** The fact in which the database keeps it; `null` once it was answered, absent before the first. */
export type StatusQueryFact = {
  readonly question?: (typeof STORED)[StatusQuery] | null
}

/** The status query that an order has; `null`: none but those of its schedule. */
export function statusQueryOf({ question }: StatusQueryFact): StatusQuery | null {
  if (question === STORED.requested) return 'requested'
  return question === STORED.in_flight ? 'in_flight' : null
}

/** The fact to write. */
export function statusQueryFact(query: StatusQuery | null): StatusQueryFact {
  return { question: query === null ? null : STORED[query] }
}

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
