import {
  type createRefundIn,
  type EndpointInput,
  type getRefundIn,
  limits,
  type listRefundIns,
  Refusal,
  reaisToCents,
} from '@pixgate/spec'
import { statusIs } from '../engine/operation-store.ts'
import { sha256 } from '../platform/crypto.ts'
import type { Handler } from '../platform/http/handler.ts'
import { idempotencyKeyOf } from '../platform/http/idempotency-key.ts'
import { pageOf, pageView } from '../platform/http/page.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import type { RefundInCommands } from './commands.ts'
import type { RefundInStore } from './store.ts'
import { createdView, detailView } from './view.ts'

/** The endpoints of refunds. @source rules#refund-in.detail.2 */
export interface RefundInHandlers {
  readonly createRefundIn: Handler<typeof createRefundIn>
  readonly getRefundIn: Handler<typeof getRefundIn>
  readonly listRefundIns: Handler<typeof listRefundIns>
}

/** What the handlers need. */
export interface RefundInRoutesOptions {
  readonly commands: RefundInCommands
  readonly store: RefundInStore
  readonly ids: Ids
  /** Called when there is something to send. */
  readonly onReserved: () => void
}

/** Makes the handlers. */
export function createRefundInHandlers({ commands, store, ids, onReserved }: RefundInRoutesOptions): RefundInHandlers {
  return {
    createRefundIn: async ({ params, body, context }) => {
      const key = idempotencyKeyOf(context.headers)
      const id = ids.uuid()
      const content = contentOf(params.id, body)
      const { refund, isReplayed } = await commands.create({
        ...content,
        id,
        externalId: content.externalId ?? id,
        correlationId: context.correlationId,
        idempotencyKey: key === null ? null : `${context.caller.id} createRefundIn ${key}`,
        live: context.live,
      })
      if (!isReplayed) onReserved()
      const headers = {
        location: `/api/pix/refund/${refund.id}`,
        ...(isReplayed ? { 'idempotent-replayed': 'true' } : {}),
      }
      return { status: 201, body: createdView(refund), headers }
    },
    getRefundIn: async ({ params }) => {
      const refund = isUuid(params.id) ? await store.get(params.id) : undefined
      if (!refund) throw new Refusal('not_found')
      return { status: 200, body: detailView(refund) }
    },
    listRefundIns: async ({ query }) => {
      const page = pageOf(query)
      const filter = { ...filterOf(query), ...page }
      const [rows, counted] = await Promise.all([store.list(filter), store.count(filter, limits.exactTotalMax + 1)])
      return { status: 200, body: pageView(page, rows, counted, detailView) }
    },
  }
}

/**
 * A body whose shape is right, as what it asks for, and the hash that tells whether two ask for the same.
 * @throws validation_error (400) more than two decimals
 * @source rules#refund-in.create.1, rules#external-id.3
 */
function contentOf(pathId: string, { refundValue, reason, externalId }: EndpointInput<typeof createRefundIn>['body']) {
  const valueCents = reaisToCents(refundValue)
  if (valueCents === null) {
    const message = 'refundValue must be in reais with at most two decimals'
    throw new Refusal('validation_error', { message, fields: [{ field: 'refundValue', code: 'decimals', message }] })
  }
  const content = {
    cashInId: isUuid(pathId) ? pathId.toLowerCase() : null,
    valueCents,
    reason: reason ?? null,
    externalId: externalId ?? null,
  }
  return { ...content, bodyHash: sha256(JSON.stringify({ ...content, valueCents: String(valueCents) })) }
}

function filterOf({ status, external_id, end_to_end_id, cash_in_id }: EndpointInput<typeof listRefundIns>['query']) {
  return {
    ...(status === undefined ? {} : { status: statusIs(status) }),
    ...(external_id === undefined ? {} : { externalId: external_id }),
    ...(end_to_end_id === undefined ? {} : { endToEndId: end_to_end_id }),
    ...(cash_in_id === undefined ? {} : { cashInId: cash_in_id.toLowerCase() }),
  }
}
