import type { NoticeDelivered, WebhookRemoved, WebhookSet } from './facts.ts'

/** An address that is told of the payments of a key. */
export interface Webhook {
  readonly pixKey: string
  readonly url: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** That something happened to a payment, for the address of its key. What it says is read from the book as it is sent. */
export interface Notice {
  readonly id: string
  readonly pixKey: string
  /** The end-to-end id of a payment that came in. */
  readonly received?: string
  /** The id of a payout, in the book. */
  readonly sent?: string
  readonly isDelivered: boolean
}

/** Who is to be told, and of what. @source BCB, API Pix (Webhook) */
export class Notices {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #all = new Map<string, Notice>()

  /** By key, in the order in which they were set. */
  get webhooks(): ReadonlyMap<string, Webhook> {
    return this.#webhooks
  }

  /** By id, in the order of what they tell. */
  get all(): ReadonlyMap<string, Notice> {
    return this.#all
  }

  /** Takes a fact in. */
  apply(fact: WebhookSet | WebhookRemoved | NoticeDelivered): void {
    if (fact.fact === 'webhook set') this.#set(fact)
    else if (fact.fact === 'webhook removed') this.#webhooks.delete(fact.pixKey)
    else this.#delivered(fact)
  }

  /** Keeps a notice, unless its key has no address now: nobody is told later of what happened before. */
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
