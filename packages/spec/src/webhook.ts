import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { eventTypeName, eventTypes } from './events.ts'
import { limits } from './limits.ts'
import { idText, instant, nullable, optional, PLAIN_TEXT, uuid } from './shapes.ts'

/**
 * The merchant's webhook subscriptions.
 */

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
  { title: 'Webhook', description: 'A registered receiver.' },
)

const subscriptionExample = {
  webhook_id: '0198c0de-5b00-7000-8000-0a1b2c3d4e5f',
  url: 'https://loja.example/pix/notifications',
  events: ['pix_cash_in'],
  active: true,
  createdAt: '2026-11-21T13:10:00.000Z',
}

/**
 * `active`: what is due is sent. `degraded`: nothing but a probe now and then, until the receiver takes two. `paused`: nothing until
 * it is resumed. What is not sent is held, and has no attempt less.
 * @source rules#webhooks.12
 */
export const laneStates = ['active', 'degraded', 'paused'] as const

/** See {@link laneStates}. */
export type LaneState = (typeof laneStates)[number]

/** Why a receiver does not get what is due, each with what is said about it. @source rules#webhooks.12 */
export const laneReasons = {
  unanswered: 'Your server did not answer several notifications in a row.',
  failing: 'Your server answered most of the last notifications with another status than 2xx, or not at all.',
  address_not_allowed: 'The name of your server led to an address that is not public.',
  gone: 'Your server answered 410.',
  failing_for_days: 'Your server took no notification for three days.',
  requested: 'You paused it.',
  resumed: 'It was resumed: two notifications are sent alone before the others.',
} as const

/** See {@link laneReasons}. */
export type LaneReason = keyof typeof laneReasons

/** What is counted of deliveries ends here. */
const DELIVERIES_COUNTED_MAX = 10_000

/** And of attempts here. @source rules#webhooks.19 */
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
    state: Type.Enum([...laneStates], { title: 'WebhookState' }),
    reason: nullable(Type.Enum(Object.keys(laneReasons) as LaneReason[], { title: 'WebhookReason' })),
    explanation: nullable(Type.String({ maxLength: 200, description: 'The reason in words' })),
    since: instant,
    failures: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Since the last success' }),
    failingSince: nullable(instant),
    nextProbeAt: nullable(instant),
    heldUntil: nullable({ ...instant, description: 'Your server asked for it by `Retry-After`' }),
    pending: Type.Integer({
      minimum: 0,
      maximum: DELIVERIES_COUNTED_MAX,
      description: 'Deliveries that are not done; no more than 10,000 are counted',
    }),
    oldestPendingAt: nullable({ ...instant, description: 'When what it tells of was' }),
    nextAttemptAt: nullable({ ...instant, description: 'When the first of them is due' }),
    replaying: Type.Integer({
      minimum: 0,
      maximum: DELIVERIES_COUNTED_MAX,
      description: 'Deliveries that wait to be sent again; no more than 10,000 are counted',
    }),
    recent,
  },
  { title: 'WebhookDelivery', description: 'How notifications reach the receiver.' },
)

/** As Standard Webhooks writes it: the Base64 of 32 bytes. What scanners look for. @source rules#webhook-secrets.1 */
const secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  maxLength: 64,
  description: 'What verifies `webhook-signature`. It is shown this once',
})

const SECRET_EXAMPLE = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

const secrets = Type.Array(
  Type.Object(
    {
      createdAt: instant,
      expiresAt: nullable({ ...instant, description: 'From when on it signs no more; `null`: it is the newest' }),
    },
    { title: 'WebhookSigningSecret' },
  ),
  { maxItems: limits.webhookSecretsMax, description: 'What signs `webhook-signature`, the newest first' },
)

const subscriptionCreated = Type.Object(
  { ...subscription.properties, secret },
  { title: 'WebhookCreated', description: 'A registered receiver, and its secret.' },
)

const subscriptionDetail = Type.Object(
  { ...subscription.properties, delivery, secrets },
  { title: 'WebhookDetail', description: 'A registered receiver, and how it is.' },
)

const detailExample = {
  ...subscriptionExample,
  delivery: {
    state: 'degraded',
    reason: 'unanswered',
    explanation: laneReasons.unanswered,
    since: '2026-11-21T14:00:05.000Z',
    failures: 6,
    failingSince: '2026-11-21T13:59:40.000Z',
    nextProbeAt: '2026-11-21T14:00:20.000Z',
    heldUntil: null,
    pending: 41,
    oldestPendingAt: '2026-11-21T13:59:35.000Z',
    nextAttemptAt: '2026-11-21T13:59:40.000Z',
    replaying: 0,
    recent: { attempts: 240, succeeded: 228, successRate: 0.95, p50Ms: 84, p95Ms: 412 },
  },
  secrets: [
    { createdAt: '2026-11-21T14:00:00.000Z', expiresAt: null },
    { createdAt: '2026-11-21T13:10:00.000Z', expiresAt: '2026-11-22T14:00:00.000Z' },
  ],
} as const

/** @source rules#webhooks.1, rules#webhook-secrets.1 */
export const createWebhook = endpoint({
  id: 'createWebhook',
  method: 'POST',
  path: '/webhook',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Register a receiver of notifications',
  description:
    'Each notification made from now on goes to it, signed; what happened before is not sent afterwards. In production the address is public https; the sandbox takes any. The `secret` is shown this once: keep it like a password.',
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
  responses: {
    201: {
      description: 'Registered',
      schema: subscriptionCreated,
      example: { ...subscriptionExample, secret: SECRET_EXAMPLE },
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

const params = Type.Object({ webhook_id: idText('webhook', subscriptionExample.webhook_id) })

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
  summary: 'Read how a receiver is',
  description: 'Whether it gets what is due, why it does not, and what is held for it.',
  params,
  responses: { 200: { description: 'The receiver', schema: subscriptionDetail, example: detailExample } },
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
  summary: 'Pause a receiver',
  description:
    'Nothing more is begun to be sent to it; all is held until it is resumed. A receiver that is paused stays as it is.',
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
          explanation: laneReasons.requested,
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
  summary: 'Resume a receiver',
  description:
    'It is probed at once with what it missed first; when it takes two, it gets the rest, oldest first at a rising pace. One that is not paused stays as it is.',
  params,
  responses: {
    200: {
      description: 'It is probed',
      schema: subscriptionDetail,
      example: {
        ...detailExample,
        delivery: { ...detailExample.delivery, reason: 'resumed', explanation: laneReasons.resumed },
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
  summary: 'Make another secret of a receiver; it is shown this once',
  description:
    'A receiver that was registered before there were secrets gets its first. The secrets of before go on signing beside it for the overlap, so that a receiver can change over; with an overlap of 0 they sign no more. A lost answer is of no use to anybody: rotate again.',
  params,
  body: Type.Object(
    {
      overlapSeconds: optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.webhookSecretOverlapMaxSeconds,
          description: 'How long the secrets of before sign, too. A day where left out; 0 where one has leaked',
        }),
      ),
    },
    { title: 'WebhookSecretRequest', additionalProperties: false },
  ),
  example: { overlapSeconds: limits.webhookSecretOverlapSeconds },
  responses: {
    200: {
      description: 'The secret. It is kept sealed, and shown no more.',
      schema: Type.Object(
        {
          webhook_id: uuid,
          secret,
          createdAt: instant,
          previousExpiresAt: nullable({
            ...instant,
            description: 'Until then a secret of before signs, too; `null`: there is none',
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
