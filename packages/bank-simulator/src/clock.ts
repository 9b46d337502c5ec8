import { setTimeout as delay } from 'node:timers/promises'

/** Source of time. Injected so that tests control it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Waits for `ms`. Rejects if the signal is aborted first. Does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { ref: false, ...(signal && { signal }) }),
}
