import { type Clock, systemClock } from '../../src/clock.ts'

/** Start of all clocks of the tests, so that results do not depend on the date. */
const BEGINNING = Date.parse('2026-11-21T13:15:30.000Z')

/** Makes a clock that begins then and runs. */
export function runningClock(): Clock {
  const startedAt = performance.now()
  return { sleep: systemClock.sleep, now: () => BEGINNING + Math.trunc(performance.now() - startedAt) }
}

/** A clock that only moves when it is set or when a sleep, which ends at once, advances it. */
export interface SteppedClock extends Clock {
  nowMs: number
  /** Durations of all sleeps in order. */
  readonly sleptMs: readonly number[]
}

/** Makes a clock that stands at `nowMs`. */
export function steppedClock(nowMs = BEGINNING): SteppedClock {
  const sleptMs: number[] = []
  return {
    nowMs,
    sleptMs,
    now() {
      return this.nowMs
    },
    async sleep(ms, signal) {
      sleptMs.push(ms)
      this.nowMs += ms
      await new Promise(setImmediate)
      signal?.throwIfAborted()
    },
  }
}
