import type { Clock } from '../../platform/clock.ts'
import type { StampOffset } from '../port.ts'

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

const MINUTE_MS = 60_000
/** Offsets of the world's zones are multiples of this. */
const OFFSET_STEP_MS = 15 * MINUTE_MS
const OFFSET_MAX_MS = 14 * 60 * MINUTE_MS

/**
 * How far a bank's stamps are from true time, where it writes local time and marks it `Z`.
 * @param stampMs of what the bank made while it answered, epoch milliseconds as written
 * @param dateMs the `Date` of that answer, epoch milliseconds
 * @returns stamp minus true time, milliseconds; 0 where the stamps are right, or so far off that no zone explains it
 * @source rules#api-pix.17
 */
export function stampOffset(stampMs: number, dateMs: number): number {
  const offsetMs = Math.round((stampMs - dateMs) / OFFSET_STEP_MS) * OFFSET_STEP_MS
  return offsetMs !== 0 && Math.abs(offsetMs) <= OFFSET_MAX_MS ? offsetMs : 0
}

/** The offset of a bank's stamps, by {@link stampOffset}. */
export interface Stamps extends StampOffset {
  measured(offsetMs: number): void
}

/** Makes it. */
export function createStamps(): Stamps {
  let [measuredMs, assumedMs]: [number | undefined, number | undefined] = [undefined, undefined]
  return {
    offsetMs: () => measuredMs ?? assumedMs,
    measured: (offsetMs) => {
      measuredMs = offsetMs
    },
    assume: (offsetMs) => {
      assumedMs = offsetMs
    },
  }
}
