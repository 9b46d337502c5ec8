import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import pg from 'pg'
import { APPLICATION_ROLE, openDatabase } from '../../../src/platform/db/database.ts'
import { endLockHolders } from '../../../src/platform/db/lock-holders.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { administer, testDatabase } from '../../support/database.ts'
import { as, serverLogin, sessionOf } from '../../support/logins.ts'

const ADD = `INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), now(), 'admin', 'x', 'x', '', '{}')`

/** A server's pool, with a login of its own. */
async function server(t: TestContext) {
  const { url } = await testDatabase(t)
  const own = as(url, await serverLogin(t))
  const { logger, lines } = capturedLog()
  const database = openDatabase({ url: own, name: 'test', connections: 2, logger, role: APPLICATION_ROLE })
  t.after(() => database.close())
  return { url, own, database, logger, lines }
}

test('[audit.11] a session of the server’s login that locks the head of the audit trail is ended and logged', async (t) => {
  const { url, own, database, logger, lines } = await server(t)
  const thief = new pg.Client({ connectionString: own, application_name: 'thief' })
  const ended = new Promise((resolve) => thief.on('error', resolve))
  await thief.connect()
  await thief.query('SET idle_in_transaction_session_timeout = 0')
  await thief.query(`BEGIN; ${ADD}; SET CONSTRAINTS ALL IMMEDIATE`)

  await endLockHolders(database, logger)
  assert.equal(lines.length, 0, 'younger than 15 s')
  await assert.rejects(administer(url, `SET lock_timeout = '50ms'; ${ADD}`), /lock timeout/)
  await endLockHolders(database, logger, 0)
  await ended
  await administer(url, ADD)
  const [line] = lines.filter(({ program }) => program === 'thief')
  assert.equal(line?.level, 'error')
})

const HOLDS: Readonly<Record<string, string>> = {
  'the switch of payouts': 'BEGIN; SELECT FROM control FOR UPDATE',
  'a case': `BEGIN; INSERT INTO "case" (id, kind, reference, opened_at, facts) VALUES (gen_random_uuid(), 'x', 'x', now(), '{}')`,
  'the mark of the statement': 'BEGIN; UPDATE statement_mark SET due_at = now()',
  'what whoever starts waits for': 'BEGIN; SELECT pg_advisory_xact_lock(7046741012)',
  'the same without a transaction': 'SELECT pg_advisory_lock(7046741012)',
}

for (const [what, sql] of Object.entries(HOLDS)) {
  test(`[audit.11] a session that locks ${what} for long is ended and logged`, async (t) => {
    const { own, database, logger, lines } = await server(t)
    const thief = await sessionOf(t, own)
    const ended = new Promise((resolve) => thief.on('error', resolve))
    await thief.query(sql)
    await endLockHolders(database, logger)
    assert.equal(lines.length, 0)
    await endLockHolders(database, logger, 0)
    await ended
    const [line] = lines.filter(({ program }) => program === 'thief')
    assert.equal(line?.level, 'error')
  })
}

test('[audit.11] a login that owns the tables, and migrates them, is not ended for it', async (t) => {
  const { url } = await testDatabase(t)
  const { logger, lines } = capturedLog()
  const database = openDatabase({ url, name: 'test', connections: 1, logger })
  t.after(() => database.close())
  const migration = await sessionOf(t, url, 'migration')
  await migration.query('BEGIN; LOCK TABLE "case"')
  await endLockHolders(database, logger, 0)
  assert.deepEqual(lines, [])
  await migration.query('ROLLBACK')
})

test('[audit.11] a session that reads the audit trail or holds no lock is left alone', async (t) => {
  const { own, database, logger, lines } = await server(t)
  const reader = new pg.Client({ connectionString: own })
  await reader.connect()
  await reader.query('BEGIN; SELECT seq FROM audit_head; SELECT 1 FROM audit')
  await endLockHolders(database, logger, 0)
  assert.deepEqual(lines, [])
  await reader.query('ROLLBACK')
  await reader.end()
})
