import { type endpoints, limits, Refusal } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { AddressGate } from '../platform/http-client/address-gate.ts'
import { isUuid } from '../platform/ids.ts'
import { rotateSecret, type SubscriptionDependencies, setPaused, subscribe, unsubscribe } from './commands.ts'
import { createHistoryHandlers, type HistoryHandlers } from './history/routes.ts'
import { type SubscriptionWithLane, selectLane } from './lanes/store.ts'
import { assertResolves, receiverUrl } from './receiver-url.ts'
import { createReplayHandlers, type ReplayHandlers } from './replays/routes.ts'
import { listSubscriptions } from './store.ts'
import { createTestEvents, type TestEventDependencies } from './test-event.ts'
import { rotatedSecretView, webhookDetailView, webhookView } from './view.ts'

/** The endpoints of this module, each with its handler. */
export type WebhookHandlers = Handlers<
  Pick<
    typeof endpoints,
    | 'createWebhook'
    | 'listWebhooks'
    | 'getWebhook'
    | 'pauseWebhook'
    | 'resumeWebhook'
    | 'testWebhook'
    | 'rotateWebhookSecret'
    | 'deleteWebhook'
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
  const { database, clock, secrets, gate, allowPrivate } = dependencies
  const sendTestEvent = createTestEvents(dependencies)
  const detailOf = async (subscription: SubscriptionWithLane) =>
    webhookDetailView(subscription, await secrets.list(database, subscription.id, clock.now()))
  return {
    ...createHistoryHandlers(database),
    ...createReplayHandlers(dependencies),
    createWebhook: async ({ body, context }) => {
      const url = receiverUrl(body.url, allowPrivate)
      if (!allowPrivate) await assertResolves(gate, url)
      const subscription = await subscribe(dependencies, url, body.events, operatorOf(context), context.live)
      const { secret } = subscription
      return { status: 201, body: { ...webhookView({ ...subscription, isPaused: false }), secret } }
    },
    listWebhooks: async () => {
      const subscriptions = await listSubscriptions(database)
      return { status: 200, body: { data: subscriptions.map(webhookView) } }
    },
    getWebhook: async ({ params }) => {
      const id = params.webhook_id
      const subscription = isUuid(id) ? await selectLane(database, id, clock.now()) : undefined
      if (subscription === undefined) throw new Refusal('not_found')
      return { status: 200, body: await detailOf(subscription) }
    },
    pauseWebhook: async ({ params, context }) => {
      const paused = await setPaused(dependencies, params.webhook_id, true, operatorOf(context), context.live)
      return { status: 200, body: await detailOf(paused) }
    },
    resumeWebhook: async ({ params, context }) => {
      const resumed = await setPaused(dependencies, params.webhook_id, false, operatorOf(context), context.live)
      return { status: 200, body: await detailOf(resumed) }
    },
    rotateWebhookSecret: async ({ params: { webhook_id }, body, context }) => {
      const overlapSeconds = body.overlapSeconds ?? limits.webhookSecretOverlapSeconds
      const rotated = await rotateSecret(dependencies, webhook_id, overlapSeconds, operatorOf(context), context.live)
      return { status: 200, body: rotatedSecretView(webhook_id, rotated) }
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
