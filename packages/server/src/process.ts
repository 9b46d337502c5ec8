import { isProduction } from './config.ts'
import { createDatabaseClock, type DatabaseClock } from './platform/clock.ts'
import {
  type EnvironmentWithFile,
  type SettingPlaces,
  settingsCount,
  withEnvironmentFile,
} from './platform/environment-file.ts'
import { type Pause, realPause } from './platform/jobs/pause.ts'
import { createLogger, type Logger } from './platform/log.ts'
import { runtimeFaults } from './platform/runtime.ts'
import { StartupError } from './platform/startup-error.ts'
import { ConfigError, type Environment } from './platform/variables.ts'

/** What a process serves as, the default first. */
export const SERVING_ROLES = ['all', 'api', 'worker'] as const

/** What a process that serves does. */
export type ServingRole = (typeof SERVING_ROLES)[number]

/** What a process does: it serves, or it brings the schema up to date and ends. */
export type Role = ServingRole | 'migrate'

/** Every role, the default first. */
export const ROLES: readonly Role[] = [...SERVING_ROLES, 'migrate']

/** Ends something that was started. */
export type Stop = () => Promise<void>

/** Time, waiting, chance and the log of a process. */
export interface ProcessDependencies {
  readonly clock: DatabaseClock
  readonly pause: Pause
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
}

/** What runs in a process: the server alone, or with what another package brings, or the migration. */
export interface Program<R extends Role, Config> {
  /** Reads the environment. @param places of what a file adds to it. @throws ConfigError */
  readonly configure: (environment: Environment, places: SettingPlaces) => Config
  readonly openLog: (config: Config) => Logger
  /**
   * Starts what a role needs; a migration is done when it returns.
   * @param stops gets what was started, in that order, also where the start fails halfway
   * @throws StartupError
   */
  readonly start: (role: R, config: Config, dependencies: ProcessDependencies, stops: Stop[]) => Promise<void>
}

/** How long a shutdown may take. @source rules#health.3, failure-modes#PL-2 */
export const DRAIN_MS = 20_000

/**
 * The role that the first argument of this process names: `all` (the default), `api`, `worker` or `migrate`. Ends the
 * process with 2 where it is another word.
 */
export function readRole(): Role {
  const text = process.argv[2] ?? 'all'
  const role = ROLES.find((candidate) => candidate === text)
  return role ?? refuse(`unknown role ${text}; it is one of ${ROLES.join(', ')}`)
}

/**
 * Runs a program as this process, in a role. Ends with 2 before anything was started where the configuration is wrong, with 1 where the start fails or
 * nobody foresaw what happened, and with 0 on SIGINT and SIGTERM, or when a migration has ended.
 */
export async function runProcess<R extends Role, Config>(
  role: R,
  { configure, openLog, start }: Program<R, Config>,
): Promise<void> {
  const { config, fromFile, environment } = await configOf(configure)
  const logger = withRole(openLog(config), role)
  if (isProduction(environment)) refuseDebugger(logger)
  if (fromFile) logger.info({ settings: fromFile }, `read ${settingsCount(fromFile)} from ${ENVIRONMENT_FILE}`)
  const stops: Stop[] = []
  const starting = start(
    role,
    config,
    { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger },
    stops,
  )
  const shutDown = shutDownOnce(starting, stops, logger)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      logger.info({ signal }, 'stopping, as was asked')
      void shutDown(0)
    })
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      // Nobody knows what state this is: the database does, and the next start reads it.
      logger.fatal({ event, error: String((error as Error | undefined)?.stack ?? error) }, UNFORESEEN)
      process.exit(1)
    })
  }
  try {
    await starting
    if (role === 'migrate') await shutDown(0)
  } catch (error) {
    const reason = startupMessage(error)
    const code = error instanceof StartupError ? error.code : undefined
    logger.fatal({ ...(code && { code }), reason }, START_REFUSED)
    process.stderr.write(`\npixgate: ${reason}\n\n`)
    await shutDown(1)
  }
}

/** Where nobody listens Node.js opens a debugger to everybody on this machine. @source rules#production.5 */
function refuseDebugger(logger: Logger): void {
  process.on('SIGUSR1', () =>
    logger.error({ signal: 'SIGUSR1' }, 'a debugger was asked for, and production opens none'),
  )
}

const UNFORESEEN = 'nobody foresaw this error: the process ends, and the next start goes on with what was under way'

/** A process with a part of the work says so in every line. @source rules#logs.6 */
function withRole(logger: Logger, role: Role): Logger {
  return role === 'api' || role === 'worker' ? logger.child({ role }) : logger
}

/** Read in the working directory. */
const ENVIRONMENT_FILE = '.env'

/** The environment of this process, with what `.env` adds. @throws ConfigError @source rules#config.6 */
export function readEnvironment(): EnvironmentWithFile {
  return withEnvironmentFile(ENVIRONMENT_FILE, process.env)
}

/**
 * Reads a configuration, and in production how this Node.js was started: all that is wrong with either is told at once.
 * @throws ConfigError
 * @source rules#config.1, rules#production.5
 */
export async function configured<Config>(
  configure: (environment: Environment, places: SettingPlaces) => Config | Promise<Config>,
  { environment, places }: EnvironmentWithFile,
): Promise<Config> {
  const faults = isProduction(environment) ? runtimeFaults(environment) : []
  try {
    const config = await configure(environment, places)
    if (faults.length === 0) return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    faults.push(...error.faults)
  }
  throw new ConfigError(faults)
}

async function configOf<Config>(
  configure: Program<Role, Config>['configure'],
): Promise<{ config: Config } & EnvironmentWithFile> {
  try {
    const read = readEnvironment()
    return { ...read, config: await configured(configure, read) }
  } catch (error) {
    return refuse(startupMessage(error))
  }
}

const START_REFUSED = 'the start was refused'

/**
 * Ends the process before anything was started. What collects lines of JSON gets one: the log was not open yet.
 * @source rules#logs.3
 */
export function refuse(message: string): never {
  if (!process.stdout.isTTY) createLogger('fatal').fatal({ reason: message }, START_REFUSED)
  process.stderr.write(`pixgate: ${message}\n`)
  process.exit(2)
}

function startupMessage(error: unknown): string {
  return error instanceof StartupError ? error.message : String((error as Error).stack ?? error)
}

/** Stops what was started last first; what cannot be stopped keeps nothing else from it. */
async function stopAll(stops: Stop[], logger: Logger): Promise<void> {
  for (const stop of stops.splice(0).reverse()) {
    await stop().catch((error) => logger.error({ error: String(error) }, 'the shutdown was not clean'))
  }
}

/**
 * Stops everything once, whoever asks how often, and ends the process: what is still open then, as a connection to a
 * database that does not answer, would only hold it up. A second signal does not make it less orderly. A start under way is
 * let finish first: what it has half started could not be stopped.
 */
function shutDownOnce(starting: Promise<void>, stops: Stop[], logger: Logger): (code: number) => Promise<void> {
  let isShuttingDown = false
  return async (code) => {
    if (isShuttingDown) return
    isShuttingDown = true
    setTimeout(() => {
      logger.fatal('what was under way did not end within 20 seconds; the next start goes on with it')
      process.exit(1)
    }, DRAIN_MS).unref()
    await starting.catch(() => undefined)
    await stopAll(stops, logger)
    process.exit(code)
  }
}
