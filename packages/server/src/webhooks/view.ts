import type { EventType } from '@pixgate/spec'
import type { Subscription } from './store.ts'

/** A registered receiver as the API shows it. */
export interface WebhookView {
  readonly webhook_id: string
  readonly url: string
  readonly events: EventType[]
  readonly active: boolean
  readonly createdAt: string
}

/** Writes a live subscription. */
export function webhookView({ id, url, events, createdAt }: Subscription): WebhookView {
  return { webhook_id: id, url, events: [...events], active: true, createdAt: new Date(createdAt).toISOString() }
}
