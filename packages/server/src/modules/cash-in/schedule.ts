import { limits } from '@pixgate/spec'
import type { CashIn } from './cash-in.ts'

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
export function restingDueAt({ status, expiresAt, facts }: CashIn, at: number): number | null {
  if (status === 'PENDING') return (expiresAt ?? at) + EXPIRY_SAFETY_MS
  if (status === 'PROVIDER_RESULT_UNKNOWN') return at + LAST_DELAY_MS
  if (status === 'RECONCILIATION_REQUIRED' && facts.doubt === 'missing') return at + LAST_DELAY_MS
  return null
}
