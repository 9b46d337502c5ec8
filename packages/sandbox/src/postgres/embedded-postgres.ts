import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { type Cluster, OWNER, openCluster, removeLeftovers } from './cluster.ts'
import { EmbeddedPostgresError } from './error.ts'
import { claimOwnership, untilLost } from './ownership.ts'
import { isRunning, launch, logOf, type Postmaster, recordedPostmaster, stop } from './postmaster.ts'

export { EmbeddedPostgresError } from './error.ts'

/** Options of {@link startEmbeddedPostgres}. */
export interface EmbeddedPostgresOptions {
  /** Contains the database, its password and its log; created if missing. */
  readonly dataDirectory: string
  /** PostgreSQL settings. A postmaster adopted from a killed server keeps those it was started with. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called once, when PostgreSQL has stopped or another server has taken it over. Not called when it restarts itself. */
  readonly onLost?: (error: Error) => void
}

/** A running PostgreSQL that belongs to this process alone. */
export interface EmbeddedPostgres {
  /** Connects to the database `pixgate` as the role that owns it. Contains the password: do not log it. */
  readonly url: string
  readonly postmasterPid: number
  /** Closes all connections, stops PostgreSQL and waits until it has exited. Idempotent. */
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL 18 on a free port of the loopback interface, or adopts the one that a killed server left running on
 * the same data directory. fsync is always on. If root starts Pixgate, PostgreSQL runs as the user `postgres` or
 * `nobody`. Files that this user cannot reach are kept under `/var/lib/pixgate`: the programs, and the database if the
 * user cannot enter the data directory (its `postgres` is then a link).
 * @throws EmbeddedPostgresError if another server runs on this data directory or PostgreSQL does not run here
 * @source rules#database.2, rules#database.3, rules#database.4, rules#database.5, rules#database.6
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDirectory = resolve(options.dataDirectory)
  try {
    return await start({ ...options, dataDirectory })
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error
    throw new EmbeddedPostgresError(`PostgreSQL could not be started in ${dataDirectory}: ${error}`, { cause: error })
  }
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(options.dataDirectory)
  const { postmaster, session } = await adoptOrLaunch(cluster, options.settings ?? {})

  let stopped: Promise<void> | undefined
  const running: EmbeddedPostgres = {
    url: `postgres://${OWNER}:${cluster.password}@127.0.0.1:${postmaster.port}/${OWNER}`,
    postmasterPid: postmaster.pid,
    // The lock is held to the end, so that no other server adopts a PostgreSQL that is stopping.
    stop: () => {
      stopped ??= stop(postmaster, cluster)
      return stopped
    },
  }
  untilLost(cluster, postmaster, session, () => stopped !== undefined).then((reason) => {
    if (reason !== undefined) options.onLost?.(reason)
  })

  try {
    await removeLeftovers(cluster)
    await createDatabase(session)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

const RETRY_MS = 50
/** Longer than a statement may take: a killed postmaster's backend exits after its current statement. */
const RETRY_TIMEOUT_MS = 10_000
/** The port was taken meanwhile · another process was faster · backends of a killed postmaster are still running. */
const TRANSIENT =
  /could not create any TCP\/IP sockets|lock file .* already exists|shared memory block .* is still in use/

/** Adopts the cluster's postmaster if one is running, otherwise starts one, and takes the lock. */
async function adoptOrLaunch(
  cluster: Cluster,
  settings: Readonly<Record<string, string>>,
): Promise<{ postmaster: Postmaster; session: pg.Client }> {
  const deadline = performance.now() + RETRY_TIMEOUT_MS
  for (;;) {
    const recorded = await recordedPostmaster(cluster)
    if (recorded !== undefined && (await isRunning(recorded.pid, cluster.directory))) {
      const session = await claimOwnership(cluster, recorded)
      if (session !== undefined) return { postmaster: recorded, session }
      continue
    }
    const launched = await launch(cluster, settings, recorded)
    const session = await claimOwnership(cluster, launched)
    if (session !== undefined) return { postmaster: launched, session }

    const messages = await launched.messages()
    if (!TRANSIENT.test(messages) || performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `PostgreSQL did not start in ${cluster.directory}: ${lastLines(messages)}. See ${logOf(cluster)}.`,
      )
    }
    await delay(RETRY_MS)
  }
}

function lastLines(messages: string): string {
  return messages.trim().split('\n').slice(-3).join(' · ')
}

async function createDatabase(session: pg.Client): Promise<void> {
  const { rowCount } = await session.query('SELECT FROM pg_database WHERE datname = $1', [OWNER])
  if (rowCount === 0) await session.query(`CREATE DATABASE ${OWNER}`)
}
