import { join } from 'node:path'
import { OWNER, openCluster } from './cluster.ts'
import { exists } from './durable-files.ts'
import { isRunning, notedPostmaster } from './postmaster.ts'

/**
 * The address of the PostgreSQL that runs on this data directory, as its owner; `'stopped'` where there is one that does
 * not run, `undefined` where there is none. Starts and takes over nothing. Holds the password: do not log it.
 */
export async function runningPostgres(dataDirectory: string): Promise<string | 'stopped' | undefined> {
  if (!(await exists(join(dataDirectory, 'postgres')))) return undefined
  const cluster = await openCluster(dataDirectory)
  const noted = await notedPostmaster(cluster)
  if (noted === undefined || !(await isRunning(noted.pid, cluster.directory))) return 'stopped'
  return `postgres://${OWNER}:${cluster.password}@127.0.0.1:${noted.port}/${OWNER}`
}
