import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { accountForNewCluster } from '../../../packages/sandbox/src/postgres/account.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../packages/sandbox/src/postgres/embedded-postgres.ts'
import { migratedPostgres } from '../../../packages/server/test/support/migrated-postgres.ts'
import { pay, totals } from './books.ts'
import { blocksOf } from './guide.ts'
import { endOf, nameOf } from './installation.ts'

/** The lines of the operator's guide, on a real PostgreSQL: what was backed up is restored, and its books are right. */
const HEADING = 'Backup and restore'

const [
  makePlace = '',
  coldCopy = '',
  coldRestore = '',
  makePlaceForWal = '',
  baseCopy = '',
  cleanUp = '',
  restore = '',
] = blocksOf(HEADING, 'sh')
const [startBackup = '', stopBackup = '', pastTheStart = ''] = blocksOf(HEADING, 'sql')
const [archiving = '', recovering = ''] = blocksOf(HEADING, 'ini')

test('a cold copy has the books as they were, and stands beside the one before', async (t) => {
  const place = await backupPlace(t)
  const postgres = await place.start('live', {}, migratedPostgres)
  await pay(t, postgres.url, 3)
  await postgres.stop()
  const first = await place.run(coldCopy, 'live')
  const again = await place.start('live', {}, startEmbeddedPostgres)
  await pay(t, again.url, 1)
  const before = totals(again.url)
  await again.stop()
  const copy = await place.run(coldCopy, 'live')
  assert.notEqual(copy, first)
  for (const folder of [first, copy]) assert.ok(existsSync(join(folder, 'PG_VERSION')), folder)

  await place.run(named(coldRestore, copy), 'restored')
  await assert.rejects(place.run(named(coldRestore, first), 'restored'), /exists/, 'nothing is restored over another')
  const restored = await place.start('restored', {}, startEmbeddedPostgres)
  assert.deepEqual(totals(restored.url), before)
  await pay(t, restored.url, 1)
  assert.notDeepEqual(totals(restored.url), before, 'and it goes on')
})

test('the second base backup that was taken while payments were booked is recovered to an instant, with the books of that instant', async (t) => {
  const place = await backupPlace(t)
  await place.run(makePlaceForWal, 'live')
  const postgres = await place.start('live', place.settingsOf(archiving), migratedPostgres)
  const session = await sessionOf(t, postgres.url)
  await pay(t, postgres.url, 3)
  const first = await baseBackup(t, place, postgres.url)
  const copy = await baseBackup(t, place, postgres.url)
  assert.notEqual(copy, first)
  await pay(t, postgres.url, 2)
  const { rows } = await session.query('SELECT pg_catalog.clock_timestamp()::text AS instant')
  const before = totals(postgres.url)
  await pay(t, postgres.url, 2)
  await archived(session, place.path('backup/wal'))
  await session.end()
  await postgres.stop()
  if (isThere('pg_archivecleanup')) {
    const all = readdirSync(place.path('backup/wal')).length
    await place.run(named(cleanUp, copy), 'live')
    assert.ok(readdirSync(place.path('backup/wal')).length < all)
  }

  const settings = place.settingsOf(recovering.replace(/2026-\S+ [^']+/, rows[0].instant))
  await place.run(named(restore, copy), 'restored')
  await assert.rejects(place.run(named(restore, first), 'restored'), /exists/, 'nothing is restored over another')
  const restored = await place.start('restored', settings, startEmbeddedPostgres)
  await promoted(t, restored.url)
  assert.deepEqual(totals(restored.url), before)
  const afterwards = await sessionOf(t, restored.url)
  assert.deepEqual((await afterwards.query(pastTheStart)).rows.map(Object.keys), [
    ['matched_until', 'is_past_the_start'],
  ])
})

type Start = (options: Parameters<typeof startEmbeddedPostgres>[0]) => Promise<EmbeddedPostgres>

type Place = Awaited<ReturnType<typeof backupPlace>>

/** Folders of a PostgreSQL, and the place for its backups that the guide makes. */
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
  for (const name of ['live', 'restored']) {
    mkdirSync(path(name), { mode: 0o711 })
    if (account.uid !== undefined && account.gid !== undefined) chownSync(path(name), account.uid, account.gid)
  }
  const here = (text: string, directory: string) =>
    text
      .replaceAll('/var/lib/postgresql/18/main', path(`${directory}/postgres`))
      .replaceAll(/(?<![\w.])\/backup(?=[\s/])/g, path('backup'))
  const administration = here(`${makePlace}\n`, '')
    .replace(/^sudo /, '')
    .replace('-o postgres ', `-o ${nameOf(account)} `)
  execFileSync('/bin/sh', ['-euc', administration])
  return {
    account,
    path,
    here,
    /** Runs lines of the guide as the user of PostgreSQL. @returns what they printed, a name of a folder */
    run: async (lines: string, directory: string) => {
      const options = { ...account, cwd: '/' }
      const { code, stdout, stderr } = await endOf(spawn('/bin/sh', ['-uc', here(lines, directory)], options))
      assert.equal(code, 0, stderr)
      return stdout.trim()
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

/** Lines of the guide, about a copy of this test. */
function named(lines: string, copy: string): string {
  return lines.replaceAll(/\/backup\/(?:cold|base)-2026[\w-]*/g, copy)
}

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0

/** Takes a base backup by the guide's lines, with payments meanwhile. @returns its folder */
async function baseBackup(t: TestContext, place: Place, url: string): Promise<string> {
  const { say, end } = isThere('psql') ? inPsql(place, url) : inSession(await sessionOf(t, url))
  await say(startBackup)
  const [copy] = await Promise.all([place.run(baseCopy, 'live'), pay(t, url, 3)])
  await say(named(stopBackup, copy))
  await end()
  return copy
}

/** Resolves when all was done that was told. */
interface Session {
  readonly say: (lines: string) => Promise<void>
  readonly end: () => Promise<void>
}

/** A session of psql as the user of PostgreSQL. */
function inPsql({ account }: Place, url: string): Session {
  const parameters = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', url]
  const psql = spawn('psql', parameters, {
    ...account,
    cwd: '/',
    env: { ...process.env, PGOPTIONS: '-c client_min_messages=warning' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(psql.stdout)[Symbol.asyncIterator]()
  return {
    say: async (told) => {
      psql.stdin.write(`${told}\\echo all was done\n`)
      let line = await lines.next()
      while (line.value !== 'all was done') {
        assert.ok(!line.done, 'psql has ended')
        line = await lines.next()
      }
    },
    end: async () => {
      psql.stdin.end()
      assert.deepEqual(await once(psql, 'exit'), [0, null])
    },
  }
}

/** The same where there is no psql. */
function inSession(session: pg.Client): Session {
  return {
    say: async (told) => {
      const { rows } = await session.query({ text: told.replaceAll(/^\\.*$/gm, ''), rowMode: 'array' })
      const [, file] = /^\\o (.+)$/m.exec(told) ?? []
      if (file !== undefined) writeFileSync(file, `${rows[0]?.[0]}\n`)
    },
    end: () => session.end(),
  }
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
