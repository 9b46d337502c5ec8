import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { migrate } from '../../src/platform/db/migrate.ts'
import { administer, openTestDatabase } from '../support/database.ts'
import { databaseAt, migrateBy } from '../support/migrations.ts'

/** The books of a version before through the migrations of this one. */

const BOOKS = new URL('./books-of-0002.sql', import.meta.url)
/** The last migration of the version before. */
const BEFORE = 6

/** The books end at rest: one payout is as it was when its answer was missing. */
const DISPATCHED = `
  SET session_replication_role = replica;
  UPDATE operation SET status = 'DISPATCHED', due_at = '2026-11-22T05:00:00Z' WHERE external_id = 'finding-6-payout-other'`

interface Column {
  readonly table: string
  readonly column: string
}

/** All but what the code writes of itself with each migration. */
const COLUMNS = `
  SELECT c.table_name AS table, c.column_name AS column
    FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
   WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT IN ('schema_migration', 'allowed_move')
   ORDER BY 1, 2`

test('[DB-44] a migration keeps every byte of what was there, and computes no next step', async (t) => {
  const url = await databaseAt(t, 2)
  // As they were dumped: the tables guarded themselves when it was written.
  await administer(url, `SET session_replication_role = replica; ${await readFile(BOOKS, 'utf8')}`)
  await migrateBy(url, 3, BEFORE)
  await administer(url, DISPATCHED)
  const database = openTestDatabase(url)
  t.after(() => database.close())
  const ask = <Row>(text: string) => database.rows<readonly [], Row>({ name: '', text }, [])

  const columns = await ask<Column>(COLUMNS)
  const history = async () => {
    const tables = Map.groupBy(columns, ({ table }) => table)
    const rows = [...tables].map(async ([table, its]) => {
      const names = its.map(({ column }) => `"${column}"`).join(', ')
      const found = await ask<{ row: string }>(`SELECT (${names})::text AS row FROM "${table}" ORDER BY 1`)
      return [table, found.map(({ row }) => row)] as const
    })
    return Object.fromEntries(await Promise.all(rows))
  }
  const before = await history()
  for (const table of ['operation', 'move', 'entry', 'notification', 'inbox', 'case', 'movement']) {
    assert.notEqual(before[table]?.length ?? 0, 0, `the books have a row in ${table}`)
  }

  await migrate(url, [cashIn, cashOut, refundIn, adjustment])
  for (const [table, rows] of Object.entries(await history())) {
    // Migration 0022 adds a control, 0026 an account.
    const isAdded = (row: string) =>
      (table === 'control' && row.startsWith('(holders,')) || (table === 'account' && row.startsWith('(0,losses,'))
    const kept = rows.filter((row) => !isAdded(row))
    assert.deepEqual(kept, before[table], table)
  }
  assert.deepEqual(await ask('SELECT status, next_step, changes_at FROM operation WHERE due_at IS NOT NULL'), [
    { status: 'DISPATCHED', next_step: null, changes_at: null },
  ])
})
