import type { Clock } from '../platform/clock.ts'

/**
 * Makes a reading that is remembered, and made one at a time, however many ask.
 * @param forMs milliseconds from one to the next at the least
 * @source rules#metrics.3, rules#health.9
 */
export function remembered<Reading>(
  read: () => Promise<Reading>,
  clock: Pick<Clock, 'now'>,
  forMs: number,
): () => Promise<Reading> {
  let readAt = Number.NEGATIVE_INFINITY
  let last: Promise<Reading> | undefined
  let isReading = false
  return () => {
    const now = clock.now()
    const isFresh = isReading || (now - readAt < forMs && now >= readAt)
    if (last !== undefined && isFresh) return last
    readAt = now
    isReading = true
    last = read().finally(() => {
      isReading = false
    })
    return last
  }
}
