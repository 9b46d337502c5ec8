import { type Static, type TProperties, Type } from 'typebox'
import { cents, instant, nullable, uuid } from './shapes.ts'

/** Notifications to the merchant: `{ event_type, event }`, signed, delivered at least once. */

/** @source rules#events.1 */
export const eventTypes = ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal', 'pix_cash_out_reversal'] as const

export type EventType = (typeof eventTypes)[number]

export const eventTypeName = Type.Enum([...eventTypes], {
  title: 'EventType',
  description: 'The kind of a notification',
})

const nanosecondInstant = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{9}Z$',
  description: 'UTC with nine fractional digits',
})

/** Only where something failed: why, as in the operation's detail. @source rules#events.6 */
const FAILURE = {
  failure_code: Type.Optional(Type.String({ maxLength: 64, description: 'Only with `FAILED`: why, to decide on' })),
  failure_reason: Type.Optional(nullable(Type.String({ description: 'Only with `FAILED`: why, for people' }))),
}

function notification<const Name extends EventType, Statuses extends string[], More extends TProperties>(
  eventType: Name,
  title: string,
  statuses: readonly [...Statuses],
  more: More,
  description: string,
) {
  return Type.Object(
    {
      event_type: Type.Literal(eventType),
      event: Type.Object({
        id: uuid,
        correlation_id: Type.String(),
        external_id: Type.String(),
        transaction_id: nullable(Type.String()),
        status: Type.Enum(statuses),
        value_cents: cents(),
        end_to_end_id: nullable(Type.String()),
        ...more,
        fee_amount_cents: cents(),
        confirmed_at: nanosecondInstant,
        created_at: nanosecondInstant,
      }),
    },
    { title, description },
  )
}

/** Body of a test event without meaning. @source rules#webhooks.20 */
export const testEventSchema = Type.Object(
  { event_type: Type.Literal('webhook_test'), event: Type.Object({ id: uuid, created_at: instant }) },
  { title: 'WebhookTest', description: 'A test of an endpoint.' },
)

/** Body of each event. All keys are present, `null` without a value; those of a failure only with `FAILED`. @source rules#events.2, rules#events.5 */
export const eventSchemas = {
  pix_cash_in: notification(
    'pix_cash_in',
    'CashInNotification',
    ['PAID', 'FAILED'],
    { payer_name: nullable(Type.String()), ...FAILURE },
    'A cash-in reached PAID or FAILED.',
  ),
  pix_cash_out: notification(
    'pix_cash_out',
    'CashOutNotification',
    ['CONFIRMED', 'FAILED'],
    FAILURE,
    'A cash-out reached its end.',
  ),
  pix_cash_in_reversal: notification(
    'pix_cash_in_reversal',
    'CashInReversalNotification',
    ['CONFIRMED', 'FAILED'],
    FAILURE,
    'A refund of a cash-in reached its end; `id` is the id of the cash-in.',
  ),
  pix_cash_out_reversal: notification(
    'pix_cash_out_reversal',
    'CashOutReversalNotification',
    ['REVERSED'],
    {},
    'A confirmed cash-out came back, whole or in part.',
  ),
} as const

const eventExample = {
  id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  correlation_id: 'checkout-77',
  external_id: 'order-1001',
  transaction_id: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
  value_cents: 15000,
  end_to_end_id: 'E9999901020261121131500aB3dE5fG7',
  fee_amount_cents: 0,
  confirmed_at: '2026-11-21T13:15:00.000000000Z',
  created_at: '2026-11-21T13:14:31.902000000Z',
}

const payoutExample = {
  ...eventExample,
  id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  correlation_id: 'payroll-12',
  external_id: 'payout-2001',
  transaction_id: '7c2d4e6f8a0b4c1d9e3f5a7b9c1d3e5f',
  value_cents: 3000,
  end_to_end_id: 'E9999901020261121132000bC4eF6gH8',
  confirmed_at: '2026-11-21T13:20:00.902000000Z',
  created_at: '2026-11-21T13:20:00.114000000Z',
}

/** An example of each event's body. */
export const eventExamples: { readonly [Name in EventType]: Static<(typeof eventSchemas)[Name]> } = {
  pix_cash_in: {
    event_type: 'pix_cash_in',
    event: { ...eventExample, status: 'PAID', payer_name: 'Maria da Silva' },
  },
  pix_cash_out: { event_type: 'pix_cash_out', event: { ...payoutExample, status: 'CONFIRMED' } },
  pix_cash_in_reversal: {
    event_type: 'pix_cash_in_reversal',
    event: {
      ...eventExample,
      external_id: 'refund-3001',
      transaction_id: '9a1b3c5d7e9f4a2b8c6d0e1f2a3b4c5d',
      status: 'CONFIRMED',
      value_cents: 5000,
      confirmed_at: '2026-11-21T13:25:01.120000000Z',
      created_at: '2026-11-21T13:25:00.310000000Z',
    },
  },
  pix_cash_out_reversal: {
    event_type: 'pix_cash_out_reversal',
    event: { ...payoutExample, status: 'REVERSED', value_cents: 1000, confirmed_at: '2026-11-21T14:02:11.007000000Z' },
  },
}

/** The event of a notification, by type. */
export type EventOf<Type extends EventType> = Static<(typeof eventSchemas)[Type]>['event']

/**
 * Formats an instant with nine fractional digits for events.
 * @param instantMs epoch milliseconds
 * @source rules#events.3
 */
export function nanosecondText(instantMs: number): string {
  return new Date(instantMs).toISOString().replace('Z', '000000Z')
}
