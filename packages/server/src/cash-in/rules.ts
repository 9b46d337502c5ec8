import { cashIn, type GuardOf, limits, type TriggerOf } from '@pixgate/spec'
import type { Payment } from '../banks/port.ts'
import { follow } from '../engine/follow.ts'
import { type Decision, together } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import {
  bookedAmount,
  bookedReturn,
  type CashIn,
  type CashInInput,
  type CashInOutcome,
  isKnownAtBank,
  isOver,
  isOverdue,
  type Judged,
  type RefundEvent,
  refundedCents,
  returnedPayment,
  suspendedCents,
  unnamedReturn,
} from './cash-in.ts'
import { changesOf } from './facts.ts'
import { isProvenNotFound, isSettledByAbsence } from './not-found.ts'
import { evidenceOf, notificationBody } from './notification.ts'
import { fateOf, type ToldReturn } from './returns.ts'
import { isAboutToBeAsked, isAtRest } from './schedule.ts'

/**
 * What a cash-in does with each input. Pure: the table in the spec says where to go, this file says what its conditions
 * mean.
 */

/**
 * Decides any later input by the machine's table.
 * @source rules#cash-in.states
 */
export function decideCashIn(
  cashInNow: CashIn,
  given: CashInInput | RefundEvent,
  now: number,
): Decision<CashInOutcome> {
  const decision = decideOne(cashInNow, given, now)
  const restated = restatedPayment(cashInNow, decision.outcome.cashIn)
  return restated ? together(decision, decideOne(decision.outcome.cashIn, restated, now)) : decision
}

const NOBODY = { name: undefined, document: undefined, ispb: undefined }

/** What was told of a payment that is booked now, with another amount, as if it were told now. @source rules#cash-in.paid.3 */
function restatedPayment(before: CashIn, after: CashIn): CashInInput | undefined {
  for (const [endToEndId, { valueCents, occurredAt }] of Object.entries(before.facts.toldPayments ?? {})) {
    const bookedCents = bookedAmount(after, { endToEndId })
    const payment = { endToEndId, valueCents: BigInt(valueCents), occurredAt, payer: NOBODY }
    if (bookedCents !== undefined && bookedCents !== payment.valueCents) {
      return { on: 'partner.confirmed', payment, transactionId: null }
    }
  }
  return undefined
}

function decideOne(cashInNow: CashIn, given: CashInInput | RefundEvent, now: number): Decision<CashInOutcome> {
  const input = judged(cashInNow, given, now)
  if (input === 'IGNORED' || input === 'IMPLAUSIBLE') return { outcome: { result: input, cashIn: cashInNow } }
  const payment = input.on === 'partner.confirmed' ? input.payment : undefined
  return follow(
    cashIn,
    cashInNow,
    {
      on: input.on,
      holds: (guard) => GUARDS[guard](cashInNow, payment, input, now),
      changes: (row) => changesOf(cashInNow, input, row, now),
      amounts: { v: cashInNow.valueCents, f: cashInNow.feeCents, ...amountsOf(cashInNow, input) },
      reference: payment?.endToEndId ?? ('returnId' in input ? input.returnId : ''),
      notification: (status) => ({ status, reference: '', body: notificationBody(cashInNow, input, status) }),
      evidence: evidenceOf(cashInNow, input),
      outcome: (after, isApplied) => ({ result: isApplied ? 'APPLIED' : 'IGNORED', cashIn: after as CashIn }),
    },
    now,
  )
}

/** What an input states or holds. */
function amountsOf(now: CashIn, input: Judged) {
  if (input.on === 'partner.confirmed') return { p: input.payment.valueCents }
  if (input.on === 'return.told') return { p: input.valueCents }
  if (input.on !== 'return.unexplained' && input.on !== 'return.known') return { p: 0n }
  const unnamed = unnamedReturn(now, input.returnId)
  if (unnamed) return { p: BigInt(unnamed.cents), h: 0n }
  const { valueCents = 0, heldCents = 0 } = own(now.facts.awaitedReturns, input.returnId) ?? {}
  return { p: BigInt(valueCents), h: input.on === 'return.unexplained' ? input.heldCents : BigInt(heldCents) }
}

