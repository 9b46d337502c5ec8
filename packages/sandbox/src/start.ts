import {
  type AddEndpoints,
  type Logger,
  openPartnerLink,
  type ProcessDependencies,
  prepareDatabase,
  reserveAddress,
  SchemaError,
  type Serving,
  type ServingRole,
  StartupError,
  type Stop,
  serve,
  unreleasedDatabase,
  urlOf,
} from '@pixgate/server'
import { type ConfiguredBank, configOf, pixgate, pixgateBankConfig } from '@pixgate/server/config'
import { banner } from './banner.ts'
import type { SandboxConfig } from './config.ts'
import { sandboxControls } from './controls/routes.ts'
import { EmbeddedPostgresError, startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { partnerSecretsOf, type Secrets, secretsIn, secretsOf } from './secrets.ts'
import { startSimulator } from './simulator-process.ts'

/** In the packages it is JavaScript. */
const IS_SOURCE = import.meta.filename.endsWith('.ts')

/**
 * Starts the server with the bank's controls, and with a database, secrets and a bank if none are configured.
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
  const preparing = prepareDatabase({ mode, databaseUrl, migrationUrl }, logger)
  await (given.DATABASE_URL === undefined ? preparing.catch(namingDataDirectory(dataDirectory)) : preparing)

  const address = await reserveAddress(role, { host: given.HOST, port: given.PORT })
  const url = urlOf(address)
  const values = {
    ...given,
    DATABASE_URL: databaseUrl,
    PIXGATE_ADMIN_TOKEN: secrets.adminToken,
    PIXGATE_ENCRYPTION_KEY: secrets.encryptionKey,
  }
  const { bank, addEndpoints } = await bankOf(role, config, url, logger, stops)
  const server = configOf(values, bank)
  if (server.mode === 'production') return serve({ role, address }, { ...dependencies, config: server }, stops)

  const announce: Serving['announce'] = async (operators, service) => {
    if (role !== 'all') return
    // A file or pipe has other readers and is kept longer, so it gets log lines without secrets.
    if (process.stdout.isTTY) {
      const { adminToken } = secrets
      const hasControls = addEndpoints !== undefined
      const people = server.isConsoleServed ? await service.sandboxOperators() : []
      const operatorUrl = operators && urlOf(operators)
      process.stdout.write(banner({ url, operatorUrl, adminToken, hasControls, hasDemo: IS_SOURCE, people }))
    } else if (given.PIXGATE_ADMIN_TOKEN === undefined) {
      logger.info({ file: secretsIn(dataDirectory) }, 'the admin token is in this file, which only its owner can read')
    }
  }
  const serving = { role, address, announce, ...(addEndpoints && { addEndpoints }) }
  await serve(serving, { ...dependencies, config: server }, stops)
}

/** A bank, and the endpoints that control it. */
interface SandboxBank {
  readonly bank: ConfiguredBank
  /** Absent for banks that the sandbox cannot control. */
  readonly addEndpoints?: AddEndpoints
}

/** The configured bank. For the partner protocol without a configured URL, starts the simulated bank. */
async function bankOf(
  role: ServingRole,
  config: SandboxConfig,
  url: string,
  logger: Logger,
  stops: Stop[],
): Promise<SandboxBank> {
  if ('other' in config.bank) return { bank: config.bank.other }
  const { partner } = config.bank
  const secrets = await partnerSecretsOf(partner, config.dataDirectory)
  const values = {
    ...partner,
    PIXGATE_PARTNER_URL: partner.PIXGATE_PARTNER_URL ?? (await startBank(role, config, secrets, url, logger, stops)),
    PIXGATE_PARTNER_TOKEN: secrets.partnerToken,
    PIXGATE_PARTNER_SECRET: secrets.partnerSecret,
  }
  const bank = pixgate.configure(values)
  if (config.given.PIXGATE_MODE === 'production') return { bank }
  const link = openPartnerLink(pixgateBankConfig(values))
  stops.push(() => link.close())
  return { bank, addEndpoints: sandboxControls(link) }
}

/** Starts the sandbox's own PostgreSQL. @returns its URL */
export async function startDatabase(dataDirectory: string, logger: Logger, stops: Stop[]): Promise<string> {
  const onLost = (error: Error) => logger.fatal({ error: error.message }, 'the embedded database was lost')
  const postgres = await startEmbeddedPostgres({ dataDirectory, onLost }).catch((error: unknown) => {
    throw error instanceof EmbeddedPostgresError ? new StartupError(error.message, { cause: error }) : error
  })
  stops.push(() => postgres.stop())
  return postgres.url
}

/** Adds the data directory to the error if an unreleased version created its database. */
export function namingDataDirectory(dataDirectory: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof SchemaError && error.code === 'UNRELEASED_DATABASE')) throw error
    throw unreleasedDatabase(`To start over, remove the data directory ${dataDirectory} and start again.`)
  }
}

async function startBank(
  role: ServingRole,
  { dataDirectory, simulatorPort }: SandboxConfig,
  secrets: Pick<Secrets, 'partnerToken' | 'partnerSecret'>,
  eventsUrl: string,
  logger: Logger,
  stops: Stop[],
): Promise<string> {
  if (role !== 'all')
    throw new StartupError(`set PIXGATE_PARTNER_URL: the role ${role} does not start a simulated bank`)
  const options = { dataDirectory, simulatorPort, ...secrets, eventsUrl, logger }
  const simulator = await startSimulator(options)
  stops.push(simulator.stop)
  return simulator.url
}
