import { createHash } from 'node:crypto'
import type { FeedEvent, Followed } from '@pixgate/sdk'
import { signTestWebhook } from '@pixgate/sdk/testing'
import { operationOf } from './feed.ts'

/** Time and network of {@link forward}, which tests replace. */
export interface Link {
  send(
    url: string,
    init: RequestInit,
  ): Promise<{ readonly status: number; readonly body?: { cancel(): Promise<void> } | null }>
  now(): number
  /** Ends early when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export interface Forwarding {
  readonly url: string
  /** `whsec_…` */
  readonly secret: string
  readonly signal: AbortSignal
  readonly link: Link
  /** Stores the cursor behind the last event before which all were taken. */
  keep(cursor: string): void
  taken(entry: FeedEvent, result: { readonly status: number; readonly attempts: number; readonly ms: number }): void
  /** Called for the first failed attempt of an event and each tenth. */
  failed(entry: FeedEvent, why: string, waitMs: number): void
}

/** Concurrent deliveries. Those of one operation are sequential. */
const LANES = 8

/** Events not taken yet, after which the feed is read no further. */
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
  const semaphore = new Semaphore(LANES)
  let failure: unknown
  const ending = new AbortController()
  const delivering = { ...forwarding, signal: AbortSignal.any([forwarding.signal, ending.signal]) }
  const finish = (place: Place) => {
    place.isTaken = true
    const open = places.findIndex(({ isTaken }) => !isTaken)
    const last = places.splice(0, open < 0 ? places.length : open).at(-1)
    if (last) forwarding.keep(last.cursor)
  }
  try {
    for await (const { entry, cursor } of events) {
      const place = { cursor, isTaken: false }
      places.push(place)
      const { id: operation = entry.id } = operationOf(entry)
      const work = (lanes.get(operation) ?? Promise.resolve())
        .then(() => semaphore.run(() => deliver(entry, delivering)))
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
  } finally {
    // After an error of the feed, deliveries to a receiver that is down would keep the program running.
    ending.abort()
  }
}

/** @returns whether the receiver took it; not if the signal ended it */
async function deliver(entry: FeedEvent, forwarding: Forwarding): Promise<boolean> {
  const { secret, signal, link } = forwarding
  for (let attempts = 1; !signal.aborted; attempts += 1) {
    const startedAt = link.now()
    // Signed anew each time: the receiver refuses a time that is minutes old.
    const { headers, body } = await signTestWebhook(entry.body, { secret, webhookId: entry.id, sentAt: startedAt })
    const digital = { 'digital-signature': entry.signature, 'digital-signature-key-id': entry.signatureKeyId }
    const request = { method: 'POST', headers: { ...headers, ...digital }, body, redirect: 'manual' } as const
    const status = await send(forwarding, request)
    if (typeof status === 'number' && status >= 200 && status < 300) {
      forwarding.taken(entry, { status, attempts, ms: Math.max(0, link.now() - startedAt) })
      return true
    }
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 10))
    if ((attempts === 1 || attempts % 10 === 0) && !signal.aborted) {
      forwarding.failed(entry, typeof status === 'number' ? `it answered ${status}` : status, waitMs)
    }
    if (!signal.aborted) await link.sleep(waitMs, signal)
  }
  return false
}

/** @returns the status, or why there is none */
async function send({ url, link, signal }: Forwarding, request: RequestInit): Promise<number | string> {
  // A variable keeps it alive: Node.js 22.12 forgets the time-out of a signal that only `any` refers to.
  const deadline = AbortSignal.timeout(ATTEMPT_MS)
  try {
    const { status, body } = await link.send(url, { ...request, signal: AbortSignal.any([signal, deadline]) })
    await body?.cancel()
    return status
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string }
    return deadline.aborted ? 'no answer within 15 s' : (code ?? 'the connection failed')
  }
}

/** Limits concurrent work. */
class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
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

/** Names the file with the state of a pair of Pixgate and receiver. */
export function pairName(pixgate: string, key: string, receiver: string): string {
  return createHash('sha256').update([pixgate, key, receiver].join('\n')).digest('hex').slice(0, 16)
}
