import { limits } from '@pixgate/spec'
import { ownReference } from '../cash-in/index.ts'
import { type Changes, reasonOf, type Target } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import { OUTCOME_KNOWN, planOfOrder, pollDelayMs, queryDelayMs, stepBy } from '../operations/attempts.ts'
import { changesByMove, factsAfterOrderInput, failureFacts } from '../operations/orders.ts'
import {
  type Holder,
  isOfAnotherPayment,
  type RefundIn,
  type RefundInFacts,
  type RefundInInput,
  type ReturnConfirmed,
} from './refund-in.ts'
import { rowsForWork } from './rules.ts'

/**
 * Facts after an input, and the time of the next work.
 * @param heldCents available part of the debit
 */
export function changesOf(
  refund: RefundIn,
  holder: Holder,
  input: RefundInInput,
  row: Target<RefundIn>,
  nowMs: number,
  heldCents: bigint,
): Changes {
  const known = factsAfter(refund, input, row, nowMs, heldCents)
  const changes = changesByMove(refund, input, row, known, { restingDueAt, planOf }, nowMs)
  return { ...newReference(refund, holder, input), ...changes }
}

/** The bank's reference, if not known before. */
export function newReference(refund: RefundIn, holder: Holder, input: RefundInInput): Changes {
  // A report under another payment's id proves nothing about this refund.
  if (isOfAnotherPayment(refund, input)) return {}
  const reported = 'transactionId' in input && input.transactionId !== null ? input.transactionId : undefined
  const reference = reported === undefined ? null : ownReference(reported, holder)
  return refund.transactionId === null && reference !== null ? { transactionId: reference } : {}
}

const POSTPONED_MS = 300_000

/** Facts after an input. A `dueAt` here overrides the time derived from the state. */
function factsAfter(
  refund: RefundIn,
  input: RefundInInput,
  row: Target<RefundIn>,
  nowMs: number,
  heldCents: bigint,
): Pick<Changes, 'facts' | 'dueAt'> {
  switch (input.on) {
    case 'send.postponed':
      return { dueAt: nowMs + POSTPONED_MS }
    case 'partner.confirmed':
      return { facts: factsAfterReturn(refund, input, row, heldCents) }
    case 'operator.refused':
      return { facts: failureFacts({ errorCode: 'refused_by_operator', errorMessage: null }) }
    default: {
      const after = factsAfterOrderInput(input, refund, row.to, restingDueAt(refund, nowMs), nowMs)
      return input.on === 'send.not_sent' && needsOperator(refund) ? { ...after, dueAt: refund.dueAt } : after
    }
  }
}

function factsAfterReturn(
  { facts }: RefundIn,
  { returned, isUnnamed }: ReturnConfirmed,
  { posts, opens }: Target<RefundIn>,
  heldCents: bigint,
): RefundInFacts {
  if (opens === 'movement_elsewhere') {
    return { elsewhere: { ...facts.elsewhere, [returned.returnId]: Number(returned.valueCents) } }
  }
  if (posts === undefined) return {}
  const { returnId, valueCents, occurredAt } = returned
  const returns = { ...facts.returns, [returnId]: Number(valueCents) }
  if (posts === 'refund_in_confirmed') return { returns, returnId, confirmedAt: occurredAt, ...OUTCOME_KNOWN }
  const unnamed = isUnnamed ? { unnamedReturnId: returnId } : {}
  const again = posts === 'left_after_release' ? { heldAgainCents: Number(heldCents) } : {}
  return { returns, ...unnamed, ...again }
}

/** Time of the next work while nothing is in flight. @source rules#refund-in.work.3 */
export function restingDueAt(refund: RefundIn, nowMs: number): number | null {
  const { status, facts } = refund
  if (status !== 'PENDING' || needsOperator(refund)) return null
  if (reasonOf(refund) === 'no_answer') return nowMs + limits.notFoundApartMs
  if (facts.isAccepted) return nowMs + pollDelayMs(facts, nowMs)
  // The last query is counted already.
  return facts.attempts ? nowMs + queryDelayMs({ questions: (facts.questions ?? 1) - 1 }) : nowMs
}

/** In such a doubt the refund accepts debits and status queries only. @source rules#refund-in.doubt.6 */
function needsOperator(refund: RefundIn): boolean {
  const reason = reasonOf(refund)
  return refund.status === 'PENDING' && (reason === 'conflict' || reason === 'not_dispatched')
}

/** The next step of a due refund, by its table. @source rules#refund-in.work */
export function nextStep(refund: RefundIn, nowMs: number): Step {
  return stepBy(rowsForWork(refund, nowMs))
}

/** The next step, stored for the database to filter by. */
export function planOf(refund: RefundIn, nowMs: number): Plan {
  return planOfOrder(refund, nextStep, nowMs)
}
