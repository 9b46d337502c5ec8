import { limits } from '@pixgate/spec'
import { ownReference } from '../cash-in/index.ts'
import { type Changes, reasonOf, type Target } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import {
  ANSWERED,
  attempted,
  notFound,
  planOfOrder,
  pollDelayMs,
  queryDelayMs,
  retryDelayMs,
  stepBy,
  unanswered,
} from '../operations/attempts.ts'
import { changesByMove, factsAfterWork } from '../operations/orders.ts'
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
  const { facts } = refund
  switch (input.on) {
    case 'send.claimed':
      return { dueAt: nowMs + input.leaseMs, facts: attempted(facts, nowMs, input.leaseMs) }
    case 'send.postponed':
      return { dueAt: nowMs + POSTPONED_MS }
    case 'send.accepted':
      return { facts: { isAccepted: true, ...(row.to === 'PENDING' ? ANSWERED : {}) } }
    case 'send.rejected':
      return { facts: row.to === 'FAILED' ? failure(input) : refusal(refund, input) }
    case 'send.not_sent':
      return {
        // A late answer about a superseded attempt keeps the lease of the current one.
        dueAt: input.attempt === facts.attempts && !needsOperator(refund) ? nowMs + retryDelayMs(facts) : refund.dueAt,
        facts: { unsentAttempts: (facts.unsentAttempts ?? 0) + 1 },
      }
    case 'partner.not_found':
      return {
        facts: {
          ...notFound(facts, input.askedAt),
          ...(row.to === 'PENDING' ? unanswered(facts, nowMs) : {}),
          ...(row.to === 'FAILED' ? failure(facts.refusal ?? { errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'partner.confirmed':
      return { facts: factsAfterReturn(refund, input, row, heldCents) }
    case 'partner.failed':
      return { facts: row.to === 'FAILED' ? failure(input) : {} }
    case 'operator.refused':
      return { facts: failure({ errorCode: 'refused_by_operator', errorMessage: null }) }
    case 'clock.released':
      return { facts: failure({ errorCode: 'never_sent', errorMessage: null }) }
    case 'send.contradicted':
      return {}
    default:
      return factsAfterWork(input, refund, restingDueAt(refund, nowMs), nowMs)
  }
}

/** A refusal while another attempt may have arrived: the refund is not sent again. */
function refusal(
  { status, facts }: RefundIn,
  { errorCode, errorMessage }: Extract<RefundInInput, { on: 'send.rejected' }>,
): RefundInFacts {
  return status !== 'PENDING' || facts.isAccepted ? {} : { refusal: { errorCode, errorMessage } }
}

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...ANSWERED }
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
  if (posts === 'refund_in_confirmed') return { returns, returnId, confirmedAt: occurredAt, ...ANSWERED }
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
