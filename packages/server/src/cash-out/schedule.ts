import { limits } from '@pixgate/spec'
import { isOverdue, isUnsent, isUnsentTooLong, pollDelayMs, questionDelayMs, type Step } from '../operations/index.ts'
import type { CashOut } from './cash-out.ts'

/** When a cash-out needs work, and what. Pure. */

/** When a worker must look at a cash-out that nobody is working on. @source rules#cash-out.work */
export function restingDueAt({ status, facts }: CashOut, at: number): number | null {
  if (status === 'RESERVED') return at
  if (status === 'DISPATCHED') return at + pollDelayMs(facts, at)
  // The last question is counted already.
  if (status === 'PROVIDER_RESULT_UNKNOWN') return at + questionDelayMs({ questions: (facts.questions ?? 1) - 1 })
  if (status === 'RECONCILIATION_REQUIRED' && facts.doubt === 'missing') return at + limits.notFoundApartMs
  return null
}

/**
 * What is to be done about a cash-out that is due.
 * @source rules#cash-out.work
 */
export function nextStep(now: CashOut, at: number): Step {
  const { status, facts, createdAt } = now
  if (status === 'RESERVED') return at - createdAt >= limits.unclaimedReleaseMs ? 'release' : 'send'
  if (!isOpen(now)) return 'ask'
  if (facts.isAccepted) return isOverdue(facts, at) ? 'case' : 'ask'
  if (isUnsentTooLong(facts, at)) return 'release'
  return isUnsent(facts) ? 'send' : 'ask'
}

/** Whether the bank's answer alone decides: it may be under way, and nothing contradicts that. */
export function isOpen({ status, facts }: CashOut): boolean {
  return status === 'DISPATCHED' || status === 'PROVIDER_RESULT_UNKNOWN' || facts.doubt === 'missing'
}
