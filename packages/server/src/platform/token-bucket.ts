import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

/**
 * Token buckets, one per name: each begins full, is filled evenly and holds a bounded number. Their own number is
 * bounded too: the one used longest ago goes first, and is full again when it comes back.
 */
export interface TokenBuckets {
  /**
   * Takes a token.
   * @returns 0, or in how many milliseconds there will be one; then none was taken
   */
  take(name: string): number
  /** As {@link take} would answer, but takes none. */
  waitMs(name: string): number
  /** Puts a token back that was taken in vain. */
  giveBack(name: string): void
}

/** How buckets are made. All of it is whole numbers above zero. */
export interface TokenBucketOptions {
  readonly perMinute: number
  /** Tokens of a full bucket. */
  readonly capacity: number
  readonly bucketsMax: number
}

/** A token in the smallest units, of which `perMinute` arrive in a millisecond: whole numbers, so that none is lost. */
const TOKEN = 60_000

/** Makes the buckets. They live in this process and are forgotten with it. */
export function createTokenBuckets(
  clock: Clock,
  { perMinute, capacity, bucketsMax }: TokenBucketOptions,
): TokenBuckets {
  /** What each bucket lacked when it was last used, in units. One that is not here is full. */
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
