import { limits } from '@pixgate/spec'
import { openCaseIds } from '../engine/cases.ts'
import { type Changes, reasonAfter, reasonOf, type Target } from '../engine/follow.ts'
import type { Document } from '../engine/operation.ts'
import { type CashIn, type CashInEvent, type CashInFacts, type CashInInput, isKnownAtBank, isOver } from './cash-in.ts'
import { notFound } from './jobs.ts'
import {
  factsOfRefunds,
  type RefundEvent,
  returnedPayment,
  returningCents,
  returnsDueAt,
  returnsInDoubt,
  suspendedCents,
  UNNAMED,
  unnamedReturn,
} from './returns.ts'

/** Facts after an input, and the time of the next work. */
export function changesOf(cashIn: CashIn, input: CashInEvent, row: Target<CashIn>, nowMs: number): Changes {
  const changes = knownAfter(cashIn, input, factsAfter(cashIn, input, row, nowMs), row, nowMs)
  if (input.on !== 'work.done') return withDueAt(cashIn, changes, row, nowMs)
  const { dueAt, facts } = afterQuery(standingAfter(cashIn, changes, row), input, nowMs)
  return { ...changes, dueAt, facts: { ...changes.facts, ...facts } }
}

/** The same for a decision of an operator. */
export function withWork(cashIn: CashIn, learned: Changes, row: Target<CashIn>, nowMs: number): Changes {
  return withDueAt(cashIn, knownAfter(cashIn, { on: 'work.requested' }, learned, row, nowMs), row, nowMs)
}

function knownAfter(cashIn: CashIn, input: CashInEvent, learned: Changes, row: Target<CashIn>, nowMs: number): Changes {
  const asked = row.asks ? queryRequested(cashIn, input, nowMs) : {}
  return withCases(cashIn, row, { ...learned, ...asked, facts: { ...learned.facts, ...asked.facts } })
}

function standingAfter(cashIn: CashIn, { facts, expiresAt }: Changes, row: Target<CashIn>): CashIn {
  const end = expiresAt === undefined ? {} : { expiresAt }
  return { ...cashIn, ...end, status: row.to, facts: { ...cashIn.facts, ...facts, ...reasonAfter(cashIn, row) } }
}

function withDueAt(cashIn: CashIn, changes: Changes, row: Target<CashIn>, nowMs: number): Changes {
  const after = standingAfter(cashIn, changes, row)
  const planned = changes.dueAt === undefined ? restingDueAt(after, nowMs) : changes.dueAt
  return { ...changes, dueAt: nextDueAt(after.facts, planned, nowMs) }
}

/** Closes the cases that the bank's answer resolves. @source rules#cash-in.expired.5, rules#cash-in.credits.4 */
function withCases(cashIn: CashIn, row: Target<CashIn>, changes: Changes): Changes {
  const facts: CashInFacts = { ...cashIn.facts, ...changes.facts }
  const isEnded = facts.isEndCaseOpen === true && row.to !== 'PENDING' && row.opens !== 'charge_unclear'
  const isConfirmed = facts.isPaymentCaseOpen === true && Object.keys(reportedPayments(facts)).length === 0
  if (!isEnded && !isConfirmed) return changes
  return {
    ...changes,
    facts: {
      ...changes.facts,
      ...(isEnded ? { isEndCaseOpen: false } : {}),
      ...(isConfirmed ? { isPaymentCaseOpen: false } : {}),
    },
    closes: [
      ...(changes.closes ?? []),
      ...openCaseIds(
        cashIn,
        ({ kind }) => (isEnded && kind === 'charge_unclear') || (isConfirmed && kind === 'payment_unconfirmed'),
      ),
    ],
  }
}

/**
 * Requests a status query. After the bank's own answer an already planned query is enough.
 * @source rules#cash-in.work.5
 */
