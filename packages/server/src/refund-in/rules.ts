import { refundIn as machine, min, Refusal } from '@pixgate/spec'
import { bookedReturn, isCashIn, ownReference } from '../cash-in/index.ts'
import { follow, reasonOf } from '../engine/follow.ts'
import type { Decision, State } from '../engine/operation.ts'
import { decideInTurn } from '../operations/decisions.ts'
import { acceptanceIn, endsOverdue, isBookedElsewhere } from '../operations/facts.ts'
import type { Result } from '../operations/inputs.ts'
import { countedBy } from '../operations/limits/limits.ts'
import type { OperatorRefusal } from '../operations/refusal.ts'
import { isAtRest } from '../operations/schedule.ts'
import { isEnabled } from '../operations/switch.ts'
import { own } from '../platform/own.ts'
import { changesOf } from './facts.ts'
import { holdsFor } from './guards.ts'
import { evidenceOf, refundEndNotification } from './notification.ts'
import {
  fundsOf,
  type Holder,
  isImplausible,
  isOfAnotherPayment,
  isToPayer,
  leftCents,
  movementOf,
  type RefundIn,
  type RefundInInput,
  type ReturnConfirmed,
  type Standing,
} from './refund-in.ts'
import { restingDueAt } from './schedule.ts'
import { withAnswer, withHolder } from './with-holder.ts'

/**
 * What a refund does with each input. Pure: the table in the spec says where to go and why, this file what is known before
 * the table is asked, and what it means for what has the payment.
 */

/** Decides inputs one after the other, as one change. */
export function decideRefundIn<Kind extends Holder>(
  refund: RefundIn,
  holder: Kind,
  inputs: readonly RefundInInput[],
  state: State,
  nowMs: number,
): Decision<Standing<Kind>> {
  const before: Standing<Kind> = { result: 'IGNORED', refund, holder }
  return decideInTurn(before, inputs, (standing, input) =>
    decideOne(standing.refund, standing.holder, input, state, nowMs),
  )
}

/**
 * Decides that an operator refuses a refund; the audit trail is told.
 * @throws not_possible_in_state (409) it was claimed for sending, or has ended; or the bank has it
 * @source rules#refund-in.refusal.2, rules#refund-in.refusal.3
 */
export function decideRefusal<Kind extends Holder>(
  refund: RefundIn,
  holder: Kind,
  input: OperatorRefusal,
  state: State,
  nowMs: number,
): Decision<Standing<Kind>> {
  const decision = decideOne(refund, holder, input, state, nowMs)
  if (decision.outcome.result !== 'APPLIED') {
    throw new Refusal('not_possible_in_state', { message: 'the refund was sent, or has ended' })
  }
  const { approver, reason } = input
  const facts = { valueCents: Number(refund.valueCents), reason }
  return { ...decision, audits: [{ ...approver, action: 'refund_in.refused', subject: refund.id, facts }] }
}

/**
 * Decides one input by the machine's table.
 * @source rules#refund-in.states
 */
function decideOne<Kind extends Holder>(
  refund: RefundIn,
  holder: Kind,
  told: RefundInInput,
  state: State,
  nowMs: number,
): Decision<Standing<Kind>> {
  const input = recognise(refund, holder, told, nowMs)
  if (typeof input === 'string') return withAnswer({ outcome: { result: input, refund, holder } }, told, nowMs)
  const isEnabledNow = input.on === 'send.claimed' && isEnabled(state)
  const isAnothers =
    input.on === 'partner.confirmed' && isBookedElsewhere(refund, state.movement(movementOf(input.returned)))
  const movedCents = input.on === 'partner.confirmed' ? input.returned.valueCents : 0n
  const heldCents = isToPayer(refund) ? 0n : min(state.balance('available'), min(movedCents, refund.valueCents))
  const decision: Decision<Standing<Kind>> = follow(
    machine,
    refund,
    {
      on: input.on,
      holds: (guard) => holdsFor({ refund, holder, input, nowMs, isEnabled: isEnabledNow, isAnothers }, guard),
      changes: (row) => changesOf(refund, holder, input, row, nowMs, heldCents),
      amounts: { ...fundsOf(refund), v: movedCents, p: movedCents, h: heldCents },
      reference: input.on === 'partner.confirmed' ? input.returned.returnId : '',
      ...(isCashIn(holder) && {
        notification: (to: RefundIn['status']) => refundEndNotification(refund, holder, input, to, nowMs),
      }),
      evidence: evidenceOf(input),
      outcome: (after, isApplied): Standing<Kind> => ({
        result: isApplied ? applied(refund, input) : unmatched(refund, input),
        refund: after,
        holder,
      }),
    },
    nowMs,
  )
  const counted = { ...decision, allowances: countedBy(refund, decision, leftCents(refund.facts), nowMs) }
  const isOutcome = refund.status === 'PENDING' && decision.outcome.refund.status !== 'PENDING'
  return withAnswer(withHolder(refund, endsOverdue(refund, isOutcome, counted), input, nowMs), told, nowMs)
}

