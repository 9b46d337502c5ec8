import { type DecisionGuard, type GuardOf, limits, cashOut as machine, min, Refusal, rowFor } from '@pixgate/spec'
import { HoldersChanged } from '../access/index.ts'
import { follow, reasonOf } from '../engine/follow.ts'
import type { Decision, Document, State } from '../engine/operation.ts'
import { isAtRest, isTriedLongEnough, isUnclaimedTooLong, isUnsent } from '../operations/attempts.ts'
import { countedBy, type Limits, takenAgain } from '../operations/caps.ts'
import {
  acceptanceIn,
  decideInTurn,
  endsOverdue,
  evidenceOfOrder,
  isBookedElsewhere,
  orderGuardsBy,
  type WorkInput,
} from '../operations/orders.ts'
import { isEnabled } from '../operations/store.ts'
import { own } from '../platform/own.ts'
import { type ApprovalInput, asksForSomethingElse, assertMaySay, auditOf, isAwaitingApproval } from './approval.ts'
import {
  bookedMovement,
  bookedReturn,
  type CashOut,
  type CashOutInput,
  type CashOutOutcome,
  type ConfirmedInput,
  cashOutNotification,
  exceedsPayout,
  hasLoss,
  isOfAnotherPayment,
  leftCents,
  mayBeBooked,
  movementsOf,
  namesPayout,
  paidElsewhere,
  type ReturnedInput,
  repeatedReturn,
} from './cash-out.ts'
import { changesOf, isOpen, isTariffBooked, restingDueAt } from './facts.ts'

/**
 * Decides inputs by the machine's table in the spec. This file computes guards, amounts and facts, and everything that
 * depends on more than the operation. Pure.
 */

/** Applies inputs in order, in one commit. */
export function decideCashOut(
  before: CashOut,
  inputs: readonly CashOutInput[],
  state: State,
  nowMs: number,
): Decision<CashOutOutcome> {
  const standing: CashOutOutcome = { result: 'IGNORED', cashOut: before }
  return decideInTurn(standing, inputs, ({ cashOut }, input) => decideOne(cashOut, input, state, nowMs))
}

/**
 * Decides an operator's approval or refusal.
 * @throws not_possible_in_state · api_key_deactivated (409) · insufficient_role · approver_not_independent (403) ·
 * cash_out_suspended (503) · limit_exceeded (422) the caps of the night or of new recipients, at the last approval
 * @throws HoldersChanged
 * @source rules#cash-out.approval.3, rules#cash-out.approval.11, rules#cash-out.approval.12
 */
export function decideApproval(
  cashOut: CashOut,
  input: ApprovalInput,
  limitsInForce: Limits,
  state: State,
  nowMs: number,
): Decision<CashOutOutcome> {
  if (input.on === 'operator.approved' && state.versionOf('holders') !== input.deactivationCount)
    throw new HoldersChanged()
  assertMaySay(cashOut, input, nowMs)
  const decision = { ...decideOne(cashOut, input, state, nowMs), audits: [auditOf(cashOut, input)] }
  if (input.on === 'operator.refused') return decision
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  if (decision.outcome.cashOut.facts.approvedAt === undefined) return decision
  const { pixKey } = cashOut.detail.recipient
  return { ...decision, ...takenAgain({ ...cashOut, pixKey }, limitsInForce, state, nowMs) }
}

/** @source rules#cash-out.states */
function decideOne(cashOut: CashOut, event: CashOutInput, state: State, nowMs: number): Decision<CashOutOutcome> {
  const input = recognise(cashOut, event, nowMs)
  if (typeof input === 'string') return { outcome: { result: input, cashOut } }
  const given = {
    cashOut,
    input,
    nowMs,
    isEnabled: input.on === 'send.claimed' && isEnabled(state),
    isAnothers: movementsOf([input]).some((movement) => isBookedElsewhere(cashOut, state.movement(movement))),
  }
  const heldCents = min(state.balance('available'), cashOut.valueCents + cashOut.feeCents)
  const movedCents = moneyOf(input)
  const decision: Decision<CashOutOutcome> = follow(
    machine,
    cashOut,
    {
      on: input.on,
      holds: (guard) => holdsFor(given, guard),
      changes: (row) => changesOf(cashOut, input, row, nowMs, heldCents),
      amounts: { v: cashOut.valueCents, f: cashOut.feeCents, h: heldCents, p: movedCents, w: movedCents },
      reference: referenceOf(input),
      notification: (to) => notificationBy(cashOut, input, to, nowMs),
      evidence: evidenceOf(input),
      outcome: (after, isApplied) => ({
        result: isApplied ? applied(cashOut, input) : unmatched(cashOut, input),
        cashOut: after,
      }),
    },
    nowMs,
  )
  const closed = closesOverdue(cashOut, decision)
  return { ...closed, ...exactnessOf(closed), allowances: countedBy(cashOut, closed, leftCents(cashOut.facts), nowMs) }
}

