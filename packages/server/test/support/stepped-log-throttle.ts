import { createLogThrottle, type LogThrottle } from '../../src/platform/runtime.ts'

/** A throttle whose minutes end when the test says so. */
export interface SteppedLogThrottle extends LogThrottle {
  minuteEnds(): void
  /** How many minutes are under way. */
  running(): number
}

/** Makes one. */
export function steppedLogThrottle(): SteppedLogThrottle {
  let timers: (() => void)[] = []
  return {
    ...createLogThrottle((_, run) => timers.push(run)),
    minuteEnds: () => {
      const ended = timers
      timers = []
      for (const run of ended) run()
    },
    running: () => timers.length,
  }
}
