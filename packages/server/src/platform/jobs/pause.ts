import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** Waiting; injected, so that tests need not wait. */
export interface Pause {
  /** Waits; rejects when the signal aborts first. Does not keep the process alive. */
  for(ms: number, signal?: AbortSignal): Promise<void>
  jittered(ms: number): Promise<void>
}

export const realPause: Pause = {
  for: (ms, signal) => delay(ms, undefined, { ref: false, ...(signal ? { signal } : {}) }),
  jittered: (ms) => delay(randomInt(Math.ceil(ms / 2), ms + 1), undefined, { ref: false }),
}
