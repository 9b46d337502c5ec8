import { type Static, type TProperties, Type } from 'typebox'
import { cents, nullable, uuid } from './shapes.ts'

/**
 * Notifications to the merchant: `{ event_type, event }`, signed, delivered at least once.
 */

/** @source rules#events.1 */
export const eventTypes = ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal', 'pix_cash_out_reversal'] as const

/** See {@link eventTypes}. */
export type EventType = (typeof eventTypes)[number]

const nanosecondInstant = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{9}Z$',
  description: 'UTC with nine fractional digits',
})

function notification<const Name extends EventType, Statuses extends string[], More extends TProperties>(
  eventType: Name,
  statuses: readonly [...Statuses],
  more: More,
  description: string,
) {
  return Type.Object(
    {
      event_type: Type.Literal(eventType),
      event: Type.Object(
        {
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
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false, description },
  )
}

/** The body of each event. Keys are always present, `null` where nothing exists. @source rules#events.2, rules#events.5 */
export const eventSchemas = {
  pix_cash_in: notification(
    'pix_cash_in',
    ['PAID', 'FAILED'],
    { payer_name: nullable(Type.String()) },
    'A cash-in reached PAID or FAILED.',
  ),
  pix_cash_out: notification('pix_cash_out', ['CONFIRMED', 'FAILED'], {}, 'A cash-out reached its end.'),
  pix_cash_in_reversal: notification(
    'pix_cash_in_reversal',
    ['CONFIRMED', 'FAILED'],
    {},
    'A refund of a cash-in reached its end; `id` is the id of the cash-in.',
  ),
  pix_cash_out_reversal: notification(
    'pix_cash_out_reversal',
    ['REVERSED'],
    {},
    'A confirmed cash-out came back, whole or in part.',
  ),
} as const

/** What a notification of a type tells. */
export type EventOf<Type extends EventType> = Static<(typeof eventSchemas)[Type]>['event']

/**
 * Writes an instant with nine fractional digits, as events carry it.
 * @param instantMs epoch milliseconds
 * @source rules#events.3
 */
export function nanosecondText(instantMs: number): string {
  return new Date(instantMs).toISOString().replace('Z', '000000Z')
}
