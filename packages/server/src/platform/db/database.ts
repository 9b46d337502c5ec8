import assert from 'node:assert/strict'
import pg from 'pg'
import type { Logger } from '../log.ts'
import { andMore, createLogThrottle, type LogThrottle } from '../runtime.ts'
import { StartupError } from '../startup-error.ts'
import { withBinaryArrays } from './arrays.ts'
import { asUnavailable, DatabaseUnavailable, isRefusedWrite, NoLongerWanted } from './errors.ts'

/** PostgreSQL through named statements. Centavos are read as `bigint`, instants as epoch milliseconds. */

/** A SQL statement with the types of its parameters and rows. Prepared once per connection under its name. */
export interface Statement<Parameters extends readonly unknown[], Row> {
  /** `<module>.<verb>`, as logs, profiles and the server's statistics show it. */
  readonly name: string
  readonly text: string
  /** May read much: runs in a pool apart from short statements. */
  readonly isLong?: boolean
  /** Finds all rows by key: planned once, whatever the number of keys. */
  readonly isKeyed?: boolean
  /** Carries the types; never read. */
  readonly types?: (parameters: Parameters) => Row
}

/** PostgreSQL truncates names of prepared statements to this length. */
const NAME_MAX_LENGTH = 63

/**
 * Declares a statement. Used by stores, the engine and `platform/db` only. Its text is constant and never contains
 * input.
 * @source rules#database.12
 * @throws AssertionError when the name exceeds PostgreSQL's length
 */
export function statement<Parameters extends readonly unknown[], Row = never>(
  name: string,
  text: string,
  more: Pick<Statement<Parameters, Row>, 'isLong' | 'isKeyed'> = {},
): Statement<Parameters, Row> {
  assert.ok(name.length <= NAME_MAX_LENGTH, `the name of the statement ${name} is too long`)
  return { name, text, ...more }
}

export interface Queries {
  rows<Parameters extends readonly unknown[], Row>(
    query: Statement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]>
}

export interface Database extends Queries {
  /**
   * @param isWanted called once a connection is free, right before the statement is sent
   * @throws NoLongerWanted when it returned false; nothing was sent
   */
  rows<Parameters extends readonly unknown[], Row>(
    query: Statement<Parameters, Row>,
    parameters: Parameters,
    isWanted?: () => boolean,
  ): Promise<Row[]>
  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws. Never make network calls
   * inside.
   * @throws DatabaseUnavailable when the connection or the commit failed
   */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>
  use(): PoolUse
  /** Waits for running statements, then closes all connections. */
  close(): Promise<void>
}

export interface PoolUse {
  readonly inUse: number
  readonly waiting: number
}

export interface DatabaseOptions extends PoolReportsOptions {
  readonly url: string
  readonly connections: number
  /** Role of the sessions. Unset for migrations, which work as the owner. */
  readonly role?: string
  /** Default: `auto`. */
  readonly planCacheMode?: PlanCacheMode
  /**
   * Reads tables by index, in its order. For queues: without statistics PostgreSQL would choose a bitmap of everything
   * that is due, dead entries included, which only a plain index scan removes.
   */
  readonly isByIndex?: boolean
  /** Statement timeout in milliseconds. Default: 5 s. */
  readonly statementTimeoutMs?: number
  /** Maximum wait for a connection, new or returned by others, in milliseconds. Default: 1 s. */
  readonly connectTimeoutMs?: number
}

/** Role of the running server. It can only append to append-only tables. @source rules#database.13 */
export const APPLICATION_ROLE = 'pixgate_app'

const STATEMENT_TIMEOUT_MS = 5_000

/** Refusing early is better than a queue. */
const CONNECT_TIMEOUT_MS = 1_000

/** Margin after the statement timeout. A later answer means a hanging commit or a lost server. */
const ANSWER_AFTER_MS = 1_000