/** What a row did: a confirmation that an event tells of another payment only makes us ask. */
function applied(refund: RefundIn, input: RefundInInput): Result {
  return isOfAnotherPayment(refund, input) ? 'DISPUTED' : 'APPLIED'
}

/** What no row does: a failure of what was never sent cannot be true. @source rules#refund-in.doubt.2 */
function unmatched(refund: RefundIn, { on }: RefundInInput): Result {
  const isUnsent = refund.status === 'PENDING' && !refund.facts.attempts && reasonOf(refund) === null
  return on === 'partner.failed' && isUnsent ? 'UNEXPECTED' : 'IGNORED'
}

/** What the table may see: what was booked, or is known, is nothing new; a time in the future is not believed. */
function recognise(
  refund: RefundIn,
  holder: Holder,
  input: RefundInInput,
  nowMs: number,
): RefundInInput | 'IGNORED' | 'IMPLAUSIBLE' {
  switch (input.on) {
    case 'partner.confirmed':
      if (isImplausible(input.returned, nowMs)) return 'IMPLAUSIBLE'
      if (!isReturnKnown(refund, holder, input)) return input
      return isDecided(refund, input) && isAwaited(refund) ? acceptanceIn(input, refund.facts) : 'IGNORED'
    case 'send.accepted':
      return isAcceptanceKnown(refund, holder, input.transactionId) ? 'IGNORED' : input
    case 'work.requested':
      // What the statement shows of an order that has ended is in the books already, or the bank's own affair.
      return input.isShown && refund.status !== 'PENDING' ? { on: 'work.requested' } : input
    case 'work.done':
      return isAtRest(refund, restingDueAt(refund, nowMs), nowMs) ? 'IGNORED' : input
    default:
      return input
  }
}

function isAcceptanceKnown({ transactionId, facts }: RefundIn, holder: Holder, told: string): boolean {
  return facts.isAccepted === true && facts.unknownSince == null && transactionId === ownReference(told, holder)
}

/** Whether its outcome is awaited, without a doubt that a case tells of. */
function isAwaited(refund: RefundIn): boolean {
  return refund.status === 'PENDING' && reasonOf(refund) === null
}

/** Whether an operator decided what was told by this return id, or another operation has it. */
function isDecided({ facts }: RefundIn, { returned }: ReturnConfirmed): boolean {
  const { decidedReturns, elsewhere } = facts
  return (own(decidedReturns, returned.returnId) ?? own(elsewhere, returned.returnId)) !== undefined
}

/** Booked here, or in a case already. */
function isReturnKnown(refund: RefundIn, holder: Holder, { returned }: ReturnConfirmed): boolean {
  const { returnId, valueCents } = returned
  if (own(refund.facts.elsewhere, returnId) === Number(valueCents)) return true
  const booked = own(refund.facts.returns, returnId)
  if (booked !== undefined && (BigInt(booked) === valueCents || refund.status !== 'CONFIRMED')) return true
  const isInCase = reasonOf(refund) === 'conflict' && bookedReturn(holder, returnId) !== undefined
  return isInCase && (refund.status !== 'CONFIRMED' || booked === undefined)
}
