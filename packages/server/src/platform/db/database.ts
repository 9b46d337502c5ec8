import assert from 'node:assert/strict'
import pg from 'pg'
import { StartupError } from '../startup-error.ts'
import { withBinaryArrays } from './arrays.ts'
import { asUnavailable, DatabaseUnavailable, NoLongerWanted } from './errors.ts'
import { createPoolReports, type PoolReportsOptions } from './pool-reports.ts'

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

/**
 * A database whose keyed statements run elsewhere. PostgreSQL expects ten keys where it is not told how many there are, so that it
 * thinks planning anew for the two or three of an event worth its while, each time: that was a fifth of what an event cost it.
 * @param elsewhere a pool whose plans are generic
 * @source rules#database.8
 */
export function withKeyedStatements(database: Database, elsewhere: Database): Database {
  return {
    ...database,
    rows: (query, parameters, isWanted) => (query.isKeyed ? elsewhere : database).rows(query, parameters, isWanted),
  }
}

/** A connection makes its plans anew after so many statements, then each time that it has sent twice as many … */
const FIRST = 64

/** … and after so many at the latest. */
const AT_LATEST = 1_024

/**
 * How old the plans of a connection are, counted in statements. A prepared statement keeps its plan, and one that was made
 * while a table was small reads it whole: kept for 7,000 cash-ins, it made a batch of 64 moves take 13.6 ms instead of 4.5.
 * The planner knows how large a table is at the time, analysed or not; so all that is wrong with such a plan is its age.
 * @source rules#database.8
 */
export class PlanAge {
  #sent = 0
  #renewAt = FIRST

  /** Counts a statement that was sent. */
  count(): void {
    this.#sent += 1
  }

  /** Whether all plans are to be made anew; they then count as new. */
  isOver(): boolean {
    if (this.#sent < this.#renewAt) return false
    this.#renewAt = this.#sent + Math.min(this.#sent, AT_LATEST)
    return true
  }
}

/**
 * PostgreSQL's setting of that name. `force_generic_plan`: a statement is not planned for each execution, whatever its
 * parameters; right where all of them find their rows by key. Planning the engine's statement anew each time was a third of
 * what a payment cost PostgreSQL at one caller.
 */
export type PlanCacheMode = 'auto' | 'force_generic_plan'

/** Sessions end by themselves when a node is paused or half-open, and never wait long. @source failure-modes#DB-9 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  lock_timeout: '2000',
  idle_in_transaction_session_timeout: '10000',
  // That nobody waits for the standby any more is told by a warning, whatever the database or its role is set to.
  client_min_messages: 'warning',
  client_connection_check_interval: '1000',
  default_transaction_isolation: 'read committed',
  TimeZone: 'UTC',
  // What a plan is thought to cost, on a table that was never analysed, is too rough to compile statements by.
  jit: 'off',
}

/** What a connection asks for when it is made. @param role unset for migrations, which work as the owner */
function sessionOptions(
  role: string | undefined,
  statementTimeoutMs: number,
  planCacheMode: PlanCacheMode = 'auto',
): string {
  const plans = { plan_cache_mode: planCacheMode }
  const ours = { ...SESSION_SETTINGS, ...plans, statement_timeout: String(statementTimeoutMs), role }
  const settings = role === undefined ? plans : ours
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
    .join(' ')
}

interface Settings {
  readonly login: string
  readonly role: string
  /** By name; what nobody knows is missing. */
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
 * Refuses a database whose sessions are not as connections ask for them: a pooler may drop what is asked for, and then nothing
 * ends a session that was left, or the work is done in another role.
 * @param role as which the work is to be done
 * @throws StartupError with what is otherwise, and what to do
 * @source rules#database.14
 */
export async function assertSession(queries: Queries, role: string): Promise<void> {
  const [found] = await queries.rows(selectSettings, [[...Object.keys(SESSION_SETTINGS), 'statement_timeout']])
  if (found === undefined) throw new Error('a session has settings')
  const faults = sessionFaults(found, role)
  if (faults.length > 0) throw new StartupError(`DATABASE_URL: ${faults.join('\n')}`)
}

/** The judgement of {@link assertSession} on settings already read. */
export function sessionFaults({ login, role, settings }: Settings, wantedRole: string): string[] {
  const wanted = Object.entries(SESSION_SETTINGS).filter(([name, value]) => settings[name] !== value)
  // How long differs between connections: that there is an end must not.
  if (settings.statement_timeout === '0') wanted.push(['statement_timeout', '5000'])
  if (role !== wantedRole) wanted.push(['role', wantedRole])
  if (wanted.length === 0) return []
  const found = wanted.map(([name]) => `${name} is ${name === 'role' ? role : (settings[name] ?? 'unset')}`)
  return [
    `what a connection asks for does not hold (${found.join(', ')}). Connect directly, or give the settings to the login, for whose sessions a pooler cannot drop them:`,
    ...wanted.map(([name, value]) => `  ALTER ROLE "${login}" SET ${name} = '${value}';`),
  ]
}

/**
 * A database whose long statements run elsewhere, one at a time and in the order in which they came. Nobody is refused for the
 * length of the queue: each request in it holds a connection of its client, and of these there are so many.
 * @param elsewhere a pool of its own
 * @source rules#lists.4
 */
export function withLongStatements(database: Database, elsewhere: Database): Database {
  let last: Promise<unknown> = Promise.resolve()

  function oneAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work)
    last = result.catch(ignore)
    return result
  }

  return {
    ...database,
    rows: (query, parameters, isWanted) =>
      query.isLong
        ? oneAtATime(() => elsewhere.rows(query, parameters, isWanted))
        : database.rows(query, parameters, isWanted),
  }
}

/** Whoever waits for it is told. */
function ignore(): void {}

/** What node-postgres hands to Node.js for TLS. It shows this to nobody; a test with real servers notices if it moves. */
interface Connecting {
  readonly connection: { ssl: boolean | { rejectUnauthorized?: boolean } }
}

/**
 * A connection that verifies who is there wherever its address asks for TLS and does not say otherwise: node-postgres leaves
 * that to Node.js, and Node.js to `NODE_TLS_REJECT_UNAUTHORIZED`.
 * @source rules#production.6
 */
export class VerifiedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const { connection } = this as unknown as Connecting
    if (connection.ssl === true) connection.ssl = { rejectUnauthorized: true }
    else if (connection.ssl) connection.ssl.rejectUnauthorized ??= true
  }
}
