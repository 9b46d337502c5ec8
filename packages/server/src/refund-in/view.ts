import type { createRefundIn, getRefundIn } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { RefundIn } from './refund-in.ts'

/** Rows of refunds as clients read them. */

type Created = Static<(typeof createRefundIn)['responses'][201]['schema']>

/** All that a client is shown of one. */
export type RefundInView = Static<(typeof getRefundIn)['responses'][200]['schema']>

/**
 * The answer to a create, of what never changes. Its status is always `PENDING`.
 * @source rules#refund-in.create.5
 */
export function createdView(refund: RefundIn): Created {
  const { reason } = refund.detail
  return { ...common(refund), status: 'PENDING', ...(reason === null ? {} : { reason }) }
}

/**
 * The detail as it stands.
 * @source rules#refund-in.detail.1, rules#refund-in.detail.3
 */
export function detailView(refund: RefundIn): RefundInView {
  const { detail, facts } = refund
  return {
    ...common(refund),
    status: refund.status as RefundInView['status'],
    reason: detail.reason,
    transactionId: refund.transactionId,
    endToEndId: refund.endToEndId,
    returnId: facts.returnId ?? null,
    confirmedAt: facts.confirmedAt === undefined ? null : new Date(facts.confirmedAt).toISOString(),
    failureCode: facts.failureCode ?? null,
    failureReason: facts.failureReason ?? null,
    origin: detail.origin,
    updatedAt: new Date(refund.updatedAt).toISOString(),
  }
}

function common({ id, externalId, valueCents, detail, createdAt }: RefundIn) {
  return {
    id,
    cashInId: detail.cashInId,
    externalId,
    valueCents: Number(valueCents),
    createdAt: new Date(createdAt).toISOString(),
  }
}
