import { readSandboxConfig } from '../packages/sandbox/src/config.ts'
import { startEmbeddedPostgres } from '../packages/sandbox/src/postgres/embedded-postgres.ts'
import { runningPostgres } from '../packages/sandbox/src/postgres/running.ts'
import type { OpenDatabase } from '../packages/server/src/open-database.ts'
import { readEnvironment } from '../packages/server/src/process.ts'

/**
 * The database in `DATABASE_URL`, or the one in the data directory, started where it is not running.
 * @throws Error there is none
 */
export async function findDatabase(): Promise<OpenDatabase> {
  const { environment, places } = readEnvironment()
  const { given, dataDirectory } = readSandboxConfig(environment, places)
  const url = given.DATABASE_URL ?? (await runningPostgres(dataDirectory))
  if (url === undefined)
    throw new Error(`there is no database in ${dataDirectory}; set DATABASE_URL or PIXGATE_DATA_DIR`)
  return url === 'stopped' ? startEmbeddedPostgres({ dataDirectory }) : { url, stop: async () => undefined }
}
