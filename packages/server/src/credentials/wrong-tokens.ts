import { limits, Refusal } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { networkOf } from '../platform/networks.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'

/**
 * How wrong tokens are answered: to go on guessing is slow, from one address and from all of them. Whoever asks this has
 * compared the token already, so that a right one is never refused for somebody's wrong ones.
 * @source rules#api-keys.7
 */
export interface WrongTokens {
  /** Counts a wrong token, and says how it is refused: `unauthorized` (401), or `rate_limited` (429). */
  refusal(address: string): Refusal
}

/** Bounds the memory that strangers can occupy; who comes from more addresses meets the limit of them all. */
const ADDRESSES_MAX = 10_000

/** Begins with none. */
export function createWrongTokens(clock: Clock): WrongTokens {
  const buckets = (perMinute: number, bucketsMax: number) =>
    createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax })
  const ofAddress = buckets(limits.adminFailuresPerMinuteAndAddress, ADDRESSES_MAX)
  const ofAll = buckets(limits.adminFailuresPerMinute, 1)
  return {
    refusal: (address) => {
      // An address that is stopped does not use up what all have.
      const waitMs = ofAddress.take(networkOf(address)) || ofAll.take('all')
      return waitMs > 0 ? rateLimited(waitMs) : new Refusal('unauthorized')
    },
  }
}

/** What is refused until so many milliseconds have passed. */
export function rateLimited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
