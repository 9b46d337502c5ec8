import { type EndpointInput, type endpoints, limits, Refusal } from '@pixgate/spec'
import type { Handlers } from '../platform/http/handler.ts'
import { daysOf } from '../platform/http/page.ts'
import { invalidField } from '../platform/http/request.ts'
import { entryVersion } from './entry-id.ts'
import type { LedgerFilter, LedgerStore } from './store.ts'
import { cursorAfter, cursorVersion, entryView } from './view.ts'

/** The endpoints of the ledger. */
export type LedgerHandlers = Handlers<Pick<typeof endpoints, 'getLedgerEntry' | 'listLedgerEntries'>>

/** Makes the handlers. */
export function createLedgerHandlers(store: LedgerStore, accountId: string): LedgerHandlers {
  return {
    getLedgerEntry: async ({ params }) => {
      const version = entryVersion(accountId, params.id)
      const row = version === undefined ? undefined : await store.get(version)
      if (!row) throw new Refusal('not_found')
      return { status: 200, body: entryView(row, accountId) }
    },
    listLedgerEntries: async ({ query }) => {
      const limit = query.limit ?? limits.pageLimitDefault
      // One more than asked for tells whether there are more.
      const rows = await store.list({ ...filterOf(query), limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const hasMore = rows.length > limit
      const body = {
        data: page.map((row) => entryView(row, accountId)),
        pagination: { limit, hasMore, nextCursor: hasMore && last ? cursorAfter(last) : null },
      }
      return { status: 200, body }
    },
  }
}

/**
 * @throws validation_error (400) a cursor that is none of ours, or days in the wrong order
 * @source rules#ledger.list
 */
function filterOf(query: EndpointInput<typeof endpoints.listLedgerEntries>['query']): Omit<LedgerFilter, 'limit'> {
  const before = query.cursor === undefined ? null : cursorVersion(query.cursor)
  if (before === undefined) throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
  const { from = null, to = null } = daysOf(query.start_date, query.end_date)
  return {
    before,
    type: query.type ?? null,
    operation: query.operation ?? null,
    referenceId: query.reference_id ?? null,
    from,
    to,
  }
}
