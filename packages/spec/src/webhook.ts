import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { eventTypeName, eventTypes } from './events.ts'
import { limits } from './limits.ts'
import { idText, instant, nullable, optional, PLAIN_TEXT, uuid } from './shapes.ts'

/** The merchant's webhook endpoints. */

const events = Type.Array(eventTypeName, {
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
  { title: 'Webhook', description: 'A registered endpoint.' },
)

const subscriptionExample = {
  webhook_id: '0198c0de-5b00-7000-8000-0a1b2c3d4e5f',
  url: 'https://loja.example/pix/notifications',
  events: ['pix_cash_in'],
  active: true,
  createdAt: '2026-11-21T13:10:00.000Z',
}

/**
 * - `active`: due deliveries are sent.
 * - `degraded`: the circuit breaker is open, and one delivery at a time is sent as a probe.
 * - `paused`: nothing is sent until it is resumed.
 *
 * A held delivery keeps its attempts.
 * @source rules#webhooks.12
 */
export const endpointStates = ['active', 'degraded', 'paused'] as const

export type EndpointState = (typeof endpointStates)[number]

/** Reasons why an endpoint's deliveries are held, each with its explanation. @source rules#webhooks.12 */
export const endpointReasons = {
  unanswered: 'Your server did not answer several notifications in a row.',
  failing: 'Your server answered several notifications in a row with another status than 2xx, or not at all.',
  address_not_allowed: 'The name of your server led to an address that is not public.',
  gone: 'Your server answered 410.',
  failing_for_days: 'Your server took no notification for three days.',
  requested: 'You paused it.',
  resumed: 'It was resumed: one notification is sent alone before the others.',
} as const

export type EndpointReason = keyof typeof endpointReasons

/** Maximum of counted deliveries. */
const DELIVERIES_COUNTED_MAX = 10_000

/** Maximum of counted attempts. @source rules#webhooks.19 */
const ATTEMPTS_COUNTED_MAX = 1_000

const ms = (description: string) => nullable(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }))

const recent = Type.Object(
  {
    attempts: Type.Integer({ minimum: 0, maximum: ATTEMPTS_COUNTED_MAX }),
    succeeded: Type.Integer({ minimum: 0, maximum: ATTEMPTS_COUNTED_MAX }),
    successRate: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Null where there was no attempt' })),
    p50Ms: ms('Half of them took no longer, from the look-up of the name to the answer'),
    p95Ms: ms('19 of 20 took no longer'),
  },
  { title: 'WebhookRecentAttempts', description: 'The last attempts within 24 hours, 1,000 at most.' },
)

const delivery = Type.Object(
  {
    state: Type.Enum([...endpointStates], { title: 'WebhookState' }),
    reason: nullable(Type.Enum(Object.keys(endpointReasons) as EndpointReason[], { title: 'WebhookReason' })),
    explanation: nullable(Type.String({ maxLength: 200, description: 'The reason in words' })),
    since: instant,
    failures: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Since the last success' }),
    failingSince: nullable(instant),
    nextProbeAt: nullable(instant),
    heldUntil: nullable({ ...instant, description: 'Your server asked for it by `Retry-After`' }),
    pending: Type.Integer({
      minimum: 0,
      maximum: DELIVERIES_COUNTED_MAX,
      description: 'Deliveries that have something to send; counted up to 10,000',
    }),
    oldestPendingAt: nullable({ ...instant, description: 'Time of the oldest notification among them' }),
    nextAttemptAt: nullable({ ...instant, description: 'Time at which the first of them is due' }),
    recent,
  },
  { title: 'WebhookDelivery', description: 'How notifications reach the endpoint.' },
)

/**
 * The form of Standard Webhooks: `whsec_` and the Base64 of 32 bytes. Secret scanners search for it.
 * @source rules#webhook-secrets.1
 */
const secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  maxLength: 64,
  description: 'Verifies `webhook-signature`. It is shown this once',
})

const SECRET_EXAMPLE = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

const secrets = Type.Array(
  Type.Object(
    {
      createdAt: instant,
      expiresAt: nullable({ ...instant, description: 'It signs until then; `null`: it is the newest' }),
    },
    { title: 'WebhookSigningSecret' },
  ),
  { maxItems: limits.webhookSecretsMax, description: 'The secrets that sign `webhook-signature`, the newest first' },
)

const subscriptionCreated = Type.Object(
  { ...subscription.properties, secret },
  { title: 'WebhookCreated', description: 'A registered endpoint, and its secret.' },
)

const subscriptionDetail = Type.Object(
  { ...subscription.properties, delivery, secrets },
  { title: 'WebhookDetail', description: 'A registered endpoint, and its state.' },
)

const detailExample = {
  ...subscriptionExample,
  delivery: {
    state: 'degraded',
    reason: 'unanswered',
    explanation: endpointReasons.unanswered,
    since: '2026-11-21T14:00:05.000Z',
    failures: 6,
    failingSince: '2026-11-21T13:59:40.000Z',
    nextProbeAt: '2026-11-21T14:00:20.000Z',
    heldUntil: null,
    pending: 41,
    oldestPendingAt: '2026-11-21T13:59:35.000Z',
    nextAttemptAt: '2026-11-21T13:59:40.000Z',
    recent: { attempts: 240, succeeded: 228, successRate: 0.95, p50Ms: 84, p95Ms: 412 },
  },
  secrets: [
    { createdAt: '2026-11-21T14:00:00.000Z', expiresAt: null },
    { createdAt: '2026-11-21T13:10:00.000Z', expiresAt: '2026-11-22T14:00:00.000Z' },
  ],
} as const

