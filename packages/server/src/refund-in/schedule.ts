import { limits } from '@pixgate/spec'
import { reasonOf } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import { pollDelayMs, questionDelayMs } from '../operations/attempts.ts'
import { planOfOrder, stepBy } from '../operations/schedule.ts'
import { rowsForWork } from './guards.ts'
import type { RefundIn } from './refund-in.ts'

/** When a refund needs work, and what. Pure. */

/** When a worker must look at a refund that nobody is working on. @source rules#refund-in.work.3 */
export function restingDueAt(refund: RefundIn, nowMs: number): number | null {
  const { status, facts } = refund
  if (status !== 'PENDING' || needsOperator(refund)) return null
  if (reasonOf(refund) === 'no_answer') return nowMs + limits.notFoundApartMs
  if (facts.isAccepted) return nowMs + pollDelayMs(facts, nowMs)
  // The last question is counted already.
  return facts.attempts ? nowMs + questionDelayMs({ questions: (facts.questions ?? 1) - 1 }) : nowMs
}

/**
 * Whether operator action is required: such a refund accepts only money that left, and status queries.
 * @source rules#refund-in.doubt.6
 */
export function needsOperator(refund: RefundIn): boolean {
  const reason = reasonOf(refund)
  return refund.status === 'PENDING' && (reason === 'conflict' || reason === 'not_dispatched')
}

/** What is to be done about a refund that is due: its table says it. @source rules#refund-in.work */
export function nextStep(refund: RefundIn, nowMs: number): Step {
  return stepBy(rowsForWork(refund, nowMs))
}

/** What is to be done about it when it is due, for the database to filter by. */
export function planOf(refund: RefundIn, nowMs: number): Plan {
  return planOfOrder(refund, nextStep, nowMs)
}
