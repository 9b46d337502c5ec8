import { type Config, ConfigError, readConfig } from './config.ts'
import { createDatabaseClock } from './platform/clock.ts'
import { EmbeddedPostgresError } from './platform/db/embedded-postgres.ts'
import { SchemaError } from './platform/db/migrate.ts'
import { realPause } from './platform/jobs/pause.ts'
import { createLogger, type Logger } from './platform/log.ts'
import { ROLES, type Role, StartupError, type Stop, start } from './start.ts'
import { SigningKeyUnreadable } from './webhooks/index.ts'

/**
 * The service as a process: `all` (the default), `api`, `worker`, or `migrate`. In the sandbox `all` brings its own
 * database and its own bank.
 */

/** How long a shutdown may take. @source rules#health.3, failure-modes#PL-2 */
const DRAIN_MS = 20_000

async function main(): Promise<void> {
  const role = roleOf(process.argv[2])
  const config = configOf(process.env)
  const logger = createLogger(config.logLevel)
  const stops: Stop[] = []
  const surroundings = { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger }
  const starting = start(role, config, surroundings, stops)
  const shutDown = shutDownOnce(starting, stops, logger)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void shutDown(0))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      // Nobody knows what state this is: the database does, and the next start reads it.
      logger.fatal({ error: String((error as Error | undefined)?.stack ?? error) }, event)
      process.exit(1)
    })
  }
  try {
    await starting
    if (role === 'migrate') await shutDown(0)
  } catch (error) {
    process.stderr.write(`\npixgate: ${startupMessage(error)}\n\n`)
    await shutDown(1)
  }
}

function roleOf(text: string | undefined): Role {
  const role = ROLES.find((candidate) => candidate === (text ?? 'all'))
  return role ?? refuse(`unknown role ${text}; it is one of ${ROLES.join(', ')}`)
}

function configOf(environment: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    return refuse(startupMessage(error))
  }
}

/** Ends the process before anything was started. */
function refuse(message: string): never {
  process.stderr.write(`pixgate: ${message}\n`)
  process.exit(2)
}

function startupMessage(error: unknown): string {
  const expected = [ConfigError, EmbeddedPostgresError, SchemaError, SigningKeyUnreadable, StartupError]
  const isExpected = expected.some((kind) => error instanceof kind)
  return isExpected ? (error as Error).message : String((error as Error).stack ?? error)
}

async function stopAll(stops: Stop[]): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop()
}

/**
 * Stops everything once, whoever asks how often; a second signal does not make it less orderly. A start under way is
 * let finish first: what it has half started could not be stopped.
 */
function shutDownOnce(starting: Promise<void>, stops: Stop[], logger: Logger): (code: number) => Promise<void> {
  let isShuttingDown = false
  return async (code) => {
    if (isShuttingDown) return
    isShuttingDown = true
    process.exitCode = code
    setTimeout(() => process.exit(1), DRAIN_MS).unref()
    await starting.catch(() => undefined)
    await stopAll(stops).catch((error) => logger.error({ error: String(error) }, 'the shutdown was not clean'))
  }
}

await main()
