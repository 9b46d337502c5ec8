import assert from 'node:assert/strict'
import pg from 'pg'
import { withBinaryArrays } from './array-parameters.ts'
import { asUnavailable, DatabaseUnavailable, NoLongerWanted } from './errors.ts'
import { PlanAge } from './plan-age.ts'
import { createPoolReports, type PoolReportsOptions } from './pool-reports.ts'
import { type PlanCacheMode, sessionOptions } from './session.ts'
import { VerifiedClient } from './verified-client.ts'

/**
 * PostgreSQL, spoken to in named statements. Centavos come back as `bigint`, instants as epoch milliseconds.
 */

/** One SQL statement with the types of its parameters and rows. Prepared once per connection under its name. */
export interface Statement<Parameters extends readonly unknown[], Row> {
  /** `<module>.<verb>`; what a log, a profile and the server's statistics show. */
  readonly name: string
  readonly text: string
  /** Whether it may read much: then it does not run beside the short ones. */
  readonly isLong?: boolean
  /** Whether it finds all it reads by keys, however many are given: then it is planned once, not for each number of them. */
  readonly isKeyed?: boolean
  /** Carries the types; never read. */
  readonly types?: (parameters: Parameters) => Row
}

/** PostgreSQL tells prepared statements apart by this many characters of their names. */
const NAME_MAX_LENGTH = 63

/**
 * Declares a statement. Only stores, the engine and `platform/db` do. Its text is written, never made of what somebody sent.
 * @source rules#database.12
 * @throws AssertionError where the name is too long to be told from others
 */
export function statement<Parameters extends readonly unknown[], Row = never>(
  name: string,
  text: string,
  more: Pick<Statement<Parameters, Row>, 'isLong' | 'isKeyed'> = {},
): Statement<Parameters, Row> {
  assert.ok(name.length <= NAME_MAX_LENGTH, `the name of the statement ${name} is too long`)
  return { name, text, ...more }
}

/** What can run statements: a database, or a transaction of it. */
export interface Queries {
  /** Runs a statement and returns its rows. */
  rows<Parameters extends readonly unknown[], Row>(
    query: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]>
}

/** A pool of connections to one database. */
export interface Database extends Queries {
  /**
   * Runs a statement and returns its rows.
   * @param isWanted asked when there is a connection, right before the statement is sent on it
   * @throws NoLongerWanted where it was not; nothing was sent
   */
  rows<Parameters extends readonly unknown[], Row>(
    query: Statement<Parameters, Row>,
    parameters: Parameters,
    isWanted?: () => boolean,
  ): Promise<Row[]>
  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws. Never do network calls inside.
   * @throws DatabaseUnavailable where the connection or the commit failed
   */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>
  /** How its connections are used now. */
  use(): PoolUse
  /** Waits for what is running, then closes all connections. */
  close(): Promise<void>
}

/** How the connections of a pool are used. */
export interface PoolUse {
  /** Connections that are lent. */
  readonly inUse: number
  /** Who waits for one. */
  readonly waiting: number
}

/** How a pool is made. */
export interface DatabaseOptions extends PoolReportsOptions {
  readonly url: string
  readonly connections: number
  /** The role to work as; unset for migrations, which work as the owner. */
  readonly role?: string
  /** `auto` unless given. */
  readonly planCacheMode?: PlanCacheMode
  /** How long the server may take for a statement, in milliseconds; 5 s unless given. */
  readonly statementTimeoutMs?: number
  /** How long to wait for a connection, whether a new one or one that others give back, in milliseconds; 1 s unless given. */
  readonly connectTimeoutMs?: number
}

/** The role of the running server: it can only add to what is append-only. @source rules#database.13 */
export const APPLICATION_ROLE = 'pixgate_app'

/** How long the server lets a statement run. */
const STATEMENT_TIMEOUT_MS = 5_000

/** How long anybody waits for a connection: an answer that says so is better than a queue. */
const CONNECT_TIMEOUT_MS = 1_000

/** What takes longer than that by so much is a commit that hangs, or a lost server. */
const ANSWER_AFTER_MS = 1_000

/**
 * Opens a pool. Connections are made when they are first needed.
 * @source failure-modes#DB-3, failure-modes#DB-4
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
  const pool = new pg.Pool({
    Client: VerifiedClient,
    connectionString: options.url,
    application_name: `pixgate ${options.name}`,
    max: options.connections,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_AFTER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    idleTimeoutMillis: 0,
    types: { getTypeParser },
    options: sessionOptions(options.role, statementTimeoutMs, options.planCacheMode),
  })
  const reports = createPoolReports(options)
  pool.on('connect', (client) => {
    // A connection that breaks while it is lent tells whoever waits for an answer; without a listener it would also end
    // the process.
    client.on('error', () => undefined)
    onSlowOf.set(client, (statement, ms) => reports.slow(statement, ms))
    client.on('notice', ({ routine }) => {
      if (routine === STANDBY_WAIT) gaveUpWaiting.add(client)
    })
  })
  pool.on('error', reports.idleLost)
  return {
    rows: (query, parameters, isWanted) =>
      reports.ofAnswer(
        withClient(pool, async (client) => {
          if (isWanted?.() === false) throw new NoLongerWanted(`${query.name} is no longer wanted`)
          return run(client, query, parameters)
        }),
      ),
    transaction: (work) => reports.ofAnswer(withClient(pool, (client) => inTransaction(client, work))),
    use: () => ({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  }
}

/** Lends a connection; one that broke is not given back. */
async function withClient<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect().catch((error: Error) => {
    throw new DatabaseUnavailable(error.message, false, { cause: error })
  })
  let broken = false
  try {
    // Here, as nothing may come between the beginning of a transaction and what it says of itself.
    if (planAgeOf(client).isOver()) await discardPlans(client)
    return await work(client)
  } catch (error) {
    broken = error instanceof DatabaseUnavailable
    throw error
  } finally {
    client.release(broken)
  }
}

