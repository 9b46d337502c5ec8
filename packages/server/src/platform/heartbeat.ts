import { startTimer } from './timer.ts'

/**
 * Keeps what happens again and again from flooding the log: the first of a kind is written at once, and from then on one
 * line a minute says how many more there were, until a minute passes without any.
 * @source rules#logs.3
 */
export interface Heartbeat {
  /**
   * Reports something.
   * @param kind what counts as the same thing; of few different ones
   * @param write writes the line; `more` is how many were left out in the last minute
   */
  report(kind: string, write: (more: number) => void): void
}

const EVERY_MS = 60_000

/** More kinds at a time than these are one. */
const KINDS_MAX = 200

/**
 * @param start calls back once, after a while
 * @param everyMs how long a minute is, where it is to be another time
 */
export function createHeartbeat(
  start: (ms: number, run: () => void) => unknown = startTimer,
  everyMs = EVERY_MS,
): Heartbeat {
  const leftOut = new Map<string, { count: number; write: (more: number) => void }>()

  function beat(kind: string): void {
    const last = leftOut.get(kind)
    if (!last?.count) return void leftOut.delete(kind)
    const { count, write } = last
    last.count = 0
    start(everyMs, () => beat(kind))
    write(count)
  }

  return {
    report: (given, write) => {
      const kind = leftOut.has(given) || leftOut.size < KINDS_MAX ? given : 'any other'
      const known = leftOut.get(kind)
      if (known) return void Object.assign(known, { count: known.count + 1, write })
      leftOut.set(kind, { count: 0, write })
      start(everyMs, () => beat(kind))
      write(0)
    },
  }
}

/** How a sentence of the log ends after which others were left out. */
export function andMore(more: number, last = 'minute'): string {
  return more === 0 ? '' : ` (and ${more} more in the last ${last})`
}
