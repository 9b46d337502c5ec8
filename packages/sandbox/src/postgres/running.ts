import { join } from 'node:path'
import { OWNER, openCluster } from './cluster.ts'
import { exists } from './durable-files.ts'
import { isRunning, recordedPostmaster } from './postmaster.ts'

/**
 * URL of the PostgreSQL that runs on this data directory, with its owner role; `'stopped'` if it is not running,
 * `undefined` if there is none. Starts and adopts nothing. Contains the password: do not log it.
 */
export async function runningPostgres(dataDirectory: string): Promise<string | 'stopped' | undefined> {
  if (!(await exists(join(dataDirectory, 'postgres')))) return undefined
  const cluster = await openCluster(dataDirectory)
  const recorded = await recordedPostmaster(cluster)
  if (recorded === undefined || !(await isRunning(recorded.pid, cluster.directory))) return 'stopped'
  return `postgres://${OWNER}:${cluster.password}@127.0.0.1:${recorded.port}/${OWNER}`
}
