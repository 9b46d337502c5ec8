import { nanosecondText } from '@pixgate/spec'
import type { Document, Notification } from '../engine/operation.ts'
import { evidenceOfOrder } from '../operations/index.ts'
import type { CashOut, CashOutInput } from './cash-out.ts'

/** What the merchant and the operator are told of a cash-out. */

/** The bytes that the merchant gets. A release is told as a failure, as every payout has one end. @source rules#events.3 */
export function notificationOf(
  now: CashOut,
  input: CashOutInput,
  to: string,
): Pick<Notification, 'status' | 'reference' | 'body'> {
  const status = to === 'RELEASED' ? 'FAILED' : to
  const movement = input.on === 'partner.confirmed' ? input.movement : undefined
  const returned = input.on === 'partner.returned' ? input.returned : undefined
  const occurredAt =
    movement?.occurredAt ?? returned?.occurredAt ?? (input.on === 'partner.failed' ? input.occurredAt : null)
  const transactionId = 'transactionId' in input ? input.transactionId : null
  const event = {
    id: now.id,
    correlation_id: now.correlationId,
    external_id: now.externalId,
    transaction_id: now.transactionId ?? transactionId,
    status,
    value_cents: Number(returned?.valueCents ?? now.valueCents),
    end_to_end_id: movement?.endToEndId ?? now.endToEndId,
    fee_amount_cents: status === 'CONFIRMED' ? Number(now.feeCents) : 0,
    confirmed_at: occurredAt === null ? null : nanosecondText(occurredAt),
    created_at: nanosecondText(now.createdAt),
  }
  const eventType = returned ? 'pix_cash_out_reversal' : 'pix_cash_out'
  return {
    status,
    reference: returned?.returnId ?? '',
    body: Buffer.from(JSON.stringify({ event_type: eventType, event })),
  }
}

/** What the operator of a case is told. */
export function evidenceOf(input: CashOutInput): Document {
  switch (input.on) {
    case 'partner.confirmed': {
      const { endToEndId, valueCents, occurredAt, isElsewhere = false } = input.movement
      return { endToEndId, valueCents: Number(valueCents), occurredAt, isElsewhere, isVerified: input.isVerified }
    }
    case 'partner.returned': {
      const { returnId, valueCents, occurredAt } = input.returned
      return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
    }
    default:
      return evidenceOfOrder(input)
  }
}
