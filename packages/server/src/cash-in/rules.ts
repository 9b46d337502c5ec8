import assert from 'node:assert/strict'
import { type DecisionGuard, type GuardOf, limits, cashIn as machine } from '@pixgate/spec'
import { follow, type NotificationDraft } from '../engine/follow.ts'
import { type Decision, type Document, mergeDecisions } from '../engine/operation.ts'
import { isProvenNotFound, notFoundFacts } from '../operations/attempts.ts'
import { own } from '../platform/own.ts'
import {
  bookedAmount,
  type CashIn,
  type CashInEvent,
  type CashInInput,
  type CashInOutcome,
  cashInNotification,
  isCancelRequested,
  isKnownAtBank,
  isOver,
} from './cash-in.ts'
import { endOfDoubt } from './decide-case.ts'
import { changesOf } from './facts.ts'
import { reportedCents, reportedFailure, reportedPayments, reportedPaymentsFact } from './reported.ts'
import {
  bookedReturn,
  fateOf,
  isOfCreditedPart,
  isOfKnownAmount,
  isReportedBefore,
  mayBeOurs,
  paidCents,
  refundedCents,
  returnedPayment,
  returnInDoubt,
  returnsKnownBy,
  suspendedCents,
  uncreditedPayment,
  unnamedReturn,
} from './returns.ts'
import { isAtRest, isQueryRequested } from './schedule.ts'

/** Decides inputs by the machine's table in the spec. This file computes the guards, amounts and facts. Pure. */

/** @source rules#cash-in.states */
export function decideCashIn(before: CashIn, input: CashInEvent, nowMs: number): Decision<CashInOutcome> {
  const decision = endsDoubt(decideOne(before, input, nowMs), input, nowMs)
  const { cashIn: after } = decision.outcome
  const restated = restatedPayment(before, after, input)
  if (restated) return mergeDecisions(decision, decideOne(after, restated, nowMs))
  return returnsKnownBy(before, after, input).reduce(
    (decided, returnId) => mergeDecisions(decided, decideKnown(decided.outcome.cashIn, returnId, nowMs)),
    decision,
  )
}

const EMPTYING: ReadonlySet<string> = new Set(['refund.confirmed', 'refund.released', 'return.told'])

/** Ends the doubt when the last money in suspense went back. @source rules#cash-in.cases.15 */
function endsDoubt(decision: Decision<CashInOutcome>, input: CashInEvent, nowMs: number): Decision<CashInOutcome> {
  const { closes = [], outcome } = decision
  if (closes.length === 0 || !EMPTYING.has(input.on)) return decision
  const { outcome: cashIn, ...ended } = endOfDoubt(outcome.cashIn, closes, nowMs)
  return mergeDecisions(decision, { ...ended, outcome: { ...outcome, cashIn } })
}

function decideKnown(cashIn: CashIn, returnId: string, nowMs: number): Decision<CashInOutcome> {
  const decision = decideOne(cashIn, { on: 'return.known', returnId }, nowMs)
  assert.equal(decision.outcome.result, 'APPLIED', `return.known was not applied to cash-in ${cashIn.id}`)
  return decision
}

const UNKNOWN_PAYER = { name: undefined, document: undefined, ispb: undefined }

/** The amount an event reported for the payment booked now, if it differs. @source rules#cash-in.paid.3 */
function restatedPayment(before: CashIn, after: CashIn, input: CashInEvent): CashInInput | undefined {
  if (input.on !== 'partner.confirmed') return undefined
  const { endToEndId } = input.payment
  const reported = own(reportedPayments(before.facts), endToEndId)
  const bookedCents = bookedAmount(after, input.payment)
  if (!reported || bookedCents === undefined || bookedCents === BigInt(reported.valueCents)) return undefined
  const payment = {
    endToEndId,
    valueCents: BigInt(reported.valueCents),
    occurredAt: reported.occurredAt,
    payer: UNKNOWN_PAYER,
  }
  return { on: 'partner.confirmed', payment, transactionId: null }
}

