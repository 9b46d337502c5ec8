import { type Clock, createDatabaseClock } from '../../platform/clock.ts'

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
 * Follows the bank as the database is followed: what has passed for the bank has passed. So one wrong `Date` would hold for as long
 * as it is ahead, which must not be for ever.
 * @param ours epoch milliseconds
 * @param monotonic milliseconds, from any origin
 * @source rules#api-pix.16
 */
export function createBankClock(ours: Clock['now'], monotonic = () => performance.now()): BankClock {
  const clock = createDatabaseClock(ours, monotonic)
  let isHeard = false
  return {
    now: () => (isHeard ? clock.now() : ours()),
    observe: (dateMs) => {
      if (Math.abs(dateMs - ours()) > CREDIBLE_MS) return
      isHeard = true
      clock.observe(dateMs)
    },
  }
}
