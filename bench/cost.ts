import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { After } from './benchmark.ts'
import type { CallerLoad, Callers } from './callers.ts'
import { childrenOf, commandLineOf, cpuUsOf, treeCpuUsOf } from './counters.ts'
import { type Figures, median, medianFigures } from './measure.ts'
import { DATABASE, type Pixgate } from './pixgate.ts'

/** What a payment cost: CPU time of each process, and what PostgreSQL did for it. */
export interface Cost {
  readonly serverUs: number
  /** With all its backends and background processes. */
  readonly postgresUs: number
  readonly bankUs: number
  /** The callers and the receiver of notifications. */
  readonly clientUs: number
  readonly walBytes: number
  /** Without the beginnings and ends of transactions. */
  readonly statements: number
  /** With them. */
  readonly roundTrips: number
  /** That statements returned or wrote. */
  readonly rows: number
  /** That PostgreSQL executed statements, in microseconds. */
  readonly statementUs: number
}

/** A measurement: what the callers saw, and what each call cost. */
export type Measured = Figures & Cost

/** Settings of a PostgreSQL that is watched: it counts what it executes. */
export const WATCHED = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '5000' }

/** Whose counters are read; what is not there costs nothing. */
export interface Watched {
  readonly serverPid: number
  readonly bankPid?: number | undefined
  readonly database?: WatchedDatabase
}

/** A PostgreSQL that counts. */
export interface WatchedDatabase {
  readonly postmasterPid: number
  readonly client: pg.Client
}

/** @param pixgate started with {@link WATCHED} */
export async function watchDatabase(after: After, { postgres }: Pixgate): Promise<WatchedDatabase> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  after(() => client.end())
  await client.query('CREATE EXTENSION pg_stat_statements')
  return { postmasterPid: postgres.postmasterPid, client }
}

/** The simulated bank, which a service has started. */
export function bankPidOf({ pid }: Pixgate): number | undefined {
  return childrenOf(pid).find((child) => commandLineOf(child).includes('bank-simulator'))
}

/** What is done behind a payment's notification, such as noting that it arrived. */
const REST_MS = 250

/** Puts a load on a service, and looks at the counters before and after. */
export async function measureCost(callers: Callers, watched: Watched, load: CallerLoad): Promise<Measured> {
  const count = async () => ({ ...cpuCounts(watched, callers), ...(await databaseCounts(watched.database)) })
  const databaseBefore = await databaseCounts(watched.database)
  const before = { ...databaseBefore, ...cpuCounts(watched, callers) }
  const figures = await callers.run(load)
  await delay(REST_MS)
  const after = await count()
  const costs = (Object.keys(before) as (keyof Cost)[]).map((name) => [
    name,
    (after[name] - before[name]) / load.payments,
  ])
  return { ...figures, ...(Object.fromEntries(costs) as unknown as Cost) }
}

function cpuCounts({ serverPid, bankPid, database }: Watched, { pid }: Callers) {
  return {
    serverUs: cpuUsOf(serverPid),
    bankUs: bankPid === undefined ? 0 : cpuUsOf(bankPid),
    clientUs: cpuUsOf(pid),
    postgresUs: database === undefined ? 0 : treeCpuUsOf(database.postmasterPid),
  }
}

const COUNTS = `
  SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS "walBytes",
         coalesce(sum(calls), 0)::float8 AS "roundTrips",
         coalesce(sum(calls) FILTER (WHERE query !~ '^(BEGIN|COMMIT|ROLLBACK)'), 0)::float8 AS statements,
         coalesce(sum(rows), 0)::float8 AS rows,
         coalesce(sum(total_exec_time), 0)::float8 * 1000 AS "statementUs"
    FROM pg_stat_statements JOIN pg_database ON oid = dbid
   WHERE datname = $1`

const NO_COUNTS = { walBytes: 0, roundTrips: 0, statements: 0, rows: 0, statementUs: 0 }

async function databaseCounts(database: WatchedDatabase | undefined): Promise<typeof NO_COUNTS> {
  if (database === undefined) return NO_COUNTS
  return (await database.client.query<typeof NO_COUNTS>(COUNTS, [DATABASE])).rows[0] ?? NO_COUNTS
}

/** Medians over the rounds, each figure by itself. */
export function medianCost(rounds: readonly Measured[]): Measured {
  const [first] = rounds
  const costs = Object.keys(first ?? {}).map((name) => [name, median(rounds.map((round) => round[name as keyof Cost]))])
  return { ...(Object.fromEntries(costs) as Measured), ...medianFigures(rounds) }
}
