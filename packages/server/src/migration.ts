import { environmentFaults, isProduction, type SettingPlaces, serviceVariables } from './config.ts'
import { createLogger } from './platform/log.ts'
import { fileVariable } from './platform/secrets.ts'
import { type Environment, readVariables } from './platform/variables.ts'
import { type DatabaseLogin, migrateDatabase } from './prepare-database.ts'
import type { Program } from './process.ts'

export interface MigrationConfig {
  readonly login: DatabaseLogin
  readonly logLevel: string
}

/**
 * Reads the settings of a migration: in production `PIXGATE_MIGRATION_URL`, in the sandbox `DATABASE_URL` if that is
 * unset. No other secret is needed.
 * @throws ConfigError
 * @source rules#database.11
 */
export function readMigrationConfig(environment: Environment, places: SettingPlaces): MigrationConfig {
  const inProduction = isProduction(environment)
  const variable = inProduction || isMigrationUrlGiven(environment) ? 'PIXGATE_MIGRATION_URL' : 'DATABASE_URL'
  const { [variable]: row, PIXGATE_MODE, PIXGATE_LOG_LEVEL } = serviceVariables
  const table = { [variable]: { ...row, required: 'always' }, PIXGATE_MODE, PIXGATE_LOG_LEVEL } as const
  const otherFaults = environmentFaults({ environment, places }, serviceVariables)
  const values = readVariables(table, environment, { isProduction: inProduction, otherFaults })
  return { login: { url: String(values[variable]), variable }, logLevel: values.PIXGATE_LOG_LEVEL }
}

export function isMigrationUrlGiven(environment: Environment): boolean {
  const name = 'PIXGATE_MIGRATION_URL'
  return Boolean(environment[name] || environment[fileVariable(name)])
}

export const migration: Program<'migrate', MigrationConfig> = {
  configure: readMigrationConfig,
  openLog: ({ logLevel }) => createLogger(logLevel),
  start: (_, { login }, { logger }) => migrateDatabase(login, logger),
}
