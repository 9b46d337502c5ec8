import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { accountForNewCluster } from '../../../packages/sandbox/src/postgres/account.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../packages/sandbox/src/postgres/embedded-postgres.ts'
import { cashInRequest, payment, testEngine } from '../../../packages/server/test/support/engine.ts'
import { migratedPostgres } from '../../../packages/server/test/support/migrated-postgres.ts'
import { ROOT } from '../../check/repository.ts'
import { blocksOf } from './guide.ts'
import { endOf } from './installation.ts'

/** The lines of the operator's guide, on a real PostgreSQL: what was backed up is restored, and its books are right. */
const HEADING = 'Backup and restore'

const [coldCopy = '', makePlaceForWal = '', baseCopy = '', restore = ''] = blocksOf(HEADING, 'sh')
const [startBackup = '', stopBackup = ''] = blocksOf(HEADING, 'sql')
const [archiving = '', recovering = ''] = blocksOf(HEADING, 'ini')

test('a cold copy has the books as they were', async (t) => {
  const place = await backupPlace(t)
  const postgres = await place.start('live', {}, migratedPostgres)
  await pay(t, postgres.url, 3)
  const before = totals(postgres.url)
  await postgres.stop()
  await place.run(coldCopy, 'live')

  const restored = await place.start('restored', {}, async (options) => {
    await place.run('cp -a /backup/cold /var/lib/postgresql/18/main', 'restored')
    return startEmbeddedPostgres(options)
  })
  assert.deepEqual(totals(restored.url), before)
  await pay(t, restored.url, 1)
  assert.notDeepEqual(totals(restored.url), before, 'and it goes on')
})

test('a base backup that was taken while payments were booked is recovered to an instant, with the books of that instant', async (t) => {
  const place = await backupPlace(t)
  await place.run(makePlaceForWal, 'live')
  const postgres = await place.start('live', place.settingsOf(archiving), migratedPostgres)
  await pay(t, postgres.url, 3)
  const session = await sessionOf(t, postgres.url)
  await session.query(startBackup)
  const [labelfile] = await Promise.all([
    copyThenStop(session, () => place.run(baseCopy, 'live')),
    pay(t, postgres.url, 3),
  ])
  writeFileSync(place.path('backup/base/backup_label'), labelfile)
  await pay(t, postgres.url, 2)
  const { rows } = await session.query('SELECT pg_catalog.clock_timestamp()::text AS instant')
  const before = totals(postgres.url)
  await pay(t, postgres.url, 2)
  await archived(session, place.path('backup/wal'))
  await session.end()
  await postgres.stop()

  const settings = place.settingsOf(recovering.replace(/2026-\S+ [^']+/, rows[0].instant))
  const restored = await place.start('restored', settings, async (options) => {
    await place.run(restore, 'restored')
    return startEmbeddedPostgres(options)
  })
  await promoted(t, restored.url)
  assert.deepEqual(totals(restored.url), before)
})

type Start = (options: Parameters<typeof startEmbeddedPostgres>[0]) => Promise<EmbeddedPostgres>

/** Folders that the user of PostgreSQL can write to, under the names that the guide has for them. */
async function backupPlace(t: TestContext) {
  const account = await accountForNewCluster()
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-backup-'))
  const path = (name: string) => join(folder, name)
  const started: EmbeddedPostgres[] = []
  t.after(async () => {
    for (const postgres of started) await postgres.stop()
    rmSync(folder, { recursive: true })
  })
  chmodSync(folder, 0o711)
  for (const name of ['live', 'restored', 'backup']) {
    mkdirSync(path(name), { mode: 0o711 })
    if (account.uid !== undefined && account.gid !== undefined) chownSync(path(name), account.uid, account.gid)
  }
  const here = (text: string, directory: string) =>
    text.replaceAll('/var/lib/postgresql/18/main', path(`${directory}/postgres`)).replaceAll('/backup', path('backup'))
  return {
    path,
    /** Runs lines of the guide as the user of PostgreSQL. */
    run: async (lines: string, directory: string) => {
      const { code, stderr } = await endOf(spawn('/bin/sh', ['-euc', here(lines, directory)], { ...account, cwd: '/' }))
      assert.equal(code, 0, stderr)
    },
    /** Lines of postgresql.conf. */
    settingsOf: (lines: string) =>
      Object.fromEntries(
        [...here(lines, '').matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(([, name = '', value = '']) => [name, value]),
      ),
    start: async (directory: string, settings: Readonly<Record<string, string>>, start: Start) => {
      if (directory === 'restored') copyFileSync(path('live/postgres.password'), path('restored/postgres.password'))
      const postgres = await start({ dataDirectory: path(directory), settings })
      started.push(postgres)
      return postgres
    },
  }
}

async function copyThenStop(session: pg.Client, copy: () => Promise<void>): Promise<string> {
  await copy()
  const { rows } = await session.query(stopBackup)
  return rows[0].labelfile
}

/** Books so many payments of charges, as the service does. */
async function pay(t: TestContext, url: string, count: number): Promise<void> {
  const { cashIns, ids } = testEngine(t, url)
  for (let paid = 0; paid < count; paid++) {
    const id = ids.uuid()
    await cashIns.create(cashInRequest({ id, externalId: id }))
    const endToEndId = `E${randomUUID().replaceAll('-', '').slice(1)}`
    await cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId }), transactionId: id })
  }
}

/** What `pixgate verify-ledger` says the accounts have, after it has found no drift. */
function totals(url: string): unknown {
  const program = [join(ROOT, 'packages/server/bin/pixgate.mjs'), 'verify-ledger', '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    env: { DATABASE_URL: url },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  return JSON.parse(stdout).trialBalance
}

async function sessionOf(t: TestContext, url: string): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: url })
  session.on('error', () => undefined)
  await session.connect()
  t.after(() => session.end())
  return session
}

/** Ends the segment of the log that is written to, and resolves when it is in the archive. */
async function archived(session: pg.Client, archive: string): Promise<void> {
  const { rows } = await session.query('SELECT pg_walfile_name(pg_switch_wal()) AS segment')
  while (!existsSync(join(archive, rows[0].segment))) await setImmediate()
}

/** Resolves when the recovery has ended and the database takes what is written. */
async function promoted(t: TestContext, url: string): Promise<void> {
  const session = await sessionOf(t, url)
  while ((await session.query('SELECT pg_is_in_recovery() AS is')).rows[0].is) await setImmediate()
  await session.end()
}
