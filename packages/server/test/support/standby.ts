import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../../sandbox/src/postgres/embedded-postgres.ts'
import { migratedPostgres } from './migrated-postgres.ts'
import { SHIFTED_SEARCH_PATH, shiftedClockSql } from './shifted-clock.ts'

/** A migrated PostgreSQL whose commits wait for a standby that streams from it. */
export interface ReplicatedPostgres {
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** The standby takes nothing any more: every commit hangs. */
  stopStandby(): Promise<void>
  /** Resolves when so many commits hang of statements whose text has this part. */
  hanging(commits: number, part?: string): Promise<void>
  /** Cancels their wait once so many commits hang, one where nothing is said: what they wrote can be read. */
  cancelWaits(commits?: number): Promise<void>
  /** Kills the primary and makes the standby the one that is written to. It must not be stopped. */
  failOver(): Promise<void>
}

/** Starts both; they go with the test. */
export async function replicatedPostgres(t: TestContext): Promise<ReplicatedPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-replicated-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  // Hooks run in the order in which they were made: what was started last must be stopped first.
  const started: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })]
  t.after(async () => {
    for (const stop of started.reverse()) await stop()
  })
  const [first, second] = [join(directory, 'first'), join(directory, 'second')]
  const settings = { max_connections: '200', ...(shiftedClockSql && { search_path: SHIFTED_SEARCH_PATH }) }
  await (await migratedPostgres({ dataDirectory: first, settings })).stop()
  await promisify(execFile)('cp', ['-a', first, second])

  const primary = await startEmbeddedPostgres({ dataDirectory: first, settings })
  started.push(() => primary.stop())
  await followFrom(second, new URL(primary.url))
  const standby = await startEmbeddedPostgres({ dataDirectory: second, settings })
  started.push(() => standby.stop())

  const admin = async (url: string) => {
    const client = new pg.Client({ connectionString: url, application_name: 'admin' })
    client.on('error', () => undefined)
    await client.connect()
    started.push(() => client.end())
    return client
  }
  const [atPrimary, atStandby] = [await admin(primary.url), await admin(standby.url)]
  const receiver = async () => {
    for (;;) {
      const { rows } = await atStandby.query(`SELECT pid FROM pg_stat_wal_receiver WHERE status = 'streaming'`)
      if (rows[0]) return rows[0].pid as number
    }
  }
  let walReceiver = await receiver()
  await atPrimary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await atPrimary.query('SELECT pg_reload_conf()')
  const hanging = async (commits: number, part = '') => {
    for (;;) {
      const { rows } = await atPrimary.query(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND strpos(query, $1) > 0`,
        [part],
      )
      if (rows[0].waiting >= commits) return
    }
  }
  return {
    primaryUrl: primary.url,
    standbyUrl: standby.url,
    stopStandby: async () => {
      walReceiver = await receiver()
      process.kill(walReceiver, 'SIGSTOP')
      started.push(async () => goOn(walReceiver))
    },
    hanging,
    cancelWaits: async (commits = 1) => {
      await hanging(commits)
      await atPrimary.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    },
    failOver: async () => {
      process.kill(primary.postmasterPid, 'SIGQUIT')
      // What is left of it would pass on what the standby says, and answer those who wait.
      while (isThere(primary.postmasterPid)) await setImmediate()
      goOn(walReceiver)
      // It would wait in a statement, whose snapshot may hold up the very recovery that it waits for.
      await atStandby.query('SELECT pg_promote(false)')
      for (;;) if (!(await atStandby.query('SELECT pg_is_in_recovery() AS is')).rows[0].is) return
    },
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It is gone.
  }
}

/** Makes a copy of a primary's files into a standby of it. */
async function followFrom(dataDirectory: string, primary: URL): Promise<void> {
  const directory = await realpath(join(dataDirectory, 'postgres'))
  const source = `host=${primary.hostname} port=${primary.port} user=${primary.username} password=${primary.password}`
  await writeAs(directory, { 'standby.signal': '', 'postgresql.auto.conf': `primary_conninfo = '${source}'\n` })
}

/** Writes files into PostgreSQL's folder, as its own. */
async function writeAs(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  const { uid, gid } = await stat(directory)
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    await writeFile(path, text, { mode: 0o600 })
    await chown(path, uid, gid)
  }
}
