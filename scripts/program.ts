import { readSandboxConfig } from '../packages/sandbox/src/config.ts'
import { startEmbeddedPostgres } from '../packages/sandbox/src/postgres/embedded-postgres.ts'
import { runningPostgres } from '../packages/sandbox/src/postgres/running.ts'
import { readSecrets } from '../packages/sandbox/src/secrets.ts'
import { readEnvironment } from '../packages/server/src/process.ts'
import { type OpenDatabase, runOnDatabase } from '../packages/server/src/programs.ts'

/**
 * The database in `DATABASE_URL`, or the one in the data directory, started where it is not running. With the
 * configured encryption keys, or the sandbox's.
 * @throws Error where there is no database
 */
async function findDatabase(): Promise<OpenDatabase> {
  const { environment, places } = readEnvironment()
  const { given, dataDirectory } = readSandboxConfig(environment, places)
  const current = given.PIXGATE_ENCRYPTION_KEY ?? (await readSecrets(dataDirectory))?.encryptionKey
  const keys = current === undefined ? undefined : { current, previous: given.PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  const url = given.DATABASE_URL ?? (await runningPostgres(dataDirectory))
  if (url === undefined) {
    throw new Error(`there is no database in ${dataDirectory}; set DATABASE_URL or PIXGATE_DATA_DIR`)
  }
  const opened =
    url === 'stopped' ? await startEmbeddedPostgres({ dataDirectory }) : { url, stop: async () => undefined }
  return { ...opened, keys, ofxAccount: given.PIXGATE_OFX_ACCOUNT }
}

/** `npm run close`, `export-subject`, `rewrap-keys`, `verify-audit` and `verify-ledger`: programs of the server. */
process.exitCode = await runOnDatabase(process.argv.slice(2), 'npm run', findDatabase)
