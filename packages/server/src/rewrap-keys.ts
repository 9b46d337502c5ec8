import { isProduction, serviceVariables } from './config.ts'
import { readAbout } from './doctor/doctor.ts'
import type { OpenDatabase } from './open-database.ts'
import { createDatabaseClock } from './platform/clock.ts'
import { APPLICATION_ROLE, openDatabase } from './platform/db/database.ts'
import { databaseStartupError } from './platform/db/errors.ts'
import { missingFromSchema } from './platform/db/migrate.ts'
import { createIds } from './platform/ids.ts'
import { createLogger } from './platform/log.ts'
import type { EncryptionKeys } from './platform/sealing.ts'
import { type Environment, readVariables } from './platform/variables.ts'
import { MACHINES, schemaFault } from './prepare-database.ts'
import { type Rewrapped, readSealed, rewrap } from './webhooks/index.ts'

/** A database with the keys of its sealed values. */
export interface SealedDatabase extends OpenDatabase {
  readonly keys: EncryptionKeys
}

/**
 * The program `rewrap-keys`: seals every secret in the database with `PIXGATE_ENCRYPTION_KEY` and prints a line for
 * each. Can be interrupted and repeated at any time.
 * @param open opens the database
 * @returns the exit status: 0 if the previous key is no longer needed, 1 if a secret cannot be opened, 2 if it could
 * not run
 * @source rules#encryption.3
 */
export async function runRewrapKeys(open: () => Promise<SealedDatabase>): Promise<number> {
  try {
    const results = await rewrapDatabase(await open())
    console.log(reportOf(results))
    return results.some(({ outcome }) => outcome === 'unreadable') ? 1 : 0
  } catch (error) {
    console.error(`rewrap-keys: ${(error as Error).message}`)
    return 2
  }
}

/** The database in `DATABASE_URL` with the configured keys; needs no other settings. @throws ConfigError */
export async function configuredSealedDatabase(environment: Environment): Promise<SealedDatabase> {
  const { DATABASE_URL, PIXGATE_ENCRYPTION_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS } = serviceVariables
  const table = { DATABASE_URL, PIXGATE_ENCRYPTION_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  const values = readVariables(table, environment, { isProduction: isProduction(environment) })
  const keys = { current: values.PIXGATE_ENCRYPTION_KEY, previous: values.PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  return { url: values.DATABASE_URL, keys, stop: async () => undefined }
}

async function rewrapDatabase({ url, keys, stop }: SealedDatabase): Promise<readonly Rewrapped[]> {
  const logger = createLogger('silent')
  const database = openDatabase({ url, logger, name: 'rewrap-keys', connections: 1, role: APPLICATION_ROLE })
  const clock = createDatabaseClock()
  try {
    clock.observe((await readAbout(database)).now)
    const missing = await missingFromSchema(database, MACHINES)
    if (missing.length > 0) throw new Error(schemaFault(missing))
    return await rewrap(readSealed, { database, clock, ids: createIds(clock), keys })
  } catch (error) {
    throw databaseStartupError(error, url)
  } finally {
    await database.close()
    await stop()
  }
}

function reportOf(results: readonly Rewrapped[]): string {
  const unreadable = results.filter(({ outcome }) => outcome === 'unreadable').length
  const end = unreadable === 0 ? NEEDED_NO_MORE : `${unreadable} cannot be opened and are unchanged`
  return [...results.map(lineOf), end].join('\n')
}

function lineOf({ what, outcome, reason }: Rewrapped): string {
  return `${outcome === 'unreadable' ? '✘' : '✔'} ${what}  ${reason ?? SAYS[outcome]}`
}

const SAYS = {
  rewrapped: 'is sealed anew, with PIXGATE_ENCRYPTION_KEY',
  current_already: 'was sealed with PIXGATE_ENCRYPTION_KEY already',
  gone: 'was erased or sealed anew by another process meanwhile',
  unreadable: 'cannot be opened',
} as const

const NEEDED_NO_MORE =
  'All sealed values open with PIXGATE_ENCRYPTION_KEY: PIXGATE_ENCRYPTION_KEY_PREVIOUS is no longer needed; remove it'