function queryRequested({ dueAt }: CashIn, input: CashInEvent, nowMs: number): Changes {
  const isAnswer = input.on === 'charge.accepted' || (input.on === 'partner.failed' && input.isVerified)
  return isAnswer ? { dueAt: dueAt ?? nowMs } : { dueAt, facts: { isQuestionWanted: true, eventQueries: 0 } }
}

/**
 * Facts after an input. A `dueAt` here requests an early status query; otherwise the state determines when work is due.
 */
function factsAfter(cashIn: CashIn, input: CashInEvent, row: Target<CashIn>, nowMs: number): Changes {
  switch (input.on) {
    case 'work.requested':
      return {}
    case 'work.claimed':
      return {
        dueAt: nowMs + input.leaseMs,
        facts: {
          leaseUntil: nowMs + input.leaseMs,
          isQuestionWanted: false,
          ...(isKnownAtBank(cashIn) ? {} : { lastAttemptAt: nowMs, ...claimedUnsent(cashIn.facts) }),
        },
      }
    case 'work.done':
      return {
        facts: {
          ...(reasonOf(cashIn) === 'conflict' && input.isAnswered ? { bankAnswer: input.bankAnswer } : {}),
          ...(row.opens === 'charge_unclear' ? { isEndCaseOpen: true } : {}),
          ...(row.opens === 'payment_unconfirmed' ? { isPaymentCaseOpen: true } : {}),
        },
      }
    case 'clock.expired':
      return expired(cashIn.facts, input.isSwept, nowMs)
    case 'charge.accepted':
      return row.reason === 'conflict' ? {} : factsAfterAcceptance(cashIn, input, row)
    case 'charge.rejected':
      return row.to === 'FAILED' ? { facts: failure(input) } : {}
    case 'charge.not_sent':
    case 'charge.unknown':
      if (row.opens === 'charge_unclear') return {}
      return {
        dueAt: nowMs + questionDelayMs(cashIn),
        facts: {
          questions: (cashIn.facts.questions ?? 0) + 1,
          ...(input.on === 'charge.not_sent' && input.isUnsent ? { unsent: 'proven' } : {}),
          ...(row.to === 'PROVIDER_RESULT_UNKNOWN' ? { unknownSince: cashIn.facts.unknownSince ?? nowMs } : {}),
        },
      }
    case 'charge.contradicted':
      return {}
    case 'charge.not_found':
      if (row.to === 'EXPIRED') return expired(cashIn.facts, input.isSwept, nowMs)
      return { facts: notFound(cashIn.facts, input.askedAt) }
    case 'partner.confirmed':
      return factsAfterPayment(cashIn, input, row, nowMs)
    case 'partner.failed':
      return factsAfterFailure(cashIn, input, row)
    default:
      return factsAfterRefund(cashIn, input, row, nowMs)
  }
}

function factsAfterAcceptance(
  { facts }: CashIn,
  { transactionId, pixCode, stampOffsetMs, expiresAt }: Extract<CashInInput, { on: 'charge.accepted' }>,
  { to }: Target<CashIn>,
): Changes {
  return {
    transactionId,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    facts: {
      ...(pixCode === undefined ? {} : { pixCode }),
      ...(stampOffsetMs ? { stampOffsetMs } : {}),
      ...found(facts),
      ...(to === 'PENDING' ? ANSWERED : {}),
    },
  }
}

/**
 * Keeps a failure reported by an event until the bank confirms it: the event has more details than the query's answer.
 */
function factsAfterFailure(
  cashIn: CashIn,
  input: Extract<CashInInput, { on: 'partner.failed' }>,
  row: Target<CashIn>,
): Changes {
  const { errorCode, errorMessage, occurredAt, transactionId } = input
  if (!input.isVerified) {
    return { facts: reportedFailureFact({ errorCode, errorMessage, occurredAt }) }
  }
  return {
    ...(cashIn.transactionId === null && transactionId !== null ? { transactionId } : {}),
    ...(row.to === 'FAILED'
      ? {
          facts: {
            ...failure(reportedFailure(cashIn.facts) ?? input),
            ...(reportedFailure(cashIn.facts) ? reportedFailureFact(null) : {}),
          },
        }
      : {}),
  }
}

