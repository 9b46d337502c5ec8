import type { PartnerRefund, PartnerRefundRequest } from '@pixgate/spec'
import { judgeReported } from '../../answers.ts'
import type { Refund, RefundRequest, RefundTerms, ReportedRefund } from '../../port.ts'
import { visibleText } from '../../visible-text.ts'
import { isRefund } from './bodies.ts'
import type { Resource } from './resource.ts'

/** Refunds, at `/refunds/{id}`. */
export const refunds: Resource<RefundRequest, RefundTerms, ReportedRefund> = {
  path: '/refunds',
  holdsMoney: true,
  bodyOf,
  termsOf: (request) => request,
  judge: (id, terms) => judgeReported({ isBody: isRefund, read, echo, stand }, id, terms),
}

function bodyOf({ endToEndId, valueCents, reason }: RefundRequest): PartnerRefundRequest {
  return { endToEndId, valueCents: Number(valueCents), ...(reason === undefined ? {} : { reason }) }
}

function stand({ refund }: { refund: Refund }): ReportedRefund | string {
  const { status, returnId, occurredAt } = refund
  if (status === 'PROCESSING') return { kind: 'ACCEPTED', refund: { ...refund, status } }
  if (status === 'FAILED') return { kind: 'FINAL', refund: { ...refund, status } }
  // A status word books no money.
  if (returnId === undefined) return 'CONFIRMED without a returnId'
  if (occurredAt === undefined) return 'CONFIRMED without an occurredAt'
  return { kind: 'FINAL', refund: { ...refund, status, returnId, occurredAt } }
}

/** The payment it is told of by no bank of this protocol. */
function echo({ refund: { id, valueCents } }: { refund: Refund }) {
  return { id, valueCents }
}

function read(body: PartnerRefund): { refund: Refund } {
  return {
    refund: {
      id: body.id,
      transactionId: body.transactionId,
      status: body.status,
      valueCents: BigInt(body.valueCents),
      returnId: body.returnId,
      errorCode: visibleText(body.errorCode),
      errorMessage: visibleText(body.errorMessage),
      occurredAt: body.occurredAt === undefined ? undefined : Date.parse(body.occurredAt),
    },
  }
}
