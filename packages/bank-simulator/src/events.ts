import { createHmac, randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Behavior } from './behavior.ts'
import type { Book, EventEndpoint, QueuedEvent } from './book.ts'
import { now } from './clock.ts'

/** Tells the service what happened, again and again until it answers 200. */
export interface EventSender {
  /** An event is in the book: it goes out now, or as the behaviour says. */
  send(event: QueuedEvent): void
  /** Sends bytes once, right or wrong, and returns the service's answer. */
  sendOnce(message: EventMessage): Promise<number>
  /** Ends what is under way; what was not acknowledged stays in the book. */
  stop(): Promise<void>
}

/** Bytes for one of the service's doors. */
export interface EventMessage {
  readonly endpoint: EventEndpoint
  readonly body: string
  /** Signs with another secret than the agreed one. */
  readonly secret?: string
  readonly timestampOffsetSeconds?: number
}

/** What a sender needs. */
export interface EventSenderOptions {
  readonly book: Book
  readonly behavior: () => Behavior
  /** The service's address. */
  readonly eventsUrl: string
  readonly secret: string
}

/** Waits after each failed attempt, the last one repeated. */
const RETRY_DELAYS_MS = [200, 500, 1_000, 2_000, 5_000]

const ATTEMPT_MS = 5_000

/** Within this time a shuffled event goes out. */
const SHUFFLE_MS = 300

/** Starts a sender, which takes up at once what the book says was never acknowledged. */
export function startEventSender({ book, behavior, eventsUrl, secret }: EventSenderOptions): EventSender {
  const stopping = new AbortController()
  const sending = new Set<Promise<void>>()
  const agent = new Agent({ connections: 32 })

  async function attempt({ endpoint, body, ...given }: EventMessage): Promise<number> {
    const bytes = Buffer.from(body)
    const mac = createHmac('sha256', given.secret ?? secret)
      .update(bytes)
      .digest('hex')
    const timestamp = Math.floor(now() / 1_000) + (given.timestampOffsetSeconds ?? 0)
    const answer = await request(`${eventsUrl}/api/webhooks/pix/${endpoint}`, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        'x-partner-signature': `sha256=${mac}`,
        'x-partner-timestamp': String(timestamp),
      },
      body: bytes,
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(ATTEMPT_MS)]),
    })
    await answer.body.dump()
    return answer.statusCode
  }

  async function deliver({ id, endpoint, event }: QueuedEvent): Promise<void> {
    const { eventDelayMs, eventsShuffled, eventCopies } = behavior()
    await delay(eventDelayMs + (eventsShuffled ? randomInt(SHUFFLE_MS) : 0), undefined, { signal: stopping.signal })
    const message = { endpoint, body: JSON.stringify(event) }
    for (let failures = 0; (await attempt(message).catch(() => 0)) !== 200; failures++) {
      const wait = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length - 1)]
      await delay(wait, undefined, { signal: stopping.signal })
    }
    for (let copy = 1; copy < eventCopies; copy++) await attempt(message).catch(() => 0)
    await book.write([{ type: 'event delivered', id }])
  }

  function send(event: QueuedEvent): void {
    const work = deliver(event)
      .catch(() => undefined)
      .finally(() => sending.delete(work))
    sending.add(work)
  }

  for (const event of book.pendingEvents.values()) send(event)
  return {
    send,
    sendOnce: attempt,
    stop: async () => {
      stopping.abort()
      await Promise.all(sending)
      await agent.close()
    },
  }
}
