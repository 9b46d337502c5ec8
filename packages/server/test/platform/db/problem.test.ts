import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { DatabaseUnavailable, databaseProblem, databaseStartupError } from '../../../src/platform/db/errors.ts'
import { StartupError } from '../../../src/platform/startup-error.ts'
import { migrateDatabase } from '../../../src/prepare-database.ts'
import { testDatabase } from '../../support/database.ts'
import { reachJudged } from '../../support/tcp-proxy.ts'

const silent = pino({ level: 'silent' })

/** The sentence with which a start on this database ends. */
async function startOn(url: string): Promise<string> {
  try {
    await migrateDatabase({ url, variable: 'DATABASE_URL' }, silent)
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error))
    return error.message
  }
  return 'started'
}

test('[config.10] a start says why the database cannot be used, in its own words where it has any, and no password', async (t) => {
  const { url } = await testDatabase(t)
  const changed = (change: (url: URL) => void) => {
    const other = new URL(url)
    change(other)
    return other.href
  }
  const { username, host } = new URL(url)
  const unreadable = ['sslrootcert', 'sslcert', 'sslkey'].map((file) => [
    changed((other) => (other.search = `?sslmode=verify-full&${file}=/nowhere/ca.pem`)),
    `${file} names /nowhere/ca.pem, which cannot be read: no such file or directory`,
  ])
  const refused = [
    [changed((other) => (other.password = 'canary')), `password authentication failed for user "${username}"`],
    [changed((other) => (other.pathname = '/none')), 'database "none" does not exist'],
    ['postgres://pixgate:canary@127.0.0.1:9/pixgate', 'the database at 127.0.0.1:9 refuses connections'],
    [
      'postgres://pixgate:canary@database.invalid/pixgate',
      'the database at database.invalid cannot be found: its name does not resolve',
    ],
    [
      changed((other) => other.searchParams.set('sslmode', 'verify-full')),
      `the database at ${host} does not speak TLS`,
    ],
    [
      'postgres:///pixgate?host=/nowhere/at/all',
      'the database at /nowhere/at/all cannot be found: its socket is not there',
    ],
    ...unreadable,
  ]
  assert.equal(await startOn(url), 'started')
  for (const [address = '', says] of refused) assert.equal(await startOn(address), `DATABASE_URL: ${says}`)
})

for (const statement of ['SELECT name, setting', 'INSERT INTO allowed_move']) {
  test(`[config.10] a connection that is cut at «${statement}» is told as a sentence`, async (t) => {
    const { url } = await testDatabase(t)
    const reached = await reachJudged(t, (direction, bytes) =>
      direction === 'request' && bytes.includes(statement) ? 'cut' : 'pass',
    )(url)
    const place = new URL(reached).host
    assert.equal(await startOn(reached), `DATABASE_URL: the database at ${place} cuts the connection`)
  })
}

test('[config.10] a refusal that came through a pool is told as one that did not', () => {
  const refusal = Object.assign(new pg.DatabaseError('permission denied to set role', 0, 'error'), { code: '42501' })
  const unavailable = new DatabaseUnavailable(refusal.message, false, { cause: refusal })
  const error = databaseStartupError(unavailable, 'postgres://h/d')
  assert.equal(String(error), 'StartupError: DATABASE_URL: permission denied to set role')
})

test('[config.10] other errors stay unchanged', () => {
  const syntax = new pg.DatabaseError('syntax error', 0, 'error')
  syntax.code = '42601'
  const startup = new StartupError('too old')
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  for (const error of [syntax, startup, missing]) assert.equal(databaseStartupError(error, 'postgres://h/d'), error)
})

test('[health.5] problems of the database are described without names and addresses', () => {
  const withCode = (code: string) => Object.assign(new Error('of 10.0.0.1'), { code })
  const refusal = (code: string) => Object.assign(new pg.DatabaseError('user "pixgate"', 0, 'error'), { code })
  assert.equal(databaseProblem(withCode('ENOTFOUND')), 'the database cannot be found: its name does not resolve')
  assert.equal(databaseProblem(withCode('ENOENT')), 'the database does not answer')
  assert.equal(databaseProblem(new Error('Query read timeout')), 'the database does not answer in time')
  assert.equal(databaseProblem(refusal('28P01')), 'the database refuses our credentials: check DATABASE_URL')
  assert.equal(databaseProblem(refusal('53100')), 'the database has no space left on its disk')
  assert.equal(databaseProblem(refusal('XX000')), 'the database does not answer')
})
