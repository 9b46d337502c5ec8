import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Pause } from '../jobs/pause.ts'
import { createTokenBuckets } from '../token-bucket.ts'
import type { ReportStranger } from './stranger-report.ts'

/**
 * Failed requests by network: a burst and a rate per minute. Beyond these, answers are delayed, so that a client that
 * sends sequentially sends one a second. Valid credentials are never refused because of them.
 * @source rules#strangers.3
 */
export interface WrongRequests {
  count(network: string): void
  /**
   * Counts a request with wrong credentials.
   * @param refusal used within the budget
   * @returns the refusal, after the delay
   */
  refusalOf(request: FastifyRequest, network: string, refusal: Refusal): Promise<Refusal>
  /**
   * Resolves when a body whose signature authenticates the sender may be read.
   * @throws Refusal `rate_limited` when it may not
   */
  mayRead(request: FastifyRequest, network: string): Promise<void>
  isPutOff(socket: Socket): boolean
}

export interface WrongRequestOptions {
  readonly perMinute: number
  readonly clock: Clock
  readonly pause: Pick<Pause, 'for'>
  readonly isProxied: (socket: Socket) => boolean
  readonly report: ReportStranger
}

/** Delay of each answer to a network beyond its budget. */
const PUT_OFF_MS = 1_000

/**
 * Delayed requests of one network at a time. Beyond this, a client opens another connection per request, which costs us
 * more than the answer.
 */
const PUT_OFF_MAX = 100

/** Bounds the memory that strangers can use. */
const NETWORKS_MAX = 10_000

export function createWrongRequests(options: WrongRequestOptions): WrongRequests {
  const { perMinute, clock, pause, isProxied, report } = options
  const wrong = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: NETWORKS_MAX })
  const waiting = new WaitingRequests()

  async function putOff({ raw }: FastifyRequest, network: string): Promise<void> {
    const leave = waiting.enter(raw, network)
    await pause.for(PUT_OFF_MS)
    leave()
  }

  /** Requests on a proxy's connections are not delayed: everyone shares those. */
  function mustWait({ raw }: FastifyRequest, network: string): boolean {
    return !isProxied(raw.socket) && !waiting.hasWaited(raw) && waiting.countOf(network) < PUT_OFF_MAX
  }

  return {
    count: (network) => void wrong.take(network),
    refusalOf: async (request, network, refusal) => {
      const waitMs = wrong.take(network)
      if (waitMs === 0) return refusal
      report('limited', network)
      if (mustWait(request, network)) await putOff(request, network)
      return limited(waitMs)
    },
    mayRead: async (request, network) => {
      const waitMs = wrong.waitMs(network)
      if (waitMs === 0) return
      if (isProxied(request.raw.socket)) {
        report('limited', network)
        throw limited(waitMs)
      }
      await putOff(request, network)
    },
    isPutOff: (socket) => waiting.has(socket),
  }
}

class WaitingRequests {
  readonly #before = new WeakSet<IncomingMessage>()
  readonly #sockets = new Set<Socket>()
  readonly #counts = new Map<string, number>()

  /** @returns ends the delay */
  enter(request: IncomingMessage, network: string): () => void {
    const { socket } = request
    this.#before.add(request)
    this.#sockets.add(socket)
    this.#counts.set(network, this.countOf(network) + 1)
    return () => {
      this.#sockets.delete(socket)
      const count = this.countOf(network) - 1
      if (count > 0) this.#counts.set(network, count)
      else this.#counts.delete(network)
    }
  }

  hasWaited(request: IncomingMessage): boolean {
    return this.#before.has(request)
  }

  has(socket: Socket): boolean {
    return this.#sockets.has(socket)
  }

  countOf(network: string): number {
    return this.#counts.get(network) ?? 0
  }
}

function limited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
