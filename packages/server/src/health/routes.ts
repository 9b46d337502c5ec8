import type { endpoints, Readiness } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import { databaseProblem } from '../platform/db/errors.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type Metrics, remembered } from './metrics.ts'
import { clockProblem } from './watches.ts'

export type HealthHandlers = Handlers<Pick<typeof endpoints, 'getHealth' | 'getReadiness' | 'getMetrics'>>

export interface ReadinessSources {
  /** Reads the database's time. @throws when it does not answer */
  readonly databaseNow: () => Promise<number>
  /** Whether the database is a standby. @throws when it does not answer */
  readonly isStandby: () => Promise<boolean>
  readonly clock: DatabaseClock
  readonly isDraining: () => boolean
  /** Reason why an answering database refuses writes, if it does. */
  readonly writeProblem: () => string | undefined
  /** Result of the last call to the bank. Readiness makes no call of its own. */
  readonly bank: () => { readonly isKnown: boolean; readonly problem: string | undefined }
}

/** @source rules#health.1, rules#health.2, rules#health.4, rules#health.7, rules#health.9 */
export function createHealthHandlers(sources: ReadinessSources, metrics: Metrics): HealthHandlers {
  const askDatabase = remembered(() => answerOfDatabase(sources), sources.clock, REMEMBERED_MS)
  return {
    getHealth: async () => ({ status: 200, body: { status: 'ok' } }),
    getReadiness: async () => {
      const body = await readinessOf(sources, await askDatabase())
      return body.status === 'ready' ? { status: 200, body } : { status: 503, body }
    },
    getMetrics: async () => ({ status: 200, body: await metrics.text() }),
  }
}

type Dependency = Readiness['dependencies']['database']

const UNKNOWN: Dependency = { status: 'unknown' }

/** Readiness is public: it must not cause a query each time. */
const REMEMBERED_MS = 1_000

/** @param away reason why the database did not answer, if so @source rules#health.2, rules#health.5 */
function readinessOf({ clock, isDraining, bank, writeProblem }: ReadinessSources, away: string | undefined): Readiness {
  const dependencies = {
    database: dependencyOnDatabase(away ?? writeProblem()),
    clock: away === undefined ? dependencyOnClock(clock) : UNKNOWN,
    bank: dependencyOnBank(bank()),
  }
  const reasons = [
    ...(isDraining() ? ['the process is shutting down'] : []),
    ...Object.values(dependencies).flatMap(({ status, reason }) => (status === 'failed' && reason ? [reason] : [])),
  ]
  return { status: reasons.length === 0 ? 'ready' : 'not_ready', reasons, dependencies }
}

async function answerOfDatabase({ databaseNow, isStandby, clock }: ReadinessSources): Promise<string | undefined> {
  try {
    clock.observe(await databaseNow())
    return (await isStandby()) ? 'the database is a standby: it can only be read' : undefined
  } catch (error) {
    return databaseProblem(error)
  }
}

/** A read-only database counts as failed. @source rules#health.7 */
function dependencyOnDatabase(reason: string | undefined): Dependency {
  return reason === undefined ? { status: 'ok' } : { status: 'failed', reason }
}

function dependencyOnClock(clock: DatabaseClock): Dependency {
  const reason = clockProblem(clock)
  return reason === undefined ? { status: 'ok' } : { status: 'failed', reason }
}

/** A bank outage only degrades: charges, payouts and refunds wait, and the service goes on. */
function dependencyOnBank({ isKnown, problem }: ReturnType<ReadinessSources['bank']>): Dependency {
  if (problem !== undefined) return { status: 'degraded', reason: problem }
  return { status: isKnown ? 'ok' : 'unknown' }
}
