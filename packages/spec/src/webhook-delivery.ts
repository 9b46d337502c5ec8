import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { eventTypeName } from './events.ts'
import { limits } from './limits.ts'
import {
  CURSOR,
  cursorList,
  idText,
  instant,
  knownExternalId,
  nullable,
  PLAIN_TEXT,
  pageLimit,
  uuid,
} from './shapes.ts'

/** Deliveries to the endpoints, and their attempts. */

/**
 * Outcome of an attempt. `refused`: your server did not answer 2xx. `broken`: the connection was lost before an answer,
 * or the answer was not HTTP. The words are stable.
 * @source rules#webhooks.17
 */
export const attemptOutcomes = [
  'delivered',
  'refused',
  'dns',
  'connect',
  'tls',
  'timeout',
  'broken',
  'address_not_allowed',
] as const

export type AttemptOutcome = (typeof attemptOutcomes)[number]

/**
 * State of a delivery. `CANCELLED`: its endpoint was removed first. A resend of a delivered or failed delivery keeps
 * the state until it succeeds.
 * @source rules#webhooks.18
 */
export const deliveryStates = ['PENDING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const

export type DeliveryState = (typeof deliveryStates)[number]

const milliseconds = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }))

const times = Type.Object(
  {
    dnsMs: milliseconds('To look up the name'),
    connectMs: milliseconds('To connect'),
    tlsMs: milliseconds('For the TLS handshake'),
    waitMs: milliseconds('From the connection to the end of the headers of the answer'),
    totalMs: milliseconds('All of it'),
  },
  {
    title: 'WebhookAttemptTimes',
    description: 'Milliseconds; null where it did not come to it, or did not need it: a connection is used again.',
  },
)

const excerpt = nullable(
  Type.String({
    maxLength: limits.webhookExcerptMaxLength,
    description: 'Beginning of your server’s answer, without anything that looks secret or personal; show it as text',
  }),
)

/** Result of a request to an endpoint, in every attempt. */
const attemptFields = {
  startedAt: instant,
  outcome: Type.Enum([...attemptOutcomes], { title: 'WebhookAttemptOutcome' }),
  explanation: Type.String({ maxLength: 200, description: 'The outcome in words' }),
  statusCode: nullable(Type.Integer({ minimum: 100, maximum: 999 })),
  answer: excerpt,
  times,
}

const attempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
    ...attemptFields,
    endedAt: instant,
  },
  { title: 'WebhookAttempt', description: 'One attempt to deliver a notification.' },
)

const deliveryFields = {
  id: uuid,
  webhookId: uuid,
  notificationId: { ...uuid, description: 'The header `webhook-id`, the same on every attempt and at every endpoint' },
  eventType: eventTypeName,
  operationId: { ...uuid, description: 'The charge, payout or refund' },
  externalId: nullable(knownExternalId),
  correlationId: nullable(Type.String({ maxLength: limits.correlationIdMaxLength })),
  state: Type.Enum([...deliveryStates], { title: 'WebhookDeliveryState' }),
  attemptCount: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Attempts that ended' }),
  nextAttemptAt: nullable({
    ...instant,
    description: 'Time of the next attempt; null where there is none, or one is under way',
  }),
  createdAt: instant,
  finishedAt: nullable({ ...instant, description: 'Time at which it was delivered, or given up' }),
}

/** A delivery without its attempts. */
export const deliverySummary = Type.Object(deliveryFields, {
  title: 'WebhookDeliverySummary',
  description: 'A notification on its way to an endpoint.',
})

const deliveryDetail = Type.Object(
  { ...deliveryFields, attempts: Type.Array(attempt, { maxItems: limits.webhookAttemptsShownMax }) },
  { title: 'WebhookDeliveryDetail', description: 'The same with its attempts, the last ones first.' },
)

/** Id in the examples. */
export const DELIVERY_ID = '0198c0df-1a00-7000-8000-2b3c4d5e6f70'
/** Id in the examples. */
export const WEBHOOK_ID = '0198c0de-5b00-7000-8000-0a1b2c3d4e5f'
const OPERATION_ID = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

export const deliveryExample = {
  id: DELIVERY_ID,
  webhookId: WEBHOOK_ID,
  notificationId: '0198c0df-19f0-7000-8000-1a2b3c4d5e6f',
  eventType: 'pix_cash_in',
  operationId: OPERATION_ID,
  externalId: 'order-1001',
  correlationId: 'checkout-77',
  state: 'PENDING',
  attemptCount: 1,
  nextAttemptAt: '2026-11-21T13:12:05.640Z',
  createdAt: '2026-11-21T13:12:00.020Z',
  finishedAt: null,
} as const

