import { readSandboxConfig } from '../packages/sandbox/src/config.ts'
import { startEmbeddedPostgres } from '../packages/sandbox/src/postgres/embedded-postgres.ts'
import { runningPostgres } from '../packages/sandbox/src/postgres/running.ts'
import { readSecrets } from '../packages/sandbox/src/secrets.ts'
import type { OpenDatabase } from '../packages/server/src/open-database.ts'
import { readEnvironment } from '../packages/server/src/process.ts'
import type { OpenAuditDatabase } from '../packages/server/src/verify-audit.ts'

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

/** The same with the keys that signatures are proven with: the configured ones, or the sandbox's. @throws Error there is none */
export async function findAuditDatabase(): Promise<OpenAuditDatabase> {
  const { environment, places } = readEnvironment()
  const { given, dataDirectory } = readSandboxConfig(environment, places)
  const { encryptionKey } = (await readSecrets(dataDirectory)) ?? {}
  const current = given.PIXGATE_ENCRYPTION_KEY ?? encryptionKey
  const encryptionKeys =
    current === undefined ? undefined : { current, previous: given.PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  return { ...(await findDatabase()), encryptionKeys }
}
