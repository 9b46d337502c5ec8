import {
  type createCashIn,
  type EndpointInput,
  type getCashIn,
  limits,
  type listCashIns,
  type listIncomingTransactions,
  type listIncomingTransactionsShort,
  normaliseDocument,
  Refusal,
  reaisToCents,
} from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import type { Handler } from '../platform/http/handler.ts'
import { idempotencyKeyOf } from '../platform/http/idempotency-key.ts'
import { pageOf, pageView } from '../platform/http/page.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import type { CashIn } from './cash-in.ts'
import type { CashInCommands } from './commands.ts'
import type { CashInJobs } from './jobs.ts'
import { type CashInStore, statusConditionAt } from './store.ts'
import { createdView, detailView, incomingView } from './view.ts'

/** The endpoints of cash-ins. @source rules#cash-in.create.6, rules#cash-in.detail.2 */
export interface CashInHandlers {
  readonly createCashIn: Handler<typeof createCashIn>
  readonly getCashIn: Handler<typeof getCashIn>
  readonly listCashIns: Handler<typeof listCashIns>
  readonly listIncomingTransactions: Handler<typeof listIncomingTransactions>
  readonly listIncomingTransactionsShort: Handler<typeof listIncomingTransactionsShort>
}

/** What the handlers need. */
export interface CashInRoutesOptions {
  readonly commands: CashInCommands
  readonly jobs: CashInJobs
  readonly store: CashInStore
  readonly clock: Clock
  readonly ids: Ids
}

/** Makes the handlers. */
export function createCashInHandlers({ commands, jobs, store, clock, ids }: CashInRoutesOptions): CashInHandlers {
  /** A page of cash-ins as they stand at one instant. @source rules#cash-in.list.1, rules#cash-in.list.4 */
  async function list<Item>(query: ListQuery, view: (cashIn: CashIn, at: number) => Item) {
    const page = pageOf(query)
    const at = clock.now()
    const filter = { ...filterOf(query, at), ...page }
    const [rows, counted] = await Promise.all([store.list(filter), store.count(filter, limits.exactTotalMax + 1)])
    return { status: 200, body: pageView(page, rows, counted, (row) => view(row, at)) } as const
  }

  return {
    listCashIns: ({ query }) => list(query, detailView),
    listIncomingTransactions: ({ query }) => list(query, incomingView),
    listIncomingTransactionsShort: ({ query }) => list(query, incomingView),
    createCashIn: async ({ body, context }) => {
      const key = idempotencyKeyOf(context.headers)
      const { cashIn: intent, isReplayed } = await commands.create({
        ...contentOf(body),
        id: ids.uuid(),
        correlationId: context.correlationId,
        idempotencyKey: key === null ? null : `${context.caller.id} createCashIn ${key}`,
        live: context.live,
      })
      const cashIn = isReplayed ? intent : await jobs.requestCharge(intent)
      if (cashIn.status === 'FAILED' && !isReplayed) {
        throw new Refusal('partner_refused', { existing: { id: cashIn.id, status: cashIn.status } })
      }
      const headers = {
        location: `/api/pix/cash-in/${cashIn.id}`,
        ...(isReplayed ? { 'idempotent-replayed': 'true' } : {}),
      }
      return { status: 201, body: createdView(cashIn), headers }
    },
    getCashIn: async ({ params }) => {
      const cashIn = isUuid(params.id) ? await store.get(params.id) : undefined
      if (!cashIn) throw new Refusal('not_found')
      return { status: 200, body: detailView(cashIn, clock.now()) }
    },
  }
}

type ListQuery = EndpointInput<typeof listCashIns>['query']

function filterOf({ status, external_id, end_to_end_id }: ListQuery, at: number) {
  return {
    ...(status === undefined ? {} : { status: statusConditionAt(status, at) }),
    ...(external_id === undefined ? {} : { externalId: external_id }),
    ...(end_to_end_id === undefined ? {} : { endToEndId: end_to_end_id }),
  }
}

/**
 * A body whose shape is right, as what it asks for, and the hash that tells whether two ask for the same.
 * @throws validation_error (400) more than two decimals
 * @source rules#cash-in.create.1, rules#external-id.3
 */
function contentOf({ transaction, payer }: EndpointInput<typeof createCashIn>['body']) {
  const valueCents = reaisToCents(transaction.value)
  if (valueCents === null) {
    const message = 'transaction.value must be in reais with at most two decimals'
    throw new Refusal('validation_error', {
      message,
      fields: [{ field: 'transaction.value', code: 'decimals', message }],
    })
  }
  const content = {
    valueCents,
    externalId: transaction.externalId,
    description: transaction.description ?? null,
    expirationSeconds: transaction.expirationTime ?? limits.expirationDefaultSeconds,
    generateQrCode: transaction.generateQrCode ?? true,
    // An invalid document is refused later, after duplicates were looked up; until then it stays as it came.
    payer: payer ? { fullName: payer.fullName, document: normaliseDocument(payer.document) ?? payer.document } : null,
  }
  return { ...content, bodyHash: sha256(JSON.stringify({ ...content, valueCents: String(valueCents) })) }
}