/** What the table may see of an input: a charge that reads as `EXPIRED` has ended for all but money. */
function judged(now: CashIn, given: CashInInput | RefundEvent, at: number): Judged | 'IGNORED' | 'IMPLAUSIBLE' {
  const input = meant(now, given, at)
  return typeof input === 'object' && isOverdue(now, at) && TOO_LATE.has(input.on) ? 'IGNORED' : input
}

/** What no longer ends a charge, nor casts doubt on it, once its time is over. @source rules#cash-in.expired.3 */
const TOO_LATE: ReadonlySet<CashInTrigger> = new Set([
  'partner.failed',
  'charge.rejected',
  'charge.unknown',
  'charge.contradicted',
])

/** What an input means: time runs out on a question, known facts and implausible ones are taken out. */
function meant(now: CashIn, input: CashInInput | RefundEvent, at: number): Judged | 'IGNORED' | 'IMPLAUSIBLE' {
  switch (input.on) {
    case 'work.requested':
      return isAboutToBeAsked(now) ? 'IGNORED' : input
    case 'partner.confirmed':
      if (input.payment.occurredAt > at + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
      return bookedAmount(now, input.payment) === input.payment.valueCents ? 'IGNORED' : input
    case 'charge.accepted':
      if (now.transactionId !== null && now.transactionId !== input.transactionId) {
        return { on: 'charge.contradicted', reason: 'another transactionId for the same charge' }
      }
      return isNothingNew(now) ? 'IGNORED' : input
    case 'charge.not_sent':
    case 'charge.unknown':
      return isUnansweredTooLong(now, at) ? { on: 'clock.escalated' } : input
    case 'work.claimed':
      return now.dueAt !== null && now.dueAt <= at ? input : 'IGNORED'
    case 'work.done':
      return isAtRest(now, at) ? 'IGNORED' : input
    case 'refund.taken':
      return bookedReturn(now, input.returnId) === input.valueCents ? 'IGNORED' : input
    case 'return.unexplained': {
      const awaited = own(now.facts.awaitedReturns, input.returnId)
      return awaited === undefined || awaited.heldCents !== undefined ? 'IGNORED' : input
    }
    case 'return.known':
      return own(now.facts.awaitedReturns, input.returnId) || unnamedReturn(now, input.returnId) ? input : 'IGNORED'
    case 'return.told':
      return isToldBefore(now, input) ? 'IGNORED' : input
    default:
      return input
  }
}

/** A return that was booked, or that still waits, is nothing new when it is told again. */
function isToldBefore(now: CashIn, told: ToldReturn): boolean {
  if (bookedReturn(now, told.returnId) === told.valueCents) return true
  // That it is of a payment in suspense is news: no refund of ours can be it.
  if (typeof uncreditedPayment(now, told) === 'string') return false
  return own(now.facts.awaitedReturns, told.returnId) !== undefined && fateOf(now, told) === 'awaited'
}

/** Whether a return of the same amount was told: debited, in suspense, or awaited. */
function isOfKnownAmount({ facts }: CashIn, { valueCents }: ToldReturn): boolean {
  const known = [
    ...Object.values(facts.returns ?? {}),
    ...Object.values(facts.suspendedReturns ?? {}).map(({ cents }) => cents),
    ...Object.values(facts.awaitedReturns ?? {}).map((awaited) => awaited.valueCents),
  ]
  return known.includes(Number(valueCents))
}

/** Whether that the bank has the charge was known. */
function isNothingNew({ status, facts }: CashIn): boolean {
  return facts.pixCode !== undefined && facts.notFoundSince == null && status !== 'PROVIDER_RESULT_UNKNOWN'
}

/** A bank that cannot be reached answers no more than one that is silent. @source rules#cash-in.unknown.7 */
function isUnansweredTooLong({ status, facts }: CashIn, at: number): boolean {
  const since = facts.unknownSince ?? at
  return status === 'PROVIDER_RESULT_UNKNOWN' && at - since >= limits.unknownResultEscalationMs
}

/** What the conditions of the table mean. @source rules#cash-in.states */
const GUARDS: Readonly<
  Record<GuardOf<typeof cashIn>, (now: CashIn, payment: Payment | undefined, input: Judged, at: number) => boolean>
> = {
  'movement belongs to another operation': (_now, _payment, input) =>
    (input.on === 'partner.confirmed' || input.on === 'return.told') && input.isElsewhere === true,
  'payment is to be verified': (now, payment, input) =>
    input.on === 'partner.confirmed' &&
    (input.unverified === 'first' ||
      (input.unverified === 'counted' && (isOlder(now, payment) || isUnconfirmed(now, payment)))),
  'only an event tells it': (_now, _payment, input) => input.on === 'partner.failed' && !input.isVerified,
  'payment is older than the charge': isOlder,
  'absence settles it': (now, _payment, input, at) =>
    input.on === 'charge.not_found' && isSettledByAbsence(now, input.askedAt, at),
  'absence contradicts': (now, _payment, input, at) =>
    input.on === 'charge.not_found' && !isOver(now, at) && isKnownAtBank(now) && isProvenNotFound(now, input.askedAt),
  'absence settles what was missing': (now, _payment, input, at) =>
    input.on === 'charge.not_found' && now.facts.doubt === 'missing' && isSettledByAbsence(now, input.askedAt, at),
  'end is unknown for too long': ({ expiresAt, facts }, _payment, _input, at) =>
    expiresAt !== null && at - expiresAt >= limits.expiryOverdueMs && facts.isEndCaseOpen !== true,
  'payment told is unconfirmed for too long': ({ facts }, _payment, _input, at) =>
    facts.isPaymentCaseOpen !== true &&
    Object.values(facts.toldPayments ?? {}).some(({ since }) => at - since >= limits.unknownResultEscalationMs),
  'payment restated': (now, payment) => payment !== undefined && bookedAmount(now, payment) !== undefined,
  'payment is a second one': ({ facts }) => Object.keys(facts.payments ?? {}).length > 0,
  'amount differs': ({ valueCents }, payment) => payment?.valueCents !== valueCents,
  'settled late': ({ expiresAt }, payment) =>
    expiresAt !== null && payment !== undefined && payment.occurredAt > expiresAt + limits.settlementGraceMs,
  'answer contradicts': (_now, _payment, input) => input.on === 'partner.confirmed' && input.isContradicted === true,
  'evidence was missing': ({ facts }) => facts.doubt === 'missing',
  'return restated': (now, _, input) =>
    input.on === 'return.told'
      ? fateOf(now, input) === 'restated'
      : input.on === 'refund.taken' && bookedReturn(now, input.returnId) !== undefined,
  'return has no id': (_now, _, input) => input.on === 'return.told' && input.isUnnamed === true,
  'return has no id and may be known': (now, _, input) =>
    input.on === 'return.told' &&
    input.isUnnamed === true &&
    ((now.facts.refundsOpenCents ?? 0) > 0 || isOfKnownAmount(now, input) || fateOf(now, input) === 'awaited'),
  'payment is in suspense': (now, _, input) => {
    const payment = uncreditedPayment(now, input)
    return typeof payment === 'string' && suspendedCents(now, payment) >= (input as ToldReturn).valueCents
  },
  'payment cannot be told': (now, _, input) => uncreditedPayment(now, input) !== undefined,
  'returns exceed the payment': (now, _, input) =>
    'returnId' in input && 'valueCents' in input && refundedCents(now) + input.valueCents > now.valueCents,
  'a refund may explain it': (now, _, input) => input.on === 'return.told' && fateOf(now, input) === 'awaited',
  'money of it is held': (now, _, input) =>
    input.on === 'return.known' &&
    (own(now.facts.awaitedReturns, input.returnId)?.heldCents !== undefined ||
      unnamedReturn(now, input.returnId) !== undefined),
}

/**
 * The payment that the bank gave back where that is not the credited one, `null` where it could be one of several;
 * `undefined` where it is the credited one.
 */
function uncreditedPayment(now: CashIn, input: Judged): string | null | undefined {
  if (input.on !== 'return.told' || input.endToEndId === undefined) return undefined
  const payment = returnedPayment(now, input.endToEndId)
  return payment === now.endToEndId ? undefined : payment
}

/** Whether the bank has been asked about this payment, and has not confirmed it. @source rules#cash-in.credits.1 */
function isUnconfirmed({ facts }: CashIn, payment: Payment | undefined): boolean {
  return payment !== undefined && own(facts.toldPayments, payment.endToEndId) !== undefined
}

/** @source rules#cash-in.states.14 */
function isOlder({ createdAt }: CashIn, payment: Payment | undefined): boolean {
  return payment !== undefined && payment.occurredAt < createdAt - limits.paidBeforeChargeMs
}

/** A trigger of the machine; for the table tests. */
export type CashInTrigger = TriggerOf<typeof cashIn>
