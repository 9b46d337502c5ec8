import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { endHeadHolders } from '../../src/audit/head-holders.ts'
import { APPLICATION_ROLE, openDatabase } from '../../src/platform/db/database.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, testDatabase } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'

const ADD = `INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), now(), 'admin', 'x', 'x', '', '{}')`

test('[audit.11] a session of the server’s login that holds the head of the trail is ended and told, and rows can be added again', async (t) => {
  const { url } = await testDatabase(t)
  const stolen = as(url, await serverLogin(t))
  const { logger, lines } = capturedLog()
  const database = openDatabase({ url: stolen, name: 'test', connections: 2, logger, role: APPLICATION_ROLE })
  t.after(() => database.close())
  const thief = new pg.Client({ connectionString: stolen, application_name: 'thief' })
  const ended = new Promise((resolve) => thief.on('error', resolve))
  await thief.connect()
  await thief.query('SET idle_in_transaction_session_timeout = 0')
  await thief.query(`BEGIN; ${ADD}; SET CONSTRAINTS ALL IMMEDIATE`)

  await endHeadHolders(database, logger)
  assert.equal(lines.length, 0, 'younger than 15 s')
  await assert.rejects(administer(url, `SET lock_timeout = '50ms'; ${ADD}`), /lock timeout/)
  await endHeadHolders(database, logger, 0)
  await ended
  await administer(url, ADD)
  const [line] = lines.filter(({ program }) => program === 'thief')
  assert.equal(line?.level, 'error')
  assert.match(String(line?.msg), /^a session with our own login held the audit trail/)
})

test('[audit.11] whoever reads the trail, or waits in a transaction without its head, is left alone', async (t) => {
  const { url } = await testDatabase(t)
  const own = as(url, await serverLogin(t))
  const { logger, lines } = capturedLog()
  const database = openDatabase({ url: own, name: 'test', connections: 1, logger, role: APPLICATION_ROLE })
  t.after(() => database.close())
  const reader = new pg.Client({ connectionString: own })
  await reader.connect()
  await reader.query('BEGIN; SELECT seq FROM audit_head; SELECT 1 FROM audit')
  await endHeadHolders(database, logger, 0)
  assert.deepEqual(lines, [])
  await reader.query('ROLLBACK')
  await reader.end()
})
