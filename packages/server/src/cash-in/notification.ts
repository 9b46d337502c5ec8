import { nanosecondText } from '@pixgate/spec'
import type { Document } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import type { CashIn, CashInEvent } from './cash-in.ts'

/** What the merchant and the operator are told of a cash-in. */

/** The bytes of `pix_cash_in`. @source rules#events.3 */
export function notificationBody(now: CashIn, input: CashInEvent, status: string): Buffer {
  const payment = input.on === 'partner.confirmed' ? input.payment : undefined
  const failedAt = input.on === 'partner.failed' ? (now.facts.toldFailure ?? input).occurredAt : null
  const occurredAt = payment?.occurredAt ?? failedAt
  const transactionId = 'transactionId' in input ? input.transactionId : null
  const event = {
    id: now.id,
    correlation_id: now.correlationId,
    external_id: now.externalId,
    transaction_id: now.transactionId ?? transactionId,
    status,
    value_cents: Number(now.valueCents),
    end_to_end_id: payment?.endToEndId ?? null,
    payer_name: payment?.payer.name ?? null,
    fee_amount_cents: status === 'PAID' ? Number(now.feeCents) : 0,
    confirmed_at: occurredAt === null ? null : nanosecondText(occurredAt),
    created_at: nanosecondText(now.createdAt),
  }
  return Buffer.from(JSON.stringify({ event_type: 'pix_cash_in', event }))
}

/** What the operator of a case is told. */
export function evidenceOf(now: CashIn, input: CashInEvent): Document {
  switch (input.on) {
    case 'partner.confirmed':
      return {
        endToEndId: input.payment.endToEndId,
        valueCents: Number(input.payment.valueCents),
        occurredAt: input.payment.occurredAt,
      }
    case 'partner.failed':
    case 'charge.rejected':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage }
    case 'charge.contradicted':
      return { reason: input.reason }
    case 'charge.not_found':
      return { askedAt: input.askedAt, notFoundSince: now.facts.notFoundSince ?? null }
    case 'work.done':
      return Object.keys(now.facts.toldPayments ?? {}).length > 0
        ? { bankAnswer: input.bankAnswer, toldPayments: now.facts.toldPayments }
        : { bankAnswer: input.bankAnswer }
    case 'charge.accepted':
      // Another reference for the same charge is a contradiction; else it is an answer that came late.
      return now.transactionId !== null && now.transactionId !== input.transactionId
        ? { reason: 'another transactionId for the same charge' }
        : { transactionId: input.transactionId }
    case 'refund.confirmed':
    case 'refund.taken':
      return { returnId: input.returnId, valueCents: Number(input.valueCents) }
    case 'return.told':
      return {
        returnId: input.returnId,
        valueCents: Number(input.valueCents),
        ...(input.endToEndId === undefined ? {} : { endToEndId: input.endToEndId }),
      }
    case 'return.unexplained':
      return {
        returnId: input.returnId,
        valueCents: own(now.facts.awaitedReturns, input.returnId)?.valueCents,
        heldCents: Number(input.heldCents),
        refundIds: input.refundIds,
      }
    default:
      return {}
  }
}
