import { type EndpointInput, type endpoints, limits, Refusal } from '@pixgate/spec'
import type { Database } from '../../platform/db/database.ts'
import type { Handlers } from '../../platform/http/handler.ts'
import { instantOf } from '../../platform/http/instant.ts'
import { cursorAfter, type Place, placeOf } from '../../platform/http/page-cursor.ts'
import { isUuid } from '../../platform/ids.ts'
import { type DeliveryFilter, listDeliveries, selectAttempts, selectDelivery } from './store.ts'
import { attemptView, deliveryView } from './view.ts'

/** The endpoints of what was sent. */
export type HistoryHandlers = Handlers<Pick<typeof endpoints, 'listWebhookDeliveries' | 'getWebhookDelivery'>>

/** Makes the handlers. */
export function createHistoryHandlers(database: Database): HistoryHandlers {
  return {
    listWebhookDeliveries: async ({ query }) => {
      const limit = query.limit ?? limits.pageLimitDefault
      // One more than asked for tells whether there are more.
      const rows = await listDeliveries(database, { ...filterOf(query), limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const hasMore = rows.length > limit
      const nextCursor = hasMore && last ? cursorAfter(last, 1) : null
      return { status: 200, body: { data: page.map(deliveryView), pagination: { limit, hasMore, nextCursor } } }
    },
    getWebhookDelivery: async ({ params }) => {
      const delivery = isUuid(params.id) ? await selectDelivery(database, params.id) : undefined
      if (delivery === undefined) throw new Refusal('not_found')
      const attempts = await selectAttempts(database, delivery.id, limits.webhookAttemptsShownMax)
      return { status: 200, body: { ...deliveryView(delivery), attempts: attempts.map(attemptView) } }
    },
  }
}

/**
 * @throws validation_error (400) a cursor that is none of ours, or instants in the wrong order
 * @source rules#webhooks.18
 */
function filterOf(
  query: EndpointInput<typeof endpoints.listWebhookDeliveries>['query'],
): Omit<DeliveryFilter, 'limit'> {
  const [from, until] = [
    query.from === undefined ? null : instantOf(query.from),
    query.until === undefined ? null : instantOf(query.until),
  ]
  if (from !== null && until !== null && until < from) throw invalid('until', 'until must not be before from')
  return {
    webhookId: query.webhook_id ?? null,
    state: query.state ?? null,
    eventType: query.event_type ?? null,
    operationId: query.operation_id ?? null,
    correlationId: query.correlation_id ?? null,
    from,
    until,
    after: query.cursor === undefined ? null : after(query.cursor),
  }
}

function after(cursor: string): Place {
  const place = placeOf(cursor)
  if (place === undefined) throw invalid('cursor', 'cursor must be nextCursor of a page before')
  return place.after
}

function invalid(field: string, message: string): Refusal {
  const code = field === 'cursor' ? 'invalid' : 'out_of_range'
  return new Refusal('validation_error', { message, fields: [{ field, code, message }] })
}