const attemptExample = {
  attempt: 1,
  startedAt: '2026-11-21T13:12:00.031Z',
  endedAt: '2026-11-21T13:12:00.122Z',
  outcome: 'refused',
  explanation: 'Your server answered 500.',
  statusCode: 500,
  answer: 'Internal Server Error',
  times: { dnsMs: 4, connectMs: 18, tlsMs: 31, waitMs: 37, totalMs: 90 },
} as const

const atOrAfter = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description, examples: ['2026-11-21T13:00:00Z'] }))

/** @source rules#webhooks.18 */
export const listWebhookDeliveries = endpoint({
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhook-delivery',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'List the deliveries, newest first',
  description: 'Of all endpoints, removed ones too, by cursor: no delivery is missing or listed twice.',
  query: Type.Object(
    {
      webhook_id: Type.Optional({ ...uuid, description: 'Only to this endpoint', examples: [WEBHOOK_ID] }),
      state: Type.Optional(Type.Enum([...deliveryStates], { description: 'Only in this state', examples: ['FAILED'] })),
      event_type: Type.Optional(eventTypeName),
      operation_id: Type.Optional({
        ...uuid,
        description: 'Only of this charge, payout or refund',
        examples: [OPERATION_ID],
      }),
      correlation_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: limits.correlationIdMaxLength,
          pattern: PLAIN_TEXT,
          description: 'Only of operations created with this `X-Correlation-ID`; quick with `from`',
          examples: ['checkout-77'],
        }),
      ),
      from: atOrAfter('Made at this time or later'),
      until: atOrAfter('Made before this time'),
      cursor: Type.Optional(
        Type.String({
          pattern: CURSOR,
          description: '`nextCursor` of the page before, with the same filters',
          examples: ['AQAAAAIBmsDeehEBmMDeehFwAIAAXx08KxoJ'],
        }),
      ),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of deliveries',
      schema: cursorList(deliverySummary, 'WebhookDeliveryPage'),
      example: { data: [deliveryExample], pagination: { limit: 20, hasMore: false, nextCursor: null } },
    },
  },
  errors: ['validation_error'],
})

const params = Type.Object({ id: idText('webhook-delivery', DELIVERY_ID) })

/** @source rules#webhooks.17, rules#webhooks.18 */
export const getWebhookDelivery = endpoint({
  id: 'getWebhookDelivery',
  method: 'GET',
  path: '/webhook-delivery/{id}',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Read a delivery with its attempts',
  description: 'Start, duration and result of each: how your server answered, or why it did not.',
  params,
  responses: {
    200: {
      description: 'The delivery',
      schema: deliveryDetail,
      example: { ...deliveryExample, attempts: [attemptExample] },
    },
  },
  errors: ['not_found'],
})

const webhookParams = Type.Object({ webhook_id: idText('webhook', WEBHOOK_ID) })

const testResult = Type.Object(
  { notificationId: { ...uuid, description: 'The header `webhook-id`' }, ...attemptFields },
  { title: 'WebhookTestResult', description: 'Result of a test event.' },
)

/** @source rules#webhooks.20 */
export const testWebhook = endpoint({
  id: 'testWebhook',
  method: 'POST',
  path: '/webhook/{webhook_id}/test',
  auth: 'api-key',
  scope: 'webhook',
  tag: 'Webhooks',
  summary: 'Send a test event to an endpoint',
  description:
    'It is signed as any notification, has the `event_type` `webhook_test` and the header `webhook-test`, and is sent once, at once, whatever state the endpoint is in. The answer has the result. Nothing else changes.',
  params: webhookParams,
  responses: {
    200: {
      description: 'It was sent, or could not be: see `outcome`',
      schema: testResult,
      example: {
        notificationId: '0198c0df-19f0-7000-8000-1a2b3c4d5e6f',
        startedAt: '2026-11-21T13:20:00.031Z',
        outcome: 'delivered',
        explanation: 'Your server took it: it answered 200.',
        statusCode: 200,
        answer: 'ok',
        times: { dnsMs: 4, connectMs: 18, tlsMs: 31, waitMs: 37, totalMs: 90 },
      },
    },
  },
  errors: ['not_found'],
})
