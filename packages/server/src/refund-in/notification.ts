import { nanosecondText } from '@pixgate/spec'
import type { CashIn } from '../cash-in/index.ts'
import type { Document, Notification } from '../engine/operation.ts'
import { evidenceOfOrder } from '../operations/index.ts'
import { referenceLearned } from './facts.ts'
import type { RefundIn, RefundInInput } from './refund-in.ts'

/** What the merchant and the operator are told of a refund. */

/**
 * The bytes that the merchant gets: `id` is the cash-in's, `transaction_id` this return's, as receivers tell refunds of one
 * payment apart by it.
 * @source rules#refund-in.told.1
 */
export function notificationOf(
  refund: RefundIn,
  transactionId: string | null,
  occurredAt: number | null,
  status: string,
): Pick<Notification, 'status' | 'reference' | 'body'> {
  const event = {
    id: refund.detail.cashInId,
    correlation_id: refund.correlationId,
    external_id: refund.externalId,
    transaction_id: transactionId ?? refund.id,
    status,
    value_cents: Number(refund.valueCents),
    end_to_end_id: refund.endToEndId,
    fee_amount_cents: 0,
    confirmed_at: occurredAt === null ? null : nanosecondText(occurredAt),
    created_at: nanosecondText(refund.createdAt),
  }
  return { status, reference: '', body: Buffer.from(JSON.stringify({ event_type: 'pix_cash_in_reversal', event })) }
}

/** What an input that ends a refund tells the merchant. */
export function toldOf(now: RefundIn, cashIn: CashIn, input: RefundInInput, to: string) {
  const { transactionId = now.transactionId } = referenceLearned(now, cashIn, input)
  const confirmedAt = input.on === 'partner.confirmed' ? input.returned.occurredAt : null
  return notificationOf(now, transactionId, input.on === 'partner.failed' ? input.occurredAt : confirmedAt, to)
}

/** What the operator of a case is told. */
export function evidenceOf(input: RefundInInput): Document {
  if (input.on !== 'partner.confirmed') return evidenceOfOrder(input)
  const { returnId, valueCents, occurredAt } = input.returned
  return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
}
