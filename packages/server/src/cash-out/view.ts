import { type createCashOut, type createCashOutFromQrCode, type getCashOut, maskReported } from '@pixgate/spec'
import type { Static } from 'typebox'
import { isAwaitingApproval } from './approval.ts'
import { type CashOut, reversedCents } from './cash-out.ts'

/** Rows of cash-outs as clients read them. */

type Created = Static<(typeof createCashOut)['responses'][201]['schema']>
type CreatedFromQrCode = Static<(typeof createCashOutFromQrCode)['responses'][201]['schema']>
type Detail = Static<(typeof getCashOut)['responses'][200]['schema']>

/**
 * The answer to a create, of what never changes. Its status is always `RESERVED`; what was not given is left out.
 * @source rules#cash-out.create.4, rules#cash-out.create.5
 */
export function createdView(cashOut: CashOut): Created {
  const { description, recipient } = cashOut.detail
  return {
    ...common(cashOut),
    status: 'RESERVED',
    ...(description === null ? {} : { description }),
    recipient: { ...(recipient.name === null ? {} : { name: recipient.name }), pixKey: recipient.pixKey },
  }
}

/** The same of a payout for a code. */
export function createdFromQrCodeView(cashOut: CashOut): CreatedFromQrCode {
  return { ...createdView(cashOut), paymentType: 'qrcode' }
}

/**
 * The detail as it stands.
 * @source rules#cash-out.detail.1
 */
export function detailView(cashOut: CashOut): Detail {
  const { detail, facts } = cashOut
  return {
    ...common(cashOut),
    correlationId: cashOut.correlationId,
    status: cashOut.status as Detail['status'],
    ...(cashOut.status === 'RESERVED' && isAwaitingApproval(cashOut) ? { awaitingApproval: true } : {}),
    description: detail.description,
    paymentType: detail.paymentType,
    recipient: {
      name: facts.recipientName ?? detail.recipient.name,
      pixKey: detail.recipient.pixKey,
      pixKeyType: detail.recipient.pixKeyType,
      document: maskReported(facts.recipientDocument ?? detail.recipient.document),
      ispb: facts.recipientIspb ?? null,
    },
    max_fee_cents: Number(cashOut.feeCents),
    reserved_total_cents: Number(cashOut.valueCents + cashOut.feeCents),
    endToEndId: cashOut.endToEndId,
    transactionId: cashOut.transactionId,
    feeAmountCents: facts.confirmedAt === undefined ? 0 : Number(cashOut.feeCents),
    reversedCents: Number(reversedCents(facts)),
    failureCode: facts.failureCode ?? null,
    failureReason: facts.failureReason ?? null,
    dispatchedAt: instantText(facts.dispatchedAt),
    confirmedAt: instantText(facts.confirmedAt),
    updatedAt: new Date(cashOut.updatedAt).toISOString(),
  }
}

function common(cashOut: CashOut) {
  return {
    id: cashOut.id,
    externalId: cashOut.externalId,
    valueCents: Number(cashOut.valueCents),
    createdAt: new Date(cashOut.createdAt).toISOString(),
  }
}

function instantText(nowMs: number | undefined): string | null {
  return nowMs === undefined ? null : new Date(nowMs).toISOString()
}
