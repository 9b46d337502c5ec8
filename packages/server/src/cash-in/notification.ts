import { nanosecondText } from '@pixgate/spec'
import { notificationOf } from '../engine/follow.ts'
import type { Document, Notification } from '../engine/operation.ts'
import type { CashIn, CashInEvent, CashInInput } from './cash-in.ts'
import { reportedCents, reportedFailure, reportedPayments, reportedPaymentsFact } from './reported.ts'
import { paidCents, returnInDoubt } from './returns.ts'

/** What the merchant and the operator are told of a cash-in. */

/**
 * What the merchant is told when a charge is paid or fails.
 * @param nowMs when we learned of it
 * @source rules#events.3, rules#events.5
 */
export function cashInNotification(
  cashIn: CashIn,
  input: CashInEvent,
  to: CashIn['status'],
  nowMs: number,
): Omit<Notification, 'operationId'> {
  const payment = input.on === 'partner.confirmed' ? input.payment : undefined
  const failedAt = input.on === 'partner.failed' ? (reportedFailure(cashIn.facts) ?? input).occurredAt : null
  const occurredAt = payment?.occurredAt ?? failedAt
  const transactionId = 'transactionId' in input ? input.transactionId : null
  return notificationOf('pix_cash_in', {
    id: cashIn.id,
    correlation_id: cashIn.correlationId,
    external_id: cashIn.externalId,
    transaction_id: cashIn.transactionId ?? transactionId,
    status: to === 'PAID' ? 'PAID' : 'FAILED',
    value_cents: Number(paidCents(cashIn)),
    end_to_end_id: payment?.endToEndId ?? null,
    payer_name: payment?.payer.name ?? null,
    fee_amount_cents: to === 'PAID' ? Number(cashIn.feeCents) : 0,
    confirmed_at: nanosecondText(occurredAt ?? nowMs),
    created_at: nanosecondText(cashIn.createdAt),
  })
}

/**
 * What the operator of a case is told.
 * @param opens the kind of the case; absent: none is opened
 */
export function evidenceOf(cashIn: CashIn, input: CashInEvent, opens?: string): Document {
  switch (input.on) {
    case 'partner.confirmed':
      if (opens === 'payment_unconfirmed') return evidenceOfReported(cashIn, input.payment)
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
      return { askedAt: input.askedAt, notFoundSince: cashIn.facts.notFoundSince ?? null }
    case 'work.done':
      if (Object.keys(reportedPayments(cashIn.facts)).length === 0) return { bankAnswer: input.bankAnswer }
      return {
        bankAnswer: input.bankAnswer,
        ...reportedPaymentsFact(reportedPayments(cashIn.facts)),
        ...(opens === 'payment_unconfirmed' ? { valueCents: reportedCents(cashIn.facts) } : {}),
      }
    case 'charge.accepted':
      // Another reference for the same charge is a contradiction; else it is an answer that came late.
      return cashIn.transactionId !== null && cashIn.transactionId !== input.transactionId
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
        valueCents: returnInDoubt(cashIn, input.returnId)?.cents,
        heldCents: Number(input.heldCents),
        refundIds: input.refundIds,
      }
    default:
      return {}
  }
}

/** Of all payments that wait for the bank's word, with the one that makes them too many. */
function evidenceOfReported(
  { facts }: CashIn,
  { endToEndId, valueCents, occurredAt }: Extract<CashInInput, { on: 'partner.confirmed' }>['payment'],
): Document {
  return { endToEndId, valueCents: reportedCents(facts) + Number(valueCents), occurredAt }
}
