import { limits } from '@pixgate/spec'
import type { Changes, ReasonFact } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import type { KeyCapsFact } from './caps.ts'
import type { WorkInput } from './orders.ts'
import type { MadeByFact } from './requests.ts'

/** Sending of orders, payouts and refunds: attempts, whether one may have arrived, and missing outcomes. Pure. */

/** Instants are epoch milliseconds. */
export interface SendFacts extends MadeByFact, KeyCapsFact, ReasonFact, StatusQueryFact {
  /** Last required approval; the order may be sent from then on. */
  readonly approvedAt?: number
  /** Claims for sending; each is committed before its call starts. */
  readonly attempts?: number
  /** Attempts proven to have sent no byte. */
  readonly unsentAttempts?: number
  readonly firstAttemptAt?: number
  readonly lastAttemptAt?: number
  readonly isAccepted?: boolean
  /** The bank's statement has an unbooked debit for it. */
  readonly isShown?: boolean
  readonly isOverdue?: boolean
  /** Start of the missing answer, and the number of queries since. */
  readonly unknownSince?: number | null
  readonly questions?: number
  /** Repeated queries after answers without an outcome. */
  readonly repeats?: number
  /** End of the current lease; `null` after the call. */
  readonly leaseEndsAt?: number | null
  /** A refusal while another attempt may still arrive: not sent again. */
  readonly refusal?: { readonly errorCode: string; readonly errorMessage: string | null } | null
  /** First and last «not found» since the last attempt. */
  readonly notFoundSince?: number | null
  readonly notFoundAt?: number | null
}

/** The bank's answer is missing no longer. */
export const OUTCOME_KNOWN = { unknownSince: null } as const

/** Time between a claim and the first byte; later the send is abandoned. @source failure-modes#CO-40 */
export const SEND_WITHIN_MS = 2_000

const LEASE_MARGIN_MS = 500

/**
 * Lease of one send plus one call and a margin. Short, so that work of a crashed process resumes soon; no release of
 * money relies on it.
 * @param callTimeoutMs limit of one call to the bank
 * @source rules#cash-out.work.2
 */
export function leaseMsFor(callTimeoutMs: number): number {
  return SEND_WITHIN_MS + callTimeoutMs + LEASE_MARGIN_MS
}

/** Facts after a claim for sending. «Not found» answers about earlier attempts prove nothing about this one. */
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

/** It was attempted, and no byte of any attempt was sent. @source failure-modes#P6 */
export function isUnsent({ attempts = 0, unsentAttempts = 0 }: SendFacts): boolean {
  return attempts > 0 && attempts === unsentAttempts
}

/** An attempt other than the latest may have arrived, or may still arrive. @source failure-modes#CO-43 */
export function hasOtherOpenAttempts({ attempts = 0, unsentAttempts = 0 }: SendFacts): boolean {
  return attempts - unsentAttempts > 1
}

/**
 * An attempt may still arrive at the bank, so nobody may declare it failed. An order that the bank has did arrive.
 * @source rules#cases.11
 */
export function mayStillArrive(facts: SendFacts, nowMs: number): boolean {
  if (facts.leaseEndsAt != null && facts.leaseEndsAt > nowMs) return true
  if (facts.isAccepted || !facts.attempts || isUnsent(facts)) return false
  return nowMs - (facts.lastAttemptAt ?? 0) < limits.notFoundAfterAttemptMs
}

/**
 * The order may be sent again although it may have arrived: the bank deduplicates within a window, and has neither
 * accepted nor refused it.
 * @param windowMs deduplication window from the first attempt; 0: none
 * @source rules#cash-out.unknown.7
 */
export function isRepeatable(
  { isAccepted, refusal, firstAttemptAt }: SendFacts,
  windowMs: number,
  nowMs: number,
): boolean {
  return !isAccepted && refusal == null && nowMs - (firstAttemptAt ?? nowMs) < windowMs
}

export interface Again {
  /** Claim time of the query without an outcome. */
  readonly askedAt: number
  /** Deduplication window of the bank from the first attempt; 0: none. */
  readonly windowMs: number
  /** Last backward step of the clock: the age of earlier attempts is unknown. */
  readonly setBackAt?: number | undefined
}

