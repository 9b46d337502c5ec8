import { type endpoints, Refusal } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { AddressGate } from '../platform/http-client/address-gate.ts'
import { isUuid } from '../platform/ids.ts'
import { type SubscriptionDependencies, setPaused, subscribe, unsubscribe } from './commands.ts'
import { createHistoryHandlers, type HistoryHandlers } from './history/routes.ts'
import { selectLane } from './lanes/store.ts'
import { assertResolves, receiverUrl } from './receiver-url.ts'
import { createReplayHandlers, type ReplayHandlers } from './replays/routes.ts'
import { listSubscriptions } from './store.ts'
import { createTestEvents, type TestEventDependencies } from './test-event.ts'
import { webhookDetailView, webhookView } from './view.ts'

/** The endpoints of this module, each with its handler. */
export type WebhookHandlers = Handlers<
  Pick<
    typeof endpoints,
    'createWebhook' | 'listWebhooks' | 'getWebhook' | 'pauseWebhook' | 'resumeWebhook' | 'testWebhook' | 'deleteWebhook'
  >
> &
  HistoryHandlers &
  ReplayHandlers

/** What the handlers work with. */
export interface WebhookHandlerDependencies extends SubscriptionDependencies, TestEventDependencies {
  readonly gate: AddressGate
  /** Sandbox: receivers on http and private addresses are taken. */
  readonly allowPrivate: boolean
}

/** Binds the endpoints to commands and queries. */
export function createWebhookHandlers(dependencies: WebhookHandlerDependencies): WebhookHandlers {
  const { database, clock, gate, allowPrivate } = dependencies
  const sendTestEvent = createTestEvents(dependencies)
  return {
    ...createHistoryHandlers(database),
    ...createReplayHandlers(dependencies),
    createWebhook: async ({ body, context }) => {
      const url = receiverUrl(body.url, allowPrivate)
      if (!allowPrivate) await assertResolves(gate, url)
      const subscription = await subscribe(dependencies, url, body.events, operatorOf(context), context.live)
      return { status: 201, body: webhookView({ ...subscription, isPaused: false }) }
    },
    listWebhooks: async () => {
      const subscriptions = await listSubscriptions(database)
      return { status: 200, body: { data: subscriptions.map(webhookView) } }
    },
    getWebhook: async ({ params }) => {
      const id = params.webhook_id
      const subscription = isUuid(id) ? await selectLane(database, id, clock.now()) : undefined
      if (subscription === undefined) throw new Refusal('not_found')
      return { status: 200, body: webhookDetailView(subscription) }
    },
    pauseWebhook: async ({ params, context }) => {
      const paused = await setPaused(dependencies, params.webhook_id, true, operatorOf(context), context.live)
      return { status: 200, body: webhookDetailView(paused) }
    },
    resumeWebhook: async ({ params, context }) => {
      const resumed = await setPaused(dependencies, params.webhook_id, false, operatorOf(context), context.live)
      return { status: 200, body: webhookDetailView(resumed) }
    },
    testWebhook: async ({ params, context }) => ({
      status: 200,
      body: await sendTestEvent(params.webhook_id, context.live),
    }),
    deleteWebhook: async ({ params, context }) => {
      await unsubscribe(dependencies, params.webhook_id, operatorOf(context), context.live)
      return { status: 204 }
    },
  }
}
