import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import type { Config } from './config.ts'
import { commandOf } from './platform/command.ts'
import { databaseStartupError } from './platform/db/errors.ts'
import { loginFaults, workAsApplication } from './platform/db/login.ts'
import { migrate, missingFromSchema } from './platform/db/migrate.ts'
import { checkDatabase } from './platform/db/self-check.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import type { Logger } from './platform/log.ts'
import { StartupError } from './platform/startup-error.ts'

/** The machines whose moves the database's guard must know. */
export const MACHINES = [cashIn, cashOut, refundIn, adjustment] as const

/** An address of the database with the name of its variable. */
export interface DatabaseLogin {
  readonly url: string
  readonly variable: 'DATABASE_URL' | 'PIXGATE_MIGRATION_URL'
}

/**
 * Checks that commits are durable. In production also checks that the login cannot rewrite or define anything, and that
 * the schema is up to date. In the sandbox migrates the schema.
 * @throws StartupError when the database cannot be reached or has a fault
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
 * Checks that commits are durable, and migrates the schema.
 * @throws StartupError when the database cannot be reached or has a fault
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

/** Advice for an outdated schema. @param missing names of the files to apply */
export function schemaFault(missing: readonly string[]): string {
  return `the schema is not up to date (${missing.join(', ')}): run \`${commandOf('migrate')}\` with PIXGATE_MIGRATION_URL, then start again`
}

function refuseFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new StartupError(faults.join('\n'))
}
