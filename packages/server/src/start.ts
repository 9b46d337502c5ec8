import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { banner } from './banner.ts'
import { compose, type Surroundings } from './compose.ts'
import type { Config } from './config.ts'
import { startEmbeddedPostgres } from './platform/db/embedded-postgres.ts'
import { migrate } from './platform/db/migrate.ts'
import { checkDatabase } from './platform/db/self-check.ts'
import type { Logger } from './platform/log.ts'
import { probePort } from './platform/ports.ts'
import { type Secrets, sandboxSecrets } from './sandbox-secrets.ts'
import { startSimulator } from './simulator-process.ts'

/** What a process does. */
export type Role = 'all' | 'api' | 'worker' | 'migrate'

/** Every role, the default first. */
export const ROLES: readonly Role[] = ['all', 'api', 'worker', 'migrate']

/** Ends something that was started. */
export type Stop = () => Promise<void>

/** Time, waiting, chance and the log of a process. */
export type ProcessSurroundings = Pick<Surroundings, 'clock' | 'pause' | 'random' | 'logger'>

/** A start that cannot go on, with a message for a person. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/**
 * Starts what a role needs: a database and a bank where none are configured, then the service itself.
 * @param stops gets what was started, in that order, also where the start fails halfway
 * @throws StartupError · EmbeddedPostgresError · SchemaError
 */
export async function start(
  role: Role,
  config: Config,
  surroundings: ProcessSurroundings,
  stops: Stop[],
): Promise<void> {
  const { logger } = surroundings
  const secrets = await sandboxSecrets(config)
  const databaseUrl = config.databaseUrl ?? (await startDatabase(config, logger, stops))
  const faults = await checkDatabase(databaseUrl)
  if (faults.length > 0) throw new StartupError(faults.join('\n'))
  const applied = await migrate(databaseUrl, [cashIn, cashOut, refundIn, adjustment])
  if (applied.length > 0) logger.info({ migrations: applied }, 'the schema was brought up to date')
  if (role === 'migrate') return

  const address = { host: config.host, port: role === 'worker' ? config.port : await reservePort(config) }
  const partner = await connectPartner(role, config, secrets, ownUrl(address), logger, stops)
  const service = await compose({ ...surroundings, ...secrets, config, databaseUrl, partner })
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
