import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ENVIRONMENT, runAs } from './account.ts'
import { findBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { unlessMissing } from './durable-files.ts'
import { hasCode } from './error.ts'

/**
 * PostgreSQL's main process. It runs in its own process group, so that Ctrl-C in the terminal does not stop it before the
 * server has shut down. It outlives a killed server, and the next server adopts it.
 */

/** A process that is, or was, a cluster's postmaster. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
}

const POLL_MS = 10
const FAST_SHUTDOWN_MS = 10_000
const LOG_MAX_BYTES = 10_000_000

/** The postmaster recorded in `postmaster.pid`. It may have exited, and another program may have its pid. */
export async function recordedPostmaster({ directory }: Cluster): Promise<Postmaster | undefined> {
  const lines = (await unlessMissing(readFile(join(directory, 'postmaster.pid'), 'utf8')))?.split('\n') ?? []
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  return pid > 0 && port > 0 ? { pid, port } : undefined
}

/** Whether the process is alive and is the postmaster of the cluster in this folder. The pid may have been reused. */
export async function isRunning(pid: number, directory: string): Promise<boolean> {
  return (await commandLine(pid)).includes(`-D ${directory} `)
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const parameters = await unlessMissing(readFile(`/proc/${pid}/cmdline`, 'utf8'))
    return parameters?.replaceAll('\0', ' ') ?? ''
  }
  return (await runAs({}, '/bin/ps', ['-ww', '-o', 'command=', '-p', `${pid}`])).output
}

/** A newly started postmaster, with its log output since then. */
export interface Launched extends Postmaster {
  messages(): Promise<string>
}

/**
 * Starts PostgreSQL on a free port of the loopback interface, without waiting until it is ready. It may exit at once
 * because the port was taken meanwhile or another process was faster; `messages` has the reason.
 * @param settings PostgreSQL's own, over ours, except where a commit would no longer be a promise
 * @param former the process in `postmaster.pid`, known not to be a postmaster of this cluster
 */
export async function launch(
  cluster: Cluster,
  settings: Readonly<Record<string, string>>,
  former: Postmaster | undefined,
): Promise<Launched> {
  const { postgres } = await findBinaries(cluster.account, cluster.dataDirectory)
  const port = await freePort()
  const log = await openLog(cluster)
  const from = (await log.stat()).size
  const child = spawn(
    postgres,
    ['-D', cluster.directory, ...asParameters({ ...TUNING, ...settings, ...fixed(port) })],
    {
      ...cluster.account,
      cwd: '/',
      // After a crash, such as a container restart, another program may have the pid in the lock file, and PostgreSQL does
      // not start while a process with that pid is alive. This variable exempts a pid; pg_ctl uses it for its own parent.
      env: { ...ENVIRONMENT, ...(former && { PG_GRANDPARENT_PID: `${former.pid}` }) },
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    },
  )
  await once(child, 'spawn').finally(() => log.close())
  child.unref()
  return {
    pid: child.pid as number,
    port,
    messages: async () => (await readFile(logOf(cluster))).toString('utf8', from),
  }
}

/** Defaults for payments on a small machine: few checkpoints, because after each one the WAL contains full pages again. */
const TUNING = {
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
}

/** Commits are durable, only this machine can connect, and the log contains no row data. */
function fixed(port: number) {
  return {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    listen_addresses: '127.0.0.1',
    port: `${port}`,
    unix_socket_directories: '',
    logging_collector: 'off',
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
  }
}

function asParameters(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('the TCP server has no port')
  return address.port
}

/** Opens the log for appending. Truncates it first if it has grown large. */
async function openLog(cluster: Cluster) {
  const log = await open(logOf(cluster), 'a', 0o600)
  if ((await log.stat()).size > LOG_MAX_BYTES) await log.truncate()
  return log
}

/** Path of PostgreSQL's log. */
export function logOf({ dataDirectory }: Cluster): string {
  return join(dataDirectory, 'postgres.log')
}

/** Closes the connections, stops the postmaster, started or adopted, and waits until it has exited. */
export async function stop(postmaster: Postmaster, cluster: Cluster): Promise<void> {
  const stopped = await signal(postmaster, cluster, 'SIGINT', FAST_SHUTDOWN_MS)
  if (!stopped) await signal(postmaster, cluster, 'SIGQUIT', Number.POSITIVE_INFINITY)
}

/** @returns whether the postmaster exited before the timeout */
async function signal(
  postmaster: Postmaster,
  cluster: Cluster,
  name: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  if (await isRunning(postmaster.pid, cluster.directory)) kill(postmaster.pid, name)
  while (await isRunning(postmaster.pid, cluster.directory)) {
    if (performance.now() > deadline) return false
    await delay(POLL_MS)
  }
  return true
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}
