import { type createCashIn, type getCashIn, maskReported } from '@pixgate/spec'
import type { Static } from 'typebox'
import { reasonOf } from '../engine/follow.ts'
import { type CashIn, receivedCents, refundDeadline, statusAt } from './cash-in.ts'
import { paidCents, paidFeeCents, refundableCents, refundedCents } from './returns.ts'

/** Rows of cash-ins as clients read them. */

type Created = Static<(typeof createCashIn)['responses'][201]['schema']>
type Detail = Static<(typeof getCashIn)['responses'][200]['schema']>

/**
 * The answer to a create. Its status is always `PENDING`; what is not known is left out.
 * @source rules#cash-in.create.5
 */
export function createdView(cashIn: CashIn): Created {
  const pixCode = shownPixCode(cashIn)
  return {
    ...common(cashIn),
    status: 'PENDING',
    ...(pixCode === null ? {} : { pixCode }),
    ...(cashIn.transactionId === null ? {} : { providerTransactionId: cashIn.transactionId }),
  }
}

/**
 * The detail at an instant.
 * @source rules#cash-in.detail.1, rules#cash-in.detail.4
 */
export function detailView(cashIn: CashIn, nowMs: number): Detail {
  const { detail, facts } = cashIn
  const status = statusAt(cashIn, nowMs) as Detail['status']
  return {
    ...common(cashIn),
    valueCents: Number(paidCents(cashIn)),
    status,
    pixCode: shownPixCode(cashIn),
    providerTransactionId: cashIn.transactionId,
    description: detail.description,
    payer: detail.payer,
    endToEndId: cashIn.endToEndId,
    paidAt: instantText(facts.paidAt),
    payerName: facts.payerName ?? null,
    payerDocument: maskReported(facts.payerDocument),
    payerIspb: facts.payerIspb ?? null,
    feeAmountCents: Number(paidFeeCents(cashIn)),
    receivedCents: Number(receivedCents(cashIn)),
    refundedCents: Number(refundedCents(cashIn)),
    refundableCents: Number(refundableCents(cashIn)),
    refundDeadline: instantText(refundDeadline(cashIn)),
    failureCode: facts.failureCode ?? null,
    failureReason: facts.failureReason ?? null,
    createdAt: instantText(cashIn.createdAt) ?? '',
    updatedAt: instantText(cashIn.updatedAt) ?? '',
  }
}

/** The same among transactions of other kinds. @source rules#cash-in.list.5 */
export function incomingView(cashIn: CashIn, nowMs: number) {
  return { operation: 'cash_in' as const, ...detailView(cashIn, nowMs) }
}

function common(cashIn: CashIn) {
  return {
    id: cashIn.id,
    correlationId: cashIn.correlationId,
    externalId: cashIn.externalId,
    valueCents: Number(cashIn.valueCents),
    generateTime: new Date(cashIn.createdAt).toISOString(),
    expirationDate: new Date(cashIn.expiresAt ?? cashIn.createdAt).toISOString(),
  }
}

/**
 * Nobody shall pay by a code that the client did not want, that the bank contradicts, or whose charge failed.
 * @source rules#cash-in.states.6, rules#cash-in.failed.1
 */
function shownPixCode(cashIn: CashIn): string | null {
  const isPayable = cashIn.detail.generateQrCode && reasonOf(cashIn) !== 'conflict' && cashIn.status !== 'FAILED'
  return (isPayable && cashIn.facts.pixCode) || null
}

function instantText(nowMs: number | null | undefined): string | null {
  return nowMs == null ? null : new Date(nowMs).toISOString()
}
