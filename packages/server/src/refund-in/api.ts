import type { createRefundIn, EndpointInput, endpoints, getRefundIn } from '@pixgate/spec'
import type { Static } from 'typebox'
import { centsOf, createdAnswer, found, identityOf, listed } from '../operations/requests.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type RefundInCommands, type RefundInStore, refundContent } from './commands.ts'
import type { RefundIn } from './refund-in.ts'

/** @source rules#refund-in.detail.2 */
export type RefundInHandlers = Handlers<Pick<typeof endpoints, 'createRefundIn' | 'getRefundIn' | 'listRefundIns'>>

interface RefundInRoutesOptions {
  readonly commands: RefundInCommands
  readonly store: RefundInStore
  readonly ids: Ids
  /** Called when there is an order to send. */
  readonly onReserved: () => void
}

export function createRefundInHandlers({ commands, store, ids, onReserved }: RefundInRoutesOptions): RefundInHandlers {
  return {
    createRefundIn: async ({ params, body, context }) => {
      const id = ids.uuid()
      const content = contentOf(params.id, body)
      const identity = identityOf('createRefundIn', context)
      const { refund, isReplayed } = await commands.create({
        ...content,
        ...identity,
        id,
        externalId: content.externalId ?? id,
      })
      if (!isReplayed) onReserved()
      return createdAnswer(`/api/pix/refund/${refund.id}`, createdView(refund), isReplayed)
    },
    getRefundIn: async ({ params }) => ({ status: 200, body: detailView(await found(store, params.id)) }),
    listRefundIns: (input) => listed(store, input, detailView),
  }
}

/**
 * Normalises a body and hashes it; equal hashes mean equal requests.
 * @throws validation_error (400) more than two decimals
 * @source rules#refund-in.create.1, rules#external-id.3
 */
function contentOf(
  pathId: string,
  { refundValue, reason, externalId }: EndpointInput<typeof endpoints.createRefundIn>['body'],
) {
  return refundContent({
    cashInId: isUuid(pathId) ? pathId.toLowerCase() : null,
    valueCents: centsOf(refundValue, 'refundValue'),
    reason: reason ?? null,
    externalId: externalId ?? null,
  })
}

type Created = Static<(typeof createRefundIn)['responses'][201]['schema']>

export type RefundInView = Static<(typeof getRefundIn)['responses'][200]['schema']>

/** Body of the 201. The status is always `PENDING`. @source rules#refund-in.create.5 */
export function createdView(refund: RefundIn): Created {
  const { reason } = refund.detail
  return { ...common(refund), status: 'PENDING', ...(reason === null ? {} : { reason }) }
}

/** @source rules#refund-in.detail.1, rules#refund-in.detail.3 */
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
