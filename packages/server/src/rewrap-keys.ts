import { readAbout } from './doctor/doctor.ts'
import { createDatabaseClock } from './platform/clock.ts'
import { APPLICATION_ROLE, openDatabase } from './platform/db/database.ts'
import { databaseStartupError } from './platform/db/errors.ts'
import { missingFromSchema } from './platform/db/migrate.ts'
import { createIds } from './platform/ids.ts'
import { createLogger } from './platform/log.ts'
import { MACHINES, schemaFault } from './prepare-database.ts'
import type { DatabaseProgram } from './programs.ts'
import { type Rewrapped, rewrap } from './webhooks/rewrap.ts'

/**
 * The program `rewrap-keys`: seals every secret in the database with `PIXGATE_ENCRYPTION_KEY` and prints a line for
 * each. Can be interrupted and repeated at any time.
 * @returns the exit status: 0 if the previous key is no longer needed, 1 if a secret cannot be opened, 2 if it could
 * not run
 * @source rules#encryption.3
 */
export const rewrapKeys: DatabaseProgram = async (_parameters, _usage, open) => {
  const { url, keys } = await open()
  if (keys === undefined) throw new Error('PIXGATE_ENCRYPTION_KEY is not set; it seals everything anew')
  const logger = createLogger('silent')
  const database = openDatabase({ url, logger, name: 'rewrap-keys', connections: 1, role: APPLICATION_ROLE })
  const clock = createDatabaseClock()
  try {
    clock.observe((await readAbout(database)).now)
    const missing = await missingFromSchema(database, MACHINES)
    if (missing.length > 0) throw new Error(schemaFault(missing))
    const results = await rewrap({ database, clock, ids: createIds(clock), keys })
    console.log(reportOf(results))
    return results.some(({ outcome }) => outcome === 'unreadable') ? 1 : 0
  } catch (error) {
    throw databaseStartupError(error, url)
  } finally {
    await database.close()
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