/** An attempt may be sent after the claim. If its process dies, the next claim has no proof left. */
function claimedUnsent({ unsent }: CashInFacts): CashInFacts {
  if (unsent == null) return {}
  return { unsent: unsent === 'proven' ? 'claimed' : null }
}

/** Ends the status query that found the expiry, too. */
function expired({ leaseUntil }: CashInFacts, isSwept: boolean, nowMs: number): Changes {
  return {
    facts: {
      ...ANSWERED,
      ...(leaseUntil == null ? {} : { leaseUntil: null }),
      ...(isSwept ? {} : { expiredAt: nowMs }),
    },
  }
}

/** The bank has the charge, so earlier «not found» answers prove nothing. */
function found({ notFoundSince }: CashInFacts): CashInFacts {
  return notFoundSince == null ? {} : { notFoundSince: null, notFoundAt: null }
}

const ANSWERED = { unknownSince: null } as const

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...ANSWERED }
}

function factsAfterPayment(
  cashIn: CashIn,
  { payment, transactionId }: Extract<CashInInput, { on: 'partner.confirmed' }>,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const { [payment.endToEndId]: known, ...othersReported } = reportedPayments(cashIn.facts)
  if (row.asks) {
    const reported = reportedAgain(known, payment, nowMs)
    return { facts: reportedPaymentsFact({ ...othersReported, [payment.endToEndId]: reported }) }
  }
  const settled = known === undefined ? {} : reportedPaymentsFact(othersReported)
  const payments = { ...cashIn.facts.payments, [payment.endToEndId]: Number(payment.valueCents) }
  const ids = cashIn.transactionId === null && transactionId !== null ? { transactionId } : {}
  if (row.posts === 'cash_in_paid') {
    const { name, document, ispb } = payment.payer
    return {
      ...ids,
      endToEndId: payment.endToEndId,
      facts: {
        payments,
        paidAt: payment.occurredAt,
        payerName: name ?? null,
        payerDocument: document ?? null,
        payerIspb: ispb ?? null,
        ...settled,
        ...ANSWERED,
      },
    }
  }
  if (row.opens === 'movement_elsewhere') {
    const elsewhere = { ...cashIn.facts.elsewhere, [payment.endToEndId]: Number(payment.valueCents) }
    return { ...ids, facts: { elsewhere, ...settled } }
  }
  return { ...ids, facts: { ...(row.posts ? { payments } : {}), ...settled } }
}

/**
 * A return reported without an id closes its own case; the last held return closes the common one.
 * @source rules#cash-in.returns.5, rules#cash-in.refunds.10
 */
function casesClosed(cashIn: CashIn, returnId: string): Pick<Changes, 'closes'> {
  if (unnamedReturn(cashIn, returnId)) {
    return { closes: openCaseIds(cashIn, (open) => open.rule === UNNAMED && open.reference === returnId) }
  }
  const held = returnsInDoubt(cashIn).filter(([, { heldCents, isInCase }]) => heldCents !== undefined || isInCase)
  const isLast = held.length === 1 && held[0]?.[0] === returnId
  return isLast ? { closes: openCaseIds(cashIn, ({ kind }) => kind === 'return_unexplained') } : {}
}

function factsAfterRefund(cashIn: CashIn, event: RefundEvent, row: Target<CashIn>, nowMs: number): Changes {
  const changes = undisturbed(cashIn, factsOfRefunds(cashIn, event, row), nowMs)
  if (event.on === 'return.known') return { ...changes, ...casesClosed(cashIn, event.returnId) }
  const payment = takenFromSuspense(cashIn, event, row)
  return payment === undefined ? changes : { ...changes, ...emptyCaseOf(cashIn, changes, payment) }
}

/** End-to-end id of the payment whose suspense an event reduces. */
function takenFromSuspense(cashIn: CashIn, event: RefundEvent, { posts }: Target<CashIn>): string | undefined {
  if (event.on === 'refund.confirmed' || event.on === 'refund.released') return event.payment
  if (event.on !== 'return.told' || posts !== 'arrival_returned') return undefined
  return returnedPayment(cashIn, event.endToEndId ?? null) ?? undefined
}

