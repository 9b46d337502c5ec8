import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { idText, instant, uuid } from './shapes.ts'
import { DELIVERY_ID, deliveryExample, deliverySummary, WEBHOOK_ID } from './webhook-delivery.ts'

/**
 * Resending: one delivery, failed and pending ones since a time, and notifications from before an endpoint's
 * registration.
 */

/** @source rules#webhooks.21 */
export const resendWebhookDelivery = endpoint({
  id: 'resendWebhookDelivery',
  method: 'POST',
  path: '/webhook-delivery/{id}/resend',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Resend a delivery',
  description:
    'Pending, failed or delivered: it is due now and gets four attempts, with the same bytes and the same `webhook-id`. A delivery that was delivered stays so, whatever becomes of the resend.',
  params: Type.Object({ id: idText('webhook-delivery', DELIVERY_ID) }),
  responses: {
    202: {
      description: 'It is due',
      schema: deliverySummary,
      example: {
        ...deliveryExample,
        state: 'FAILED',
        attemptCount: 14,
        nextAttemptAt: '2026-11-24T17:40:00.000Z',
        finishedAt: '2026-11-24T17:04:12.113Z',
      },
    },
  },
  errors: ['not_found', 'delivery_not_resendable'],
})

const since = Type.String({
  format: 'date-time',
  maxLength: 40,
  description: 'Made at this time or later',
  examples: ['2026-11-21T13:00:00Z'],
})

const resent = Type.Object(
  {
    webhookId: uuid,
    deliveries: Type.Integer({ minimum: 0, maximum: limits.webhookResendMax, description: 'How many are due now' }),
    hasMore: Type.Boolean({ description: 'There may be more: send the request again with `since` of this answer' }),
    since: { ...instant, description: 'From where to go on, where `hasMore` is true' },
  },
  { title: 'WebhookResent', description: 'Deliveries that are due now.' },
)

const example = {
  webhookId: WEBHOOK_ID,
  deliveries: 10_000,
  hasMore: true,
  since: '2026-11-21T14:41:07.310Z',
} as const

const body = Type.Object({ since }, { title: 'WebhookResendRequest', additionalProperties: false })

const params = Type.Object({ webhook_id: idText('webhook', WEBHOOK_ID) })

const ofMany = {
  method: 'POST',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  params,
  body,
  example: { since: '2026-11-21T13:00:00Z' },
  responses: { 202: { description: 'They are due', schema: resent, example } },
  errors: ['not_found'],
} as const

/** @source rules#webhooks.22 */
export const recoverWebhook = endpoint({
  ...ofMany,
  id: 'recoverWebhook',
  path: '/webhook/{webhook_id}/recover',
  summary: 'Resend the notifications that an endpoint has not accepted since a time',
  description:
    'Its pending deliveries that wait for a later attempt, and its failed ones, made since then are due now and get four attempts each, oldest first; 10,000 in one request at most.',
})

/** @source rules#webhooks.24 */
export const sendMissedToWebhook = endpoint({
  ...ofMany,
  id: 'sendMissedToWebhook',
  path: '/webhook/{webhook_id}/send-missed',
  summary: 'Send an endpoint the notifications from before its registration',
  description:
    'Notifications of its events made since a time and before it was registered, each once with four attempts, oldest first; 10,000 in one request at most.',
})
