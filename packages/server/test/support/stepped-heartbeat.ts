import { createHeartbeat, type Heartbeat } from '../../src/platform/runtime.ts'

/** A heartbeat whose minutes end when the test says so. */
export interface SteppedHeartbeat extends Heartbeat {
  minuteEnds(): void
  /** How many minutes are under way. */
  running(): number
}

/** Makes one. */
export function steppedHeartbeat(): SteppedHeartbeat {
  let timers: (() => void)[] = []
  return {
    ...createHeartbeat((_, run) => timers.push(run)),
    minuteEnds: () => {
      const ended = timers
      timers = []
      for (const run of ended) run()
    },
    running: () => timers.length,
  }
}
