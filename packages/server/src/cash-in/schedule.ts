import { limits } from '@pixgate/spec'
import { reasonOf } from '../engine/follow.ts'
import { type CashIn, type CashInFacts, isCancelRequested, isKnownAtBank, isOver, isWanted } from './cash-in.ts'
import { reportedPayments } from './reported.ts'
import { returnsDueAt } from './returns.ts'

/** When the work of a charge is due: status queries, its expiry and its returns. */

const LAST_DELAY_MS = 60_000

/** A charge counts as expired only this long after its expiry by the database's clock. @source failure-modes#EX-4 */
const EXPIRY_SAFETY_MS = 2_000

/** Delays after consecutive inconclusive status queries; the last one repeats. @source rules#cash-in.work.6 */
const INCONCLUSIVE_DELAYS_MS = [60_000, 120_000, 300_000, 900_000, 3_600_000] as const

/**
 * Delays before an event's report, and a reported payment, is queried again.
 * @source rules#cash-in.work.5, rules#cash-in.credits.2
 */
const EVENT_QUERY_DELAYS_MS: readonly number[] = [1_000, 5_000, 15_000]
const PAYMENT_QUERY_DELAYS_MS: readonly number[] = [...EVENT_QUERY_DELAYS_MS, 30_000, 60_000]

/**
 * Times after the expiry at which a bank without a statement is queried for late payments.
 * @source rules#cash-in.expired.4
 */
const LATE_QUERIES_AFTER_MS = [300_000, 3_600_000, 86_400_000] as const

const CANCELLED_EACH_MINUTE_MS = 3_600_000

/** Unconfirmed payments are queried for a day; afterwards their case needs an operator. */
const REPORTED_PAYMENT_QUERIED_MS = 86_400_000

/**
 * Time of the next work. A requested query runs at once or after the one in flight; the lease covers a crash.
 * @param planned time of the next work without a requested query
 * @source rules#cash-in.work.5
 */
export function nextDueAt(facts: CashInFacts, planned: number | null, nowMs: number): number | null {
  if (isQueryInFlight(facts, nowMs)) return earliest(planned, facts.leaseUntil ?? nowMs)
  return facts.isQuestionWanted ? nowMs : planned
}

/** Time of the next work while no status query is in flight; see the table in rules#cash-in.work. */
export function restingDueAt(cashIn: CashIn, nowMs: number): number | null {
  const times = restingTimes(cashIn, nowMs)
  return times.length === 0 ? null : Math.min(...times)
}

function restingTimes(cashIn: CashIn, nowMs: number): number[] {
  const paymentAt = isPaymentQueried(cashIn, nowMs) ? paymentQueryAt(cashIn, nowMs) : null
  return [dueByState(cashIn, nowMs), paymentAt, returnsAfterPause(cashIn, nowMs)].filter((at) => at !== null)
}

/** A return whose step failed is retried after a pause. */
function returnsAfterPause(cashIn: CashIn, nowMs: number): number | null {
  const dueAt = returnsDueAt(cashIn, nowMs)
  return dueAt === null || dueAt > nowMs ? dueAt : nowMs + LAST_DELAY_MS
}

function dueByState(cashIn: CashIn, nowMs: number): number | null {
  const { status, expiresAt, facts } = cashIn
  const unansweredAt = () => nowMs + (isOver(cashIn, nowMs) ? inconclusiveDelayMs(facts) : LAST_DELAY_MS)
  switch (status) {
    case 'PENDING': {
      const expiryAt = (expiresAt ?? nowMs) + EXPIRY_SAFETY_MS
      if (expiryAt <= nowMs) return nowMs + inconclusiveDelayMs(facts)
      if (isCancelRequested(cashIn)) return Math.min(expiryAt, nowMs + cancellationDelayMs(facts, nowMs))
      return facts.notFoundSince == null ? expiryAt : Math.min(expiryAt, nowMs + inconclusiveDelayMs(facts))
    }
    case 'PROVIDER_RESULT_UNKNOWN':
      return unansweredAt()
    case 'RECONCILIATION_REQUIRED':
      return reasonOf(cashIn) === 'no_answer' ? unansweredAt() : null
    case 'EXPIRED':
      return lateQueryAt(facts)
    case 'PAID':
    case 'FAILED':
      return null
  }
}

/** @source rules#cash-in.expired.4 */
function lateQueryAt({ expiredAt, answeredAt }: CashInFacts): number | null {
  if (expiredAt === undefined) return null
  const next = LATE_QUERIES_AFTER_MS.find((after) => expiredAt + after > (answeredAt ?? expiredAt))
  return next === undefined ? null : expiredAt + next
}

/** A reported payment is unconfirmed and still queried. @source rules#cash-in.credits.4 */
function isPaymentQueried({ facts }: CashIn, nowMs: number): boolean {
  return Object.values(reportedPayments(facts)).some(({ since }) => nowMs - since < REPORTED_PAYMENT_QUERIED_MS)
}

/** Next query of a reported payment, no later than its case is due. @source rules#cash-in.credits.4 */
function paymentQueryAt({ facts }: CashIn, nowMs: number): number {
  const againAt = nowMs + inconclusiveDelayMs(facts)
  const reportedAt = Object.values(reportedPayments(facts)).map(({ since }) => since)
  const caseAt = Math.min(...reportedAt) + limits.unknownResultEscalationMs
  return facts.isPaymentCaseOpen === true || caseAt <= nowMs ? againAt : Math.min(againAt, caseAt)
}

