import { type DecisionGuard, type GuardOf, limits, type cashIn as machine } from '@pixgate/spec'
import { own } from '../platform/own.ts'
import { bookedAmount, type CashIn, type CashInEvent, isKnownAtBank, isOver } from './cash-in.ts'
import { isProvenNotFound } from './not-found.ts'
import { reportedPayments } from './reported.ts'
import {
  bookedReturn,
  fateOf,
  isOfCreditedPart,
  isOfKnownAmount,
  mayBeOurs,
  paidCents,
  refundedCents,
  returnedPayment,
  returnInDoubt,
  suspendedCents,
  uncreditedPayment,
  unnamedReturn,
} from './returns.ts'

/** What the conditions of the table mean. Pure. */

/** What a condition looks at. */
export interface Given {
  readonly cashIn: CashIn
  readonly input: CashInEvent
  readonly nowMs: number
}

/** Those that only decisions of operators have are elsewhere. */
type Guard = Exclude<
  GuardOf<typeof machine>,
  | DecisionGuard
  | 'the merchant has a payment of it'
  | 'all of the payment is in suspense'
  | 'a return of it is under way'
  | 'its payment went back'
  | 'a payment is credited'
  | 'part of it went back, or may'
  | 'its failure is known'
  | 'its answer is missing'
>

/** Whether each condition holds. @source rules#cash-in.states */
export const GUARDS: Readonly<Record<Guard, (given: Given) => boolean>> = {
  'work is due': ({ cashIn: { dueAt }, nowMs }) => dueAt !== null && dueAt <= nowMs,
  'its time is over': ({ cashIn, nowMs }) => isOver(cashIn, nowMs),
  'the bank accepted it': ({ cashIn }) => isKnownAtBank(cashIn),
  'absence is proven': ({ cashIn, input }) =>
    input.on === 'charge.not_found' && isProvenNotFound(cashIn, input.askedAt),
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
 * Whether an event reports a payment that is to be verified beside as many as are kept: it is a reason to ask, and no more.
 * @source rules#cash-in.credits.5
 */
export function isBeyondReported(given: Given): boolean {
  const { cashIn, input } = given
  return (
    input.on === 'partner.confirmed' &&
    reportedCount(cashIn) >= limits.reportedPaymentsMax &&
    bookedAmount(cashIn, input.payment) === undefined &&
    isToBeVerified(given) &&
    !isUnconfirmed(given)
  )
}

/** Whether the bank has been asked about this payment, and has not confirmed it. @source rules#cash-in.credits.1 */
function isUnconfirmed({ cashIn: { facts }, input }: Given): boolean {
  return input.on === 'partner.confirmed' && own(reportedPayments(facts), input.payment.endToEndId) !== undefined
}

/** Two stamps of the bank are compared with each other, whatever its clock is like. @source rules#cash-in.states.14 */
function isOlder({ cashIn: { createdAt }, input }: Given): boolean {
  if (input.on !== 'partner.confirmed') return false
  const { occurredAt, chargedAt = createdAt } = input.payment
  return occurredAt < chargedAt - limits.paidBeforeChargeMs
}
