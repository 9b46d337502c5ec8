import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { type AddEndpoints, compose, type Dependencies } from './compose.ts'
import type { Config } from './config.ts'
import { migrate } from './platform/db/migrate.ts'
import { databaseStartupError } from './platform/db/problem.ts'
import { checkDatabase } from './platform/db/self-check.ts'
import type { HttpServer } from './platform/http/http-server.ts'
import type { Logger } from './platform/log.ts'
import { listeningError, probePort } from './platform/ports.ts'
import { StartupError } from './platform/startup-error.ts'
import { keepRunning } from './platform/timer.ts'
import type { ProcessDependencies, Role, Stop } from './process.ts'

/** Where the API listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Starts the server alone, as a role.
 * @param stops gets what was started, in that order, also where the start fails halfway
 * @throws StartupError
 */
export async function start(
  role: Role,
  config: Config,
  dependencies: ProcessDependencies,
  stops: Stop[],
): Promise<void> {
  await prepareDatabase(config.databaseUrl, dependencies.logger)
  if (role === 'migrate') return
  const address = await reserveAddress(role, config)
  await serve({ role, address }, { ...dependencies, config }, stops)
}

/**
 * Checks that a commit is a promise there, and brings the schema up to date.
 * @throws StartupError that says why the database cannot be reached, or what is wrong with it
 * @source rules#config.10
 */
export async function prepareDatabase(databaseUrl: string, logger: Logger): Promise<void> {
  try {
    await checkAndMigrate(databaseUrl, logger)
  } catch (error) {
    throw databaseStartupError(error, databaseUrl)
  }
}

async function checkAndMigrate(databaseUrl: string, logger: Logger): Promise<void> {
  const faults = await checkDatabase(databaseUrl)
  if (faults.length > 0) throw new StartupError(faults.join('\n'))
  const applied = await migrate(databaseUrl, [cashIn, cashOut, refundIn, adjustment], { logger })
  if (applied.length > 0) logger.info({ migrations: applied }, 'the schema was brought up to date')
}

/**
 * Finds out the port before anything listens: the simulated bank must be told where to send its events.
 * @throws StartupError where it cannot be listened on
 */
export async function reserveAddress(role: Role, { host, port }: Address): Promise<Address> {
  return role === 'worker' ? { host, port } : freeAddress({ host, port }, 'PORT')
}

/** @throws StartupError where it cannot be listened on */
async function freeAddress({ host, port }: Address, setting: string): Promise<Address> {
  const free = await probePort(port, host).catch((error: unknown) => {
    throw listeningError(error, { host, port }, setting)
  })
  if (free === undefined) throw listeningError({ code: 'EADDRINUSE' }, { host, port }, setting)
  return { host, port: free }
}

const WORKER_PORT = 'PIXGATE_WORKER_PORT'
const OPERATOR_PORT = 'PIXGATE_OPERATOR_PORT'

/** Where a process listens, the API's address being this; `undefined`: nowhere. @source rules#health.6 */
async function listeningAddress(role: Role, api: Address, { host, workerPort }: Config): Promise<Address | undefined> {
  if (role !== 'worker') return api
  return workerPort === undefined ? undefined : freeAddress({ host, port: workerPort }, WORKER_PORT)
}

/** Where a process answers the operator's endpoints, if not where the API is. @source rules#operators.8 */
async function operatorAddress(role: Role, { host, operatorPort }: Config): Promise<Address | undefined> {
  if (role === 'worker' || operatorPort === undefined) return undefined
  return freeAddress({ host, port: operatorPort }, OPERATOR_PORT)
}

/** @throws StartupError where it cannot be listened on */
async function listen(http: HttpServer, address: Address, setting: string): Promise<void> {
  await http.listen(address).catch((error: unknown) => {
    throw listeningError(error, address, setting)
  })
}

/** How a process serves. */
export interface Serving {
  readonly role: Role
  readonly address: Address
  readonly addEndpoints?: AddEndpoints
  /** Called when everything runs, before the log says so. */
  readonly announce?: () => void
}

/** Composes the service on a database that is prepared, and starts its workers, its API or both. */
export async function serve(
  { role, address, addEndpoints, announce }: Serving,
  dependencies: Dependencies,
  stops: Stop[],
): Promise<void> {
  const { config, logger } = dependencies
  const listening = await listeningAddress(role, address, config)
  const operators = await operatorAddress(role, config)
  const answers = role === 'worker' ? 'health' : 'all'
  const service = await compose(dependencies, addEndpoints, answers).catch((error: unknown) => {
    throw databaseStartupError(error, config.databaseUrl)
  })
  const letEnd = keepRunning()
  stops.push(async () => letEnd())
  stops.push(() => service.stop())
  if (role !== 'api') service.startWorkers()
  service.startWatch()
  if (operators && service.operatorHttp) await listen(service.operatorHttp, operators, OPERATOR_PORT)
  if (listening) await listen(service.http, listening, role === 'worker' ? WORKER_PORT : 'PORT')
  announce?.()
  // Every line of a process with a part of the work has its role already.
  const whole = logger.bindings().role === undefined ? { role } : {}
  const ports = { ...(listening && { port: listening.port }), ...(operators && { operatorPort: operators.port }) }
  logger.info({ ...whole, mode: config.mode, ...ports }, 'ready')
}
