import type { Clock } from '../../src/index.ts'

/** A clock that stands where it is put; whoever sleeps wakes at once, that much later. */
export interface SteppedClock extends Clock {
  at: number
  /** Every sleep, in the order asked for. */
  readonly sleptMs: readonly number[]
}

/** Makes a clock that stands at `at`. */
export function steppedClock(at = Date.parse('2026-11-21T13:15:30.000Z')): SteppedClock {
  const sleptMs: number[] = []
  return {
    at,
    sleptMs,
    now() {
      return this.at
    },
    async sleep(ms, signal) {
      sleptMs.push(ms)
      this.at += ms
      await new Promise(setImmediate)
      signal?.throwIfAborted()
    },
  }
}
