import { limits } from '@pixgate/spec'
import { reasonOf } from '../engine/follow.ts'
import { type CashIn, type CashInFacts, isKnownAtBank, isOver } from './cash-in.ts'
import { reportedPayments } from './reported.ts'
import { returnsDueAt } from './returns.ts'

/** When the bank is asked about a cash-in. Pure. */

/** How long until the next status query about an unknown result. @source rules#partner.4 */
export function questionDelayMs({ facts }: CashIn): number {
  const delays = limits.unknownResultQueryDelaysMs
  return delays[Math.min(facts.questions ?? 0, delays.length - 1)] ?? LAST_DELAY_MS
}

const LAST_DELAY_MS = 60_000

/** The database's clock must be past the expiry by this much before it is believed. @source failure-modes#EX-4 */
const EXPIRY_SAFETY_MS = 2_000

/** Waits after status queries in a row that left something open; the last one repeated. @source rules#cash-in.work.6 */
const INCONCLUSIVE_DELAYS_MS = [60_000, 120_000, 300_000, 900_000, 3_600_000] as const

/** Waits before an event's news is asked about again, and before a reported payment is. @source rules#cash-in.work.5, rules#cash-in.credits.2 */
const EVENT_QUERY_DELAYS_MS: readonly number[] = [1_000, 5_000, 15_000]
const PAYMENT_QUERY_DELAYS_MS: readonly number[] = [...EVENT_QUERY_DELAYS_MS, 30_000, 60_000]

/** How long after the expiry a bank without a statement is asked for late money. @source rules#cash-in.expired.4 */
const LATE_QUERIES_AFTER_MS = [300_000, 3_600_000, 86_400_000] as const

/** A payment that the bank never confirmed is asked about for this long; then its case needs an operator's action. */
const REPORTED_PAYMENT_QUERIED_MS = 86_400_000

/** When a worker must look at a cash-in that nobody is asking about: see the table in rules#cash-in.work. */
export function restingDueAt(cashIn: CashIn, nowMs: number): number | null {
  const paymentAt = isAskedForPayment(cashIn, nowMs) ? paymentQueryAt(cashIn, nowMs) : null
  return earliest(earliest(dueByState(cashIn, nowMs), paymentAt), returnsAfterPause(cashIn, nowMs))
}

/** What could not be done at once about a return is not tried without a pause. */
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

/** Whether an event told a payment that the bank is still to confirm. @source rules#cash-in.credits.4 */
function isAskedForPayment({ facts }: CashIn, nowMs: number): boolean {
  return Object.values(reportedPayments(facts)).some(({ since }) => nowMs - since < REPORTED_PAYMENT_QUERIED_MS)
}

/** As any status query that leaves something open, and when its case is due. @source rules#cash-in.credits.4 */
function paymentQueryAt({ facts }: CashIn, nowMs: number): number {
  const againAt = nowMs + inconclusiveDelayMs(facts)
  const reportedAt = Object.values(reportedPayments(facts)).map(({ since }) => since)
  const caseAt = Math.min(...reportedAt) + limits.unknownResultEscalationMs
  return facts.isPaymentCaseOpen === true || caseAt <= nowMs ? againAt : Math.min(againAt, caseAt)
}

function inconclusiveDelayMs({ inconclusive = 0 }: CashInFacts): number {
  const index = Math.min(Math.max(inconclusive - 1, 0), INCONCLUSIVE_DELAYS_MS.length - 1)
  return INCONCLUSIVE_DELAYS_MS[index] ?? LAST_DELAY_MS
}

function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

/** Whether the bank is being asked now. */
function isBeingAsked({ leaseUntil }: CashInFacts, nowMs: number): boolean {
  return leaseUntil != null && leaseUntil > nowMs
}

/**
 * When a worker looks at a cash-in next. What an event wants to know is asked at once, or as soon as the status query
 * under way has ended; should the process that asks die, its lease is the reminder.
 * @param planned when it would be looked at if nothing were asked or wanted
 * @source rules#cash-in.work.5
 */
export function nextDueAt(facts: CashInFacts, planned: number | null, nowMs: number): number | null {
  if (isBeingAsked(facts, nowMs)) return earliest(planned, facts.leaseUntil ?? nowMs)
  return facts.isQuestionWanted ? nowMs : planned
}

