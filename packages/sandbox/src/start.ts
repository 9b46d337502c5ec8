import {
  type Logger,
  openPartnerLink,
  type ProcessDependencies,
  prepareDatabase,
  reserveAddress,
  type Serving,
  type ServingRole,
  StartupError,
  type Stop,
  serve,
  urlOf,
} from '@pixgate/server'
import { configOf, pixgate, pixgateBankConfig } from '@pixgate/server/config'
import { banner } from './banner.ts'
import type { SandboxConfig } from './config.ts'
import { sandboxControls } from './controls/routes.ts'
import { EmbeddedPostgresError, startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { type Secrets, secretsIn, secretsOf } from './secrets.ts'
import { startSimulator } from './simulator-process.ts'

/**
 * Starts the server with a database, secrets and a bank where none are configured, and with the controls of the bank.
 * @param stops gets what was started, in that order, also where the start fails halfway
 * @throws StartupError
 */
export async function startSandbox(
  role: ServingRole,
  config: SandboxConfig,
  dependencies: ProcessDependencies,
  stops: Stop[],
): Promise<void> {
  const { given, dataDirectory } = config
  const { logger } = dependencies
  const secrets = await secretsOf(config)
  const databaseUrl = given.DATABASE_URL ?? (await startDatabase(dataDirectory, logger, stops))
  const { PIXGATE_MODE: mode, PIXGATE_MIGRATION_URL: migrationUrl } = given
  await prepareDatabase({ mode, databaseUrl, migrationUrl }, logger)

  const address = await reserveAddress(role, { host: given.HOST, port: given.PORT })
  const url = urlOf(address)
  const bankUrl = given.PIXGATE_PARTNER_URL ?? (await startBank(role, config, secrets, url, logger, stops))
  const values = {
    ...given,
    DATABASE_URL: databaseUrl,
    PIXGATE_ADMIN_TOKEN: secrets.adminToken,
    PIXGATE_ENCRYPTION_KEY: secrets.encryptionKey,
    PIXGATE_PARTNER_URL: bankUrl,
    PIXGATE_PARTNER_TOKEN: secrets.partnerToken,
    PIXGATE_PARTNER_SECRET: secrets.partnerSecret,
  }
  const server = configOf(values, pixgate.configure(values))
  if (server.mode === 'production') return serve({ role, address }, { ...dependencies, config: server }, stops)

  const link = openPartnerLink(pixgateBankConfig(values))
  stops.push(() => link.close())
  const announce: Serving['announce'] = (operators) => {
    if (role !== 'all') return
    // A file or a pipe is read by others, and for longer: it gets lines of the log and no secret.
    if (process.stdout.isTTY) {
      process.stdout.write(banner({ url, operatorUrl: operators && urlOf(operators), adminToken: secrets.adminToken }))
    } else if (given.PIXGATE_ADMIN_TOKEN === undefined) {
      logger.info(
        { file: secretsIn(dataDirectory) },
        'the administrative token is in this file, which only its owner reads',
      )
    }
  }
  const addEndpoints = sandboxControls(link)
  await serve({ role, address, addEndpoints, announce }, { ...dependencies, config: server }, stops)
}

/** Starts the sandbox's own PostgreSQL. @returns its address */
export async function startDatabase(dataDirectory: string, logger: Logger, stops: Stop[]): Promise<string> {
  const onLost = (error: Error) => logger.fatal({ error: error.message }, 'the embedded database was lost')
  const postgres = await startEmbeddedPostgres({ dataDirectory, onLost }).catch((error: unknown) => {
    throw error instanceof EmbeddedPostgresError ? new StartupError(error.message, { cause: error }) : error
  })
  stops.push(() => postgres.stop())
  return postgres.url
}

async function startBank(
  role: ServingRole,
  { dataDirectory, simulatorPort }: SandboxConfig,
  { partnerToken, partnerSecret }: Secrets,
  eventsUrl: string,
  logger: Logger,
  stops: Stop[],
): Promise<string> {
  if (role !== 'all') throw new StartupError(`set PIXGATE_PARTNER_URL: the role ${role} starts no simulated bank`)
  const options = { dataDirectory, simulatorPort, partnerToken, partnerSecret, eventsUrl, logger }
  const simulator = await startSimulator(options)
  stops.push(simulator.stop)
  return simulator.url
}
