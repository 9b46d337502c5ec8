import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { eventTypes } from './events.ts'
import { limits } from './limits.ts'
import { idText, instant, PLAIN_TEXT, uuid } from './shapes.ts'

/**
 * The merchant's webhook subscriptions.
 */

const events = Type.Array(Type.Enum([...eventTypes], { title: 'EventType' }), {
  minItems: 1,
  maxItems: eventTypes.length,
  uniqueItems: true,
})

const subscription = Type.Object(
  {
    webhook_id: uuid,
    url: Type.String({ maxLength: limits.webhookUrlMaxLength }),
    events,
    active: Type.Boolean(),
    createdAt: instant,
  },
  { title: 'Webhook', description: 'A registered receiver.' },
)

const subscriptionExample = {
  webhook_id: '0198c0de-5b00-7000-8000-0a1b2c3d4e5f',
  url: 'https://loja.example/pix/notifications',
  events: ['pix_cash_in'],
  active: true,
  createdAt: '2026-11-21T13:10:00.000Z',
}

/** @source rules#webhooks.1 */
export const createWebhook = endpoint({
  id: 'createWebhook',
  method: 'POST',
  path: '/webhook',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Register a receiver of notifications',
  description:
    'Each notification made from now on goes to it, signed; what happened before is not sent afterwards. In production the address is public https; the sandbox takes any.',
  body: Type.Object(
    {
      url: Type.String({
        minLength: 1,
        maxLength: limits.webhookUrlMaxLength,
        pattern: PLAIN_TEXT,
        description: 'Public https address',
      }),
      events,
    },
    { title: 'WebhookRequest', additionalProperties: false },
  ),
  example: { url: 'https://loja.example/pix/notifications', events: ['pix_cash_in'] },
  responses: { 201: { description: 'Registered', schema: subscription, example: subscriptionExample } },
  errors: ['duplicate_webhook', 'too_many_webhooks', 'webhook_url_not_allowed'],
})

/** @source rules#webhooks.2 */
export const listWebhooks = endpoint({
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhook',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'List the registered receivers',
  description: 'All that were not removed, each with the `webhook_id` that removes it.',
  responses: {
    200: {
      description: 'All of them, oldest first',
      schema: Type.Object(
        { data: Type.Array(subscription, { maxItems: limits.webhookSubscriptionsMax }) },
        { title: 'WebhookList' },
      ),
      example: { data: [subscriptionExample] },
    },
  },
  errors: [],
})

/** @source rules#webhooks.3 */
export const deleteWebhook = endpoint({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhook/{webhook_id}',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Remove a receiver',
  description: 'What was still to be delivered to it is cancelled.',
  params: Type.Object({ webhook_id: idText('webhook', subscriptionExample.webhook_id) }),
  responses: { 204: { description: 'Removed' } },
  errors: ['not_found'],
})