function decideOne(cashIn: CashIn, event: CashInEvent, nowMs: number): Decision<CashInOutcome> {
  const input = recognise(cashIn, event, nowMs)
  if (typeof input === 'string') return { outcome: { result: input, cashIn } }
  const given = { cashIn, input, nowMs }
  const decision: Decision<CashInOutcome> = follow(
    machine,
    cashIn,
    {
      on: input.on,
      holds: (guard) => guard in GUARDS && GUARDS[guard as keyof typeof GUARDS](given),
      changes: (row) => changesOf(cashIn, input, row, nowMs),
      amounts: { v: cashIn.valueCents, f: cashIn.feeCents, ...amountsOf(cashIn, input) },
      reference: referenceOf(input),
      notification: (to) => notificationBy(cashIn, input, to, nowMs),
      evidence: ({ opens }) => evidenceOf(cashIn, input, opens),
      outcome: (after, isApplied) => ({ result: isApplied ? 'APPLIED' : 'IGNORED', cashIn: after }),
    },
    nowMs,
  )
  return withReported(cashIn, decision)
}

/** Updates the open case about unconfirmed payments with newly reported ones. @source rules#cases.48 */
function withReported(
  { facts: before, openCases = [] }: CashIn,
  decision: Decision<CashInOutcome>,
): Decision<CashInOutcome> {
  const { id: operationId, facts: factsAfter } = decision.outcome.cashIn
  const valueCents = reportedCents(factsAfter)
  if (valueCents <= reportedCents(before)) return decision
  const facts = { ...reportedPaymentsFact(reportedPayments(factsAfter)), valueCents }
  const updated = openCases
    .filter(({ kind }) => kind === 'payment_unconfirmed')
    .map(({ reference, rule }) => ({
      operationId,
      kind: 'payment_unconfirmed' as const,
      reference,
      facts: { ...facts, rule },
    }))
  return updated.length === 0 ? decision : { ...decision, cases: [...(decision.cases ?? []), ...updated] }
}

function referenceOf(input: CashInEvent): string {
  if (input.on === 'partner.confirmed') return input.payment.endToEndId
  return 'returnId' in input ? input.returnId : ''
}

function amountsOf(cashIn: CashIn, input: CashInEvent) {
  if (input.on === 'partner.confirmed') return { p: input.payment.valueCents }
  if (input.on === 'return.told') return { p: input.valueCents }
  if (input.on !== 'return.unexplained' && input.on !== 'return.known') return { p: 0n }
  const unnamed = unnamedReturn(cashIn, input.returnId)
  if (unnamed) return { p: BigInt(unnamed.cents), h: 0n }
  const { cents = 0, heldCents = 0 } = returnInDoubt(cashIn, input.returnId) ?? {}
  return { p: BigInt(cents), h: input.on === 'return.unexplained' ? input.heldCents : BigInt(heldCents) }
}

/** Filters inputs before the table: known facts are ignored, timestamps in the future are implausible. */
function recognise(cashIn: CashIn, event: CashInEvent, nowMs: number): CashInEvent | 'IGNORED' | 'IMPLAUSIBLE' {
  if (event.on === 'partner.confirmed' && event.payment.occurredAt > nowMs + limits.occurredAtFutureMs) {
    return 'IMPLAUSIBLE'
  }
  const input = isBeyondReported({ cashIn, input: event, nowMs }) ? ({ on: 'work.requested' } as const) : event
  const isKnown = (): boolean => {
    switch (input.on) {
      case 'cancel.requested':
        return isCancelRequested(cashIn)
      case 'work.requested':
        return isQueryRequested(cashIn)
      case 'work.done':
        return isAtRest(cashIn, nowMs)
      case 'partner.confirmed':
        return (
          bookedAmount(cashIn, input.payment) === input.payment.valueCents ||
          own(cashIn.facts.elsewhere, input.payment.endToEndId) === Number(input.payment.valueCents)
        )
      case 'charge.accepted':
        return (cashIn.transactionId ?? input.transactionId) === input.transactionId && isNothingNew(cashIn, input)
      case 'refund.taken':
        return bookedReturn(cashIn, input.returnId) === input.valueCents
      case 'return.told':
        return isReportedBefore(cashIn, input)
      case 'return.unexplained': {
        const inDoubt = returnInDoubt(cashIn, input.returnId)
        return inDoubt === undefined || inDoubt.heldCents !== undefined || inDoubt.isInCase === true
      }
      case 'return.known':
        return !returnInDoubt(cashIn, input.returnId) && !unnamedReturn(cashIn, input.returnId)
      default:
        return false
    }
  }
  return isKnown() ? 'IGNORED' : input
}

