import { nanosecondText } from '@pixgate/spec'
import type { CashIn } from '../cash-in/index.ts'
import { notificationOf } from '../engine/follow.ts'
import type { Document, Notification } from '../engine/operation.ts'
import { evidenceOfOrder } from '../operations/evidence.ts'
import { referenceLearned } from './facts.ts'
import type { RefundIn, RefundInInput } from './refund-in.ts'

/** What the merchant and the operator are told of a refund. */

/**
 * What the merchant is told when a refund comes to its end: `id` is the cash-in's, `transaction_id` this return's, as
 * receivers tell refunds of one payment apart by it.
 * @source rules#refund-in.told.1
 */
export function refundNotification(
  refund: RefundIn,
  transactionId: string | null,
  occurredAt: number,
  to: RefundIn['status'],
): Omit<Notification, 'operationId'> {
  return notificationOf('pix_cash_in_reversal', {
    id: refund.detail.cashInId ?? '',
    correlation_id: refund.correlationId,
    external_id: refund.externalId,
    transaction_id: transactionId ?? refund.id,
    status: to === 'CONFIRMED' ? 'CONFIRMED' : 'FAILED',
    value_cents: Number(refund.valueCents),
    end_to_end_id: refund.endToEndId,
    fee_amount_cents: 0,
    confirmed_at: nanosecondText(occurredAt),
    created_at: nanosecondText(refund.createdAt),
  })
}

/** The same, as far as the input tells it, and else as of when we learned of it. @source rules#events.5 */
export function refundEndNotification(
  refund: RefundIn,
  cashIn: CashIn,
  input: RefundInInput,
  to: RefundIn['status'],
  nowMs: number,
): Omit<Notification, 'operationId'> {
  const { transactionId = refund.transactionId } = referenceLearned(refund, cashIn, input)
  const confirmedAt = input.on === 'partner.confirmed' ? input.returned.occurredAt : null
  const occurredAt = input.on === 'partner.failed' ? input.occurredAt : confirmedAt
  return refundNotification(refund, transactionId, occurredAt ?? nowMs, to)
}

/** What the operator of a case is told. */
export function evidenceOf(input: RefundInInput): Document {
  if (input.on === 'operator.refused' || input.on === 'send.postponed') return {}
  if (input.on !== 'partner.confirmed') return evidenceOfOrder(input)
  const { returnId, valueCents, occurredAt } = input.returned
  return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
}