/** A cancellation is repeated each minute for an hour. @source rules#cash-in.cancel.4 */
function cancellationDelayMs({ cancelRequested, inconclusive = 0 }: CashInFacts, nowMs: number): number {
  const isRecent = nowMs - (cancelRequested?.at ?? 0) < CANCELLED_EACH_MINUTE_MS
  return isRecent ? LAST_DELAY_MS : inconclusiveDelayMs({ inconclusive })
}

function inconclusiveDelayMs({ inconclusive = 0 }: CashInFacts): number {
  const index = Math.min(Math.max(inconclusive - 1, 0), INCONCLUSIVE_DELAYS_MS.length - 1)
  return INCONCLUSIVE_DELAYS_MS[index] ?? LAST_DELAY_MS
}

function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

function isQueryInFlight({ leaseUntil }: CashInFacts, nowMs: number): boolean {
  return leaseUntil != null && leaseUntil > nowMs
}

/** Delay before the next query about an unknown result. @source rules#partner.4 */
export function queryDelayMs({ facts }: CashIn): number {
  const delays = limits.unknownResultQueryDelaysMs
  return delays[Math.min(facts.questions ?? 0, delays.length - 1)] ?? LAST_DELAY_MS
}

export interface QueryEnd {
  readonly isAnswered: boolean
  readonly hasOutcome: boolean
}

export interface Ended {
  readonly dueAt: number | null
  readonly facts: CashInFacts
}

/**
 * Plans the work after a status query whose answer was applied.
 * @source rules#cash-in.work.3, rules#cash-in.work.5, rules#cash-in.work.6
 */
export function afterQuery(cashIn: CashIn, { isAnswered, hasOutcome }: QueryEnd, nowMs: number): Ended {
  const { eventQueries = null, inconclusive = 0, expiredAt, isQuestionWanted } = cashIn.facts
  const isAboutPayment = isPaymentQueried(cashIn, nowMs)
  const delaysMs = isAboutPayment ? PAYMENT_QUERY_DELAYS_MS : EVENT_QUERY_DELAYS_MS
  const repeatMs = eventQueries !== null && (!hasOutcome || isAboutPayment) ? delaysMs[eventQueries] : undefined
  const inconclusiveNow = isAnswered && !isUnsettled(cashIn, nowMs) ? 0 : inconclusive + 1
  // A request that arrived meanwhile has already restarted the sequence.
  const isSequenceRunning = !isQuestionWanted && eventQueries !== null
  const facts: CashInFacts = {
    leaseUntil: null,
    ...(inconclusiveNow === inconclusive ? {} : { inconclusive: inconclusiveNow }),
    ...(isSequenceRunning ? { eventQueries: repeatMs === undefined ? null : eventQueries + 1 } : {}),
    ...(isAnswered && expiredAt !== undefined ? { answeredAt: nowMs } : {}),
  }
  if (isQuestionWanted) return { facts, dueAt: nowMs }
  const after = { ...cashIn, facts: { ...cashIn.facts, ...facts } }
  const planned = plannedAfter(after, isAnswered, cashIn, nowMs)
  return { facts, dueAt: earliest(planned, repeatMs === undefined ? null : nowMs + repeatMs) }
}

function plannedAfter(after: CashIn, isAnswered: boolean, { dueAt, facts }: CashIn, nowMs: number): number | null {
  if (isAnswered) return restingDueAt(after, nowMs)
  // The bank's answer already set the next query: keep it, unless `dueAt` is only the lease of this query.
  if (isPlannedByAnswer(after, nowMs) && dueAt !== null && dueAt > nowMs && dueAt !== facts.leaseUntil) return dueAt
  // An overdue late query must not hide when the case of a payment or return is due.
  const later = restingTimes(after, nowMs).filter((at) => at > nowMs)
  return Math.min(nowMs + inconclusiveDelayMs(after.facts), ...later)
}

/** The bank is queried until it reports an end. */
function isUnsettled(cashIn: CashIn, nowMs: number): boolean {
  const isAwaited = isOver(cashIn, nowMs) || cashIn.facts.notFoundSince != null || isCancelRequested(cashIn)
  return (isWanted(cashIn) && isAwaited) || isPaymentQueried(cashIn, nowMs)
}

/** Status queries follow the schedule of an unknown result. */
function isPlannedByAnswer(cashIn: CashIn, nowMs: number): boolean {
  if (cashIn.status === 'PROVIDER_RESULT_UNKNOWN') return true
  return cashIn.status === 'PENDING' && !isKnownAtBank(cashIn) && !isOver(cashIn, nowMs)
}

/** A status query is already requested. @source rules#cash-in.work.5 */
export function isQueryRequested({ facts }: CashIn): boolean {
  return facts.isQuestionWanted === true
}

/** The end of the query is recorded already, and nothing follows from it. @source rules#cash-in.work.3 */
export function isAtRest(cashIn: CashIn, nowMs: number): boolean {
  const { leaseUntil, isQuestionWanted } = cashIn.facts
  return leaseUntil == null && !isQuestionWanted && cashIn.dueAt === restingDueAt(cashIn, nowMs)
}
