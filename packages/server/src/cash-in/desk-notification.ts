import { nanosecondText } from '@pixgate/spec'
import { notificationOf } from '../engine/notification.ts'
import type { Document, Notification } from '../engine/operation.ts'
import type { CashIn } from './cash-in.ts'
import { paidCents, paidFeeCents } from './returns.ts'

/**
 * What the merchant is told of a cash-in that an operator ended: the same as of the bank's word.
 * @param facts of the case that was decided
 * @param nowMs when it was decided
 * @source rules#desk.8
 */
export function deskNotification(
  cashIn: CashIn,
  status: 'PAID' | 'FAILED',
  endToEndId: string | null,
  facts: Document,
  nowMs: number,
): Omit<Notification, 'operationId'> {
  const occurredAt = typeof facts.occurredAt === 'number' ? facts.occurredAt : nowMs
  return notificationOf('pix_cash_in', {
    id: cashIn.id,
    correlation_id: cashIn.correlationId,
    external_id: cashIn.externalId,
    transaction_id: cashIn.transactionId,
    status,
    value_cents: Number(paidCents(cashIn)),
    end_to_end_id: endToEndId,
    payer_name: null,
    fee_amount_cents: status === 'PAID' ? Number(paidFeeCents(cashIn)) : 0,
    confirmed_at: nanosecondText(occurredAt),
    created_at: nanosecondText(cashIn.createdAt),
  })
}
