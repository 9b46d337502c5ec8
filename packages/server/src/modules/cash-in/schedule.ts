import { limits } from '@pixgate/spec'
import type { CashIn, CashInFacts } from './cash-in.ts'
import { returnsDueAt } from './returns.ts'

/** When a cash-in needs work. Pure. */

/** How long until the next question. @source rules#partner.4 */
export function questionDelayMs({ facts }: CashIn): number {
  const delays = limits.unknownResultQueryDelaysMs
  return delays[Math.min(facts.questions ?? 0, delays.length - 1)] ?? LAST_DELAY_MS
}

const LAST_DELAY_MS = 60_000

/** The database's clock must be past the expiry by this much before it is believed. @source failure-modes#EX-4 */
const EXPIRY_SAFETY_MS = 2_000

/** When a worker must look at a cash-in that nobody is asking about: see the table in rules#cash-in.work. */
export function restingDueAt(now: CashIn, at: number): number | null {
  const [state, returns] = [stateDueAt(now, at), returnsDueAt(now, at)]
  if (returns === null) return state
  // What could not be done at once is not tried without a pause.
  return Math.min(state ?? Number.POSITIVE_INFINITY, returns > at ? returns : at + LAST_DELAY_MS)
}

function stateDueAt({ status, expiresAt, facts }: CashIn, at: number): number | null {
  if (status === 'PENDING') return expiryDueAt(expiresAt ?? at, at)
  if (status === 'PROVIDER_RESULT_UNKNOWN') return at + LAST_DELAY_MS
  if (status === 'RECONCILIATION_REQUIRED' && facts.doubt === 'missing') return at + LAST_DELAY_MS
  return null
}

/** A bank that was asked about a charge that is over, and did not end it, is not asked again without a pause. */
function expiryDueAt(expiresAt: number, at: number): number {
  const dueAt = expiresAt + EXPIRY_SAFETY_MS
  return dueAt > at ? dueAt : at + LAST_DELAY_MS
}

/**
 * When a worker looks at a cash-in next. A question that is wanted is asked at once, but after another one not before the
 * lease of that one would be over, so that nobody makes us ask without end.
 * @param planned when it would be looked at if none were wanted
 * @source rules#cash-in.work.5
 */
export function nextDueAt(
  { isQuestionWanted, leaseUntil }: CashInFacts,
  planned: number | null,
  at: number,
): number | null {
  if (!isQuestionWanted) return planned
  return Math.min(planned ?? Number.POSITIVE_INFINITY, Math.max(at, leaseUntil ?? at))
}

/** Whether the bank is about to be asked anyway. @source rules#cash-in.work.5 */
export function isAboutToBeAsked({ dueAt, facts }: CashIn, at: number): boolean {
  return facts.isQuestionWanted === true || (dueAt !== null && dueAt <= at)
}
