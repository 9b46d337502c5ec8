import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { cashIn, cashOut, machine, refundIn } from '@pixgate/spec'
import pg from 'pg'
import { APPLICATION_ROLE } from '../../../src/platform/db/database.ts'
import {
  type Migration,
  migrate,
  missingFromSchema,
  readMigrations,
  SCHEMA,
  type SchemaFault,
} from '../../../src/platform/db/migrate.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { administer, openTestDatabase, testDatabase } from '../../support/database.ts'
import { emptyDatabase } from '../../support/empty-database.ts'
import { openHolder } from '../../support/waiting-backends.ts'

const MACHINES = [cashIn, cashOut, refundIn]

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const tables = async (url: string) =>
  (
    await query<{ name: string }>(
      url,
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
    )
  ).map(({ name }) => name)

/** The schema and made-up migrations. */
async function withMigrations(...sqls: readonly string[]): Promise<Migration[]> {
  const migrations = sqls.map((sql, index) => ({ version: index + 1, name: `000${index + 1}-made-up.sql`, sql }))
  return [...(await readMigrations()), ...migrations]
}

/** All that a refused process could have changed. */
async function contentsOf(url: string) {
  const rows = (table: string) => query(url, `SELECT * FROM "${table}" ORDER BY 1`)
  return Object.fromEntries(await Promise.all((await tables(url)).map(async (table) => [table, await rows(table)])))
}

test('[DB-11] of many processes that start at the same moment one makes the schema and all go on', async (t) => {
  const url = await emptyDatabase(t)
  const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(url, MACHINES)))
  assert.deepEqual(
    applied.filter((names) => names.length > 0),
    [[SCHEMA]],
  )
  assert.deepEqual(await migrate(url, MACHINES), [])
  assert.ok((await tables(url)).includes('operation'))
})

test('[DB-11] migrations are applied once, in their order, to a new database and to one that has the schema', async (t) => {
  const migrations = await withMigrations(
    'CREATE TABLE made_up (b integer)',
    'ALTER TABLE made_up ADD COLUMN a integer',
  )
  const names = ['0001-made-up.sql', '0002-made-up.sql']
  const empty = await emptyDatabase(t)
  assert.deepEqual(await migrate(empty, MACHINES, { migrations }), [SCHEMA, ...names])
  assert.deepEqual(await migrate(empty, MACHINES, { migrations }), [])
  const { url, database } = await testDatabase(t)
  assert.deepEqual(await missingFromSchema(database, MACHINES, migrations), names)
  assert.deepEqual(await migrate(url, MACHINES, { migrations }), names)
  assert.deepEqual(await missingFromSchema(database, MACHINES, migrations), [])
  assert.ok((await tables(url)).includes('made_up'))
})

test('[DB-11] [database.9] waiting for the migration of another process is logged after two seconds, then each minute', async (t) => {
  const url = await emptyDatabase(t)
  const holder = await openHolder(url)
  await holder.hold('SELECT pg_advisory_xact_lock(7046741001)')
  const { logger, lines } = capturedLog()
  const timers: { ms: number; run: () => void; isOff: boolean }[] = []
  const start = (ms: number, run: () => void) => {
    const timer = { ms, run, isOff: false }
    timers.push(timer)
    return () => {
      timer.isOff = true
    }
  }
  const migrating = migrate(url, MACHINES, { logger, start })
  await holder.waiting(1)
  assert.deepEqual(lines, [])
  timers[0]?.run()
  timers[1]?.run()
  const waiting = 'another process is bringing the schema up to date; waiting for it'
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ['info', waiting],
      ['info', waiting],
    ],
  )
  await holder.release()
  assert.ok((await migrating).length > 0)
  assert.deepEqual(
    timers.map(({ ms, isOff }) => [ms, isOff]),
    [
      [2_000, false],
      [60_000, false],
      [60_000, true],
    ],
  )
})

/** Both ways of looking refuse a database with that code, and change nothing there. */
async function assertRefused(url: string, code: SchemaFault, migrations?: readonly Migration[]): Promise<void> {
  const before = await contentsOf(url)
  const database = openTestDatabase(url)
  try {
    await assert.rejects(migrate(url, MACHINES, { ...(migrations && { migrations }) }), { name: 'SchemaError', code })
    await assert.rejects(missingFromSchema(database, MACHINES, migrations), { name: 'SchemaError', code })
  } finally {
    await database.close()
  }
  assert.deepEqual(await contentsOf(url), before)
}

test('[DB-11] a database of a newer version is refused', async (t) => {
  const { url } = await testDatabase(t)
  await migrate(url, MACHINES, { migrations: await withMigrations('CREATE TABLE made_up (b integer)') })
  await assertRefused(url, 'NEWER_DATABASE')
})

test('[DB-11] a migration that was edited after it was applied is refused', async (t) => {
  const { url } = await testDatabase(t)
  await migrate(url, MACHINES, { migrations: await withMigrations('CREATE TABLE made_up (b integer)') })
  await assertRefused(url, 'EDITED_MIGRATION', await withMigrations('CREATE TABLE made_up (b bigint)'))
})

