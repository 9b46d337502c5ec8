import { limits } from '@pixgate/spec'
import type { Plan, Step } from '../engine/operation.ts'
import { reasonOf } from '../engine/reason.ts'
import { planOfOrder, pollDelayMs, questionDelayMs, stepBy } from '../operations/index.ts'
import type { CashOut } from './cash-out.ts'
import { rowsForWork } from './guards.ts'

/** When a cash-out needs work, and what. Pure. */

/** When a worker must look at a cash-out that nobody is working on. @source rules#cash-out.work */
export function restingDueAt(cashOut: CashOut, nowMs: number): number | null {
  const { status, facts } = cashOut
  if (status === 'RESERVED') return nowMs
  if (status === 'DISPATCHED') return nowMs + pollDelayMs(facts, nowMs)
  // The last question is counted already.
  if (status === 'PROVIDER_RESULT_UNKNOWN') return nowMs + questionDelayMs({ questions: (facts.questions ?? 1) - 1 })
  return reasonOf(cashOut) === 'no_answer' ? nowMs + limits.notFoundApartMs : null
}

/** What is to be done about a cash-out that is due: its table says it. @source rules#cash-out.work */
export function nextStep(cashOut: CashOut, nowMs: number): Step {
  return stepBy(rowsForWork(cashOut, nowMs))
}

/** Whether the bank's answer alone decides: it may be under way, and nothing contradicts that. */
export function isOpen(cashOut: CashOut): boolean {
  const { status } = cashOut
  return status === 'DISPATCHED' || status === 'PROVIDER_RESULT_UNKNOWN' || reasonOf(cashOut) === 'no_answer'
}

/** What is to be done about it when it is due, for the database to filter by. */
export function planOf(cashOut: CashOut, nowMs: number): Plan {
  return planOfOrder(cashOut, nextStep, nowMs)
}