function isNothingNew(
  { status, transactionId, facts }: CashIn,
  { pixCode }: Extract<CashInInput, { on: 'charge.accepted' }>,
): boolean {
  const isKnown = facts.pixCode !== undefined || (pixCode === undefined && transactionId !== null)
  return isKnown && facts.notFoundSince == null && status !== 'PROVIDER_RESULT_UNKNOWN'
}

export interface Given {
  readonly cashIn: CashIn
  readonly input: CashInEvent
  readonly nowMs: number
}

/** Without the guards that only operator decisions use. */
type Guard = Exclude<
  GuardOf<typeof machine>,
  | DecisionGuard
  | 'the merchant has a payment of it'
  | 'all of the payment is in suspense'
  | 'a return of it is under way'
  | 'its payment went back'
  | 'a payment is credited'
  | 'a payment was credited'
  | 'part of it went back, or may'
  | 'its failure is known'
  | 'its answer is missing'
>

/** @source rules#cash-in.states */
const GUARDS: Readonly<Record<Guard, (given: Given) => boolean>> = {
  'work is due': ({ cashIn: { dueAt }, nowMs }) => dueAt !== null && dueAt <= nowMs,
  'its time is over': ({ cashIn, nowMs }) => isOver(cashIn, nowMs),
  'the bank accepted it': ({ cashIn }) => isKnownAtBank(cashIn),
  'absence is proven': ({ cashIn: { facts, createdAt }, input }) => {
    if (input.on !== 'charge.not_found') return false
    const lastAttemptAt = facts.lastAttemptAt ?? createdAt + limits.abandonedIntentMs
    return isProvenNotFound({ ...facts, ...notFoundFacts(facts, input.askedAt), lastAttemptAt })
  },
  'no byte of it was sent': ({ cashIn }) => cashIn.facts.unsent === 'proven',
  'its cancellation is requested': ({ cashIn }) => isCancelRequested(cashIn),
  'no answer for 15 minutes': ({ cashIn: { facts }, nowMs }) =>
    nowMs - (facts.unknownSince ?? nowMs) >= limits.unknownResultEscalationMs,
  'reference differs': ({ cashIn: { transactionId }, input }) =>
    input.on === 'charge.accepted' && transactionId !== null && transactionId !== input.transactionId,
  'only an event reports it': ({ input }) => input.on === 'partner.failed' && !input.isVerified,
  'payment is to be verified': (given) => isToBeVerified(given),
  'too many payments are reported': (given) =>
    !isUnconfirmed(given) && reportedCount(given.cashIn) + 1 >= limits.reportedPaymentsMax,
  'payment is older than the charge': (given) => isOlder(given),
  'end is unknown for too long': ({ cashIn: { expiresAt, facts }, nowMs }) =>
    expiresAt !== null && nowMs - expiresAt >= limits.expiryOverdueMs && facts.isEndCaseOpen !== true,
  'reported payment is unconfirmed for too long': ({ cashIn: { facts }, nowMs }) =>
    facts.isPaymentCaseOpen !== true &&
    Object.values(reportedPayments(facts)).some(({ since }) => nowMs - since >= limits.unknownResultEscalationMs),
  'movement belongs to another operation': ({ input }) =>
    (input.on === 'partner.confirmed' || input.on === 'return.told') && input.isBookedElsewhere === true,
  'payment restated': ({ cashIn, input }) =>
    input.on === 'partner.confirmed' && bookedAmount(cashIn, input.payment) !== undefined,
  'payment is a second one': ({ cashIn: { facts } }) => Object.keys(facts.payments ?? {}).length > 0,
  'amount differs': ({ cashIn: { valueCents }, input }) =>
    input.on === 'partner.confirmed' && input.payment.valueCents !== valueCents,
  'settled late': ({ cashIn: { expiresAt }, input }) =>
    input.on === 'partner.confirmed' &&
    expiresAt !== null &&
    input.payment.occurredAt > expiresAt + limits.settlementGraceMs,
  'its payment came to another charge': ({ cashIn }) => cashIn.facts.receivedFrom !== undefined,
  'answer contradicts': ({ input }) => input.on === 'partner.confirmed' && input.isContradicted === true,
  'return restated': ({ cashIn, input }) =>
    input.on === 'return.told'
      ? fateOf(cashIn, input) === 'restated'
      : input.on === 'refund.taken' && bookedReturn(cashIn, input.returnId) !== undefined,
  'return has no id': ({ input }) => input.on === 'return.told' && input.isUnnamed === true,
  'return may be known': ({ cashIn, input }) =>
    input.on === 'return.told' &&
    ((cashIn.facts.refundsOpenCents ?? 0) > 0 ||
      isOfKnownAmount(cashIn, input) ||
      fateOf(cashIn, input) === 'in_doubt'),
  'payment is in suspense': ({ cashIn, input }) => {
    if (input.on !== 'return.told') return false
    const payment = returnedPayment(cashIn, input.endToEndId ?? null)
    const isNamed = input.endToEndId !== undefined && payment != null
    return isNamed && suspendedCents(cashIn, payment) >= input.valueCents
  },
  'payment cannot be identified': ({ cashIn, input }) =>
    input.on === 'return.told' &&
    (uncreditedPayment(cashIn, input) !== undefined || !isOfCreditedPart(cashIn, input.valueCents)),
  'returns exceed the payment': ({ cashIn, input }) =>
    'returnId' in input &&
    'valueCents' in input &&
    !('payment' in input && input.payment !== undefined) &&
    refundedCents(cashIn) + input.valueCents > paidCents(cashIn),
  'a refund may explain it': ({ cashIn, input }) => input.on === 'return.told' && mayBeOurs(cashIn, input),
  'it was held before': ({ cashIn, input }) =>
    input.on === 'return.unexplained' && returnInDoubt(cashIn, input.returnId)?.wasHeld === true,
  'money of it is held': ({ cashIn, input }) =>
    input.on === 'return.known' &&
    (returnInDoubt(cashIn, input.returnId)?.heldCents !== undefined ||
      unnamedReturn(cashIn, input.returnId) !== undefined),
}

