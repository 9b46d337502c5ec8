import { createHmac } from 'node:crypto'
import { receiveCashInEvent, receiveCashOutEvent } from '@pixgate/spec'
import { Pool } from 'undici'
import type { Switchboard } from './behavior.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import type { BankEvent, EventEndpoint } from './events.ts'
import { eventsToSend } from './false-events.ts'
import type { Liar } from './lies.ts'
import { markersOfEvent } from './markers.ts'

/** Dependencies of {@link EventSender}. */
export interface EventSenderOptions {
  readonly book: Book
  readonly switchboard: Switchboard
  readonly liar: Liar
  readonly clock: Clock
  readonly chance: Chance
  /** Base URL of the service. */
  readonly eventsUrl: string
  /** Secret that signs every event. */
  readonly secret: string
  /** Reports delivery failures to the bank's operator. */
  readonly warn: (message: string) => void
}

/** Faults of an event that a test sends manually. */
export interface Forgery {
  readonly secret?: string | undefined
  /** Offset of the timestamp; negative is in the past. */
  readonly timestampOffsetSeconds?: number | undefined
}

/** Delays before the retries; the last one repeats without limit. */
const RETRY_DELAYS_MS = [200, 500, 1_000, 2_000, 5_000] as const

/** Timeout for connecting, and again for the response. */
const ATTEMPT_TIMEOUT_MS = 5_000

/** Maximum random delay of shuffled events. */
const SHUFFLE_MS = 250

const CONNECTIONS_MAX = 32

const PATHS: Readonly<Record<EventEndpoint, string>> = {
  'cash-in': receiveCashInEvent.path,
  'cash-out': receiveCashOutEvent.path,
}

/** Sends signed events to the service and retries until it responds 200. @source partner-protocol#events */
export class EventSender {
  readonly #options: EventSenderOptions
  readonly #pool: Pool
  readonly #basePath: string
  readonly #stopping = new AbortController()
  readonly #deliveries = new Set<Promise<void>>()

  constructor(options: EventSenderOptions) {
    const { origin, pathname } = new URL(options.eventsUrl)
    this.#options = options
    this.#basePath = pathname.replace(/\/$/, '')
    this.#pool = new Pool(origin, {
      connections: CONNECTIONS_MAX,
      connectTimeout: ATTEMPT_TIMEOUT_MS,
      headersTimeout: ATTEMPT_TIMEOUT_MS,
      bodyTimeout: ATTEMPT_TIMEOUT_MS,
    })
  }

  /** Starts to deliver an event, with the copies and delay now configured. Retries until the service accepts it. */
  deliver(event: BankEvent): void {
    const delivery = this.#deliver(event)
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.#options.warn(`event delivery aborted until the next start: ${error}`)
      })
      .finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
  }

  /**
   * Makes one attempt.
   * @returns the HTTP status, or `undefined` if there was no response
   */
  async attempt(endpoint: EventEndpoint, body: string, forgery: Forgery = {}): Promise<number | undefined> {
    const { clock, secret } = this.#options
    const timestamp = Math.trunc(clock.now() / 1_000) + (forgery.timestampOffsetSeconds ?? 0)
    try {
      const answer = await this.#pool.request({
        method: 'POST',
        path: this.#basePath + PATHS[endpoint],
        headers: {
          'content-type': 'application/json',
          'x-partner-signature': signatureOf(body, forgery.secret ?? secret),
          'x-partner-timestamp': String(timestamp),
        },
        body,
      })
      await answer.body.dump()
      return answer.statusCode
    } catch {
      return undefined
    }
  }

  /** Aborts deliveries in progress; the book keeps them for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#pool.destroy()
    await Promise.all(this.#deliveries)
  }

  async #deliver(event: BankEvent): Promise<void> {
    const { book, switchboard, clock } = this.#options
    const { eventCopies, eventDelayMs, eventsShuffled } = switchboard.behavior
    const { copies, lateMs } = markersOfEvent(book, event.body)
    await book.durable()
    for (const outgoing of eventsToSend(event, this.#options)) {
      await Promise.all(
        Array.from({ length: eventCopies * copies }, () =>
          this.#deliverCopy(outgoing, eventDelayMs + lateMs, eventsShuffled),
        ),
      )
    }
    book.record({ fact: 'event delivered', at: clock.now(), eventId: event.body.eventId })
    // If this fact is lost, the event is only sent again.
    book.durableSoon()
  }

  async #deliverCopy({ endpoint, body }: BankEvent, delayMs: number, isShuffled: boolean): Promise<void> {
    const { chance, warn } = this.#options
    const text = JSON.stringify(body)
    await this.#sleep(delayMs + (isShuffled ? chance.below(SHUFFLE_MS) : 0))
    for (let failures = 0; ; failures++) {
      const status = await this.attempt(endpoint, text)
      if (status === 200) return
      if (failures === 0) warn(`event ${body.eventId} was not accepted (${status ?? 'no response'}); retrying`)
      await this.#sleep(RETRY_DELAYS_MS[failures] ?? RETRY_DELAYS_MS[4])
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#options.clock.sleep(ms, this.#stopping.signal)
  }
}

/** `X-Partner-Signature`. @source rules#partner-inbox.1 */
function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
