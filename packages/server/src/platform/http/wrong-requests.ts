import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Pause } from '../jobs/pause.ts'
import { createTokenBuckets } from '../token-bucket.ts'
import type { ReportStranger } from './stranger-report.ts'

/**
 * Requests that come to nothing, by network: so many of them at once and a minute. What is beyond that is answered late, so that
 * who sends one behind the other sends one a second; right credentials are never refused for it.
 * @source rules#strangers.3
 */
export interface WrongRequests {
  /** Counts one of which nothing else becomes. */
  count(network: string): void
  /** Counts one whose credentials are wrong. @param refusal within the budget @returns how it is refused, once it is time to */
  refusalOf(request: FastifyRequest, network: string, refusal: Refusal): Promise<Refusal>
  /**
   * Resolves when a body by which its sender is judged may be read.
   * @throws Refusal `rate_limited` it may not
   */
  mayRead(request: FastifyRequest, network: string): Promise<void>
  /** Whether a request of this connection is put off now. */
  isPutOff(socket: Socket): boolean
}

/** What they are counted with. */
export interface WrongRequestOptions {
  /** Also as many as a network has at once. */
  readonly perMinute: number
  readonly clock: Clock
  readonly pause: Pick<Pause, 'for'>
  readonly isProxied: (socket: Socket) => boolean
  readonly report: ReportStranger
}

/** How long a network beyond its budget waits for each answer. */
const PUT_OFF_MS = 1_000

/**
 * So many of a network wait at once. Whoever would wait beyond that opens one connection more for each request, and that costs us
 * more than the answer.
 */
const PUT_OFF_MAX = 100

/** Bounds the memory that strangers can take. */
const NETWORKS_MAX = 10_000

/** Begins with none. */
export function createWrongRequests(options: WrongRequestOptions): WrongRequests {
  const { perMinute, clock, pause, isProxied, report } = options
  const wrong = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: NETWORKS_MAX })
  const waiting = new WaitingRequests()

  async function putOff({ raw }: FastifyRequest, network: string): Promise<void> {
    const leave = waiting.enter(raw, network)
    await pause.for(PUT_OFF_MS)
    leave()
  }

  /** Who waits takes nothing of anybody else's, but on the connections of a proxy, which are everybody's. */
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

  /** @returns ends it */
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
