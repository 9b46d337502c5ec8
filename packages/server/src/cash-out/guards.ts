import { type GuardOf, cashOut as machine, rowFor } from '@pixgate/spec'
import { reasonOf } from '../engine/reason.ts'
import {
  hasOtherOpenAttempts,
  isOverdue,
  isProvenNotFound,
  isRepeatable,
  isRepeatableAgain,
  isTriedLongEnough,
  isUnansweredTooLong,
  isUnclaimedTooLong,
  isUnsent,
  notFound,
} from '../operations/index.ts'
import {
  bookedMovement,
  bookedReturn,
  type CashOut,
  type CashOutInput,
  isOfAnotherPayment,
  mayBeBooked,
  reversedCents,
} from './cash-out.ts'

/** What the conditions of the table mean. Pure. */

/** What a condition looks at. */
export interface Given {
  readonly cashOut: CashOut
  readonly input: CashOutInput
  readonly nowMs: number
  /** Payouts are enabled. */
  readonly isEnabled: boolean
  /** The movement that is told was booked on another operation. */
  readonly isAnothers: boolean
}

type Guard = GuardOf<typeof machine>

/** Whether each condition holds. @source rules#cash-out.states */
export const GUARDS: Readonly<Record<Guard, (given: Given) => boolean>> = {
  'payouts are enabled': ({ isEnabled }) => isEnabled,
  'work is due': ({ cashOut: { dueAt }, nowMs }) => dueAt !== null && dueAt <= nowMs,
  'it was not claimed within 24 hours': ({ cashOut, nowMs }) => isUnclaimedTooLong(cashOut, nowMs),
  'it was tried for 30 minutes': ({ cashOut: { facts }, nowMs }) => isTriedLongEnough(facts, nowMs),
  'nothing of it left': ({ cashOut: { facts } }) => isUnsent(facts),
  'asked in vain and safe to repeat': ({ cashOut: { facts }, input, nowMs }) =>
    input.on === 'send.claimed' &&
    input.again !== undefined &&
    input.again.askedAt >= (facts.lastAttemptAt ?? nowMs) &&
    isRepeatableAgain(facts, input.again, nowMs),
  'the bank has it': ({ cashOut: { facts } }) => facts.isAccepted === true,
  'refusal is of the latest attempt': ({ cashOut: { facts }, input }) =>
    input.on === 'send.rejected' && input.attempt === facts.attempts,
  'another attempt may arrive': ({ cashOut: { facts } }) => hasOtherOpenAttempts(facts),
  'no answer for 15 minutes': ({ cashOut: { facts }, nowMs }) => isUnansweredTooLong(facts, nowMs),
  'the bank has had it for a day': ({ cashOut: { facts }, nowMs }) => isOverdue(facts, nowMs),
  'only an event tells it': ({ input }) => 'isVerified' in input && !input.isVerified,
  'the statement shows it': ({ cashOut: { facts } }) => facts.isShown === true,
  'absence is proven': ({ cashOut: { facts }, input }) =>
    input.on === 'partner.not_found' &&
    isProvenNotFound({ ...facts, ...notFound(facts, input.askedAt) }, input.steadySince),
  'it may be sent again': ({ cashOut: { facts }, input, nowMs }) =>
    input.on === 'partner.not_found' && isRepeatable(facts, input.windowMs, nowMs),
  'movement belongs to another operation': ({ isAnothers }) => isAnothers,
  'amount or recipient differs': ({ cashOut: { valueCents }, input }) =>
    input.on === 'partner.confirmed' &&
    (input.movement.valueCents !== valueCents || input.movement.isElsewhere === true),
  'the reservation was given back': ({ cashOut: { facts } }) => facts.isReleased === true,
  'movement restated': ({ cashOut, input }) =>
    input.on === 'partner.confirmed' && bookedMovement(cashOut, input.movement.endToEndId) !== undefined,
  'reference differs': ({ cashOut: { transactionId }, input }) =>
    input.on === 'send.accepted' && transactionId !== null && transactionId !== input.transactionId,
  'return is of another payment': ({ cashOut, input }) => isOfAnotherPayment(cashOut, input),
  'return restated': ({ cashOut, input }) =>
    input.on === 'partner.returned' && bookedReturn(cashOut, input.returned.returnId) !== undefined,
  'return may be known': ({ cashOut, input }) => input.on === 'partner.returned' && mayBeBooked(cashOut, input),
  'return has no id': ({ input }) => input.on === 'partner.returned' && input.isUnnamed === true,
  'returns exceed the payout': ({ cashOut, input }) =>
    input.on === 'partner.returned' && reversedCents(cashOut.facts) + input.returned.valueCents > cashOut.valueCents,
}

/** Whether the table has a row for an input, where payouts are enabled and work is due. */
export function applies(cashOut: CashOut, input: CashOutInput, nowMs: number): boolean {
  const due = { ...cashOut, dueAt: nowMs }
  const given = { cashOut: due, input, nowMs, isEnabled: true, isAnothers: false }
  const standing = { status: cashOut.status, reason: reasonOf(cashOut) }
  return rowFor(machine, standing, input.on, (guard) => GUARDS[guard](given)) !== undefined
}
