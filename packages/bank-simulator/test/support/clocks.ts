import { type Clock, systemClock } from '../../src/clock.ts'

/** When every clock of the tests begins: their dates are fixed, so the wall clock has no say. */
const BEGINNING = Date.parse('2026-11-21T13:15:30.000Z')

/** Makes a clock that begins then and runs. */
export function runningClock(): Clock {
  const startedAt = performance.now()
  return { sleep: systemClock.sleep, now: () => BEGINNING + Math.trunc(performance.now() - startedAt) }
}

/** A clock that stands where it is put; whoever sleeps wakes at once, that much later. */
export interface SteppedClock extends Clock {
  nowMs: number
  /** Every sleep, in the order asked for. */
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