test('[DB-11] [database.15] a database that other files of the schema made is refused, and keeps all it has', async (t) => {
  const url = await emptyDatabase(t)
  const [schema, ...migrations] = await readMigrations()
  assert.ok(schema)
  await migrate(url, MACHINES, { migrations: [{ ...schema, sql: `${schema.sql}\n-- edited since` }, ...migrations] })
  await assertRefused(url, 'UNRELEASED_DATABASE')
})

test('[DB-11] [database.15] a database of numbered migrations, from before there was a schema, is refused, and keeps all it has', async (t) => {
  const url = await emptyDatabase(t)
  await administer(
    url,
    `CREATE TABLE schema_migration (version integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL,
                                    applied_at timestamptz NOT NULL DEFAULT now());
     INSERT INTO schema_migration (version, name, hash) VALUES (1, '0001-foundation.sql', 'x');
     CREATE TABLE operation (id integer);
     INSERT INTO operation VALUES (7);
     GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${APPLICATION_ROLE}`,
  )
  await assertRefused(url, 'UNRELEASED_DATABASE')
})

test('[DB-11] a schema or a migration that fails leaves nothing behind', async (t) => {
  const url = await emptyDatabase(t)
  await administer(url, 'CREATE TABLE audit (mine integer)')
  await assert.rejects(migrate(url, MACHINES), { code: '42P07' })
  assert.deepEqual(await tables(url), ['audit'])
  await administer(url, 'DROP TABLE audit')
  const migrations = await withMigrations('CREATE TABLE made_up (b integer)', 'CREATE TABLE made_up (b integer)')
  await assert.rejects(migrate(url, MACHINES, { migrations }), { code: '42P07' })
  assert.deepEqual(await tables(url), [])
  assert.deepEqual(await migrate(url, MACHINES), [SCHEMA])
})

test('[engine.10] the guard knows every move of the tables; a later version only adds to them', async (t) => {
  const url = await emptyDatabase(t)
  await migrate(url, [cashIn])
  const moves = async () => {
    const rows = await query<{ kind: string; from_status: string | null; to_status: string }>(
      url,
      'SELECT * FROM allowed_move',
    )
    return rows.map(({ kind, from_status, to_status }) => `${kind} ${from_status} ${to_status}`)
  }
  const expected = new Set(cashIn.rows.map(({ from, to }) => `cash_in ${from} ${to}`))
  assert.deepEqual(new Set(await moves()), expected)
  assert.equal((await moves()).length, expected.size)
  await migrate(url, [cashIn])
  assert.equal((await moves()).length, expected.size)
  const next = machine({
    resource: 'cash_in',
    states: ['PENDING', 'BLOCKED'],
    meanings: { PENDING: 'It is open.', BLOCKED: 'It is not.' },
    reasons: {},
    triggers: ['block'],
    guards: {},
    lines: [{ from: 'PENDING', on: 'block', to: 'BLOCKED', rule: 'cash-in.states.1', says: 'It is blocked.' }],
  })
  await migrate(url, [next])
  assert.deepEqual(new Set(await moves()), new Set([...expected, 'cash_in PENDING BLOCKED']))
})

test('[database.1] a role that may not create roles migrates where an administrator made the application’s', async (t) => {
  const cluster = process.env.PIXGATE_TEST_DATABASE_URL ?? ''
  const owner = { role: `owner_${randomBytes(8).toString('hex')}`, password: 'secret' }
  await administer(cluster, `CREATE ROLE ${owner.role} LOGIN PASSWORD '${owner.password}'`)
  await administer(cluster, `GRANT ${APPLICATION_ROLE} TO ${owner.role}`)
  const url = await emptyDatabase(t, owner)
  t.after(() => administer(cluster, `DROP ROLE ${owner.role}`))
  assert.ok((await migrate(url, MACHINES)).length > 0)
})

test('[database.16] a migration sets what a dump does not have', async (t) => {
  const url = await emptyDatabase(t)
  await migrate(url, MACHINES)
  const database = `"${new URL(url).pathname.slice(1)}"`
  await query(url, `GRANT TEMPORARY ON DATABASE ${database} TO PUBLIC; ALTER DATABASE ${database} RESET ALL`)
  await migrate(url, MACHINES)
  const [{ isTemporary, timeout } = assert.fail()] = await query<{ isTemporary: boolean; timeout: string }>(
    url,
    `SELECT has_database_privilege('${APPLICATION_ROLE}', current_database(), 'TEMPORARY') AS "isTemporary",
            current_setting('idle_in_transaction_session_timeout') AS timeout`,
  )
  assert.deepEqual([isTemporary, timeout], [false, '1min'])
})