/** Closes the case of an overdue outcome. @source rules#cash-out.states.15 */
function closesOverdue(before: CashOut, decision: Decision<CashOutOutcome>): Decision<CashOutOutcome> {
  const { status } = decision.outcome.cashOut
  return endsOverdue(before, isOpen(before) && (status === 'CONFIRMED' || status === 'FAILED'), decision)
}

/** A return reported for another payment only triggers a query. */
function applied(cashOut: CashOut, input: CashOutInput): CashOutOutcome['result'] {
  return isOfAnotherPayment(cashOut, input) ? 'DISPUTED' : 'APPLIED'
}

/**
 * Result without a row: a failure before sending, a return before the confirmation, or a confirmation that needs a
 * query.
 */
function unmatched({ status }: CashOut, input: CashOutInput): CashOutOutcome['result'] {
  const { on } = input
  if (on === 'partner.returned' || (on === 'partner.confirmed' && !input.isVerified)) return 'EARLY'
  return on === 'partner.failed' && status === 'RESERVED' ? 'UNEXPECTED' : 'IGNORED'
}

/** The amount held again depends on the exact balance. */
function exactnessOf({ journals = [] }: Decision<unknown>): Pick<Decision<unknown>, 'exact'> {
  return journals.some(({ kind }) => kind === 'left_after_release') ? { exact: ['available'] } : {}
}

/** Filters inputs before the table: known facts are ignored, timestamps in the future are implausible. */
function recognise(cashOut: CashOut, input: CashOutInput, nowMs: number): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' {
  switch (input.on) {
    case 'partner.confirmed':
      return recogniseConfirmation(cashOut, input, nowMs)
    case 'partner.returned':
      return recogniseReturn(cashOut, input, nowMs)
    case 'partner.tariff':
      return isTariffBooked(cashOut.facts, input.tariffId) ? 'IGNORED' : input
    case 'send.accepted':
      return isAcceptanceKnown(cashOut, input.transactionId) ? 'IGNORED' : input
    case 'work.requested':
      if (input.isShown === false && !cashOut.facts.isShown) return 'IGNORED'
      // After the end, a debit on the statement is already booked, or of the bank's own making.
      return input.isShown && !isOpen(cashOut) && cashOut.status !== 'RESERVED' ? { on: 'work.requested' } : input
    case 'work.done':
      return isAtRest(cashOut, restingDueAt(cashOut, nowMs), nowMs) ? 'IGNORED' : input
    default:
      return input
  }
}

function isAcceptanceKnown({ status, facts, transactionId }: CashOut, reported: string): boolean {
  return facts.isAccepted === true && transactionId === reported && status !== 'PROVIDER_RESULT_UNKNOWN'
}

/** @source rules#cases.16, rules#cases.44 */
function recogniseConfirmation(
  cashOut: CashOut,
  reported: ConfirmedInput,
  nowMs: number,
): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const input = paidElsewhere(cashOut, reported.movement) ? withOtherRecipient(reported) : reported
  const { endToEndId, valueCents, occurredAt, recipientDiffers = false } = input.movement
  if (occurredAt > nowMs + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
  const booked = bookedMovement(cashOut, endToEndId)
  // In doubt, the recipient of the booked debit is unknown, so it may be this one. Decided debits stay decided.
  const isDecided = own(cashOut.facts.decidedMovements, endToEndId) !== undefined
  const isToAnother = recipientDiffers && cashOut.status !== 'RECONCILIATION_REQUIRED' && !isDecided
  const hasOther = own(cashOut.facts.elsewhere, endToEndId) === Number(valueCents)
  if (!hasOther && (booked !== valueCents || isToAnother)) return input
  const isAwaited = cashOut.status === 'DISPATCHED' || cashOut.status === 'PROVIDER_RESULT_UNKNOWN'
  return (isDecided || hasOther) && isAwaited ? acceptanceIn(input, cashOut.facts) : 'IGNORED'
}

