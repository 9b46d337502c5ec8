import type { LiveRequest } from '../../src/platform/live-request.ts'
import type { EventLoop } from '../../src/platform/runtime.ts'

/** A request whose client waits as long as it takes. */
export const ALIVE: LiveRequest = { hasLapsed: () => false }

/** A request that lapses when the test says so. */
export function lapsing(): LiveRequest & { lapse(): void } {
  let hasLapsed = false
  return {
    hasLapsed: () => hasLapsed,
    lapse: () => {
      hasLapsed = true
    },
  }
}

/** An event loop that never stood still, and whose time never passes. */
export const AWAKE: EventLoop = {
  now: () => 0,
  mark: () => ({ gaps: 0, isWaking: false }),
  hasStoodStillSince: () => false,
  noteConnection: () => undefined,
}