/** Closes the case of a payment once none of it is in suspense. @source rules#cash-in.refunds.12 */
function emptyCaseOf(cashIn: CashIn, { facts }: Changes, payment: string): Pick<Changes, 'closes'> {
  const after = { ...cashIn, facts: { ...cashIn.facts, ...facts } }
  if (suspendedCents(after, payment) !== 0n || returningCents(after, payment) > 0n) return {}
  return {
    closes: openCaseIds(cashIn, ({ kind, reference }) => kind === 'payment_in_suspense' && reference === payment),
  }
}

/** Events of refunds and returns never postpone work that is due. */
function undisturbed(cashIn: CashIn, facts: CashInFacts, nowMs: number): Changes {
  const returnsAt = returnsDueAt({ ...cashIn, facts: { ...cashIn.facts, ...facts } }, nowMs)
  return { facts, dueAt: returnsAt === null ? cashIn.dueAt : Math.min(cashIn.dueAt ?? returnsAt, returnsAt) }
}

/** Payments and failures reported by events only. Nothing is booked before the bank confirms them. */

export interface ReportedFailure extends Document {
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly occurredAt: number | null
}

export interface ReportedPayment extends Document {
  readonly valueCents: number
  readonly occurredAt: number
  readonly since: number
  /** Highest amount of later events, if above the first one's. */
  readonly mostCents?: number
}

/** Stored under the names of the first version. @see docs/adr/0024 */
export type ReportedFacts = {
  readonly toldFailure?: ReportedFailure | null
  /** By end-to-end id. */
  readonly toldPayments?: Readonly<Record<string, ReportedPayment>>
}

const NONE: Readonly<Record<string, ReportedPayment>> = {}

export function reportedPayments({ toldPayments }: ReportedFacts): Readonly<Record<string, ReportedPayment>> {
  return toldPayments ?? NONE
}

export function reportedPaymentsFact(toldPayments: Readonly<Record<string, ReportedPayment>>) {
  return { toldPayments }
}

/** Sum of the highest reported amounts, centavos. @source rules#cases.48 */
export function reportedCents(facts: ReportedFacts): number {
  const each = Object.values(reportedPayments(facts))
  return each.reduce((sum, { valueCents, mostCents = valueCents }) => sum + Math.max(valueCents, mostCents), 0)
}

/** A later report keeps the first one's values and raises the highest amount only. */
function reportedAgain(
  before: ReportedPayment | undefined,
  { valueCents: cents, occurredAt }: { readonly valueCents: bigint; readonly occurredAt: number },
  nowMs: number,
): ReportedPayment {
  const valueCents = Number(cents)
  if (before === undefined) return { valueCents, occurredAt, since: nowMs }
  return valueCents > (before.mostCents ?? before.valueCents) ? { ...before, mostCents: valueCents } : before
}

export function reportedFailure({ toldFailure }: ReportedFacts): ReportedFailure | null {
  return toldFailure ?? null
}

export function reportedFailureFact(toldFailure: ReportedFailure | null) {
  return { toldFailure }
}

/** Delay before the next query about an unknown result. @source rules#partner.4 */
function questionDelayMs({ facts }: CashIn): number {
  const delays = limits.unknownResultQueryDelaysMs
  return delays[Math.min(facts.questions ?? 0, delays.length - 1)] ?? LAST_DELAY_MS
}

const LAST_DELAY_MS = 60_000

/** Margin of the database's clock past the expiry, before the charge counts as expired. @source failure-modes#EX-4 */
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

/** Unconfirmed payments are queried for a day; afterwards their case needs an operator. */
const REPORTED_PAYMENT_QUERIED_MS = 86_400_000

