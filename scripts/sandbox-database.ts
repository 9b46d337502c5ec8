import { readSandboxConfig, type SandboxConfig } from '../packages/sandbox/src/config.ts'
import { startEmbeddedPostgres } from '../packages/sandbox/src/postgres/embedded-postgres.ts'
import { runningPostgres } from '../packages/sandbox/src/postgres/running.ts'
import { readEnvironment } from '../packages/server/src/process.ts'
import type { OpenDatabase } from '../packages/server/src/verify-ledger.ts'

/** The database in `DATABASE_URL`, or the one in the data directory, which is started where it does not run. */
export async function sandboxDatabase({ given, dataDirectory }: SandboxConfig): Promise<OpenDatabase> {
  const url = given.DATABASE_URL ?? (await runningPostgres(dataDirectory))
  if (url === undefined)
    throw new Error(`there is no database in ${dataDirectory}; set DATABASE_URL or PIXGATE_DATA_DIR`)
  return url === 'stopped' ? startEmbeddedPostgres({ dataDirectory }) : { url, stop: async () => undefined }
}

/** The configuration of the sandbox, as the environment and `.env` have it. @throws ConfigError */
export function sandboxConfig(): SandboxConfig {
  const { environment, places } = readEnvironment()
  return readSandboxConfig(environment, places)
}
