import { clockProblem } from '../health/index.ts'
import type { DatabaseClock } from '../platform/clock.ts'
import type { Queries } from '../platform/db/database.ts'
import { pendingMigrations } from '../platform/db/migrate.ts'
import { databaseStartupError } from '../platform/db/problem.ts'
import { checkDatabase } from '../platform/db/self-check.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import { listSubscriptions, type Subscription } from '../webhooks/store.ts'
import { bad, type Finding, good } from './finding.ts'
import { readAbout } from './store.ts'

/** What was found at the database. */
export interface DatabaseExamination {
  readonly findings: readonly Finding[]
  /** The receivers that it knows; none where its schema is not of this version. */
  readonly receivers: readonly Pick<Subscription, 'id' | 'url'>[]
}

/**
 * Looks whether the service could work there, and changes nothing.
 * @param clock is told the database's time
 * @source rules#doctor.2, rules#doctor.4
 */
export async function examineDatabase(url: string, clock: DatabaseClock): Promise<DatabaseExamination> {
  try {
    const faults = await checkDatabase(url)
    const settings = faults.map((fault) => bad('database', fault))
    return await withSnapshot({ url, name: 'pixgate doctor' }, (queries) => examineContents(queries, clock, settings))
  } catch (error) {
    const { message } = databaseStartupError(error, url) as Error
    return { findings: [bad('database', message)], receivers: [] }
  }
}

async function examineContents(
  queries: Queries,
  clock: DatabaseClock,
  settings: readonly Finding[],
): Promise<DatabaseExamination> {
  const { version, now } = await readAbout(queries)
  clock.observe(now)
  const pending = await pendingMigrations(queries)
  const findings = [
    ...(settings.length > 0
      ? settings
      : [good('database', `PostgreSQL ${version} answers, and keeps what it commits`)]),
    good('migrations', pending.length === 0 ? 'all are applied' : `the next start applies ${pending.join(', ')}`),
    examineClock(clock),
  ]
  return { findings, receivers: pending.length === 0 ? await listSubscriptions(queries) : [] }
}

function examineClock(clock: DatabaseClock): Finding {
  const problem = clockProblem(clock)
  if (problem === undefined) return good('clock', "this machine's agrees with the database's")
  return bad('clock', `${problem}: let both be set by NTP`)
}
