import type { endpoints } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { AddressGate } from '../platform/http-client/address-gate.ts'
import { type SubscriptionDependencies, subscribe, unsubscribe } from './commands.ts'
import { assertResolves, receiverUrl } from './receiver-url.ts'
import { listSubscriptions } from './store.ts'
import { webhookView } from './view.ts'

/** The endpoints of this module, each with its handler. */
export type WebhookHandlers = Handlers<Pick<typeof endpoints, 'createWebhook' | 'listWebhooks' | 'deleteWebhook'>>

/** What the handlers work with. */
export interface WebhookHandlerDependencies extends SubscriptionDependencies {
  readonly gate: AddressGate
  /** Sandbox: receivers on http and private addresses are taken. */
  readonly allowPrivate: boolean
}

/** Binds the endpoints to commands and queries. */
export function createWebhookHandlers(dependencies: WebhookHandlerDependencies): WebhookHandlers {
  const { database, gate, allowPrivate } = dependencies
  return {
    createWebhook: async ({ body, context }) => {
      const url = receiverUrl(body.url, allowPrivate)
      if (!allowPrivate) await assertResolves(gate, url)
      const subscription = await subscribe(dependencies, url, body.events, operatorOf(context), context.live)
      return { status: 201, body: webhookView(subscription) }
    },
    listWebhooks: async () => {
      const subscriptions = await listSubscriptions(database)
      return { status: 200, body: { data: subscriptions.map(webhookView) } }
    },
    deleteWebhook: async ({ params, context }) => {
      await unsubscribe(dependencies, params.webhook_id, operatorOf(context), context.live)
      return { status: 204 }
    },
  }
}
