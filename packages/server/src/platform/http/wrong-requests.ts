import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { Clock } from '../clock.ts'
import type { Pause } from '../jobs/pause.ts'
import { createTokenBuckets, type TokenBuckets } from '../token-bucket.ts'

/** Delay of each answer to a network beyond its budget. */
const PUT_OFF_MS = 1_000

/**
 * Delayed requests of one network at a time. Beyond this, a client opens another connection per request, which costs us
 * more than the answer.
 */
const PUT_OFF_MAX = 100

/** Bounds the memory that strangers can use. */
const NETWORKS_MAX = 10_000

export interface WrongRequestOptions {
  readonly perMinute: number
  readonly clock: Clock
  readonly pause: Pick<Pause, 'for'>
  /** Whether a trusted proxy made the connection. Requests on it are not delayed: everyone shares it. */
  readonly isProxied: (socket: Socket) => boolean
  /** Called for each request refused or delayed because of earlier ones; must not throw. */
  readonly onLimited: (network: string) => void
}

/**
 * Failed requests by network: a burst and a rate per minute. Beyond these, answers are delayed, so that a client that
 * sends sequentially sends one a second. Valid credentials are never refused because of them.
 * @source rules#strangers.3
 */
export class WrongRequests {
  readonly #options: WrongRequestOptions
  readonly #wrong: TokenBuckets
  /** Delayed once already. */
  readonly #before = new WeakSet<IncomingMessage>()
  readonly #waiting = new Set<Socket>()
  readonly #waitingOf = new Map<string, number>()

  constructor(options: WrongRequestOptions) {
    const { clock, perMinute } = options
    this.#options = options
    this.#wrong = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: NETWORKS_MAX })
  }

  count(network: string): void {
    this.#wrong.take(network)
  }

  /** Counts a request with wrong credentials. @returns `refusal`, or after too many another one, delayed */
  async refusalOf(request: IncomingMessage, network: string, refusal: Refusal): Promise<Refusal> {
    const waitMs = this.#wrong.take(network)
    if (waitMs === 0) return refusal
    const { onLimited, isProxied } = this.#options
    onLimited(network)
    const isDelayed =
      !isProxied(request.socket) && !this.#before.has(request) && (this.#waitingOf.get(network) ?? 0) < PUT_OFF_MAX
    if (isDelayed) await this.#putOff(request, network)
    return limited(waitMs)
  }

  /**
   * Resolves when a body whose signature authenticates the sender may be read.
   * @throws Refusal `rate_limited` when it may not
   */
  async mayRead(request: IncomingMessage, network: string): Promise<void> {
    const waitMs = this.#wrong.waitMs(network)
    if (waitMs === 0) return
    if (!this.#options.isProxied(request.socket)) return this.#putOff(request, network)
    this.#options.onLimited(network)
    throw limited(waitMs)
  }

  isPutOff(socket: Socket): boolean {
    return this.#waiting.has(socket)
  }

  async #putOff(request: IncomingMessage, network: string): Promise<void> {
    const { socket } = request
    this.#before.add(request)
    this.#waiting.add(socket)
    this.#waitingOf.set(network, (this.#waitingOf.get(network) ?? 0) + 1)
    await this.#options.pause.for(PUT_OFF_MS)
    this.#waiting.delete(socket)
    const left = (this.#waitingOf.get(network) ?? 0) - 1
    if (left > 0) this.#waitingOf.set(network, left)
    else this.#waitingOf.delete(network)
  }
}

function limited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
