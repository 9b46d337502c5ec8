import { readSandboxConfig } from '../packages/sandbox/src/config.ts'
import { readSecrets } from '../packages/sandbox/src/secrets.ts'
import { readEnvironment } from '../packages/server/src/process.ts'
import { runRewrapKeys } from '../packages/server/src/rewrap-keys.ts'
import { findDatabase } from './database-of-sandbox.ts'

/**
 * `npm run rewrap-keys`: the program of the server, on the database in `DATABASE_URL` or the one in the data directory, with the
 * configured keys or the one that the sandbox has made.
 * @source rules#encryption.3
 */
process.exitCode = await runRewrapKeys(async () => {
  const { environment, places } = readEnvironment()
  const { given, dataDirectory } = readSandboxConfig(environment, places)
  const { PIXGATE_ENCRYPTION_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS: previous } = given
  const current = PIXGATE_ENCRYPTION_KEY ?? (await readSecrets(dataDirectory))?.encryptionKey
  if (current === undefined) throw new Error('set PIXGATE_ENCRYPTION_KEY, with which everything is sealed anew')
  return { ...(await findDatabase()), keys: { current, previous } }
})
