import type { endpoints } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { Metrics } from './metrics.ts'

/** Whether the process lives, whether it can serve, and how it fares. */
export type HealthHandlers = Handlers<Pick<typeof endpoints, 'getHealth' | 'getReadiness' | 'getMetrics'>>

/** What readiness depends on. */
export interface Readiness {
  /** Reads the database's time. @throws where it does not answer */
  readonly databaseNow: () => Promise<number>
  readonly clock: DatabaseClock
  readonly isDraining: () => boolean
}

/** The node's clock may be off by this much; more is somebody's to repair. @source failure-modes#EX-4 */
const SKEW_MAX_MS = 1_000

/**
 * Makes the handlers.
 * @source rules#health.1, rules#health.2, rules#health.4
 */
export function createHealthHandlers(readiness: Readiness, metrics: Metrics): HealthHandlers {
  return {
    getHealth: async () => ({ status: 200, body: { status: 'ok' } }),
    getReadiness: async () => {
      const reasons = await reasonsAgainst(readiness)
      return reasons.length === 0
        ? { status: 200, body: { status: 'ready', reasons } }
        : { status: 503, body: { status: 'not_ready', reasons } }
    },
    getMetrics: async () => ({ status: 200, body: await metrics.text() }),
  }
}

async function reasonsAgainst({ databaseNow, clock, isDraining }: Readiness): Promise<string[]> {
  const reasons: string[] = []
  if (isDraining()) reasons.push('the process is shutting down')
  try {
    clock.observe(await databaseNow())
    const skewMs = Math.round(clock.skewMs())
    if (Math.abs(skewMs) > SKEW_MAX_MS) reasons.push(`the clock of this machine is ${skewMs} ms off the database's`)
  } catch {
    reasons.push('the database does not answer')
  }
  return reasons
}