async function discardPlans(client: pg.PoolClient): Promise<void> {
  await client.query('DISCARD PLANS').catch((error: Error) => {
    throw new DatabaseUnavailable(error.message, false, { cause: error })
  })
}

async function run<Parameters extends readonly unknown[], Row>(
  client: pg.PoolClient,
  query: Statement<Parameters, Row>,
  parameters: Parameters,
): Promise<Row[]> {
  return (await send(client, query, parameters)).rows as Row[]
}

/** The server's function whose warning says that nobody waits for the standby any more, in whatever language. */
const STANDBY_WAIT = 'SyncRepWaitForLSN'

/** Connections whose last commit may be on one machine only. They are not used again. */
const gaveUpWaiting = new WeakSet<pg.ClientBase>()

/** Whom the statements of a connection are reported to. */
const onSlowOf = new WeakMap<pg.ClientBase, (statement: string, ms: number) => void>()

const planAges = new WeakMap<pg.ClientBase, PlanAge>()

function planAgeOf(client: pg.ClientBase): PlanAge {
  const age = planAges.get(client) ?? new PlanAge()
  planAges.set(client, age)
  return age
}

async function send(
  client: pg.PoolClient,
  { name, text }: Statement<never, unknown>,
  parameters: readonly unknown[],
): Promise<pg.QueryResult> {
  planAgeOf(client).count()
  const startedAt = performance.now()
  const result = await client
    .query({ name, text, values: withBinaryArrays(text, parameters) })
    .catch((error) => {
      throw asUnavailable(error)
    })
    .finally(() => onSlowOf.get(client)?.(name, performance.now() - startedAt))
  if (gaveUpWaiting.has(client)) throw new DatabaseUnavailable('the wait for the standby was cancelled', true)
  return result
}

const emitMessage = statement<[]>('database.until_replicated', `SELECT pg_logical_emit_message(true, 'pixgate', '')`)

/**
 * Resolves when everything that could be read before has reached the synchronous standby, where there is one. What a
 * commit wrote whose wait was cancelled, or that waited when the server was restarted, can be read although a fail-over
 * would lose it: an answer that only repeats what was read, and after which nobody asks again, waits for this. A commit
 * that writes waits by itself; this is the smallest one.
 * @throws DatabaseUnavailable
 * @source rules#database.7, failure-modes#PL-40
 */
export async function untilReplicated(queries: Queries): Promise<void> {
  await queries.rows(emitMessage, [])
}

/**
 * A transaction whose work may throw because of what it read; that is thrown on only when a fail-over would not make it
 * wrong.
 * @throws DatabaseUnavailable, and what `work` throws
 * @source rules#database.7
 */
export async function refusableTransaction<Result>(
  database: Database,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  try {
    return await database.transaction(work)
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) await untilReplicated(database)
    throw error
  }
}

const begin = statement<[]>('transaction.begin', 'BEGIN')
const commit = statement<[]>('transaction.commit', 'COMMIT')
const rollback = statement<[]>('transaction.rollback', 'ROLLBACK')

async function inTransaction<Result>(
  client: pg.PoolClient,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  await run(client, begin, [])
  let result: Result
  try {
    result = await work({ rows: (query, parameters) => run(client, query, parameters) })
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) await run(client, rollback, [])
    throw error
  }
  const { command } = await send(client, commit, [])
  // PostgreSQL answers a COMMIT after a swallowed error with ROLLBACK.
  if (command !== 'COMMIT') throw new Error(`the transaction was rolled back: COMMIT answered ${command}`)
  return result
}

const BIGINT = 20
const TIMESTAMPTZ = 1184

function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === BIGINT) return BigInt
  if (oid === TIMESTAMPTZ) return (text) => Date.parse(text)
  return pg.types.getTypeParser(oid, format ?? 'text')
}

/** Most instants of a statement are the same one: a batch has one time. */
let latest = { epochMs: Number.NaN, text: '' }

/** Epoch milliseconds as a statement's parameter. */
export function instantParameter(epochMs: number): string {
  if (epochMs !== latest.epochMs) latest = { epochMs, text: new Date(epochMs).toISOString() }
  return latest.text
}

/** The same, or NULL. */
export function instantOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : instantParameter(epochMs)
}
