import { type DecisionGuard, type GuardOf, cashOut as machine, rowFor } from '@pixgate/spec'
import { reasonOf } from '../engine/follow.ts'
import { isTriedLongEnough, isUnclaimedTooLong, isUnsent } from '../operations/attempts.ts'
import { orderGuardsBy } from '../operations/guards.ts'
import type { WorkInput } from '../operations/inputs.ts'
import { asksForSomethingElse, isAwaitingApproval } from './approval.ts'
import {
  bookedMovement,
  bookedReturn,
  type CashOut,
  type CashOutInput,
  isOfAnotherPayment,
  mayBeBooked,
  namesPayout,
} from './cash-out.ts'
import { exceedsPayout, hasLoss } from './suspense.ts'

/** What the conditions of the table mean. Pure. */

/** What a condition looks at. */
export interface Given {
  readonly cashOut: CashOut
  readonly input: CashOutInput
  readonly nowMs: number
  /** Payouts and refunds are enabled. */
  readonly isEnabled: boolean
  /** The movement that is told was booked on another operation. */
  readonly isAnothers: boolean
}

/** Those that only decisions of operators have are elsewhere. */
type Guard = Exclude<
  GuardOf<typeof machine>,
  | DecisionGuard
  | 'money of it is in suspense'
  | 'an attempt may still arrive'
  | 'it is confirmed'
  | 'it came back'
  | 'it was never claimed'
>

/** Whether each condition holds. @source rules#cash-out.states */
const GUARDS: Readonly<Record<Guard, (given: Given) => boolean>> = {
  ...orderGuardsBy(({ cashOut, input, nowMs }: Given) => ({ order: cashOut, input, nowMs })),
  'payouts and refunds are enabled': ({ isEnabled }) => isEnabled,
  'it was not claimed within 24 hours': ({ cashOut, nowMs }) => isUnclaimedTooLong(cashOut, nowMs),
  'an approval is missing': ({ cashOut }) => isAwaitingApproval(cashOut),
  'the code asks for something else': ({ cashOut, input }) => asksForSomethingElse(cashOut, input),
  'it was tried for 30 minutes': ({ cashOut: { facts }, nowMs }) => isTriedLongEnough(facts, nowMs),
  'nothing of it left': ({ cashOut: { facts } }) => isUnsent(facts),
  'movement belongs to another operation': ({ isAnothers }) => isAnothers,
  'confirmation is to be verified': ({ cashOut, input }) => isToBeVerified(cashOut, input),
  'amount or recipient differs': ({ cashOut: { valueCents }, input }) =>
    input.on === 'partner.confirmed' &&
    (input.movement.valueCents !== valueCents || input.movement.recipientDiffers === true),
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
    input.on === 'partner.returned' &&
    (exceedsPayout(cashOut, input.returned.valueCents) || (hasLoss(cashOut) && !namesPayout(cashOut, input))),
}

/** Whether a condition of what is no decision of an operator holds. */
export function holdsFor(given: Given, guard: GuardOf<typeof machine>): boolean {
  return guard in GUARDS && GUARDS[guard as Guard](given)
}

/**
 * Whether a confirmation that only an event tells says less than the bank's answer would: the bank's reference of an order
 * is known to it and to us, and what needed an approval is large enough to ask.
 * @source rules#cash-out.states.17
 */
function isToBeVerified({ transactionId, facts }: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'partner.confirmed' || input.isVerified) return false
  return transactionId === null || input.transactionId !== transactionId || facts.approval !== undefined
}

/** Tells whether the table has a row for what a worker may do, where payouts are enabled and work is due. */
export function rowsForWork(cashOut: CashOut, nowMs: number): (input: WorkInput) => boolean {
  const due = { ...cashOut, dueAt: nowMs }
  const standing = { status: cashOut.status, reason: reasonOf(cashOut) }
  return (input) => {
    const given = { cashOut: due, input, nowMs, isEnabled: true, isAnothers: false }
    return rowFor(machine, standing, input.on, (guard) => holdsFor(given, guard)) !== undefined
  }
}
