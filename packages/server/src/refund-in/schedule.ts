import { limits } from '@pixgate/spec'
import { isOverdue, isUnsent, isUnsentTooLong, pollDelayMs, questionDelayMs, type Step } from '../operations/index.ts'
import type { RefundIn } from './refund-in.ts'

/** When a refund needs work, and what. Pure. */

/**
 * A refund that waits for a person takes nothing more than money that left, and questions.
 * @source rules#refund-in.doubt.6
 */
export function waitsForPerson({ status, facts }: RefundIn): boolean {
  return status === 'PENDING' && (facts.doubt === 'contradiction' || facts.doubt === 'unrecorded')
}

/** Whether nobody has tried to send it yet. */
export function isNeverClaimed({ facts }: RefundIn): boolean {
  return (facts.attempts ?? 0) === 0
}

/** When a worker must look at a refund that nobody is working on. @source rules#refund-in.work */
export function restingDueAt(now: RefundIn, at: number): number | null {
  const { status, facts } = now
  if (status !== 'PENDING' || waitsForPerson(now)) return null
  if (facts.doubt === 'missing') return at + limits.notFoundApartMs
  if (facts.isAccepted) return at + pollDelayMs(facts, at)
  // The last question is counted already.
  return isNeverClaimed(now) ? at : at + questionDelayMs({ questions: (facts.questions ?? 1) - 1 })
}

/**
 * What is to be done about a refund that is due.
 * @source rules#refund-in.work
 */
export function nextStep(now: RefundIn, at: number): Step {
  const { status, facts, createdAt } = now
  if (status !== 'PENDING' || waitsForPerson(now)) return 'ask'
  if (facts.isAccepted) return isOverdue(facts, at) ? 'case' : 'ask'
  if (isNeverClaimed(now)) return at - createdAt >= limits.unclaimedReleaseMs ? 'release' : 'send'
  if (isUnsentTooLong(facts, at)) return 'release'
  return isUnsent(facts) ? 'send' : 'ask'
}