function withOtherRecipient(input: ConfirmedInput): ConfirmedInput {
  return { ...input, movement: { ...input.movement, recipientDiffers: true } }
}

function recogniseReturn(
  cashOut: CashOut,
  input: ReturnedInput,
  nowMs: number,
): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const { returnId, valueCents, occurredAt } = input.returned
  if (occurredAt > nowMs + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
  const known =
    bookedReturn(cashOut, returnId) ?? repeatedReturn(cashOut.facts, returnId) ?? own(cashOut.facts.elsewhere, returnId)
  return known !== undefined && BigInt(known) === valueCents ? 'IGNORED' : input
}

function moneyOf(input: CashOutInput): bigint {
  if (input.on === 'partner.confirmed') return input.movement.valueCents
  if (input.on === 'partner.tariff') return input.tariffCents
  return input.on === 'partner.returned' ? input.returned.valueCents : 0n
}

function referenceOf(input: CashOutInput): string {
  if (input.on === 'partner.confirmed') return input.movement.endToEndId
  if (input.on === 'partner.tariff') return input.tariffId
  return input.on === 'partner.returned' ? input.returned.returnId : ''
}

export interface Given {
  readonly cashOut: CashOut
  readonly input: CashOutInput
  readonly nowMs: number
  readonly isEnabled: boolean
  readonly isAnothers: boolean
}

/** Without the guards that only operator decisions use. */
type Guard = Exclude<
  GuardOf<typeof machine>,
  | DecisionGuard
  | 'money of it is in suspense'
  | 'an attempt may still arrive'
  | 'it is confirmed'
  | 'it came back'
  | 'it was never claimed'
>

/** @source rules#cash-out.states */
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

function holdsFor(given: Given, guard: GuardOf<typeof machine>): boolean {
  return guard in GUARDS && GUARDS[guard as Guard](given)
}

/**
 * An event's confirmation needs a query if it lacks the bank's own reference, or if the payout needed an approval.
 * @source rules#cash-out.states.17
 */
function isToBeVerified({ transactionId, facts }: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'partner.confirmed' || input.isVerified) return false
  return transactionId === null || input.transactionId !== transactionId || facts.approval !== undefined
}

/** Evaluates the table for a worker, as if payouts were enabled and work were due. */
export function rowsForWork(cashOut: CashOut, nowMs: number): (input: WorkInput) => boolean {
  const due = { ...cashOut, dueAt: nowMs }
  const standing = { status: cashOut.status, reason: reasonOf(cashOut) }
  return (input) => {
    const given = { cashOut: due, input, nowMs, isEnabled: true, isAnothers: false }
    return rowFor(machine, standing, input.on, (guard) => holdsFor(given, guard)) !== undefined
  }
}

/** @param nowMs when the input was applied */
function notificationBy(cashOut: CashOut, input: CashOutInput, to: CashOut['status'], nowMs: number) {
  const movement = input.on === 'partner.confirmed' ? input.movement : undefined
  const returned = input.on === 'partner.returned' ? input.returned : undefined
  const failedAt = input.on === 'partner.failed' ? input.occurredAt : null
  return cashOutNotification(cashOut, to === 'CONFIRMED', {
    occurredAt: movement?.occurredAt ?? returned?.occurredAt ?? failedAt ?? nowMs,
    endToEndId: movement?.endToEndId,
    transactionId: 'transactionId' in input ? input.transactionId : null,
    returned,
  })
}

function evidenceOf(input: CashOutInput): Document {
  switch (input.on) {
    case 'partner.confirmed': {
      const { endToEndId, valueCents, occurredAt, recipientDiffers = false } = input.movement
      return {
        endToEndId,
        valueCents: Number(valueCents),
        occurredAt,
        isElsewhere: recipientDiffers,
        isVerified: input.isVerified,
      }
    }
    case 'partner.returned': {
      const { returnId, valueCents, occurredAt } = input.returned
      return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
    }
    case 'partner.tariff':
      return { tariffCents: Number(input.tariffCents), ...(input.tariffId && { tariffId: input.tariffId }) }
    case 'operator.approved':
    case 'operator.refused':
      return {}
    default:
      return evidenceOfOrder(input)
  }
}
