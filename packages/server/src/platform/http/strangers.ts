import { isIP, type Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { FastifyRequest } from 'fastify'
import { type Pause, realPause } from '../jobs/pause.ts'
import type { Logger } from '../log.ts'
import { clientNetworkOf, networkList } from '../networks.ts'
import { andMore, createLogThrottle, type EventLoop } from '../runtime.ts'
import type { Caller } from './handler.ts'
import type { Connections } from './server.ts'
import { type ConnectionBounds, StrangerConnections } from './stranger-connections.ts'
import { WrongRequests } from './wrong-requests.ts'

export interface StrangerBounds extends ConnectionBounds {
  readonly wrongPerMinute: number
  /** Connections with valid credentials: per credential, and for all API keys together. */
  readonly provenOfCredentialMax: number
  readonly clientsMax: number
}

/**
 * A key with ten requests a second on a connection each has room for fifty times as many. A thousand places are left
 * when all API keys together hold their maximum.
 * @source rules#strangers.1, rules#strangers.3, rules#strangers.4, rules#http.13
 */
export const STRANGER_BOUNDS: StrangerBounds = {
  connectionsMax: 4_000,
  strangersMax: 3_000,
  strangersOfNetworkMax: 2_500,
  wrongPerMinute: 600,
  provenOfCredentialMax: 500,
  clientsMax: 3_000,
}

/**
 * - `closed`: a connection was closed to make room.
 * - `limited`: a request was refused or delayed because of earlier ones.
 * - `crowded`: a request with valid credentials was refused, since these hold too many connections.
 */
export type StrangerOutcome = (typeof STRANGER_OUTCOMES)[number]

export const STRANGER_OUTCOMES = ['closed', 'limited', 'crowded'] as const

const SENTENCES: Readonly<Record<StrangerOutcome, string>> = {
  closed: 'too many connections without credentials: closed one of the network with the most',
  limited:
    'too many requests of a network had wrong credentials or never arrived: answering more with 429, one second late',
  crowded:
    'one credential, or all API keys together, hold too many connections: answering requests on further ones with 429',
}

/** Idle connections are closed by then. */
const CROWDED_RETRY_SECONDS = 10

export interface StrangerOptions {
  readonly bounds: StrangerBounds
  readonly connections: Pick<Connections, 'isAnswering' | 'endBehindCurrent'>
  readonly eventLoop: Pick<EventLoop, 'now'>
  /** Addresses or CIDRs of proxies whose `X-Forwarded-For` is trusted. */
  readonly proxies: readonly string[]
  readonly pause: Pick<Pause, 'for'> | undefined
  readonly logger: Logger
  /** Called for each outcome; must not throw. */
  readonly onStranger: ((outcome: StrangerOutcome) => void) | undefined
}

/**
 * Limits callers without valid credentials: their connections and failed requests, counted by network. Valid
 * credentials are never refused because of other callers of the same network.
 * @source rules#strangers.1, rules#strangers.3
 */
export class Strangers {
  readonly #current: StrangerOptions['connections']
  readonly #isProxied: (socket: Socket) => boolean
  readonly #wrong: WrongRequests
  readonly #connections: StrangerConnections
  readonly #proven: ProvenConnections
  readonly #report: (outcome: StrangerOutcome, network: string, caller?: Caller) => void

  constructor({ bounds, connections, eventLoop, proxies, pause = realPause, ...reporting }: StrangerOptions) {
    const { include: isProxy } = networkList(proxies)
    this.#current = connections
    this.#isProxied = ({ remoteAddress = '' }) => isProxy(remoteAddress)
    this.#report = createReport(reporting)
    this.#proven = new ProvenConnections(bounds)
    this.#wrong = new WrongRequests({
      perMinute: bounds.wrongPerMinute,
      clock: eventLoop,
      pause,
      isProxied: this.#isProxied,
      onLimited: (network) => this.#report('limited', network),
    })
    this.#connections = new StrangerConnections(
      bounds,
      (socket) => connections.isAnswering(socket) && !this.#wrong.isPutOff(socket),
      (network) => this.#report('closed', network),
    )
  }

  accept(socket: Socket): void {
    this.#connections.accept(socket, this.#isProxied(socket) ? undefined : networkOfSocket(socket))
  }

  /**
   * Checks the credentials of a request.
   * @param authenticate rejects with Refusal `unauthorized` for wrong credentials; must not throw
   * @throws Refusal `rate_limited` instead after too many wrong ones, or when valid credentials hold too many
   * connections · any other error of `authenticate`
   */
  guard(request: FastifyRequest, authenticate: () => Caller | Promise<Caller>): Caller | Promise<Caller> {
    const authenticated = authenticate()
    if (!(authenticated instanceof Promise)) return this.#prove(request, authenticated)
    return authenticated.then(
      (caller) => this.#prove(request, caller),
      (error: unknown) => this.#refuse(request, error),
    )
  }

  /**
   * Reads a body whose signature authenticates the sender.
   * @throws Refusal `rate_limited` before anything is read · any error of `read`
   */
  async read(request: FastifyRequest, read: () => Promise<Buffer>): Promise<Buffer> {
    const { socket } = request.raw
    if (this.#proven.has(socket)) return read()
    const network = networkOfRequest(request)
    await this.#wrong.mayRead(request.raw, network)
    const isProxied = this.#isProxied(socket)
    if (isProxied) this.#connections.attribute(socket, network)
    try {
      return await read()
    } catch (error) {
      this.#wrong.count(network)
      throw error
    } finally {
      if (isProxied) this.#connections.release(socket)
    }
  }

  /** Counts bytes on a connection that did not become a request. */
  unfinished(socket: Socket): void {
    if (!this.#isProxied(socket)) this.#wrong.count(networkOfSocket(socket))
  }

  /** Counts a connection with valid credentials. @returns the caller */
  #prove(request: FastifyRequest, caller: Caller): Caller {
    const { socket } = request.raw
    // Usual case: later requests of a connection. Connections of proxies are never counted as proven.
    if (this.#proven.has(socket) || caller.isStranger || this.#isProxied(socket)) return caller
    if (!this.#proven.prove(socket, caller)) {
      this.#report('crowded', networkOfSocket(socket), caller)
      this.#current.endBehindCurrent(socket)
      throw new Refusal('rate_limited', { retryAfterSeconds: CROWDED_RETRY_SECONDS })
    }
    this.#connections.release(socket)
    return caller
  }

  async #refuse(request: FastifyRequest, error: unknown): Promise<never> {
    const isWrong = error instanceof Refusal && error.code === 'unauthorized'
    throw isWrong ? await this.#wrong.refusalOf(request.raw, networkOfRequest(request), error) : error
  }
}

