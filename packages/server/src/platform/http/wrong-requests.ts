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

/** Bounds the memory that strangers can take. */
const NETWORKS_MAX = 10_000

/** Begins with none. */
export function createWrongRequests(options: WrongRequestOptions): WrongRequests {
  const { perMinute, clock, pause, isProxied, report } = options
  const wrong = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: NETWORKS_MAX })
  const putOffNow = new WeakSet<Socket>()
  const putOffBefore = new WeakSet<IncomingMessage>()

  /** Once a request. Who waits takes nothing of anybody else's, but on the connections of a proxy, which are everybody's. */
  async function putOff({ raw }: FastifyRequest): Promise<void> {
    const { socket } = raw
    if (isProxied(socket) || putOffBefore.has(raw)) return
    putOffBefore.add(raw)
    putOffNow.add(socket)
    await pause.for(PUT_OFF_MS)
    putOffNow.delete(socket)
  }

  return {
    count: (network) => void wrong.take(network),
    refusalOf: async (request, network, refusal) => {
      const waitMs = wrong.take(network)
      if (waitMs === 0) return refusal
      report('limited', network)
      await putOff(request)
      return limited(waitMs)
    },
    mayRead: async (request, network) => {
      const waitMs = wrong.waitMs(network)
      if (waitMs === 0) return
      if (isProxied(request.raw.socket)) {
        report('limited', network)
        throw limited(waitMs)
      }
      await putOff(request)
    },
    isPutOff: (socket) => putOffNow.has(socket),
  }
}

function limited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