/**
 * As {@link isRepeatable}, unless the clock was set back since the first attempt, which would make the window look
 * longer.
 * @source failure-modes#CO-61
 */
export function isRepeatableAgain(facts: SendFacts, { windowMs, setBackAt }: Again, nowMs: number): boolean {
  return (
    isRepeatable(facts, windowMs, nowMs) && (setBackAt === undefined || (facts.firstAttemptAt ?? nowMs) > setBackAt)
  )
}

/** Start of the time for sending, epoch milliseconds. @source rules#cash-out.approval.4 */
export function sendableSince(order: { readonly createdAt: number; readonly facts: SendFacts }): number {
  return order.facts.approvedAt ?? order.createdAt
}

/** Never claimed within the time for sending. @source rules#cash-out.states.3 */
export function isUnclaimedTooLong(
  order: { readonly createdAt: number; readonly facts: SendFacts },
  nowMs: number,
): boolean {
  return (order.facts.attempts ?? 0) === 0 && nowMs - sendableSince(order) >= limits.unclaimedReleaseMs
}

/** The time for attempts that never leave is over. @source rules#cash-out.states.10 */
export function isTriedLongEnough({ firstAttemptAt }: SendFacts, nowMs: number): boolean {
  return nowMs - (firstAttemptAt ?? nowMs) >= limits.unsentReleaseMs
}

/** The answer is missing long enough for a case. @source failure-modes#P8 */
export function isUnansweredTooLong({ unknownSince }: SendFacts, nowMs: number): boolean {
  return nowMs - (unknownSince ?? nowMs) >= limits.unknownResultEscalationMs
}

/** The bank has had the order without an outcome long enough for a case. @source failure-modes#CO-22 */
export function isOverdue({ isAccepted, isOverdue: isReported, firstAttemptAt }: SendFacts, nowMs: number): boolean {
  return isAccepted === true && isReported !== true && nowMs - (firstAttemptAt ?? nowMs) >= limits.outcomeOverdueMs
}

export function unanswered({ questions = 0, unknownSince }: SendFacts, nowMs: number): SendFacts {
  return { questions: questions + 1, unknownSince: unknownSince ?? nowMs }
}

/**
 * Facts after the answer «not found». A query claimed before the last attempt proves nothing about it, and an answer
 * nothing about the time after its query.
 * @param askedAt claim time of the query
 */
export function notFoundFacts(
  facts: Pick<SendFacts, 'lastAttemptAt' | 'notFoundSince'>,
  askedAt: number,
): Pick<SendFacts, 'notFoundSince' | 'notFoundAt'> {
  if (askedAt < (facts.lastAttemptAt ?? 0)) return {}
  return { notFoundSince: facts.notFoundSince ?? askedAt, notFoundAt: askedAt }
}

/**
 * Absence is proven by two «not found» answers a minute apart, the later one five minutes after the last attempt,
 * without a clock step in these five minutes. A claim restarts the proof, so no lease is alive when it holds. An order
 * that the bank had did arrive.
 * @param steadySince last step of the querying process's clock
 * @source failure-modes#P6
 */
