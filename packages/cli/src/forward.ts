import { createHash } from 'node:crypto'
import type { FeedEvent, Followed } from '@pixgate/sdk'
import { signTestWebhook } from '@pixgate/sdk/testing'
import { toldBy } from './feed.ts'
import { safeText } from './output.ts'

/** Time and network of {@link forward}, which tests replace. */
export interface Link {
  send(
    url: string,
    init: RequestInit,
  ): Promise<{ readonly status: number; readonly body?: { cancel(): Promise<void> } | null }>
  now(): number
  sleep(ms: number): Promise<void>
}

export interface Forwarding {
  readonly url: string
  /** `whsec_…` */
  readonly secret: string
  readonly signal: AbortSignal
  readonly link: Link
  /** Keeps the place behind all events that were taken. */
  keep(cursor: string): void
  taken(entry: FeedEvent, result: { readonly status: number; readonly attempts: number; readonly ms: number }): void
  /** Told of the first failure of an event and of each tenth. */
  failed(entry: FeedEvent, why: string, waitMs: number): void
}

/** Operations at a time; events of one operation come one after the other. */
const LANES = 8

/** Events that wait or are under way; beyond it the feed is read no further. */
const WINDOW = 200

const ATTEMPT_MS = 15_000
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [250, 10_000]

interface Place {
  readonly cursor: string
  isTaken: boolean
}

/**
 * Sends every event to the receiver until it answers 2xx: the same bytes, in order for each operation. The kept cursor
 * never passes an event that was not taken.
 * @source rules#cli.7
 */
export async function forward(events: AsyncIterable<Followed>, forwarding: Forwarding): Promise<void> {
  const places: Place[] = []
  const lanes = new Map<string, Promise<void>>()
  const room = new Room(LANES)
  let failure: unknown
  const finish = (place: Place) => {
    place.isTaken = true
    const open = places.findIndex(({ isTaken }) => !isTaken)
    const last = places.splice(0, open < 0 ? places.length : open).at(-1)
    if (last) forwarding.keep(last.cursor)
  }
  for await (const { entry, cursor } of events) {
    const place = { cursor, isTaken: false }
    places.push(place)
    const { id: operation = entry.id } = toldBy(entry)
    const work = (lanes.get(operation) ?? Promise.resolve())
      .then(() => room.within(() => deliver(entry, forwarding)))
      .then((isTaken) => {
        if (isTaken) finish(place)
      })
      .catch((error: unknown) => {
        failure ??= error
      })
    lanes.set(operation, work)
    void work.then(() => lanes.get(operation) === work && lanes.delete(operation))
    while (places.length >= WINDOW && failure === undefined && lanes.size > 0) await Promise.race(lanes.values())
    if (failure !== undefined) throw failure
  }
  await Promise.all(lanes.values())
  if (failure !== undefined) throw failure
}

/** @returns whether the receiver took it; not if the signal ended it */
async function deliver(entry: FeedEvent, forwarding: Forwarding): Promise<boolean> {
  const { url, secret, signal, link } = forwarding
  for (let attempts = 1; !signal.aborted; attempts += 1) {
    const startedAt = link.now()
    // Signed anew each time: the receiver refuses a time that is minutes old.
    const { headers, body } = await signTestWebhook(entry.body, { secret, webhookId: entry.id, sentAt: startedAt })
    const status = await send(link, url, {
      method: 'POST',
      headers: {
        ...headers,
        'digital-signature': entry.signature,
        'digital-signature-key-id': entry.signatureKeyId,
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
    })
    if (typeof status === 'number' && status >= 200 && status < 300) {
      forwarding.taken(entry, { status, attempts, ms: Math.max(0, link.now() - startedAt) })
      return true
    }
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 10))
    if ((attempts === 1 || attempts % 10 === 0) && !signal.aborted) {
      forwarding.failed(entry, typeof status === 'number' ? `it answered ${status}` : safeText(status), waitMs)
    }
    if (!signal.aborted) await link.sleep(waitMs)
  }
  return false
}

/** @returns the status, or why there is none */
async function send(link: Link, url: string, init: RequestInit): Promise<number | string> {
  try {
    const { status, body } = await link.send(url, init)
    await body?.cancel()
    return status
  } catch (error) {
    const { cause, name } = error as Error
    const { code } = (cause ?? {}) as { readonly code?: string }
    return code ?? (name === 'TimeoutError' ? 'no answer within 15 s' : 'the connection failed')
  }
}

/** Lets so many work at a time. */
class Room {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  async within<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}

/** Names what is kept about a pair of Pixgate and receiver. */
export function pairName(pixgate: string, key: string, receiver: string): string {
  return createHash('sha256').update([pixgate, key, receiver].join('\n')).digest('hex').slice(0, 16)
}