function isToBeVerified(given: Given): boolean {
  const { cashIn, input } = given
  if (input.on !== 'partner.confirmed' || input.unverified === undefined) return false
  const hasMany = Object.keys(cashIn.facts.payments ?? {}).length >= limits.reportedPaymentsMax
  return input.unverified === 'query' || hasMany || isOlder(given) || isUnconfirmed(given)
}

function reportedCount({ facts }: CashIn): number {
  return Object.keys(reportedPayments(facts)).length
}

/**
 * An event reports one more unverified payment than are kept; it only triggers a query.
 * @source rules#cash-in.credits.5
 */
function isBeyondReported(given: Given): boolean {
  const { cashIn, input } = given
  return (
    input.on === 'partner.confirmed' &&
    reportedCount(cashIn) >= limits.reportedPaymentsMax &&
    bookedAmount(cashIn, input.payment) === undefined &&
    isToBeVerified(given) &&
    !isUnconfirmed(given)
  )
}

/** The payment was reported, queried, and is not confirmed yet. @source rules#cash-in.credits.1 */
function isUnconfirmed({ cashIn: { facts }, input }: Given): boolean {
  return input.on === 'partner.confirmed' && own(reportedPayments(facts), input.payment.endToEndId) !== undefined
}

/** Compares two timestamps of the bank, so its clock offset cancels out. @source rules#cash-in.states.14 */
function isOlder({ cashIn: { createdAt }, input }: Given): boolean {
  if (input.on !== 'partner.confirmed') return false
  const { occurredAt, chargedAt = createdAt } = input.payment
  return occurredAt < chargedAt - limits.paidBeforeChargeMs
}

