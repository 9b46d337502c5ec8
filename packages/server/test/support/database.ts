import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { APPLICATION_ROLE, type Database, openDatabase, statement } from '../../src/platform/db/database.ts'
import { until } from './until.ts'

/** Name of the migrated database that is cloned. */
export const TEMPLATE = 'pixgate_template'

/** A real, migrated, empty database that only this test uses. */
export interface TestDatabase {
  /** As the owner, who may do anything. */
  readonly url: string
  /** As the running server sees it. */
  readonly database: Database
}

/** Databases of earlier tests of this process, emptied. */
const spare: string[] = []

/**
 * A database for this test alone: one that an earlier test of this process gave back, or a clone of the template. It is
 * emptied when the test ends, or dropped where the test changed more than rows.
 */
export async function testDatabase(t: TestContext): Promise<TestDatabase> {
  const name = spare.pop() ?? (await cloneTemplate())
  const url = new URL(clusterUrl())
  url.pathname = `/${name}`
  const database = openTestDatabase(url.href)
  t.after(async () => {
    await database.close()
    if (await emptied(url.href)) spare.push(name)
    else await administer(clusterUrl(), `DROP DATABASE ${name} WITH (FORCE)`)
  })
  return { url: url.href, database }
}

/** Address of the cluster that the test run shares. */
function clusterUrl(): string {
  const url = process.env.PIXGATE_TEST_DATABASE_URL
  if (url === undefined) throw new Error('no database cluster: run the tests with `npm test`')
  return url
}

async function cloneTemplate(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  // The default strategy flushes each copied file, in two checkpoints that also flush the writes of all other tests.
  await administer(clusterUrl(), `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY wal_log`)
  // A clone does not inherit the rights of a database: set as the schema sets them.
  await administer(clusterUrl(), `REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`)
  return name
}

/** Gives a database back the rows of the template. @returns false where it has to be dropped */
async function emptied(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                         WHERE datname = current_database() AND pid <> pg_backend_pid()`)
    const { rows } = await client.query('SELECT template.restore_rows() AS "isRestored"')
    return rows[0].isRestored
  } catch (error) {
    // The test left a database that accepts no connections.
    if (error instanceof pg.DatabaseError) return false
    throw error
  } finally {
    await client.end()
  }
}

/** Tests queue thousands of statements for a few connections, on machines that have other work. */
const PATIENT_MS = 20_000

/** Another pool on a test's database, as another process would have. */
export function openTestDatabase(url: string, connections = 4, connectTimeoutMs = PATIENT_MS): Database {
  return openDatabase({
    url,
    name: 'test',
    connections,
    logger: pino({ level: 'silent' }),
    role: APPLICATION_ROLE,
    connectTimeoutMs,
  })
}

/** Runs one statement as the cluster's owner. */
export async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Resolves when nobody of that name, as `LIKE` reads it, is connected to a database any more. */
export async function connectionsEnd(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const connected = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE $1 AND application_name <> 'pixgate test'`
  await until(async () => (await client.query(connected, [name])).rowCount === 0)
  await client.end()
}

/** The plan that PostgreSQL makes of a statement for any values: the one that is kept. */
export async function planOf(url: string, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN) ${text}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    await client.end()
  }
}

/** A database that is asked nothing: it notes the statements. */
export function notingTexts(database: Database) {
  const texts: string[] = []
  const noting: Database = {
    ...database,
    rows: async ({ text }) => {
      texts.push(text)
      return []
    },
  }
  return { texts, noting }
}

/** Makes a table of operations large at once, as only its size matters. */
export const MANY_OPERATIONS = statement<[]>(
  'test.many_operations',
  `INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail,
                          facts, transaction_id, end_to_end_id, created_at, updated_at)
   SELECT gen_random_uuid(), (ARRAY['cash_in', 'cash_out', 'refund_in'])[1 + n % 3], n::text, md5(n::text), 'PENDING', 1, 100, 0, n::text,
          '', '{}', '{}', n::text, n::text, now(), now()
     FROM generate_series(1, 2000) n`,
)

/** Steps of operators towards decisions, in their order, and what tells the cases apart. */
export async function caseStepsOf(database: Database) {
  const steps = await database.rows(selectCaseSteps, [])
  const cases = (await database.rows(selectCaseReferences, [])).map(({ reference }) => reference)
  return { steps, cases }
}

const selectCaseSteps = statement<[], { id: string; step: string; amount_cents: bigint }>(
  'test.case_steps',
  'SELECT id, step, amount_cents FROM case_step ORDER BY id',
)

const selectCaseReferences = statement<[], { reference: string }>(
  'test.case_references',
  'SELECT reference FROM "case" ORDER BY opened_at, id',
)

const selectInboxKeys = statement<[], { key: string }>(
  'test.inbox_keys',
  'SELECT dedupe_key AS key FROM inbox_event ORDER BY inbox_id, ordinal',
)

/** The key of every event of the bank, in the order of their callbacks' ids. */
export async function inboxKeys(database: Database): Promise<string[]> {
  return (await database.rows(selectInboxKeys, [])).map(({ key }) => key)
}
