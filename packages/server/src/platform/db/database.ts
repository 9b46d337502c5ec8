import assert from 'node:assert/strict'
import pg from 'pg'
import { andMore, createHeartbeat, type Heartbeat } from '../heartbeat.ts'
import type { Logger } from '../log.ts'
import { PlanAge } from './plan-age.ts'
import { type PlanCacheMode, sessionOptions } from './session.ts'

/**
 * PostgreSQL, spoken to in named statements. Centavos come back as `bigint`, instants as epoch milliseconds.
 */

/** One SQL statement with the types of its parameters and rows. Prepared once per connection under its name. */
export interface Statement<Parameters extends readonly unknown[], Row> {
  /** `<module>.<verb>`; what a log, a profile and the server's statistics show. */
  readonly name: string
  readonly text: string
  /** Carries the types; never read. */
  readonly types?: (parameters: Parameters) => Row
}

/** PostgreSQL tells prepared statements apart by this many characters of their names. */
const NAME_MAX_LENGTH = 63

/**
 * Declares a statement. Only stores, the engine and `platform/db` do.
 * @throws AssertionError where the name is too long to be told from others
 */
export function statement<Parameters extends readonly unknown[], Row = never>(
  name: string,
  text: string,
): Statement<Parameters, Row> {
  assert.ok(name.length <= NAME_MAX_LENGTH, `the name of the statement ${name} is too long`)
  return { name, text }
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

/**
 * The database did not answer, or its answer was lost.
 * @source failure-modes#DB-2
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  /** `false`: nothing happened, no connection could be had or the server refused. `true`: what was sent may or may not have happened. */
  readonly sent: boolean

  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.sent = sent
  }
}

/** What a statement was for came to nothing while it waited for a connection. It was not sent. */
export class NoLongerWanted extends Error {
  override readonly name = 'NoLongerWanted'
}

/** How a pool is made. */
export interface DatabaseOptions {
  readonly url: string
  /** Of the pool, in the log; behind «pixgate» in `pg_stat_activity`. */
  readonly name: string
  readonly connections: number
  readonly logger: Logger
  /** The role to work as; unset for migrations, which work as the owner. */
  readonly role?: string
  /** `auto` unless given. */
  readonly planCacheMode?: PlanCacheMode
  /** A statement that took longer than so many milliseconds is reported. */
  readonly slowAfterMs?: number
  /** Is told of it, by its name. Throws nothing. */
  readonly onSlowStatement?: (statement: string, ms: number) => void
  readonly heartbeat?: Heartbeat
}

/** @source rules#logs.3 */
const SLOW_AFTER_MS = 500

/** The role of the running server: it can only add to what is append-only. */
export const APPLICATION_ROLE = 'pixgate_app'

/** Longer than the server lets a statement run: what takes longer still is a commit that hangs, or a lost server. */
const ANSWER_WITHIN_MS = 6_000

/**
 * Opens a pool. Connections are made when they are first needed.
 * @source failure-modes#DB-3, failure-modes#DB-4
 */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: `pixgate ${options.name}`,
    max: options.connections,
    connectionTimeoutMillis: 1_000,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    idleTimeoutMillis: 0,
    types: { getTypeParser },
    options: sessionOptions(options.role, options.planCacheMode),
  })
  const reports = createReports(options)
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

/**
 * What a pool has to say, of each kind once and then each minute: that its database is away and why, that it is back, and
 * what took long.
 * @source rules#logs.3
 */
function createReports({ logger, name, slowAfterMs, onSlowStatement, heartbeat = createHeartbeat() }: DatabaseOptions) {
  const pool = { pool: name }
  let isAway = false

  function away(error: DatabaseUnavailable): void {
    const { message: reason, sent } = error
    // What refuses writes goes on answering.
    if (!isRefusedWrite(error)) isAway = true
    const sentence = sentenceOf(error)
    heartbeat.report(`${sent} ${reason}`, (more) => logger.error({ ...pool, reason }, sentence + andMore(more)))
  }
  function back(): void {
    if (!isAway) return
    isAway = false
    heartbeat.report('back', (more) => {
      // What is said later than it was seen must still be true.
      if (!isAway) logger.info(pool, `the database answers again${andMore(more)}`)
    })
  }
  return {
    ofAnswer: async <Result>(answer: Promise<Result>): Promise<Result> => {
      try {
        const result = await answer
        back()
        return result
      } catch (error) {
        if (error instanceof DatabaseUnavailable) away(error)
        else if (error instanceof pg.DatabaseError) back()
        throw error
      }
    },
    idleLost: ({ message: reason }: Error) =>
      heartbeat.report(`idle ${reason}`, (more) =>
        logger.warn({ ...pool, reason }, `an idle database connection was lost${andMore(more)}`),
      ),
    /** How long statements take that did not wait: a transaction's COMMIT among them. */
    slow: (statement: string, ms: number): void => {
      if (ms <= (slowAfterMs ?? SLOW_AFTER_MS)) return
      onSlowStatement?.(statement, ms)
      heartbeat.report(`slow ${moduleAndVerb(statement)}`, (more) =>
        logger.warn(
          { statement, ...pool, ms: Math.round(ms) },
          `a statement took long; others may wait for it${andMore(more)}`,
        ),
      )
    },
  }
}

function sentenceOf(error: DatabaseUnavailable): string {
  if (isRefusedWrite(error)) return 'the database refuses writes; whatever would change anything is refused'
  return error.sent ? 'the database was asked, and its answer was lost' : 'the database cannot be asked'
}

/** What a statement is: the engine's names have the parts of a batch besides. */
export function moduleAndVerb(statement: string): string {
  return statement.split('.').slice(0, 2).join('.')
}

/** SQLSTATEs that say of a database that answers that it cannot be written: read-only, disk full, no permission. */
const WRITES_REFUSED = /^(25006|53100|42501)/

/** Whether the database refused to write, whatever was to be written. */
export function isRefusedWrite(error: unknown): boolean {
  const { code } = databaseError(error) ?? databaseError((error as Error | undefined)?.cause) ?? {}
  return WRITES_REFUSED.test(code ?? '')
}

/** Whether something failed because the database did not answer, which its pool has said already. */
export function isOfUnavailability(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  return error instanceof Error && error.cause instanceof DatabaseUnavailable
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
    .query({ name, text, values: [...parameters] })
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

/** SQLSTATE classes that end a connection rather than a statement. */
const CONNECTION_LOST = /^(08|57P0)/

/** The statement was not carried out because the server cannot now: out of resources, read-only, out of time. */
const CANNOT_NOW = /^(53|25006|57014)/

/** An error of the connection becomes {@link DatabaseUnavailable}; one of the statement stays what it is. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof pg.DatabaseError) {
    if (CANNOT_NOW.test(error.code ?? '')) return new DatabaseUnavailable(message, false, { cause: error })
    if (!CONNECTION_LOST.test(error.code ?? '')) return error
  }
  return new DatabaseUnavailable(message, true, { cause: error })
}

/** serialization_failure, deadlock_detected, lock_not_available. */
const RETRYABLE_CONFLICTS = new Set(['40001', '40P01', '55P03'])

/** Whether a statement gave way to others: it changed nothing, and may simply be sent again. */
export function isRetryableConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && RETRYABLE_CONFLICTS.has(error.code ?? '')
}

/** SQLSTATE and constraint of an error the database gave, or `undefined` for any other. */
export function databaseError(error: unknown): { code: string; constraint: string | undefined } | undefined {
  return error instanceof pg.DatabaseError ? { code: error.code ?? '', constraint: error.constraint } : undefined
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