/** @param nowMs when the input was applied */
function notificationBy(cashIn: CashIn, input: CashInEvent, to: CashIn['status'], nowMs: number): NotificationDraft {
  const payment = input.on === 'partner.confirmed' ? input.payment : undefined
  const failedAt = input.on === 'partner.failed' ? (reportedFailure(cashIn.facts) ?? input).occurredAt : null
  return cashInNotification(cashIn, to === 'PAID' ? 'PAID' : 'FAILED', {
    occurredAt: payment?.occurredAt ?? failedAt ?? nowMs,
    transactionId: 'transactionId' in input ? input.transactionId : null,
    endToEndId: payment?.endToEndId,
    payerName: payment?.payer.name,
  })
}

/**
 * Evidence for the operator.
 * @param opens the kind of the case, if one is opened
 */
function evidenceOf(cashIn: CashIn, input: CashInEvent, opens?: string): Document {
  switch (input.on) {
    case 'partner.confirmed':
      if (opens === 'payment_unconfirmed') return evidenceOfReported(cashIn, input.payment)
      return {
        endToEndId: input.payment.endToEndId,
        valueCents: Number(input.payment.valueCents),
        occurredAt: input.payment.occurredAt,
      }
    case 'partner.failed':
    case 'charge.rejected':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage }
    case 'charge.contradicted':
      return { reason: input.reason }
    case 'charge.not_found':
      return { askedAt: input.askedAt, notFoundSince: cashIn.facts.notFoundSince ?? null }
    case 'work.done':
      if (Object.keys(reportedPayments(cashIn.facts)).length === 0) return { bankAnswer: input.bankAnswer }
      return {
        bankAnswer: input.bankAnswer,
        ...reportedPaymentsFact(reportedPayments(cashIn.facts)),
        ...(opens === 'payment_unconfirmed' ? { valueCents: reportedCents(cashIn.facts) } : {}),
      }
    case 'charge.accepted':
      // Another reference for the same charge is a contradiction; otherwise the answer is late.
      return cashIn.transactionId !== null && cashIn.transactionId !== input.transactionId
        ? { reason: 'another transactionId for the same charge' }
        : { transactionId: input.transactionId }
    case 'refund.confirmed':
    case 'refund.taken':
      return { returnId: input.returnId, valueCents: Number(input.valueCents) }
    case 'return.told':
      return {
        returnId: input.returnId,
        valueCents: Number(input.valueCents),
        ...(input.endToEndId === undefined ? {} : { endToEndId: input.endToEndId }),
      }
    case 'return.unexplained':
      return {
        returnId: input.returnId,
        valueCents: returnInDoubt(cashIn, input.returnId)?.cents,
        heldCents: Number(input.heldCents),
        refundIds: input.refundIds,
      }
    default:
      return {}
  }
}

/** Includes the payment that exceeds the limit. */
function evidenceOfReported(
  { facts }: CashIn,
  { endToEndId, valueCents, occurredAt }: Extract<CashInInput, { on: 'partner.confirmed' }>['payment'],
): Document {
  return { endToEndId, valueCents: reportedCents(facts) + Number(valueCents), occurredAt }
}
