import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, OWNER } from './cluster.ts'
import { EmbeddedPostgresError } from './error.ts'
import { isRunning, logOf, type Postmaster } from './postmaster.ts'

/**
 * One server owns a cluster. It holds an advisory lock on a separate connection, and PostgreSQL releases the lock when
 * the server exits, even if it was killed.
 */

/** Arbitrary, but the same in all versions. */
const LOCK = 7_046_741_002

const POLL_MS = 20
/** The lock of a killed server is released once its backend notices the closed connection. */
const LOCK_TIMEOUT_MS = 1_000
/** Crash recovery reads about `max_wal_size` of WAL at most. */
const RECOVERY_TIMEOUT_MS = 300_000

/**
 * Waits until the postmaster accepts connections, then takes the lock.
 * @returns the connection that holds the lock, or `undefined` if the postmaster exited
 * @throws EmbeddedPostgresError if another server holds it, or the postmaster refuses the connection
 */
export async function claimOwnership(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | undefined> {
  const deadline = performance.now() + RECOVERY_TIMEOUT_MS
  while (await isRunning(postmaster.pid, cluster.directory)) {
    const session = newSession(cluster, postmaster)
    try {
      await session.connect()
      if (await lock(session)) return session
      await session.end()
    } catch (cause) {
      if (isRefusal(cause) || performance.now() > deadline) {
        throw new EmbeddedPostgresError(
          `PostgreSQL runs on ${cluster.directory} (process ${postmaster.pid}) but does not accept connections: ${cause}. See ${logOf(cluster)}.`,
          { cause },
        )
      }
      await delay(POLL_MS)
      continue
    }
    throw new EmbeddedPostgresError(
      `Another Pixgate is already running on ${cluster.dataDirectory}. Stop it first, or set PIXGATE_DATA_DIR to another directory.`,
    )
  }
  return undefined
}

/**
 * Waits until ownership is permanently lost. If PostgreSQL restarts itself after a backend crash, the lock is taken
 * again.
 * @param isStopping whether we ourselves are stopping PostgreSQL
 * @returns the reason: the postmaster exited, or another server has the lock; `undefined` if we stopped it
 */
export async function untilLost(
  cluster: Cluster,
  postmaster: Postmaster,
  first: pg.Client,
  isStopping: () => boolean,
): Promise<Error | undefined> {
  let lost = new EmbeddedPostgresError(`PostgreSQL has stopped (process ${postmaster.pid}). See ${logOf(cluster)}.`)
  for (let session: pg.Client | undefined = first; session; ) {
    await ended(session)
    if (isStopping()) return undefined
    session = await claimOwnership(cluster, postmaster).catch((error) => {
      lost = error
      return undefined
    })
  }
  return isStopping() ? undefined : lost
}

function ended(session: pg.Client): Promise<void> {
  return new Promise((resolve) => session.once('end', resolve))
}

function newSession(cluster: Cluster, { port }: Postmaster): pg.Client {
  const session = new pg.Client({
    host: '127.0.0.1',
    port,
    user: OWNER,
    password: cluster.password,
    database: 'postgres',
    application_name: 'pixgate owner',
    options: '-c idle_session_timeout=0',
    connectionTimeoutMillis: 5_000,
  })
  // 'end' follows and is handled elsewhere. Without this listener 'error' would end the process.
  session.on('error', () => {})
  return session
}

/** SQLSTATE class 28: wrong password. Other errors may be transient, for example while PostgreSQL is starting. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('28') === true
}

async function lock(session: pg.Client): Promise<boolean> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    const { rows } = await session.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [LOCK])
    if (rows[0]?.locked) return true
    if (performance.now() > deadline) return false
    await delay(POLL_MS)
  }
}
