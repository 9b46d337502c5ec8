import type { NoticeDelivered, WebhookRemoved, WebhookSet } from './facts.ts'

/** A URL that receives callbacks about the payments of a Pix key. */
export interface Webhook {
  readonly pixKey: string
  readonly url: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** A callback to send about a payment, to the webhook of its Pix key. Its content is read from the book when it is sent. */
export interface Notice {
  readonly id: string
  readonly pixKey: string
  /** EndToEndId of a received payment. */
  readonly received?: string
  /** Key of a payout in the book. */
  readonly sent?: string
  readonly isDelivered: boolean
}

/** Registered webhooks and their notices. @source BCB, API Pix (Webhook) */
export class Notices {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #all = new Map<string, Notice>()

  /** By Pix key, in order of registration. */
  get webhooks(): ReadonlyMap<string, Webhook> {
    return this.#webhooks
  }

  /** By id, in order of the reported facts. */
  get all(): ReadonlyMap<string, Notice> {
    return this.#all
  }

  /** Applies a fact. */
  apply(fact: WebhookSet | WebhookRemoved | NoticeDelivered): void {
    if (fact.fact === 'webhook set') this.#set(fact)
    else if (fact.fact === 'webhook removed') this.#webhooks.delete(fact.pixKey)
    else this.#delivered(fact)
  }

  /** Stores a notice if its Pix key has a webhook. A webhook that is registered later does not get earlier notices. */
  keep(notice: Notice): void {
    if (this.#webhooks.has(notice.pixKey)) this.#all.set(notice.id, notice)
  }

  #set({ pixKey, url, at: createdAt }: WebhookSet): void {
    this.#webhooks.set(pixKey, { pixKey, url, createdAt })
  }

  #delivered({ noticeId }: NoticeDelivered): void {
    const notice = this.#all.get(noticeId)
    if (notice) this.#all.set(noticeId, { ...notice, isDelivered: true })
  }
}
