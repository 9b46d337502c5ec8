import { getCACertificates } from 'node:tls'
import { Agent } from 'undici'
import type { Bank } from '../bank.ts'
import { markersOfNotice } from '../markers.ts'
import type { Notice } from '../notices.ts'
import { type CallbackItem, callbacksOf } from './callback-items.ts'
import type { Certificates } from './certificates.ts'

/** Dependencies of {@link CallbackSender}. */
export interface CallbackSenderOptions {
  readonly bank: Bank
  readonly certificates: Certificates
  /** PEM of a CA to trust for receivers, besides Node's default CAs and the bank's own. */
  readonly trusted?: string | undefined
  /** Reports delivery failures to the bank's operator. */
  readonly warn: (message: string) => void
}

/** Result of an attempt: the HTTP status, or the reason why there was no response. */
export type AttemptResult = { readonly status: number } | { readonly reason: string }

/** Delays before the retries; the last one repeats without limit. A real bank waits for minutes. */
const RETRY_DELAYS_MS = [200, 500, 1_000, 2_000, 5_000] as const

/** Timeout for connecting, and again for the response. */
const ATTEMPT_TIMEOUT_MS = 5_000

/** Maximum random delay of shuffled callbacks. */
const SHUFFLE_MS = 250

/** Delay of a late callback. */
const LATE_MS = 10_000

/** Time for which a batch collects callbacks. */
const BATCH_MS = 250

/** Callbacks to the same webhook that are sent together. */
interface Batch {
  readonly items: CallbackItem[]
  readonly sending: Promise<void>
}

/**
 * Sends callbacks about payments to the webhooks of their Pix keys, with the bank's client certificate, and retries until
 * the response is 2xx.
 * @source BCB, API Pix (callbacks of /webhook/{chave}); rules#sandbox.15
 */
export class CallbackSender {
  readonly #options: CallbackSenderOptions
  readonly #agent: Agent
  readonly #stopping = new AbortController()
  readonly #deliveries = new Set<Promise<void>>()
  /** By Pix key. */
  readonly #batches = new Map<string, Batch>()

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

  /** Starts to deliver a notice, with the copies and delay now configured. Retries until the webhook accepts it. */
  deliver(notice: Notice): void {
    const delivery = this.#deliver(notice)
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted)
          this.#options.warn(`a callback failed and is sent again after the next start: ${error}`)
      })
      .finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
  }

  /** Makes one attempt at a complete URL. */
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
      const { code, message } = error as NodeJS.ErrnoException
      return { reason: code ?? message }
    }
  }

  /** Aborts deliveries in progress; the book keeps them for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#agent.destroy()
    await Promise.all(this.#deliveries)
  }

  async #deliver(notice: Notice): Promise<void> {
    const { book, switchboard, liar, clock, chance } = this.#options.bank
    const { eventCopies, eventDelayMs, eventsShuffled } = switchboard.behavior
    const { copies, lateMs: markerDelayMs } = markersOfNotice(book, notice)
    await book.durable()
    for (const items of callbacksOf(notice, { book, liar, chance })) {
      const deliverCopy = async () => {
        const delayMs = eventDelayMs + markerDelayMs + (liar.tells('eventLate') ? LATE_MS : 0)
        await this.#sleep(delayMs + (eventsShuffled ? chance.below(SHUFFLE_MS) : 0))
        if (liar.tells('eventsBatched')) await this.#sendInBatch(notice.pixKey, items)
        else await this.#send(notice.pixKey, items)
      }
      await Promise.all(Array.from({ length: eventCopies * copies }, deliverCopy))
    }
    book.record({ fact: 'notice delivered', at: clock.now(), noticeId: notice.id })
    // If this fact is lost, the callback is only sent again.
    book.durableSoon()
  }

  /** Sends all that is added within a moment in one callback. @throws for each of them if that is aborted */
  #sendInBatch(pixKey: string, items: readonly CallbackItem[]): Promise<void> {
    const open = this.#batches.get(pixKey)
    if (open) {
      open.items.push(...items)
      return open.sending
    }
    const all = [...items]
    const sending = this.#sleep(BATCH_MS)
      .finally(() => this.#batches.delete(pixKey))
      .then(() => this.#send(pixKey, all))
    this.#batches.set(pixKey, { items: all, sending })
    return sending
  }

  async #send(pixKey: string, items: readonly CallbackItem[]): Promise<void> {
    const { bank, warn } = this.#options
    for (let failures = 0; ; failures++) {
      // The webhook may have changed in the meantime. If it was removed, the callback is dropped.
      const webhook = bank.book.notices.webhooks.get(pixKey)
      if (!webhook) return
      const result = await this.attempt(callbackUrl(webhook.url), { pix: items })
      if ('status' in result && result.status >= 200 && result.status < 300) return
      if (failures === 0) warn(`a callback of ${pixKey} was not accepted (${Object.values(result)}); retrying`)
      await this.#sleep(RETRY_DELAYS_MS[failures] ?? RETRY_DELAYS_MS.at(-1) ?? 0)
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#options.bank.clock.sleep(ms, this.#stopping.signal)
    this.#stopping.signal.throwIfAborted()
  }
}

/**
 * Callback URL of a webhook: `/pix` is appended to the text of the URL, so with Efí's `?ignorar=` at its end `/pix` lands in
 * the query.
 */
function callbackUrl(webhookUrl: string): string {
  return `${webhookUrl.replace(/\/$/, '')}/pix`
}
