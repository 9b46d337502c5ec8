import type { Clock } from '../../platform/clock.ts'

/** How far from ours a bank's time may be, and be believed. */
const CREDIBLE_MS = 600_000

/** A clock that follows the bank. */
export interface BankClock {
  /** Epoch milliseconds, by the bank's own time, which never goes back; by ours until it was heard. */
  now(): number
  /** Takes the `Date` of an answer, epoch milliseconds. One that is further from our time is not heard. */
  observe(dateMs: number): void
}

/**
 * Follows the bank: its time goes as ours does, as far from it as the last `Date` was. What has passed for the bank has passed, so
 * that one wrong `Date` holds for as long as it is ahead, which must not be for ever.
 * @param ours epoch milliseconds
 * @source rules#api-pix.16
 */
export function createBankClock(ours: Clock['now']): BankClock {
  let aheadMs: number | undefined
  let latest = Number.NEGATIVE_INFINITY
  return {
    now: () => {
      if (aheadMs === undefined) return ours()
      latest = Math.max(latest, ours() + aheadMs)
      return latest
    },
    observe: (dateMs) => {
      const ahead = dateMs - ours()
      if (Math.abs(ahead) <= CREDIBLE_MS) aheadMs = ahead
    },
  }
}