test('[database.10] no function of ours looks into a schema that its caller can write, and nobody makes temporary tables', async (t) => {
  const url = await emptyDatabase(t)
  await migrate(url, MACHINES)
  const open = await query<{ name: string }>(
    url,
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = 'public' AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=public, pg_temp']
        -- A body that was parsed at the creation looks nothing up.
        AND p.prosqlbody IS NULL`,
  )
  assert.deepEqual(open, [], 'a new function is made with SET search_path = public, pg_temp')
  await assert.rejects(
    asApplication(url, 'CREATE TEMPORARY TABLE batch (id uuid)'),
    /permission denied to create temporary/,
  )
})

const APPEND_ONLY = ['move', 'entry', 'audit', 'audit_chain', 'audit_anchor', 'delivery_attempt', 'movement']

/** Its rows are looked at one by one, and go once they are old: see retention/deliveries. */
const ERASED_IN_TIME = 'delivery_attempt'

for (const table of [...APPEND_ONLY, 'inbox', 'inbox_event', 'statement_entry']) {
  test(`[engine.10] ${table} is only ever added to: its rows are neither removed nor rewritten, by anybody`, async (t) => {
    const { url } = await testDatabase(t)
    const column =
      table === 'inbox'
        ? 'body'
        : (
            await query<{ name: string }>(
              url,
              `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum = 2`,
            )
          )[0]?.name
    const attempts = [`UPDATE ${table} SET ${column} = ${column}`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]
    for (const sql of attempts) {
      const isByRow = table === ERASED_IN_TIME && sql.startsWith('DELETE')
      if (!isByRow) await assert.rejects(query(url, sql), /is append-only|is never changed/, `the owner: ${sql}`)
      await assert.rejects(asApplication(url, sql), /permission denied/, `the server: ${sql}`)
    }
  })
}

function asApplication(url: string, sql: string): Promise<unknown> {
  const address = new URL(url)
  address.searchParams.set('options', `-c role=${APPLICATION_ROLE}`)
  return query(address.href, sql)
}

const KEPT_AS_SAID = {
  inbox: ['id', 'endpoint', 'body', 'is_proven', 'received_at'],
  inbox_event: ['inbox_id', 'ordinal', 'dedupe_key', 'content_hash'],
  statement_entry: ['direction', 'id', 'kind', 'end_to_end_id', 'reference', 'value_cents', 'occurred_at', 'seen_at'],
}

test('[engine.10] [statement.4] reports of the bank are stored unchanged', async (t) => {
  const { url } = await testDatabase(t)
  for (const [table, columns] of Object.entries(KEPT_AS_SAID)) {
    for (const column of columns) {
      const sql = `UPDATE ${table} SET ${column} = ${column}`
      await assert.rejects(query(url, sql), /never changed/, sql)
      await assert.rejects(asApplication(url, sql), /permission denied/, sql)
    }
  }
  await asApplication(url, `UPDATE inbox_event SET state = 'DONE', outcome = 'x', due_at = NULL`)
  await asApplication(url, `UPDATE statement_entry SET outcome = 'KEPT', settled_at = now()`)
})

test('[ledger.movements] a movement has an id and an amount', async (t) => {
  const { url } = await testDatabase(t)
  const book = (id: string, cents: number) =>
    asApplication(url, `INSERT INTO movement VALUES ('in', '${id}', gen_random_uuid(), ${cents})`)
  for (const [id, cents] of [
    ['', 1],
    ['E1', 0],
    ['E1', -1],
  ] as const)
    await assert.rejects(book(id, cents), /check constraint/, `${id} ${cents}`)
  await book('E1', 1)
})

test('[engine.10] the server may delete nothing, define nothing, and rewrite nothing that was agreed', async (t) => {
  const { url } = await testDatabase(t)
  for (const table of await tables(url)) {
    for (const privilege of ['DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']) {
      const [row] = await query<{ may: boolean }>(
        url,
        `SELECT has_table_privilege('${APPLICATION_ROLE}', '"${table}"', '${privilege}') AS may`,
      )
      assert.equal(row?.may, false, `${privilege} on ${table}`)
    }
  }
  const forbidden = [
    'CREATE TABLE mine (a integer)',
    'ALTER TABLE operation ADD COLUMN mine integer',
    'ALTER TABLE move DISABLE TRIGGER ALL',
    'DROP TABLE audit',
    "INSERT INTO allowed_move VALUES ('cash_in', 'PAID', 'PENDING')",
    'INSERT INTO account (id, code) VALUES (9, $$mine$$)',
    'UPDATE operation SET value_cents = 1',
    'UPDATE operation SET detail = detail',
    'UPDATE operation SET external_id = external_id',
    'UPDATE notification SET body = body',
    'UPDATE "case" SET kind = kind',
    'UPDATE "case" SET reference = reference',
    'UPDATE credential SET hash = hash',
    'UPDATE batch SET outcome = outcome',
    'DELETE FROM batch',
    'UPDATE signing_key SET private_key = private_key',
    'UPDATE webhook_secret SET secret = secret',
    'UPDATE webhook_secret SET endpoint_id = endpoint_id',
    'UPDATE schema_migration SET hash = hash',
    'SET ROLE postgres',
  ]
  for (const sql of forbidden)
    await assert.rejects(asApplication(url, sql), /permission denied|must be owner|does not exist/, sql)
})
