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
 * Whoever has shown no right credentials yet, and what they may take: connections, and requests that come to nothing. It is
 * counted by network, and nobody's right credentials are refused for what others of the same network did.
 * @source rules#strangers.1, rules#strangers.3
 */
export interface Strangers {
  /** Keeps the connections of a server within their bounds. */
  watch(server: Server): void
  /**
   * Judges the credentials of a request.
   * @param judge rejects with Refusal `unauthorized` where they are wrong; it throws nothing
   * @throws Refusal `rate_limited` in its place where too many were wrong, or where they are right and have too many
   * connections · whatever else `judge` throws
   */
  judge(request: FastifyRequest, judge: () => Caller | Promise<Caller>): Caller | Promise<Caller>
  /**
   * Reads a body by which its sender is judged.
   * @throws Refusal `rate_limited` before anything is read · whatever `read` throws
   */
  read(request: FastifyRequest, read: () => Promise<Buffer>): Promise<Buffer>
  /** Something came on a connection that did not become a request. */
  unfinished(socket: Socket): void
}

/** What strangers may take. */
export interface StrangerBounds extends ConnectionBounds, ProvenBounds {
  /** Wrong requests of one network: so many at once, and as many in a minute. */
  readonly wrongPerMinute: number
}

/**
 * A key that carries its ten requests a second on a connection each has room for fifty times as many; a thousand places are
 * left where all API keys together hold as many as they may.
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

/** An idle connection is closed by then. */
const CROWDED_RETRY_SECONDS = 10

/** What strangers are watched with. */
export interface StrangerOptions {
  readonly bounds: StrangerBounds
  readonly connections: Pick<Connections, 'isAnswering' | 'endBehindCurrent'>
  readonly eventLoop: Pick<EventLoop, 'now'>
  /** Addresses or CIDRs of the proxies whose `X-Forwarded-For` is believed. */
  readonly proxies: readonly string[]
  readonly pause?: Pick<Pause, 'for'> | undefined
  readonly report: ReportStranger
}

/** Watches strangers. */
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

  /** Gives a connection that shows right credentials its place among those that have. @returns whose they are */
  function prove(request: FastifyRequest, caller: Caller): Caller {
    const { socket } = request.raw
    // Every request but the first of a connection: a proxy's is never among the proven.
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
    judge: (request, judge) => {
      const judged = judge()
      if (!(judged instanceof Promise)) return prove(request, judged)
      return judged.catch((error: unknown) => refuse(request, error)).then((caller) => prove(request, caller))
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
