import type { PartnerPayout, PartnerPayoutRequest, PartnerReturn } from '@pixgate/spec'
import { judgeReported } from '../../answers.ts'
import type { Payout, PayoutRequest, PayoutReturn, PayoutTerms, ReportedPayout } from '../../port.ts'
import { visibleParty, visibleText } from '../../visible-text.ts'
import { isPayout } from './bodies.ts'
import type { Resource } from './resource.ts'

/** Payouts, at `/payouts/{id}`. */
export const payouts: Resource<PayoutRequest, PayoutTerms, ReportedPayout> = {
  path: '/payouts',
  holdsMoney: true,
  bodyOf,
  termsOf,
  judge: (id, terms) => judgeReported({ isBody: isPayout, read, echo, stand }, id, terms),
}

function bodyOf(request: PayoutRequest): PartnerPayoutRequest {
  return { ...request, valueCents: Number(request.valueCents) }
}

function termsOf(request: PayoutRequest): PayoutTerms {
  const { valueCents } = request
  return 'recipient' in request ? { valueCents, pixKey: request.recipient.pixKey } : { valueCents }
}

function stand({ payout }: { payout: Payout }): ReportedPayout | string {
  const { status, endToEndId, occurredAt } = payout
  if (status === 'PROCESSING') return { kind: 'ACCEPTED', payout: { ...payout, status } }
  if (status === 'FAILED') return { kind: 'FINAL', payout: { ...payout, status } }
  // A status word books no money.
  if (endToEndId === undefined) return `${status} without an endToEndId`
  if (occurredAt === undefined) return `${status} without an occurredAt`
  if (status === 'RETURNED' && payout.returns.length === 0) return 'RETURNED without a return'
  return { kind: 'FINAL', payout: { ...payout, status, endToEndId, occurredAt } }
}

function echo({ payout: { id, valueCents, recipient } }: { payout: Payout }) {
  return { id, valueCents, pixKey: recipient?.pixKey }
}

function read({ recipient, ...body }: PartnerPayout): { payout: Payout } {
  return {
    payout: {
      id: body.id,
      transactionId: body.transactionId,
      status: body.status,
      valueCents: BigInt(body.valueCents),
      feeCents: body.feeCents === undefined ? undefined : BigInt(body.feeCents),
      endToEndId: body.endToEndId,
      recipient: recipient && { ...visibleParty(recipient), pixKey: recipient.pixKey },
      errorCode: visibleText(body.errorCode),
      errorMessage: visibleText(body.errorMessage),
      returns: (body.returns ?? []).map(returnOf),
      occurredAt: body.occurredAt === undefined ? undefined : Date.parse(body.occurredAt),
    },
  }
}

function returnOf({ returnId, valueCents, occurredAt }: PartnerReturn): PayoutReturn {
  return { returnId, valueCents: BigInt(valueCents), occurredAt: Date.parse(occurredAt) }
}
