import { limits } from '@pixgate/spec'
import { reasonOf } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import { pollDelayMs, questionDelayMs } from '../operations/attempts.ts'
import { planOfOrder, stepBy } from '../operations/schedule.ts'
import { approvalDeadline, isAwaitingApproval } from './approval.ts'
import type { CashOut } from './cash-out.ts'
import { rowsForWork } from './guards.ts'

/** When a cash-out needs work, and what. Pure. */

/** When a worker must look at a cash-out that nobody is working on. @source rules#cash-out.work */
export function restingDueAt(cashOut: CashOut, nowMs: number): number | null {
  const { status, facts } = cashOut
  switch (status) {
    case 'RESERVED':
      return isAwaitingApproval(cashOut) ? approvalDeadline(cashOut) : nowMs
    case 'DISPATCHED':
      return nowMs + pollDelayMs(facts, nowMs)
    case 'PROVIDER_RESULT_UNKNOWN':
      // The last question is counted already.
      return nowMs + questionDelayMs({ questions: (facts.questions ?? 1) - 1 })
    case 'RECONCILIATION_REQUIRED':
      return reasonOf(cashOut) === 'no_answer' ? nowMs + limits.notFoundApartMs : null
    case 'CONFIRMED':
    case 'FAILED':
    case 'REVERSED':
    case 'RELEASED':
      return null
  }
}

/** What is to be done about a cash-out that is due: its table says it. @source rules#cash-out.work */
export function nextStep(cashOut: CashOut, nowMs: number): Step {
  return stepBy(rowsForWork(cashOut, nowMs))
}

/** Whether the bank's answer alone decides: it may be under way, and nothing contradicts that. */
export function isOpen(cashOut: CashOut): boolean {
  switch (cashOut.status) {
    case 'DISPATCHED':
    case 'PROVIDER_RESULT_UNKNOWN':
      return true
    case 'RECONCILIATION_REQUIRED':
      return reasonOf(cashOut) === 'no_answer'
    case 'RESERVED':
    case 'CONFIRMED':
    case 'FAILED':
    case 'REVERSED':
    case 'RELEASED':
      return false
  }
}

/** What is to be done about it when it is due, for the database to filter by. */
export function planOf(cashOut: CashOut, nowMs: number): Plan {
  return planOfOrder(cashOut, nextStep, nowMs)
}
