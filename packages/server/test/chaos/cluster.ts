import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir } from 'node:fs/promises'
import pg from 'pg'
import { ENVIRONMENT } from '../../../sandbox/src/postgres/account.ts'
import { findBinaries } from '../../../sandbox/src/postgres/binaries.ts'
import { OWNER, openCluster } from '../../../sandbox/src/postgres/cluster.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { administer } from '../support/database.ts'
import { testPort } from '../support/port.ts'
import { SHIFTED_SEARCH_PATH, shiftedClockSql } from '../support/shifted-clock.ts'

/** A PostgreSQL of one's own, always at the same address, which can be restarted. */
export interface Cluster {
  /** Connects to the database as the role that owns it. */
  readonly url: string
  /** Ends it, `fast` orderly and `immediate` as a crash would, and starts it again. */
  restart(mode: 'fast' | 'immediate'): Promise<void>
  stop(): Promise<void>
}

const SETTINGS = {
  ...{ max_connections: '200', shared_buffers: '64MB', listen_addresses: '127.0.0.1', unix_socket_directories: '' },
  ...{ logging_collector: 'off', log_min_error_statement: 'panic', fsync: 'on' },
}

const RETRY_MS = 50

/** Makes a database in a directory and starts it. */
export async function startCluster(directory: string): Promise<Cluster> {
  await mkdir(directory, { recursive: true })
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  const cluster = await openCluster(directory)
  const { postgres } = await findBinaries(cluster.account, cluster.dataDirectory)
  const port = await testPort()
  const settings = { ...SETTINGS, port: String(port), ...(shiftedClockSql && { search_path: SHIFTED_SEARCH_PATH }) }
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const urlOf = (database: string) => `postgres://${OWNER}:${cluster.password}@127.0.0.1:${port}/${database}`

  function launch(): ChildProcess {
    const options = { ...cluster.account, cwd: '/', env: ENVIRONMENT, detached: true, stdio: 'ignore' } as const
    return spawn(postgres, ['-D', cluster.directory, ...parameters], options)
  }
  async function started(): Promise<ChildProcess> {
    let postmaster = launch()
    while (!(await takesConnections(urlOf('postgres')))) {
      // What an immediate end leaves behind may be in the way for a moment.
      if (postmaster.exitCode !== null) postmaster = launch()
      await realPause.for(RETRY_MS)
    }
    return postmaster
  }
  let postmaster = await started()
  async function end(signal: NodeJS.Signals): Promise<void> {
    const gone = postmaster.exitCode === null ? once(postmaster, 'exit') : undefined
    postmaster.kill(signal)
    await gone
  }
  await administer(urlOf('postgres'), `CREATE DATABASE ${OWNER}`)
  if (shiftedClockSql) await administer(urlOf(OWNER), shiftedClockSql)
  return {
    url: urlOf(OWNER),
    restart: async (mode) => {
      await end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      postmaster = await started()
    },
    stop: () => end('SIGQUIT'),
  }
}

async function takesConnections(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}
