import {
  isMigrationUrlGiven,
  type MigrationConfig,
  migrateDatabase,
  type Program,
  readMigrationConfig,
} from '@pixgate/server'
import { isProduction } from '@pixgate/server/config'
import { fileVariable } from '@pixgate/server/variables'
import { readSandboxConfig, type SandboxConfig } from './config.ts'
import { openLog } from './log.ts'
import { namingDataDirectory, startDatabase } from './start.ts'

/** `npm run migrate`: migrates the configured database, or the sandbox's own if none is configured. */
export const sandboxMigration: Program<'migrate', MigrationConfig | SandboxConfig> = {
  configure: (environment, places) => {
    const isGiven = environment.DATABASE_URL || environment[fileVariable('DATABASE_URL')]
    return isProduction(environment) || isGiven || isMigrationUrlGiven(environment)
      ? readMigrationConfig(environment, places)
      : readSandboxConfig(environment, places)
  },
  openLog: (config) => openLog('given' in config ? config.given.PIXGATE_LOG_LEVEL : config.logLevel),
  start: async (_, config, { logger }, stops) => {
    if ('login' in config) return migrateDatabase(config.login, logger)
    const url = await startDatabase(config.dataDirectory, logger, stops)
    await migrateDatabase({ url, variable: 'DATABASE_URL' }, logger).catch(namingDataDirectory(config.dataDirectory))
  },
}
