import { getCACertificates } from 'node:tls'
import { Agent } from 'undici'
import type { Bank } from '../bank.ts'
import type { Notice } from '../notices.ts'
import { type CallbackItem, callbacksOf } from './callback-items.ts'
import type { Certificates } from './certificates.ts'

/** What the sender needs. */
export interface CallbackSenderOptions {
  readonly bank: Bank
  readonly certificates: Certificates
  /** PEM: who besides the usual authorities, and the bank's own, may vouch for whoever is called. */
  readonly trusted?: string | undefined
  /** Says on the bank's side that something is wrong on the other one. */
  readonly warn: (message: string) => void
}

/** How an attempt ended: a status, or why there was none. */
export type AttemptResult = { readonly status: number } | { readonly reason: string }

/** Waits before each attempt after the first, the last one repeated for ever: a real bank would have you wait for minutes. */
const RETRY_DELAYS_MS = [200, 500, 1_000, 2_000, 5_000] as const

/** For connecting, and then for the answer. */
const ATTEMPT_TIMEOUT_MS = 5_000

/** Shuffled callbacks wait up to this long. */
const SHUFFLE_MS = 250

/** So long a late callback waits. */
const LATE_MS = 10_000

/** So long a callback that is to go out with others waits for them. */
const BATCH_MS = 250

/** A callback that goes out with others, and what is done when it is there. */
interface Waiting {
  readonly items: readonly CallbackItem[]
  readonly sent: () => void
}

/**
 * Tells the addresses of webhooks what happened to the payments of their keys, with the bank's own certificate, until
 * they answer 2xx.
 * @source BCB, API Pix (callbacks of /webhook/{chave}); rules#sandbox.15
 */
export class CallbackSender {
  readonly #options: CallbackSenderOptions
  readonly #agent: Agent
  readonly #stopping = new AbortController()
  readonly #deliveries = new Set<Promise<void>>()
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(options: CallbackSenderOptions) {
    const { callback, authority } = options.certificates
    const ca = [...getCACertificates('default'), authority.certificate, ...(options.trusted ? [options.trusted] : [])]
    this.#options = options
    this.#agent = new Agent({
      connect: { cert: callback.certificate, key: callback.key, ca, timeout: ATTEMPT_TIMEOUT_MS },
      headersTimeout: ATTEMPT_TIMEOUT_MS,
      bodyTimeout: ATTEMPT_TIMEOUT_MS,
    })
  }

  /** Begins to deliver a notice, as often and as late as the bank now behaves; goes on until it is taken. */
  deliver(notice: Notice): void {
    const delivery = this.#deliver(notice)
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.#options.warn(`a callback stays undelivered: ${error}`)
      })
      .finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
  }

  /** Makes one attempt. @param url as it is called: nothing is appended */
  async attempt(url: string, body: object): Promise<AttemptResult> {
    try {
      const { origin, pathname, search } = new URL(url)
      const answer = await this.#agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await answer.body.dump()
      return { status: answer.statusCode }
    } catch (error) {
      return { reason: (error as Error).message }
    }
  }

  /** Gives up what is under way; the book keeps it for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#agent.destroy()
    await Promise.all(this.#deliveries)
  }

  async #deliver(notice: Notice): Promise<void> {
    const { book, switchboard, liar, clock, chance } = this.#options.bank
    const { eventCopies, eventDelayMs, eventsShuffled } = switchboard.behavior
    await book.durable()
    for (const items of callbacksOf(notice, { book, liar, chance })) {
      await Promise.all(
        Array.from({ length: eventCopies }, async () => {
          const lateMs = liar.tells('eventLate') ? LATE_MS : 0
          await this.#sleep(eventDelayMs + lateMs + (eventsShuffled ? chance.below(SHUFFLE_MS) : 0))
          await (liar.tells('eventsBatched')
            ? this.#sendWithOthers(notice.pixKey, items)
            : this.#send(notice.pixKey, items))
        }),
      )
    }
    book.record({ fact: 'notice delivered', at: clock.now(), noticeId: notice.id })
    // Were it lost it would be sent again.
    book.durableSoon()
  }

  /** The first who waits sends for all who came meanwhile. */
  async #sendWithOthers(pixKey: string, items: readonly CallbackItem[]): Promise<void> {
    const waiting = this.#waiting.get(pixKey)
    if (waiting) return new Promise((sent) => waiting.push({ items, sent }))
    const batch: Waiting[] = []
    this.#waiting.set(pixKey, batch)
    try {
      await this.#sleep(BATCH_MS)
      this.#waiting.delete(pixKey)
      await this.#send(pixKey, [...items, ...batch.flatMap((other) => other.items)])
    } finally {
      this.#waiting.delete(pixKey)
      for (const { sent } of batch) sent()
    }
  }

  async #send(pixKey: string, items: readonly CallbackItem[]): Promise<void> {
    const { bank, warn } = this.#options
    for (let failures = 0; ; failures++) {
      // The address may have changed meanwhile; where there is none any more, nobody is to be told.
      const webhook = bank.book.notices.webhooks.get(pixKey)
      if (!webhook) return
      const result = await this.attempt(callbackUrl(webhook.url), { pix: items })
      if ('status' in result && result.status >= 200 && result.status < 300) return
      if (failures === 0) warn(`a callback of ${pixKey} is not accepted (${Object.values(result)}); it is sent again`)
      await this.#sleep(RETRY_DELAYS_MS[failures] ?? RETRY_DELAYS_MS[4])
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#options.bank.clock.sleep(ms, this.#stopping.signal)
    this.#stopping.signal.throwIfAborted()
  }
}

/**
 * Where the callbacks of an address go: `/pix` is put behind it, whatever it ends with. So an address that ends with a
 * query of Efí's, `?ignorar=`, is called itself.
 */
function callbackUrl(webhookUrl: string): string {
  return `${webhookUrl.replace(/\/$/, '')}/pix`
}
