import { nanosecondText } from '@pixgate/spec'
import type { DecidableCase, DeskOrder } from '../desk/decider.ts'
import { notificationOf } from '../engine/notification.ts'
import type { Notification } from '../engine/operation.ts'
import type { CashOut } from './cash-out.ts'

/**
 * What the merchant is told of a payout that an operator ended, or of a return that one credited: the same as of the
 * bank's word.
 * @param returnedCents what is credited of it
 * @source rules#desk.8
 */
export function deskNotification(
  cashOut: CashOut,
  { reference, facts }: DecidableCase,
  decision: DeskOrder['decision'],
  returnedCents: bigint,
  nowMs: number,
): Omit<Notification, 'operationId'> {
  const isConfirmed = decision === 'executed'
  const event = {
    id: cashOut.id,
    correlation_id: cashOut.correlationId,
    external_id: cashOut.externalId,
    transaction_id: cashOut.transactionId,
    status: isConfirmed ? 'CONFIRMED' : 'FAILED',
    value_cents: Number(decision === 'book' ? returnedCents : cashOut.valueCents),
    end_to_end_id: isConfirmed ? reference : cashOut.endToEndId,
    fee_amount_cents: isConfirmed ? Number(cashOut.feeCents) : 0,
    confirmed_at: nanosecondText(typeof facts.occurredAt === 'number' ? facts.occurredAt : nowMs),
    created_at: nanosecondText(cashOut.createdAt),
  } as const
  return decision === 'book'
    ? notificationOf('pix_cash_out_reversal', { ...event, status: 'REVERSED' }, reference)
    : notificationOf('pix_cash_out', event)
}