/** Opens a pool. Connections are made on first use. @source failure-modes#DB-3, failure-modes#DB-4 */
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
    options: sessionOptions(options, statementTimeoutMs),
  })
  const reports = createPoolReports(options)
  pool.on('connect', (client) => {
    // The pending statement gets the error of a broken connection. Without a listener it would also end the process.
    client.on('error', () => undefined)
    const session: Session = { plans: new PlanAge(), onSlow: reports.slow, gaveUpWaiting: false }
    sessions.set(client, session)
    client.on('notice', ({ routine }) => {
      if (routine === STANDBY_WAIT) session.gaveUpWaiting = true
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

/** Lends a connection. Broken ones are closed instead of returned. */
async function withClient<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect().catch((error: Error) => {
    throw new DatabaseUnavailable(error.message, false, { cause: error })
  })
  let broken = false
  try {
    // Discarded here: nothing may come between BEGIN and the settings of a transaction.
    if (sessionOf(client).plans.isOver()) await discardPlans(client)
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

/** Server function that emits the warning about an abandoned wait for the standby, in any language. */
const STANDBY_WAIT = 'SyncRepWaitForLSN'

/** Facts about a connection of a pool. */
interface Session {
  readonly plans: PlanAge
  readonly onSlow: (statement: string, ms: number) => void
  /** Its last commit may exist on one machine only. The connection is not used again. */
  gaveUpWaiting: boolean
}

const sessions = new WeakMap<pg.ClientBase, Session>()

function sessionOf(client: pg.ClientBase): Session {
  const session = sessions.get(client)
  if (session === undefined) throw new Error('the connection is of no pool')
  return session
}

async function send(
  client: pg.PoolClient,
  { name, text }: Statement<never, unknown>,
  parameters: readonly unknown[],
): Promise<pg.QueryResult> {
  const session = sessionOf(client)
  session.plans.count()
  const startedAt = performance.now()
  const result = await client
    .query({ name, text, values: withBinaryArrays(text, parameters) })
    .catch((error) => {
      throw asUnavailable(error)
    })
    .finally(() => session.onSlow(name, performance.now() - startedAt))
  if (session.gaveUpWaiting) throw new DatabaseUnavailable('the wait for the standby was cancelled', true)
  return result
}

const emitMessage = statement<[]>('database.until_replicated', `SELECT pg_logical_emit_message(true, 'pixgate', '')`)

/**
 * Resolves when everything read so far has reached the synchronous standby, if there is one. A commit whose wait was
 * cancelled, or was interrupted by a restart, can be read although a fail-over would lose it. Call this before
 * answering with data that was only read and is not queried again. Commits that write wait by themselves; this is
 * the smallest such commit.
 * @throws DatabaseUnavailable
 * @source rules#database.7, failure-modes#PL-40
 */
export async function untilReplicated(queries: Queries): Promise<void> {
  await queries.rows(emitMessage, [])
}

/**
 * Runs a transaction whose work may refuse because of what it read. The refusal is passed on only after the rows it
 * read are on the standby.
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

/** Caches the last instant: most instants of a batch are equal. */
let latest = { epochMs: Number.NaN, text: '' }

export function instantParameter(epochMs: number): string {
  if (epochMs !== latest.epochMs) latest = { epochMs, text: new Date(epochMs).toISOString() }
  return latest.text
}

export function instantOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : instantParameter(epochMs)
}

/** First renewal of a connection's plans, in statements. Later ones come each time it has sent twice as many … */
const FIRST = 64

/** … and at the latest after this many. */
const AT_LATEST = 1_024

/**
 * Age of a connection's plans, counted in statements. A prepared statement keeps its plan, and a plan made while a
 * table was small scans it: kept for 7,000 cash-ins, it made a batch of 64 moves take 13.6 ms instead of 4.5. The
 * planner knows a table's current size, so renewing the plan by age is enough.
 * @source rules#database.8
 */
export class PlanAge {
  #sent = 0
  #renewAt = FIRST

  count(): void {
    this.#sent += 1
  }

  /** Returns whether to discard all plans, and resets the age if so. */
  isOver(): boolean {
    if (this.#sent < this.#renewAt) return false
    this.#renewAt = this.#sent + Math.min(this.#sent, AT_LATEST)
    return true
  }
}

/**
 * PostgreSQL's `plan_cache_mode`. `force_generic_plan` avoids planning each execution, which suits statements that find
 * all rows by key. Planning the engine's statement each time took a third of PostgreSQL's cost of a payment with one
 * caller.
 */
export type PlanCacheMode = 'auto' | 'force_generic_plan'

/** Ends sessions of paused or half-open nodes and bounds every wait. @source failure-modes#DB-9 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  lock_timeout: '2000',
  idle_in_transaction_session_timeout: '10000',
  // The abandoned wait for the standby is a warning: it must arrive whatever the database or role sets.
  client_min_messages: 'warning',
  client_connection_check_interval: '1000',
  default_transaction_isolation: 'read committed',
  TimeZone: 'UTC',
  // Cost estimates on tables without statistics are too rough to decide on JIT compilation.
  jit: 'off',
}

/** @param role unset for migrations, which work as the owner */
const BY_INDEX = { enable_seqscan: 'off', enable_bitmapscan: 'off' } as const

function sessionOptions(
  { role, planCacheMode = 'auto', isByIndex = false }: DatabaseOptions,
  statementTimeoutMs: number,
): string {
  const plans = { plan_cache_mode: planCacheMode, ...(isByIndex && BY_INDEX) }
  const ours = { ...SESSION_SETTINGS, ...plans, statement_timeout: String(statementTimeoutMs), role }
  const settings = role === undefined ? plans : ours
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
    .join(' ')
}

interface Settings {
  readonly login: string
  readonly role: string
  /** By name; settings unknown to the server are missing. */
  readonly settings: Readonly<Record<string, string>>
}

const selectSettings = statement<[names: readonly string[]], Settings>(
  'session.settings',
  `SELECT session_user::text AS login, current_user::text AS role,
          (SELECT coalesce(json_object_agg(n.name, coalesce(s.setting, current_setting(n.name, true))), '{}')
             FROM unnest($1::text[]) AS n (name)
             LEFT JOIN pg_settings s ON s.name = n.name) AS settings`,
)

/**
 * Refuses a database whose sessions lack the requested settings. A pooler may drop them, and then abandoned sessions
 * never end, or work runs under another role.
 * @param role of the sessions
 * @throws StartupError with the differences and how to mend them
 * @source rules#database.14
 */
export async function assertSession(queries: Queries, role: string): Promise<void> {
  const [found] = await queries.rows(selectSettings, [[...Object.keys(SESSION_SETTINGS), 'statement_timeout']])
  if (found === undefined) throw new Error('the session returned no settings')
  const faults = sessionFaults(found, role)
  if (faults.length > 0) throw new StartupError(`DATABASE_URL: ${faults.join('\n')}`)
}

export function sessionFaults({ login, role, settings }: Settings, wantedRole: string): string[] {
  const wanted = Object.entries(SESSION_SETTINGS).filter(([name, value]) => settings[name] !== value)
  // The time-out differs between connections; it only must not be unlimited.
  if (settings.statement_timeout === '0') wanted.push(['statement_timeout', '5000'])
  if (role !== wantedRole) wanted.push(['role', wantedRole])
  if (wanted.length === 0) return []
  const found = wanted.map(([name]) => `${name} is ${name === 'role' ? role : (settings[name] ?? 'unset')}`)
  return [
    `the session lacks settings that the connection requested (${found.join(', ')}). Connect directly, or set them on the login, where a pooler cannot drop them:`,
    ...wanted.map(([name, value]) => `  ALTER ROLE "${login}" SET ${name} = '${value}';`),
  ]
}

/**
 * Sends two kinds of statements to other pools.
 *
 * Keyed ones run with generic plans: with unknown array lengths PostgreSQL assumes ten keys and re-plans each execution
 * for the two or three of an event, which took a fifth of an event's cost. Long ones run one at a time and in order.
 * Their queue has no limit: each request in it holds a client connection, and the number of these is capped.
 * @param keyed a pool with generic plans
 * @param long a pool of its own
 * @source rules#database.8, rules#lists.4
 */
export function withPools(database: Database, { keyed, long }: { readonly keyed: Database; readonly long: Database }) {
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work)
    // The caller gets the error.
    last = result.catch(() => undefined)
    return result
  }

  const rows: Database['rows'] = (query, parameters, isWanted) => {
    if (query.isLong) return inTurn(() => long.rows(query, parameters, isWanted))
    return (query.isKeyed ? keyed : database).rows(query, parameters, isWanted)
  }
  return { ...database, rows }
}

/** TLS settings of node-postgres, which are not public. A test with real servers notices when they move. */
interface Connecting {
  readonly connection: { ssl: boolean | { rejectUnauthorized?: boolean } }
}

/**
 * Verifies the server's certificate whenever the address asks for TLS and does not say otherwise. node-postgres leaves
 * that to Node.js, and Node.js to `NODE_TLS_REJECT_UNAUTHORIZED`.
 * @source rules#production.6
 */
class VerifiedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const { connection } = this as unknown as Connecting
    if (connection.ssl === true) connection.ssl = { rejectUnauthorized: true }
    else if (connection.ssl) connection.ssl.rejectUnauthorized ??= true
  }
}

/**
 * Runs `work` on a connection outside the pools.
 * @param signal ends the connection, also while it is being made
 */
export async function withConnection<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted()
  const client = new VerifiedClient({ connectionTimeoutMillis: 5_000, ...config })
  // The pending query rejects; without a listener the error would also end the process.
  client.on('error', () => undefined)
  const ending = Promise.withResolvers<never>()
  // Without this, an abort after the connection would be an unhandled rejection.
  ending.promise.catch(() => undefined)
  const end = () => {
    void client.end().catch(() => undefined)
    ending.reject(signal?.reason)
  }
  signal?.addEventListener('abort', end)
  try {
    // A client that is ended while connecting never settles.
    await Promise.race([client.connect(), ending.promise])
    return await work(client)
  } finally {
    signal?.removeEventListener('abort', end)
    await client.end()
  }
}

