import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

/**
 * Token buckets by name: each begins full, refills evenly and has a capacity. The number of buckets is capped too: the
 * least recently used is dropped, and is full when it returns.
 */
export interface TokenBuckets {
  /** Takes a token. @returns 0, or the milliseconds until one is available, in which case none was taken */
  take(name: string): number
  /** Like {@link take} without taking a token. */
  waitMs(name: string): number
  giveBack(name: string): void
}

/** All values are positive integers. */
export interface TokenBucketOptions {
  readonly perMinute: number
  readonly capacity: number
  readonly bucketsMax: number
}

/**
 * A token in the smallest units, of which `perMinute` arrive per millisecond: integers, so that no fraction is lost.
 */
const TOKEN = 60_000

/** Buckets in memory, lost with the process. */
export function createTokenBuckets(
  clock: Clock,
  { perMinute, capacity, bucketsMax }: TokenBucketOptions,
): TokenBuckets {
  /** Missing units of each bucket at its last use. An unlisted bucket is full. */
  const buckets = new LRUCache<string, { readonly lacking: number; readonly at: number }>({ max: bucketsMax })

  function lackingAt(now: number, name: string): number {
    const bucket = buckets.peek(name)
    return bucket ? Math.max(0, bucket.lacking - (now - bucket.at) * perMinute) : 0
  }

  function waitFor(lacking: number): number {
    return Math.max(0, Math.ceil((lacking + TOKEN - capacity * TOKEN) / perMinute))
  }

  return {
    take: (name) => {
      const now = clock.now()
      const lacking = lackingAt(now, name)
      const waitMs = waitFor(lacking)
      if (waitMs > 0) return waitMs
      buckets.set(name, { lacking: lacking + TOKEN, at: now })
      return 0
    },
    waitMs: (name) => waitFor(lackingAt(clock.now(), name)),
    giveBack: (name) => {
      const now = clock.now()
      buckets.set(name, { lacking: Math.max(0, lackingAt(now, name) - TOKEN), at: now })
    },
  }
}
