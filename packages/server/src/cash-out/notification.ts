import { nanosecondText } from '@pixgate/spec'
import { notificationOf } from '../engine/follow.ts'
import type { Document, Notification } from '../engine/operation.ts'
import { evidenceOfOrder } from '../operations/evidence.ts'
import type { CashOut, CashOutInput } from './cash-out.ts'

/** What the merchant and the operator are told of a cash-out. */

/**
 * What the merchant is told when a payout comes to its end, or comes back. A release is told as a failure, as every payout
 * has one end.
 * @param nowMs when we learned of it
 * @source rules#events.3, rules#events.5
 */
export function cashOutNotification(
  cashOut: CashOut,
  input: CashOutInput,
  to: CashOut['status'],
  nowMs: number,
): Omit<Notification, 'operationId'> {
  const movement = input.on === 'partner.confirmed' ? input.movement : undefined
  const returned = input.on === 'partner.returned' ? input.returned : undefined
  const failedAt = input.on === 'partner.failed' ? input.occurredAt : null
  const occurredAt = movement?.occurredAt ?? returned?.occurredAt ?? failedAt
  const transactionId = 'transactionId' in input ? input.transactionId : null
  const event = {
    id: cashOut.id,
    correlation_id: cashOut.correlationId,
    external_id: cashOut.externalId,
    transaction_id: cashOut.transactionId ?? transactionId,
    status: to === 'CONFIRMED' ? 'CONFIRMED' : 'FAILED',
    value_cents: Number(returned?.valueCents ?? cashOut.valueCents),
    end_to_end_id: movement?.endToEndId ?? cashOut.endToEndId,
    fee_amount_cents: to === 'CONFIRMED' ? Number(cashOut.feeCents) : 0,
    confirmed_at: nanosecondText(occurredAt ?? nowMs),
    created_at: nanosecondText(cashOut.createdAt),
  } as const
  return returned
    ? notificationOf('pix_cash_out_reversal', { ...event, status: 'REVERSED' }, returned.returnId)
    : notificationOf('pix_cash_out', event)
}

/** What the operator of a case is told. */
export function evidenceOf(input: CashOutInput): Document {
  switch (input.on) {
    case 'partner.confirmed': {
      const { endToEndId, valueCents, occurredAt, recipientDiffers = false } = input.movement
      return {
        endToEndId,
        valueCents: Number(valueCents),
        occurredAt,
        isElsewhere: recipientDiffers,
        isVerified: input.isVerified,
      }
    }
    case 'partner.returned': {
      const { returnId, valueCents, occurredAt } = input.returned
      return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
    }
    case 'partner.tariff':
      return { tariffCents: Number(input.tariffCents), ...(input.tariffId && { tariffId: input.tariffId }) }
    case 'operator.approved':
    case 'operator.refused':
      return {}
    default:
      return evidenceOfOrder(input)
  }
}
