import { readSecrets } from '../packages/sandbox/src/secrets.ts'
import { runRewrapKeys } from '../packages/server/src/rewrap-keys.ts'
import { sandboxConfig, sandboxDatabase } from './sandbox-database.ts'

/**
 * `npm run rewrap-keys`: the program of the server, on the database in `DATABASE_URL` or the one in the data directory, with the
 * configured keys or the one that the sandbox has made.
 * @source rules#encryption.3
 */
process.exitCode = await runRewrapKeys(async () => {
  const config = sandboxConfig()
  const { PIXGATE_ENCRYPTION_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS: previous } = config.given
  const current = PIXGATE_ENCRYPTION_KEY ?? (await readSecrets(config.dataDirectory))?.encryptionKey
  if (current === undefined) throw new Error('set PIXGATE_ENCRYPTION_KEY, with which everything is sealed anew')
  return { ...(await sandboxDatabase(config)), keys: { current, previous } }
})