export function isProvenNotFound(
  {
    notFoundSince,
    notFoundAt,
    lastAttemptAt = 0,
    isAccepted,
  }: Pick<SendFacts, 'notFoundSince' | 'notFoundAt' | 'lastAttemptAt' | 'isAccepted'>,
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

/** Delay before an unsent order is attempted again: doubles, at most a minute. @source failure-modes#CO-10 */
export function retryDelayMs({ unsentAttempts = 0 }: SendFacts): number {
  return Math.min(FIRST_RETRY_MS * 2 ** unsentAttempts, LAST_DELAY_MS)
}

/** Delay before the next query about an unknown outcome. @source rules#partner.4 */
export function queryDelayMs({ questions = 0 }: SendFacts): number {
  return limits.unknownResultQueryDelaysMs[questions] ?? LAST_DELAY_MS
}

/** Delays after answers without an outcome to a requested query. @source rules#cash-out.work.4 */
const REPEAT_DELAYS_MS: readonly number[] = [1_000, 5_000, 15_000]

/**
 * Facts after an answer without an outcome.
 * @param resting next work by state alone; `null`: any answer suffices
 * @param isUnanswered the bank did not answer
 * @returns `dueAt` only if it is earlier than the state requires
 */
export function afterAnswer(
  facts: SendFacts,
  resting: number | null,
  isUnanswered: boolean,
  nowMs: number,
): { readonly dueAt?: number; readonly facts: SendFacts } {
  // A query requested meanwhile is due already.
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

/** Ages at which an order at the bank is queried; then every minute. */
const POLLED_AT_MS = [10_000, 20_000, 40_000, 60_000]

/**
 * Delay before the next query of an order at the bank. Dense at first, so an event lost in a crash costs seconds only.
 * @source failure-modes#CO-22
 */
export function pollDelayMs({ lastAttemptAt }: SendFacts, nowMs: number): number {
  const ageMs = nowMs - (lastAttemptAt ?? nowMs)
  const next = POLLED_AT_MS.find((atMs) => atMs > ageMs)
  return next === undefined ? LAST_DELAY_MS : next - ageMs
}

/**
 * The step that the table allows a worker; otherwise a query.
 * @param applies a row of the table applies to this input
 */
export function stepBy(applies: (input: WorkInput) => boolean): Step {
  if (applies({ on: 'clock.released' })) return 'release'
  if (applies({ on: 'clock.overdue' })) return 'case'
  return applies({ on: 'send.claimed', leaseMs: 0 }) ? 'send' : 'ask'
}

interface Planned {
  readonly dueAt: number | null
  readonly createdAt: number
  readonly facts: SendFacts
}

/**
 * The next step, and the time at which it changes without a move: orders become releasable or overdue by time alone.
 * @param nextStep the step at an instant
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

export function isDueNow({ dueAt }: Pick<Asking, 'dueAt'>, clock: Clock): boolean {
  return dueAt !== null && dueAt <= clock.now()
}

export interface Asking {
  readonly dueAt: number | null
  readonly facts: SendFacts
}

/**
 * Requests a status query; it stays requested until a query claimed later is answered. It waits for the call in flight.
 * @param endsCall the input is the answer to the call in flight
 * @source rules#cash-out.work.4, failure-modes#CO-19
 */
export function queryRequested({ dueAt, facts }: Asking, endsCall: boolean, nowMs: number): Changes {
  const isUnderWay = !endsCall && dueAt !== null && dueAt > nowMs && dueAt === facts.leaseEndsAt
  const repeats = facts.repeats ? { repeats: 0 } : {}
  return { dueAt: isUnderWay ? dueAt : nowMs, facts: { ...repeats, ...statusQueryFact('requested') } }
}

/**
 * Time of the next work, if the input does not set it.
 * @param after facts after the input
 * @param resting next work by state alone
 */
export function nextDueAt(before: Asking, after: SendFacts, resting: number | null, nowMs: number): number | null {
  const query = statusQueryOf(after)
  if (query === 'requested') return nowMs
  // The lease covers a crash of the querying process.
  if (query === 'in_flight') return Math.min(before.dueAt ?? nowMs, resting ?? Number.POSITIVE_INFINITY)
  return resting
}

/**
 * The end of the query is recorded already, possibly by another process, and nothing follows from it.
 * @param resting next work by state alone
 * @source failure-modes#CO-21
 */
export function isAtRest({ dueAt, facts }: Asking, resting: number | null, nowMs: number): boolean {
  const query = statusQueryOf(facts)
  if (query === 'requested') return dueAt !== null && dueAt <= nowMs
  return query === null && dueAt === resting
}

/** A query requested outside the schedule; `in_flight` during the call. */
export type StatusQuery = 'requested' | 'in_flight'

/** Stored under the values of the first version. @see docs/adr/0021 */
const STORED = { requested: 'wanted', in_flight: 'asked' } as const

/** `null` after the answer, absent before the first query. */
export type StatusQueryFact = {
  readonly question?: (typeof STORED)[StatusQuery] | null
}

export function statusQueryOf({ question }: StatusQueryFact): StatusQuery | null {
  if (question === STORED.requested) return 'requested'
  return question === STORED.in_flight ? 'in_flight' : null
}

export function statusQueryFact(query: StatusQuery | null): StatusQueryFact {
  return { question: query === null ? null : STORED[query] }
}

/**
 * The order is queried before its first send or its release, as a restored database may have lost an earlier send.
 * @source rules#restored.4
 */
export type IsAskedFirst = (createdAt: number) => boolean