/** How a status query ended. */
export interface QueryEnd {
  /** The bank answered at all. */
  readonly isAnswered: boolean
  /** It told where the charge ended. */
  readonly hasOutcome: boolean
}

/** What a status query that has ended leaves to be done, and when. */
export interface Ended {
  readonly dueAt: number | null
  readonly facts: CashInFacts
}

/**
 * What follows from the end of a status query, given all that was learned from its answer.
 * @source rules#cash-in.work.3, rules#cash-in.work.5, rules#cash-in.work.6
 */
export function afterQuery(cashIn: CashIn, { isAnswered, hasOutcome }: QueryEnd, nowMs: number): Ended {
  const { eventQueries = null, inconclusive = 0, expiredAt, isQuestionWanted } = cashIn.facts
  const isAboutPayment = isAskedForPayment(cashIn, nowMs)
  const delaysMs = isAboutPayment ? PAYMENT_QUERY_DELAYS_MS : EVENT_QUERY_DELAYS_MS
  const repeatMs = eventQueries !== null && (!hasOutcome || isAboutPayment) ? delaysMs[eventQueries] : undefined
  const inconclusiveNow = isAnswered && !isUnsettled(cashIn, nowMs) ? 0 : inconclusive + 1
  const isAskedAgain = isQuestionWanted || eventQueries === null
  const facts: CashInFacts = {
    leaseUntil: null,
    ...(inconclusiveNow === inconclusive ? {} : { inconclusive: inconclusiveNow }),
    // What came meanwhile begins anew.
    ...(isAskedAgain ? {} : { eventQueries: repeatMs === undefined ? null : eventQueries + 1 }),
    ...(isAnswered && expiredAt !== undefined ? { answeredAt: nowMs } : {}),
  }
  if (isQuestionWanted) return { facts, dueAt: nowMs }
  const after = { ...cashIn, facts: { ...cashIn.facts, ...facts } }
  const planned = plannedAfter(after, isAnswered, cashIn, nowMs)
  return { facts, dueAt: earliest(planned, repeatMs === undefined ? null : nowMs + repeatMs) }
}

function plannedAfter(after: CashIn, isAnswered: boolean, { dueAt, facts }: CashIn, nowMs: number): number | null {
  const resting = restingDueAt(after, nowMs)
  if (isAnswered) return resting
  // What an unknown result has planned stands.
  if (isPlannedByAnswer(after, nowMs) && dueAt !== null && dueAt > nowMs && dueAt !== facts.leaseUntil) return dueAt
  const again = nowMs + inconclusiveDelayMs(after.facts)
  return resting !== null && resting > nowMs ? Math.min(resting, again) : again
}

/** Whether the bank is asked until it tells an end. */
function isUnsettled(cashIn: CashIn, nowMs: number): boolean {
  const { status, facts } = cashIn
  const isOpen = status === 'PENDING' || status === 'PROVIDER_RESULT_UNKNOWN' || reasonOf(cashIn) === 'no_answer'
  return (isOpen && (isOver(cashIn, nowMs) || facts.notFoundSince != null)) || isAskedForPayment(cashIn, nowMs)
}

/** Whether asking goes by the schedule of an unknown result. */
function isPlannedByAnswer(cashIn: CashIn, nowMs: number): boolean {
  if (cashIn.status === 'PROVIDER_RESULT_UNKNOWN') return true
  return cashIn.status === 'PENDING' && !isKnownAtBank(cashIn) && !isOver(cashIn, nowMs)
}

/** Whether the bank is about to be asked anyway, about an event's news. @source rules#cash-in.work.5 */
export function isAboutToBeAsked({ facts }: CashIn): boolean {
  return facts.isQuestionWanted === true
}

/** Whether a status query that has ended is forgotten already, and nothing follows from it. @source rules#cash-in.work.3 */
export function isAtRest(cashIn: CashIn, nowMs: number): boolean {
  const { leaseUntil, isQuestionWanted } = cashIn.facts
  return leaseUntil == null && !isQuestionWanted && cashIn.dueAt === restingDueAt(cashIn, nowMs)
}