/** Logs the first report of an outcome, then one line a minute. @source rules#logs.3 */
function createReport({ logger, onStranger }: Pick<StrangerOptions, 'logger' | 'onStranger'>) {
  const throttle = createLogThrottle()
  return (outcome: StrangerOutcome, network: string, caller?: Caller): void => {
    onStranger?.(outcome)
    const who = { network, ...(caller && { credential: caller.credential, credentialId: caller.id }) }
    throttle.report(outcome, (more) => logger.warn(who, SENTENCES[outcome] + andMore(more)))
  }
}

function networkOfSocket({ remoteAddress = '' }: Socket): string {
  return clientNetworkOf(remoteAddress)
}

/** A proxy may forward anything as an address. */
function networkOfRequest({ ip, raw }: FastifyRequest): string {
  return isIP(ip) === 0 ? networkOfSocket(raw.socket) : clientNetworkOf(ip)
}

/**
 * Connections with valid credentials: capped per credential, and for all API keys together. A stolen key can shut out
 * only its owner. The rest is reserved for the bank and for operators, who can revoke the key.
 * @source rules#strangers.4
 */
class ProvenConnections {
  readonly #bounds: StrangerBounds
  readonly #proven = new WeakSet<Socket>()
  readonly #counts = new Map<string, number>()

  constructor(bounds: StrangerBounds) {
    this.#bounds = bounds
  }

  has(socket: Socket): boolean {
    return this.#proven.has(socket)
  }

  /**
   * Counts a connection for the first valid credentials shown on it, until it closes.
   * @returns whether there was a place
   */
  prove(socket: Socket, { credential, id }: Pick<Caller, 'credential' | 'id'>): boolean {
    if (this.#proven.has(socket)) return true
    const own = `${credential} ${id}`
    const isClient = credential === 'api-key'
    if (this.#countOf(own) >= this.#bounds.provenOfCredentialMax) return false
    if (isClient && this.#countOf(CLIENTS) >= this.#bounds.clientsMax) return false
    // The `close` event of a closed socket would never come.
    if (socket.destroyed) return true
    const names = isClient ? [own, CLIENTS] : [own]
    for (const name of names) this.#counts.set(name, this.#countOf(name) + 1)
    socket.once('close', () => {
      for (const name of names) this.#remove(name)
    })
    this.#proven.add(socket)
    return true
  }

  #countOf(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  #remove(name: string): void {
    const count = this.#countOf(name) - 1
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }
}

/** Key of the count for all API keys. The name of a single credential contains a space. */
const CLIENTS = 'clients'