export interface PoolReportsOptions {
  /** Name of the pool in the log, and after «pixgate» in `pg_stat_activity`. */
  readonly name: string
  readonly logger: Logger
  readonly slowAfterMs?: number
  /** Called for each slow statement. Must not throw. */
  readonly onSlowStatement?: (statement: string, ms: number) => void
  readonly throttle?: LogThrottle
}

/** @source rules#logs.3 */
const SLOW_AFTER_MS = 500

/**
 * Logs of a pool, each kind at once and then once a minute: database unavailable with the reason, available again, slow
 * statements.
 * @source rules#logs.3
 */
function createPoolReports(options: PoolReportsOptions) {
  const { logger, name, slowAfterMs = SLOW_AFTER_MS, onSlowStatement, throttle = createLogThrottle() } = options
  const pool = { pool: name }
  let isAway = false

  function away(error: DatabaseUnavailable): void {
    const { message: reason, sent } = error
    // A database that refuses writes still answers.
    if (!isRefusedWrite(error)) isAway = true
    const sentence = sentenceOf(error)
    throttle.report(`${sent} ${reason}`, (more) => logger.error({ ...pool, reason }, sentence + andMore(more)))
  }
  function back(): void {
    if (!isAway) return
    isAway = false
    throttle.report('back', (more) => {
      // A delayed report must still be true.
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
      throttle.report(`idle ${reason}`, (more) =>
        logger.warn({ ...pool, reason }, `an idle database connection was lost${andMore(more)}`),
      ),
    /** Duration of a statement without waiting for a connection. Includes a transaction's COMMIT. */
    slow: (statement: string, ms: number): void => {
      if (ms <= slowAfterMs) return
      onSlowStatement?.(statement, ms)
      throttle.report(`slow ${moduleAndVerb(statement)}`, (more) =>
        logger.warn(
          { statement, ...pool, ms: Math.round(ms) },
          `a statement took long; others may wait for it${andMore(more)}`,
        ),
      )
    },
  }
}

function sentenceOf(error: DatabaseUnavailable): string {
  if (isRefusedWrite(error)) return 'the database refuses writes; every request that changes data is refused'
  return error.sent ? 'the database was asked, and its answer was lost' : 'the database cannot be asked'
}

/** The first two parts of a statement's name. The engine's names also list the parts of a batch. */
export function moduleAndVerb(statement: string): string {
  return statement.split('.').slice(0, 2).join('.')
}
