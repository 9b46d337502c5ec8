import { createService, type Dependencies, type Service } from './app.ts'
import type { Config } from './config.ts'
import type { AddEndpoints } from './listeners.ts'
import { keepRunning } from './platform/clock.ts'
import { databaseStartupError } from './platform/db/errors.ts'
import type { HttpServer } from './platform/http/server.ts'
import type { Logger } from './platform/log.ts'
import { listeningError, probePort } from './platform/ports.ts'
import { endedRuntime } from './platform/runtime.ts'
import { prepareDatabase } from './prepare-database.ts'
import type { ProcessDependencies, ServingRole, Stop } from './process.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Starts the standalone server in a role.
 * @param stops collects stop functions in the order of starting, also when the start fails
 * @throws StartupError
 */
export async function start(
  role: ServingRole,
  config: Config,
  dependencies: ProcessDependencies,
  stops: Stop[],
): Promise<void> {
  await prepareDatabase(config, dependencies.logger)
  const address = await reserveAddress(role, config)
  await serve({ role, address }, { ...dependencies, config }, stops)
}

/**
 * Chooses the port before anything listens: the simulated bank needs the address for its events.
 * @throws StartupError when the address is not available
 */
export async function reserveAddress(role: ServingRole, { host, port }: Address): Promise<Address> {
  return role === 'worker' ? { host, port } : freeAddress({ host, port }, 'PORT')
}

/** @throws StartupError when the address is not available */
async function freeAddress({ host, port }: Address, setting: string): Promise<Address> {
  const free = await probePort(port, host).catch((error: unknown) => {
    throw listeningError(error, { host, port }, setting)
  })
  if (free === undefined) throw listeningError({ code: 'EADDRINUSE' }, { host, port }, setting)
  return { host, port: free }
}

const WORKER_PORT = 'PIXGATE_WORKER_PORT'
const OPERATOR_PORT = 'PIXGATE_OPERATOR_PORT'

/** Address of the process's listener, if it has one. @source rules#health.6 */
async function listeningAddress(
  role: ServingRole,
  api: Address,
  { host, workerPort }: Config,
): Promise<Address | undefined> {
  if (role !== 'worker') return api
  return workerPort === undefined ? undefined : freeAddress({ host, port: workerPort }, WORKER_PORT)
}

/** Address of the operator's endpoints, if they have their own. @source rules#operators.8 */
async function operatorAddress(role: ServingRole, { host, operatorPort }: Config): Promise<Address | undefined> {
  if (role === 'worker' || operatorPort === undefined) return undefined
  return freeAddress({ host, port: operatorPort }, OPERATOR_PORT)
}

/** @throws StartupError when the address is not available */
async function listen(http: HttpServer, address: Address, setting: string): Promise<void> {
  await http.listen(address).catch((error: unknown) => {
    throw listeningError(error, address, setting)
  })
}

export interface Serving {
  readonly role: ServingRole
  readonly address: Address
  readonly addEndpoints?: AddEndpoints
  /**
   * Called when everything runs, before the log says so.
   * @param operators address of the operator's endpoints, if separate
   */
  readonly announce?: (operators: Address | undefined, service: Service) => Promise<void>
}

/** Composes the service on a prepared database and starts its workers, its API or both. */
export async function serve(
  { role, address, addEndpoints, announce }: Serving,
  dependencies: Dependencies,
  stops: Stop[],
): Promise<void> {
  const { config, logger } = dependencies
  const listening = await listeningAddress(role, address, config)
  const operators = await operatorAddress(role, config)
  const answers = role === 'worker' ? 'health' : 'all'
  const service = await createService(dependencies, addEndpoints, answers).catch((error: unknown) => {
    throw databaseStartupError(error, config.databaseUrl)
  })
  warnOfRuntime(dependencies.clock.now(), logger)
  if (config.bank.warning) logger.warn(config.bank.warning)
  const letEnd = keepRunning()
  stops.push(async () => letEnd())
  stops.push(() => service.stop())
  if (role !== 'api') service.startWorkers()
  service.startWatch()
  if (operators && service.operatorHttp) await listen(service.operatorHttp, operators, OPERATOR_PORT)
  if (listening) await listen(service.http, listening, role === 'worker' ? WORKER_PORT : 'PORT')
  await announce?.(operators, service)
  // A process with part of the work has its role in every line already.
  const whole = logger.bindings().role === undefined ? { role } : {}
  const ports = { ...(listening && { port: listening.port }), ...(operators && { operatorPort: operators.port }) }
  logger.info({ ...whole, mode: config.mode, ...ports }, 'ready')
}

/** @source rules#production.8 */
function warnOfRuntime(nowMs: number, logger: Logger): void {
  const ended = endedRuntime(nowMs)
  if (ended) logger.warn({ ...ended }, 'this Node.js gets no security fixes any more: install a newer major')
}
