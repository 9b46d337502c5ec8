import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { administer } from '../../../packages/server/test/support/database.ts'
import { as } from '../../../packages/server/test/support/logins.ts'
import { pay, totals } from './books.ts'
import { blocksOf } from './guide.ts'
import { endOf } from './installation.ts'
import { migrateAs, onto, served, serverAs, succeeds } from './programs.ts'
import { postgresPrograms, startSystemPostgres } from './system-postgres.ts'

/** The guide's lines about dumps, on a PostgreSQL of this machine. */
const [dump = '', restore = ''] = blocksOf('Backup and restore', 'sh').slice(-2)
const [makeRoles = ''] = blocksOf('Starting it for real', 'sql')

const SUSPENDED = /payouts and refunds are suspended/

const PASSWORDS = { owner: 'Qm7vXz2LpT9sWk4RbN8y', server: 'Hd5gJc3ZtV6nKx1FqS0w' }

test('[database.16] a dump is restored into a new database, migrated, and starts in production with payouts suspended', {
  timeout: 300_000,
}, async (t) => {
  const programs = postgresPrograms()
  if (programs === undefined) return t.skip('no PostgreSQL 15 or newer with pg_dump is installed (PG_BINDIR)')
  const { account, url, environment } = await startSystemPostgres(t, programs)
  const backup = mkdtempSync(join(tmpdir(), 'pixgate-dump-'))
  t.after(() => rmSync(backup, { recursive: true }))
  if (account.uid !== undefined && account.gid !== undefined) chownSync(backup, account.uid, account.gid)
  const run = async (lines: string) => {
    const here = lines.replaceAll(/(?<![\w.])\/backup(?=\/)/g, backup)
    const options = { ...account, cwd: '/', env: environment }
    const { code, stdout, stderr } = await endOf(spawn('/bin/sh', ['-euc', here], options))
    assert.deepEqual([code, stderr], [0, ''])
    return stdout.trim()
  }
  const chosen = makeRoles.replace('choose-one', PASSWORDS.owner).replace('choose-another', PASSWORDS.server)
  for (const statement of chosen.split(';').filter((text) => text.trim() !== '')) await administer(url, statement)
  const of = (database: string) => ({
    owner: as(onto(url, database), { role: 'pixgate_owner', password: PASSWORDS.owner }),
    server: as(onto(url, database), { role: 'pixgate_server', password: PASSWORDS.server }),
  })
  const [live, restored] = [of('pixgate_live'), of('pixgate_restored')]
  await succeeds(migrateAs(live.owner))
  await pay(t, live.owner, 3)
  const before = totals(live.owner)
  assert.doesNotMatch(await served(live.server), SUSPENDED)
  const copy = await run(dump)
  await pay(t, live.owner, 1)

  await run(restore.replace('/backup/dump-2026-11-21T1200', copy))
  const early = await endOf(serverAs(restored.server))
  assert.equal(early.code, 1)
  assert.match(early.stderr, /after a restore from a dump until `pixgate migrate` ran/)
  await succeeds(migrateAs(restored.owner))
  assert.deepEqual(totals(restored.owner), before)
  assert.match(await served(restored.server), SUSPENDED)
  await pay(t, restored.owner, 1)
})
