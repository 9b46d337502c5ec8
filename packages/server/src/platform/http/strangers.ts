import type { Server } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { FastifyRequest } from 'fastify'
import { type Pause, realPause } from '../jobs/pause.ts'
import { networkOf, networksOf } from '../networks.ts'
import type { EventLoop } from '../runtime.ts'
import type { Caller } from './handler.ts'
import { type Connections, createProvenConnections, type ProvenBounds } from './server.ts'
import { type ConnectionBounds, createStrangerConnections } from './stranger-connections.ts'
import type { ReportStranger } from './stranger-report.ts'
import { createWrongRequests } from './wrong-requests.ts'

/**
 * Limits callers without valid credentials: their connections and failed requests, counted by network. Valid
 * credentials are never refused because of other callers of the same network.
 * @source rules#strangers.1, rules#strangers.3
 */
export interface Strangers {
  watch(server: Server): void
  /**
   * Checks the credentials of a request.
   * @param authenticate rejects with Refusal `unauthorized` for wrong credentials; must not throw
   * @throws Refusal `rate_limited` instead after too many wrong ones, or when valid credentials hold too many
   * connections · any other error of `authenticate`
   */
  guard(request: FastifyRequest, authenticate: () => Caller | Promise<Caller>): Caller | Promise<Caller>
  /**
   * Reads a body whose signature authenticates the sender.
   * @throws Refusal `rate_limited` before anything is read · any error of `read`
   */
  read(request: FastifyRequest, read: () => Promise<Buffer>): Promise<Buffer>
  /** Counts bytes on a connection that did not become a request. */
  unfinished(socket: Socket): void
}

export interface StrangerBounds extends ConnectionBounds, ProvenBounds {
  readonly wrongPerMinute: number
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

/** Idle connections are closed by then. */
const CROWDED_RETRY_SECONDS = 10

export interface StrangerOptions {
  readonly bounds: StrangerBounds
  readonly connections: Pick<Connections, 'isAnswering' | 'endBehindCurrent'>
  readonly eventLoop: Pick<EventLoop, 'now'>
  /** Addresses or CIDRs of proxies whose `X-Forwarded-For` is trusted. */
  readonly proxies: readonly string[]
  readonly pause?: Pick<Pause, 'for'> | undefined
  readonly report: ReportStranger
}

export function createStrangers({ bounds, pause = realPause, ...options }: StrangerOptions): Strangers {
  const { connections: carriedOut, eventLoop, report } = options
  const { include: isProxy } = networksOf(options.proxies)
  const isProxied = ({ remoteAddress = '' }: Socket) => isProxy(remoteAddress)
  const wrong = createWrongRequests({ perMinute: bounds.wrongPerMinute, clock: eventLoop, pause, isProxied, report })
  const connections = createStrangerConnections({
    bounds,
    isBusy: (socket) => carriedOut.isAnswering(socket) && !wrong.isPutOff(socket),
    onClosed: (network) => report('closed', network),
  })
  const proven = createProvenConnections(bounds)

  /** Counts a connection with valid credentials. @returns the caller */
  function prove(request: FastifyRequest, caller: Caller): Caller {
    const { socket } = request.raw
    // Usual case: later requests of a connection. Connections of proxies are never counted as proven.
    if (proven.has(socket) || caller.isStranger || isProxied(socket)) return caller
    if (!proven.prove(socket, caller)) {
      report('crowded', networkOfSocket(socket), caller)
      carriedOut.endBehindCurrent(socket)
      throw new Refusal('rate_limited', { retryAfterSeconds: CROWDED_RETRY_SECONDS })
    }
    connections.release(socket)
    return caller
  }

  async function refuse(request: FastifyRequest, error: unknown): Promise<never> {
    const isWrong = error instanceof Refusal && error.code === 'unauthorized'
    throw isWrong ? await wrong.refusalOf(request, networkOfRequest(request), error) : error
  }

  return {
    watch: (server) => {
      server.on('connection', (socket) => {
        connections.accept(socket, isProxied(socket) ? undefined : networkOfSocket(socket))
      })
    },
    guard: (request, authenticate) => {
      const authenticated = authenticate()
      if (!(authenticated instanceof Promise)) return prove(request, authenticated)
      return authenticated.catch((error: unknown) => refuse(request, error)).then((caller) => prove(request, caller))
    },
    read: async (request, read) => {
      const { socket } = request.raw
      if (proven.has(socket)) return read()
      const network = networkOfRequest(request)
      await wrong.mayRead(request, network)
      const end = isProxied(socket) ? connections.attribute(socket, network) : noop
      return read()
        .catch((error: unknown) => {
          wrong.count(network)
          throw error
        })
        .finally(end)
    },
    unfinished: (socket) => {
      if (!isProxied(socket)) wrong.count(networkOfSocket(socket))
    },
  }
}

function noop(): void {}

function networkOfSocket({ remoteAddress = '' }: Socket): string {
  return networkOf(remoteAddress)
}

/** A proxy may forward anything as an address. */
function networkOfRequest({ ip, raw }: FastifyRequest): string {
  return isIP(ip) === 0 ? networkOfSocket(raw.socket) : networkOf(ip)
}
