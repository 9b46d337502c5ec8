import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { idempotencyKey, idText, instant, nullable, optional, uuid } from './shapes.ts'
import { DELIVERY_ID, WEBHOOK_ID } from './webhook-delivery.ts'

/** What is sent to a receiver again, or for the first time although it was made before. */

/**
 * `delivery`: one. `failed`: those that were given up. `missed`: those of before the receiver was registered.
 * @source rules#webhooks.21, rules#webhooks.22, rules#webhooks.24
 */
export const replayKinds = ['delivery', 'failed', 'missed'] as const

/** See {@link replayKinds}. */
export type ReplayKind = (typeof replayKinds)[number]

const replayKind = Type.Enum([...replayKinds], { title: 'WebhookReplayKind' })

const replay = Type.Object(
  {
    replayId: nullable({ ...uuid, description: 'What the header `webhook-replay` has; null of a dry run' }),
    webhookId: uuid,
    kind: replayKind,
    dryRun: Type.Boolean(),
    deliveries: Type.Integer({ minimum: 0, maximum: limits.webhookReplayMax, description: 'How many were counted' }),
    hasMore: Type.Boolean({
      description: 'There may be more: of `missed` they are sent, too; of `failed` order the same again afterwards',
    }),
    lastDueAt: nullable({ ...instant, description: 'When the last that was counted is due; null where there is none' }),
  },
  { title: 'WebhookReplay', description: 'What is sent again, or would be.' },
)

const REPLAY_ID = '0198c0e7-3f00-7000-8000-4d5e6f708192'

const example = {
  replayId: REPLAY_ID,
  webhookId: WEBHOOK_ID,
  kind: 'failed',
  dryRun: false,
  deliveries: 212,
  hasMore: false,
  lastDueAt: '2026-11-21T15:00:13.010Z',
} as const

const headers = {
  'Idempotency-Key': { ...idempotencyKey, description: 'Replays the 202 of the same request within 24 hours' },
}

const responses = {
  200: {
    description: 'A dry run: nothing was changed',
    schema: replay,
    example: { ...example, replayId: null, dryRun: true },
  },
  202: {
    description: 'It is ordered; what was sent is in the history',
    headers: ['Idempotent-Replayed'],
    schema: replay,
    example,
  },
} as const

const dryRun = optional(Type.Boolean({ description: 'Only count' }))

/** @source rules#webhooks.21 */
export const replayWebhookDelivery = endpoint({
  id: 'replayWebhookDelivery',
  method: 'POST',
  path: '/webhook-delivery/{id}/replay',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description:
    'The same bytes with the same `webhook-id`, signed with the present key, behind what is due by itself. The header `webhook-replay` marks it. It has no effect on the receiver’s state.',
  params: Type.Object({ id: idText('webhook-delivery', DELIVERY_ID) }),
  headers,
  body: Type.Object({ dryRun }, { title: 'WebhookDeliveryReplayRequest', additionalProperties: false }),
  example: { dryRun: true },
  responses,
  errors: ['not_found', 'delivery_not_replayable', 'idempotency_key_reused'],
})

const time = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description, examples: ['2026-11-21T13:00:00Z'] })

/** @source rules#webhooks.22, rules#webhooks.24 */
export const replayWebhook = endpoint({
  id: 'replayWebhook',
  method: 'POST',
  path: '/webhook/{webhook_id}/replay',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Send a receiver what failed, or what it missed',
  description:
    'All deliveries to it that were given up, or its events of before it was registered, made since a time: oldest first, at a rising pace behind what is due by itself. Of those that were given up it sends 10,000 at most. Ask with `dryRun` first. Who orders the same again adds only what does not wait already.',
  params: Type.Object({ webhook_id: idText('webhook', WEBHOOK_ID) }),
  headers,
  body: Type.Object(
    {
      kind: Type.Enum(['failed', 'missed']),
      since: time('Made at this time or later'),
      until: optional(time('Made before this time')),
      dryRun,
    },
    { title: 'WebhookReplayRequest', additionalProperties: false },
  ),
  example: { kind: 'failed', since: '2026-11-21T00:00:00Z', dryRun: true },
  responses,
  errors: ['not_found', 'idempotency_key_reused'],
})

/** @source rules#webhooks.26 */
export const cancelWebhookReplay = endpoint({
  id: 'cancelWebhookReplay',
  method: 'POST',
  path: '/webhook-replay/{id}/cancel',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Call off what is to be sent again',
  description:
    'What of the replay was not begun is not sent, and what is under way is not repeated. Of one that looks for what a receiver missed nothing more is looked for. One that is over, or was called off, stays as it is.',
  params: Type.Object({ id: idText('webhook-replay', REPLAY_ID) }),
  responses: {
    200: {
      description: 'Nothing more of it is begun',
      schema: Type.Object(
        {
          replayId: uuid,
          webhookId: uuid,
          kind: replayKind,
          cancelled: Type.Integer({
            minimum: 0,
            maximum: limits.webhookReplayMax,
            description: 'How many deliveries this called off: 0 where none waited any more',
          }),
        },
        { title: 'WebhookReplayCancelled', description: 'A replay that is called off.' },
      ),
      example: { replayId: REPLAY_ID, webhookId: WEBHOOK_ID, kind: 'failed', cancelled: 187 },
    },
  },
  errors: ['not_found'],
})
