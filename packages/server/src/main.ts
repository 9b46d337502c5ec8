import { cashIn, cashOut, refundIn } from '@pixgate/spec'
import { banner } from './banner.ts'
import { compose } from './compose.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createDatabaseClock } from './platform/clock.ts'
import { EmbeddedPostgresError, startEmbeddedPostgres } from './platform/db/embedded-postgres.ts'
import { migrate, SchemaError } from './platform/db/migrate.ts'
import { checkDatabase } from './platform/db/self-check.ts'
import { realPause } from './platform/jobs/pause.ts'
import { createLogger, type Logger } from './platform/log.ts'
import { probePort } from './platform/ports.ts'
import { type Secrets, sandboxSecrets } from './sandbox-secrets.ts'
import { startSimulator } from './simulator-process.ts'

/**
 * Starts the service: `all` (the default), `api`, `worker`, or `migrate`. In the sandbox `all` brings its own database
 * and its own bank.
 */

/** What a process does. */
type Role = 'all' | 'api' | 'worker' | 'migrate'

const ROLES: readonly Role[] = ['all', 'api', 'worker', 'migrate']

/** What was started, to be stopped in the opposite order. */
type Stop = () => Promise<void>

/** A start that cannot go on, with a message for a person. */
class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** How long a shutdown may take. @source failure-modes PL-2 */
const DRAIN_MS = 20_000

async function main(): Promise<void> {
  const role = roleOf(process.argv[2])
  const config = readConfig(process.env)
  const logger = createLogger(config.logLevel)
  const stops: Stop[] = []
  const shutDown = shutDownOnce(stops, logger)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void shutDown(0))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      // Nobody knows what state this is: the database does, and the next start reads it.
      logger.fatal({ error: String(error) }, event)
      process.exit(1)
    })
  }
  try {
    await start(role, config, logger, stops)
  } catch (error) {
    process.stderr.write(`\npixgate: ${startupMessage(error)}\n\n`)
    await shutDown(1)
  }
}

function roleOf(text: string | undefined): Role {
  const role = ROLES.find((candidate) => candidate === (text ?? 'all'))
  if (role) return role
  process.stderr.write(`pixgate: unknown role ${text}; it is one of ${ROLES.join(', ')}\n`)
  process.exit(2)
}

async function start(role: Role, config: Config, logger: Logger, stops: Stop[]): Promise<void> {
  const secrets = await sandboxSecrets(config)
  const databaseUrl = config.databaseUrl ?? (await startDatabase(config, logger, stops))
  const faults = await checkDatabase(databaseUrl)
  if (faults.length > 0) throw new StartupError(faults.join('\n'))
  const applied = await migrate(databaseUrl, [cashIn, cashOut, refundIn])
  if (applied.length > 0) logger.info({ migrations: applied }, 'the schema was brought up to date')
  if (role === 'migrate') return stopAll(stops)

  const address = { host: config.host, port: await reservePort(config) }
  const partner = await connectPartner(role, config, secrets, ownUrl(address), logger, stops)
  const service = await compose({
    ...secrets,
    config,
    databaseUrl,
    partner,
    clock: createDatabaseClock(),
    pause: realPause,
    random: Math.random,
    logger,
  })
  stops.push(() => service.stop())
  if (role !== 'api') service.startWorkers()
  if (role !== 'worker') await service.http.listen(address)
  if (role === 'all' && config.mode === 'sandbox') {
    process.stdout.write(banner({ url: ownUrl(address), adminToken: secrets.adminToken }))
  }
  logger.info({ role, mode: config.mode, port: address.port }, 'ready')
}

/** Known before anything listens: the bank must be told where to send its events. */
async function reservePort({ host, port }: Config): Promise<number> {
  const free = await probePort(port, host)
  if (free === undefined) throw new StartupError(`port ${port} is taken; set PORT to another one`)
  return free
}

async function connectPartner(
  role: Role,
  config: Config,
  secrets: Secrets,
  eventsUrl: string,
  logger: Logger,
  stops: Stop[],
): Promise<{ url: string; token: string; secret: string }> {
  const credentials = { token: secrets.partnerToken, secret: secrets.partnerSecret }
  if (config.partner.url !== undefined) return { url: config.partner.url, ...credentials }
  if (role !== 'all') throw new StartupError(`set PIXGATE_PARTNER_URL: the role ${role} starts no simulated bank`)
  const simulator = await startSimulator({ ...config, ...secrets, eventsUrl, logger })
  stops.push(simulator.stop)
  return { url: simulator.url, ...credentials }
}

async function startDatabase(config: Config, logger: Logger, stops: Stop[]): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    dataDirectory: config.dataDirectory,
    onLost: (error) => logger.fatal({ error: error.message }, 'the embedded database was lost'),
  })
  stops.push(() => postgres.stop())
  return postgres.url
}

/** Where this process reaches itself: every address of the machine is reached by loopback. */
function ownUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function startupMessage(error: unknown): string {
  const isExpected = [ConfigError, EmbeddedPostgresError, SchemaError, StartupError].some(
    (kind) => error instanceof kind,
  )
  return isExpected ? (error as Error).message : String((error as Error).stack ?? error)
}

async function stopAll(stops: Stop[]): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop()
}

/** Stops everything once, whoever asks how often; a second signal does not make it less orderly. */
function shutDownOnce(stops: Stop[], logger: Logger): (code: number) => Promise<void> {
  let isShuttingDown = false
  return async (code) => {
    if (isShuttingDown) return
    isShuttingDown = true
    process.exitCode = code
    setTimeout(() => process.exit(1), DRAIN_MS).unref()
    await stopAll(stops).catch((error) => logger.error({ error: String(error) }, 'the shutdown was not clean'))
  }
}

await main()
