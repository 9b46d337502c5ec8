import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { After } from './benchmark.ts'
import { childrenOf, commandLineOf, cpuUsOf, treeCpuUsOf } from './counters.ts'
import { type Figures, median } from './measure.ts'
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
  readonly clientPid: number
  readonly bankPid?: number | undefined
  readonly database?: WatchedDatabase
}

/** A PostgreSQL that counts. */
export interface WatchedDatabase {
  readonly postmasterPid: number
  readonly log: string
  readonly client: pg.Client
}

/** @param pixgate started with {@link WATCHED} */
export async function watchDatabase(after: After, { postgres }: Pixgate): Promise<WatchedDatabase> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  after(() => client.end())
  await client.query('CREATE EXTENSION pg_stat_statements')
  return { postmasterPid: postgres.postmasterPid, log: postgres.log, client }
}

/** The simulated bank, which a service has started. */
export function bankPidOf({ pid }: Pixgate): number | undefined {
  return childrenOf(pid).find((child) => commandLineOf(child).includes('bank-simulator'))
}

/** What is done behind a payment's notification, such as noting that it arrived. */
const REST_MS = 250

/** Looks at the counters before and after so many payments. @returns what each cost, and what was found of them */
export async function measureCost<Found>(
  watched: Watched,
  payments: number,
  make: () => Promise<Found>,
): Promise<Found & Cost> {
  // What looking costs is not counted.
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

/** Medians over the rounds, each figure by itself. */
export function medianCost<Round extends Cost>(rounds: readonly Round[]): Round {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Round)[]
  const medians = names.map((name) => [name, median(rounds.map((round) => Number(round[name])))])
  return Object.fromEntries(medians) as Round
}
