import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import type { Config } from './config.ts'
import { databaseStartupError } from './platform/db/errors.ts'
import { loginFaults, workAsApplication } from './platform/db/login.ts'
import { migrate, missingFromSchema } from './platform/db/migrate.ts'
import { checkDatabase } from './platform/db/self-check.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import type { Logger } from './platform/log.ts'
import { StartupError } from './platform/startup-error.ts'

/** The machines whose moves the database's guard has to know. */
export const MACHINES = [cashIn, cashOut, refundIn, adjustment] as const

/** An address of the database, with the variable that it stands in. */
export interface DatabaseLogin {
  readonly url: string
  readonly variable: 'DATABASE_URL' | 'PIXGATE_MIGRATION_URL'
}

/**
 * Checks that a commit is a promise there. In production also that the login can neither rewrite nor define anything, and
 * that the schema is up to date; in the sandbox it is brought up to date.
 * @throws StartupError that says why the database cannot be reached, or what is wrong with it
 * @source rules#config.10, rules#database.10, rules#database.11
 */
export async function prepareDatabase(
  { mode, databaseUrl, migrationUrl }: Pick<Config, 'mode' | 'databaseUrl' | 'migrationUrl'>,
  logger: Logger,
): Promise<void> {
  const own: DatabaseLogin = { url: databaseUrl, variable: 'DATABASE_URL' }
  if (mode === 'production') return explained(own, () => refuseUnprepared(databaseUrl))
  await migrateDatabase(migrationUrl ? { url: migrationUrl, variable: 'PIXGATE_MIGRATION_URL' } : own, logger)
}

/**
 * Checks that a commit is a promise there, and brings the schema up to date.
 * @throws StartupError that says why the database cannot be reached, or what is wrong with it
 */
export function migrateDatabase(login: DatabaseLogin, logger: Logger): Promise<void> {
  return explained(login, async () => {
    refuseFaults(await checkDatabase(login.url))
    const applied = await migrate(login.url, MACHINES, { logger })
    if (applied.length > 0) logger.info({ applied }, 'the schema was brought up to date')
  })
}

async function explained(login: DatabaseLogin, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw databaseStartupError(error, login.url, login.variable)
  }
}

async function refuseUnprepared(url: string): Promise<void> {
  const settings = await checkDatabase(url)
  await withSnapshot({ url, name: 'pixgate start' }, async (queries) => {
    refuseFaults([...settings, ...(await loginFaults(queries))])
    await workAsApplication(queries)
    const missing = await missingFromSchema(queries, MACHINES)
    if (missing.length > 0) refuseFaults([schemaFault(missing)])
  })
}

/** What to do where the schema is not up to date. @param missing the names of what is to be applied */
export function schemaFault(missing: readonly string[]): string {
  return `the schema is not up to date (${missing.join(', ')}): run pixgate migrate with PIXGATE_MIGRATION_URL, then start again`
}

function refuseFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new StartupError(faults.join('\n'))
}
