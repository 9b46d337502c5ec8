import { limits } from '@pixgate/spec'

/** How many attempts of one receiver may be under way. Known to one process and forgotten with it. */
export interface Concurrency {
  readonly limit: number
  /** Successes since the limit changed. */
  readonly successes: number
  /** After a recovery the limit doubles with every round of successes until this; then it grows as always. */
  readonly doublesUntil: number
}

/** How an attempt ended, as far as it tells how much a receiver can bear. */
export type AttemptEnd = 'success' | 'timeout' | 'other'

/** What a receiver begins with. @source rules#webhooks.10 */
export const NEW: Concurrency = { limit: limits.webhookLaneStart, successes: 0, doublesUntil: 0 }

/** What a receiver begins with that was not well. @source rules#webhooks.13 */
export const RECOVERED: Concurrency = { limit: 1, successes: 0, doublesUntil: limits.webhookLaneGrowsAfter }

/**
 * One more after eight successes, half after a time-out. Another failure tells nothing of how much a receiver can bear.
 * @source rules#webhooks.10
 */
export function concurrencyAfter(before: Concurrency, outcome: AttemptEnd): Concurrency {
  const { limit, doublesUntil } = before
  if (outcome === 'other') return before
  if (outcome === 'timeout') return { limit: Math.max(1, Math.floor(limit / 2)), successes: 0, doublesUntil: 0 }
  const successes = before.successes + 1
  if (limit < doublesUntil)
    return successes < limit ? { ...before, successes } : { limit: limit * 2, successes: 0, doublesUntil }
  if (successes < limits.webhookLaneGrowsAfter) return { ...before, successes }
  return { limit: Math.min(limit + 1, limits.webhookLaneMax), successes: 0, doublesUntil: 0 }
}