/** Time of the next work while no status query is in flight; see the table in rules#cash-in.work. */
export function restingDueAt(cashIn: CashIn, nowMs: number): number | null {
  const paymentAt = isAskedForPayment(cashIn, nowMs) ? paymentQueryAt(cashIn, nowMs) : null
  return earliest(earliest(dueByState(cashIn, nowMs), paymentAt), returnsAfterPause(cashIn, nowMs))
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
function isAskedForPayment({ facts }: CashIn, nowMs: number): boolean {
  return Object.values(reportedPayments(facts)).some(({ since }) => nowMs - since < REPORTED_PAYMENT_QUERIED_MS)
}

/** Next query of a reported payment, no later than its case is due. @source rules#cash-in.credits.4 */
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

function isBeingAsked({ leaseUntil }: CashInFacts, nowMs: number): boolean {
  return leaseUntil != null && leaseUntil > nowMs
}

/**
 * Time of the next work. A requested query runs at once or after the one in flight; the lease covers a crash.
 * @param planned time of the next work without a requested query
 * @source rules#cash-in.work.5
 */
function nextDueAt(facts: CashInFacts, planned: number | null, nowMs: number): number | null {
  if (isBeingAsked(facts, nowMs)) return earliest(planned, facts.leaseUntil ?? nowMs)
  return facts.isQuestionWanted ? nowMs : planned
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
function afterQuery(cashIn: CashIn, { isAnswered, hasOutcome }: QueryEnd, nowMs: number): Ended {
  const { eventQueries = null, inconclusive = 0, expiredAt, isQuestionWanted } = cashIn.facts
  const isAboutPayment = isAskedForPayment(cashIn, nowMs)
  const delaysMs = isAboutPayment ? PAYMENT_QUERY_DELAYS_MS : EVENT_QUERY_DELAYS_MS
  const repeatMs = eventQueries !== null && (!hasOutcome || isAboutPayment) ? delaysMs[eventQueries] : undefined
  const inconclusiveNow = isAnswered && !isUnsettled(cashIn, nowMs) ? 0 : inconclusive + 1
  const isAskedAgain = isQuestionWanted || eventQueries === null
  const facts: CashInFacts = {
    leaseUntil: null,
    ...(inconclusiveNow === inconclusive ? {} : { inconclusive: inconclusiveNow }),
    // A request that arrived meanwhile restarts the sequence.
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
  // Keeps the schedule of an unknown result.
  if (isPlannedByAnswer(after, nowMs) && dueAt !== null && dueAt > nowMs && dueAt !== facts.leaseUntil) return dueAt
  const again = nowMs + inconclusiveDelayMs(after.facts)
  return resting !== null && resting > nowMs ? Math.min(resting, again) : again
}

/** The bank is queried until it reports an end. */
function isUnsettled(cashIn: CashIn, nowMs: number): boolean {
  const { status, facts } = cashIn
  const isOpen = status === 'PENDING' || status === 'PROVIDER_RESULT_UNKNOWN' || reasonOf(cashIn) === 'no_answer'
  return (isOpen && (isOver(cashIn, nowMs) || facts.notFoundSince != null)) || isAskedForPayment(cashIn, nowMs)
}

/** Status queries follow the schedule of an unknown result. */
function isPlannedByAnswer(cashIn: CashIn, nowMs: number): boolean {
  if (cashIn.status === 'PROVIDER_RESULT_UNKNOWN') return true
  return cashIn.status === 'PENDING' && !isKnownAtBank(cashIn) && !isOver(cashIn, nowMs)
}

/** A status query is already requested. @source rules#cash-in.work.5 */
export function isAboutToBeAsked({ facts }: CashIn): boolean {
  return facts.isQuestionWanted === true
}

/** The end of the query is recorded already, and nothing follows from it. @source rules#cash-in.work.3 */
export function isAtRest(cashIn: CashIn, nowMs: number): boolean {
  const { leaseUntil, isQuestionWanted } = cashIn.facts
  return leaseUntil == null && !isQuestionWanted && cashIn.dueAt === restingDueAt(cashIn, nowMs)
}
