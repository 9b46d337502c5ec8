import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { After } from './benchmark.ts'
import { childrenOf, commandLineOf, cpuUsOf, treeCpuUsOf } from './counters.ts'
import { type Figures, median } from './measure.ts'
import { DATABASE, type Pixgate } from './pixgate.ts'

/** Cost of a payment: CPU time by process, and PostgreSQL's work. */
export interface Cost {
  readonly serverUs: number
  /** Including backends and background processes. */
  readonly postgresUs: number
  readonly bankUs: number
  /** Callers and webhook server. */
  readonly clientUs: number
  readonly walBytes: number
  /** Without BEGIN, COMMIT and ROLLBACK. */
  readonly statements: number
  /** Including BEGIN, COMMIT and ROLLBACK. */
  readonly roundTrips: number
  /** Returned or written by statements. */
  readonly rows: number
  /** Execution time of statements. */
  readonly statementUs: number
}

/** A measurement: latencies and rate of the callers, and the cost of each call. */
export type Measured = Figures & Cost

/** Settings of PostgreSQL for the counters. */
export const COUNTING = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '5000' }

/** Processes whose counters are read; absent ones count 0. */
export interface Watched {
  readonly serverPid: number
  readonly clientPid: number
  readonly bankPid?: number | undefined
  readonly database?: WatchedDatabase
}

export interface WatchedDatabase {
  readonly postmasterPid: number
  readonly client: pg.Client
}

/** @param pixgate started with {@link COUNTING} */
export async function watchDatabase(after: After, { postgres }: Pixgate): Promise<WatchedDatabase> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  after(() => client.end())
  await client.query('CREATE EXTENSION pg_stat_statements')
  return { postmasterPid: postgres.postmasterPid, client }
}

/** The process of the simulated bank, a child of the service. */
export function bankPidOf({ pid }: Pixgate): number | undefined {
  return childrenOf(pid).find((child) => commandLineOf(child).includes('bank-simulator'))
}

/** Time for work after the last notification, such as recording its delivery. */
const REST_MS = 250

/** Reads the counters before and after a number of payments. @returns the cost of each, and the result of `make` */
export async function measureCost<Found>(
  watched: Watched,
  payments: number,
  make: () => Promise<Found>,
): Promise<Found & Cost> {
  // Reading the counters is not counted.
  const databaseBefore = await databaseCounts(watched.database)
  const before = { ...databaseBefore, ...cpuCounts(watched) }
  const found = await make()
  await delay(REST_MS)
  const cpuAfter = cpuCounts(watched)
  const after = { ...(await databaseCounts(watched.database)), ...cpuAfter }
  const costs = (Object.keys(before) as (keyof Cost)[]).map((name) => [name, (after[name] - before[name]) / payments])
  return { ...found, ...(Object.fromEntries(costs) as unknown as Cost) }
}

function cpuCounts({ serverPid, bankPid, clientPid, database }: Watched) {
  return {
    serverUs: cpuUsOf(serverPid),
    bankUs: bankPid === undefined ? 0 : cpuUsOf(bankPid),
    clientUs: cpuUsOf(clientPid),
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

/** Median of each figure over the rounds. */
export function medianCost<Round extends Cost>(rounds: readonly Round[]): Round {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Round)[]
  const medians = names.map((name) => [name, median(rounds.map((round) => Number(round[name])))])
  return Object.fromEntries(medians) as Round
}