const subscriptionRequest = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: limits.webhookUrlMaxLength,
      pattern: PLAIN_TEXT,
      description: 'Https address; public, unless an admin registers it',
    }),
    events,
  },
  { title: 'WebhookRequest', additionalProperties: false },
)

/** @source rules#webhooks.1, rules#webhook-secrets.1 */
export const createWebhook = endpoint({
  id: 'createWebhook',
  method: 'POST',
  path: '/webhook',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Register an endpoint for notifications',
  description:
    'Each notification made from now on is sent to it, signed; earlier ones only by `send-missed`. In production the address is public https; the sandbox takes any. The `secret` is shown this once: keep it like a password.',
  body: subscriptionRequest,
  example: { url: 'https://loja.example/pix/notifications', events: ['pix_cash_in'] },
  responses: {
    201: {
      description: 'Registered',
      schema: subscriptionCreated,
      example: { ...subscriptionExample, secret: SECRET_EXAMPLE },
    },
  },
  errors: ['duplicate_webhook', 'too_many_webhooks', 'webhook_url_not_allowed'],
})

/** @source rules#webhooks.26 */
export const createOperatorWebhook = endpoint({
  id: 'createOperatorWebhook',
  method: 'POST',
  path: '/operator/webhooks',
  auth: 'admin',
  role: 'admin',
  tag: 'Operator',
  summary: 'Register an endpoint in your own network',
  description:
    'Like `POST /webhook`, but the name may also lead to a network and port of `PIXGATE_WEBHOOK_ALLOWED_NETWORKS`; this is checked at every connection. What the endpoint answers is not kept, only its status. API keys with the scope `webhook` see it, test it, pause it and remove it.',
  body: subscriptionRequest,
  example: { url: 'https://erp.loja.example:8443/pix', events: ['pix_cash_in'] },
  responses: {
    201: {
      description: 'Registered',
      schema: subscriptionCreated,
      example: { ...subscriptionExample, url: 'https://erp.loja.example:8443/pix', secret: SECRET_EXAMPLE },
    },
  },
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
  summary: 'List the registered endpoints',
  description: 'All that were not removed, each with its `webhook_id`.',
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

const params = Type.Object({ webhook_id: idText('webhook', subscriptionExample.webhook_id) })

/** @source rules#webhooks.3 */
export const deleteWebhook = endpoint({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhook/{webhook_id}',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Remove an endpoint',
  description: 'Its pending deliveries are cancelled.',
  params,
  responses: { 204: { description: 'Removed' } },
  errors: ['not_found'],
})

/** @source rules#webhooks.15 */
export const getWebhook = endpoint({
  id: 'getWebhook',
  method: 'GET',
  path: '/webhook/{webhook_id}',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Read the state of an endpoint',
  description: 'Whether deliveries are sent, why not, and how many are held.',
  params,
  responses: { 200: { description: 'The endpoint', schema: subscriptionDetail, example: detailExample } },
  errors: ['not_found'],
})

/** @source rules#webhooks.15 */
export const pauseWebhook = endpoint({
  id: 'pauseWebhook',
  method: 'POST',
  path: '/webhook/{webhook_id}/pause',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Pause an endpoint',
  description:
    'No attempt is started any more; deliveries are held until it is resumed. A paused endpoint stays as it is.',
  params,
  responses: {
    200: {
      description: 'It is paused',
      schema: subscriptionDetail,
      example: {
        ...detailExample,
        active: false,
        delivery: {
          ...detailExample.delivery,
          state: 'paused',
          reason: 'requested',
          explanation: endpointReasons.requested,
          nextProbeAt: null,
        },
      },
    },
  },
  errors: ['not_found'],
})

/** @source rules#webhooks.15 */
export const resumeWebhook = endpoint({
  id: 'resumeWebhook',
  method: 'POST',
  path: '/webhook/{webhook_id}/resume',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Resume an endpoint',
  description:
    'The oldest delivery is sent at once as a probe; when it is taken, the others follow, oldest first. An endpoint that is not paused stays as it is.',
  params,
  responses: {
    200: {
      description: 'It is probed',
      schema: subscriptionDetail,
      example: {
        ...detailExample,
        delivery: { ...detailExample.delivery, reason: 'resumed', explanation: endpointReasons.resumed },
      },
    },
  },
  errors: ['not_found'],
})

/** @source rules#webhook-secrets.2, rules#webhook-secrets.3 */
export const rotateWebhookSecret = endpoint({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhook/{webhook_id}/secret/rotate',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Make another secret of an endpoint; it is shown this once',
  description:
    'The earlier secrets sign beside it for the overlap, so that your server can change over; with an overlap of 0 they sign no more. If the answer is lost, rotate again.',
  params,
  body: Type.Object(
    {
      overlapSeconds: optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.webhookSecretOverlapMaxSeconds,
          description: 'How long earlier secrets sign as well. A day if omitted; 0 if one has leaked',
        }),
      ),
    },
    { title: 'WebhookSecretRequest', additionalProperties: false },
  ),
  example: { overlapSeconds: limits.webhookSecretOverlapSeconds },
  responses: {
    200: {
      description: 'The secret. It is stored sealed and never shown again.',
      schema: Type.Object(
        {
          webhook_id: uuid,
          secret,
          createdAt: instant,
          previousExpiresAt: nullable({
            ...instant,
            description: 'Until then an earlier secret signs, too; `null`: there is none',
          }),
        },
        { title: 'WebhookSecretRotated' },
      ),
      example: {
        webhook_id: subscriptionExample.webhook_id,
        secret: SECRET_EXAMPLE,
        createdAt: '2026-11-21T14:00:00.000Z',
        previousExpiresAt: '2026-11-22T14:00:00.000Z',
      },
    },
  },
  errors: ['not_found', 'too_many_webhook_secrets'],
})
