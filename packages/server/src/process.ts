import { isatty } from 'node:tty'
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

/** Roles of a serving process, the default first. */
export const SERVING_ROLES = ['all', 'api', 'worker'] as const

export type ServingRole = (typeof SERVING_ROLES)[number]

/** Role of a process: it serves, or migrates and exits. */
export type Role = ServingRole | 'migrate'

export const ROLES: readonly Role[] = [...SERVING_ROLES, 'migrate']

export type Stop = () => Promise<void>

export interface ProcessDependencies {
  readonly clock: DatabaseClock
  readonly pause: Pause
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
}

/** A program: the standalone server, one composed by another package, or the migration. */
export interface Program<R extends Role, Config> {
  /** Reads the environment. @param places of settings in files. @throws ConfigError */
  readonly configure: (environment: Environment, places: SettingPlaces) => Config
  readonly openLog: (config: Config) => Logger
  /**
   * Starts a role; a migration is finished when it returns.
   * @param stops collects stop functions in the order of starting, also when the start fails
   * @throws StartupError
   */
  readonly start: (role: R, config: Config, dependencies: ProcessDependencies, stops: Stop[]) => Promise<void>
}

/** Time limit of a shutdown. @source rules#health.3, failure-modes#PL-2 */
export const DRAIN_MS = 20_000

/**
 * The role in the first argument: `all` (the default), `api`, `worker` or `migrate`. Exits with 2 for anything else.
 */
export function readRole(): Role {
  const text = process.argv[2] ?? 'all'
  const role = ROLES.find((candidate) => candidate === text)
  return role ?? refuse(`unknown role ${text}; it is one of ${ROLES.join(', ')}`)
}

/**
 * Runs a program in a role. Exit status: 2 for a wrong configuration, before anything was started; 1 when the start
 * fails or an error is unhandled; 0 on SIGINT, SIGTERM and a closed terminal, or after a migration.
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
      logger.info({ signal }, 'stopping on signal')
      void shutDown(0)
    })
  }
  stopWithTerminal(() => {
    logger.info({ signal: 'SIGHUP' }, 'stopping, the terminal was closed')
    void shutDown(0)
  })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      // The state of the process is unknown; the next start reads it from the database.
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

/**
 * Stops when the terminal of standard input closes. Elsewhere SIGHUP is ignored: Node.js resets the ignored SIGHUP of
 * nohup, which leaves no terminal on standard input.
 * @source rules#health.3
 */
function stopWithTerminal(stop: () => void): void {
  // Read at the start, because a closed terminal is none.
  const hasTerminal = isatty(0)
  process.on('SIGHUP', () => {
    if (hasTerminal) stop()
  })
  // Writing to a closed terminal is EIO, which without a listener would end the process before its parts.
  if (hasTerminal) process.stderr.on('error', () => undefined)
}

/** Without a listener, Node.js opens a debugger to every user of this machine. @source rules#production.5 */
function refuseDebugger(logger: Logger): void {
  process.on('SIGUSR1', () => logger.error({ signal: 'SIGUSR1' }, 'a debugger was requested; production opens none'))
}

const UNFORESEEN = 'unhandled error, exiting; in-flight work resumes on restart'

/** A process with only part of the work names its role in every line. @source rules#logs.6 */
function withRole(logger: Logger, role: Role): Logger {
  return role === 'api' || role === 'worker' ? logger.child({ role }) : logger
}

/** In the working directory. */
const ENVIRONMENT_FILE = '.env'

/** The environment with the settings of `.env`. @throws ConfigError @source rules#config.6 */
export function readEnvironment(): EnvironmentWithFile {
  return withEnvironmentFile(ENVIRONMENT_FILE, process.env)
}

/**
 * Reads a configuration, and in production the start options of Node.js. Reports the faults of both at once.
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
 * Exits before anything was started. Also logs a line of JSON for collectors, since the log is not open yet.
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

/** Stops in reverse order of starting. A failed stop does not prevent the others. */
async function stopAll(stops: Stop[], logger: Logger): Promise<void> {
  for (const stop of stops.splice(0).reverse()) {
    await stop().catch((error) => logger.error({ error: String(error) }, 'a part of the shutdown failed'))
  }
}

/**
 * Stops everything once and exits, which closes hanging connections such as those to an unresponsive database. Further
 * signals have no effect. A running start is awaited first, since a half-started part could not be stopped.
 */
function shutDownOnce(starting: Promise<void>, stops: Stop[], logger: Logger): (code: number) => Promise<void> {
  let isShuttingDown = false
  return async (code) => {
    if (isShuttingDown) return
    isShuttingDown = true
    setTimeout(() => {
      logger.fatal('running work did not end within 20 seconds; exiting, it resumes on restart')
      process.exit(1)
    }, DRAIN_MS).unref()
    await starting.catch(() => undefined)
    await stopAll(stops, logger)
    process.exit(code)
  }
}
