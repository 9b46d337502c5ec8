import { readSandboxConfig } from '../packages/sandbox/src/config.ts'
import { readSecrets } from '../packages/sandbox/src/secrets.ts'
import { readEnvironment } from '../packages/server/src/process.ts'
import { type OpenAuditDatabase, verifyAuditTrail } from '../packages/server/src/verify-audit.ts'
import { findDatabase } from './database-of-sandbox.ts'

/**
 * `npm run verify-audit`: the program of the server, on the database in `DATABASE_URL` or the one in the data directory.
 * @source rules#audit.4
 */
async function openDatabase(): Promise<OpenAuditDatabase> {
  const { environment, places } = readEnvironment()
  const { given, dataDirectory } = readSandboxConfig(environment, places)
  const { encryptionKey } = (await readSecrets(dataDirectory)) ?? {}
  const current = given.PIXGATE_ENCRYPTION_KEY ?? encryptionKey
  const encryptionKeys =
    current === undefined ? undefined : { current, previous: given.PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  return { ...(await findDatabase()), encryptionKeys }
}

process.exitCode = await verifyAuditTrail(process.argv.slice(2), 'npm run verify-audit --', openDatabase)
