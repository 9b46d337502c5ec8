import { setTimeout as delay } from 'node:timers/promises'

/** Time; injected, so that tests decide it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Waits; rejects when the signal is aborted first. Does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { ref: false, ...(signal && { signal }) }),
}
