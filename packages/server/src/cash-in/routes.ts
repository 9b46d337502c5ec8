import { type EndpointInput, type endpoints, limits, normaliseDocument, Refusal } from '@pixgate/spec'
import { centsOf, createdAnswer, descriptionOf, found, hashOf, identityOf, listed } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { HandlerInput, Handlers } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import type { CashIn } from './cash-in.ts'
import type { CashInCommands } from './commands.ts'
import type { CashInJobs } from './jobs.ts'
import { type CashInStore, statusConditionAt } from './store.ts'
import { createdView, detailView, incomingView } from './view.ts'

/** The endpoints of cash-ins. @source rules#cash-in.create.6, rules#cash-in.detail.2 */
export type CashInHandlers = Handlers<Pick<typeof endpoints, OwnEndpoint>>

type OwnEndpoint =
  | 'createCashIn'
  | 'getCashIn'
  | 'listCashIns'
  | 'listIncomingTransactions'
  | 'listIncomingTransactionsShort'

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
  /** A page of cash-ins as they stand at one instant. @source rules#cash-in.list.1, rules#cash-in.list.2 */
  function list<Item>(input: ListInput, view: (cashIn: CashIn, nowMs: number) => Item) {
    const nowMs = clock.now()
    return listed(
      store,
      input,
      (cashIn: CashIn) => view(cashIn, nowMs),
      (status) => statusConditionAt(status, nowMs),
    )
  }

  return {
    listCashIns: (input) => list(input, detailView),
    listIncomingTransactions: (input) => list(input, incomingView),
    listIncomingTransactionsShort: (input) => list(input, incomingView),
    createCashIn: async ({ body, context }) => {
      const request = { ...contentOf(body), ...identityOf('createCashIn', context), id: ids.uuid() }
      const { cashIn: intent, isReplayed } = await commands.create(request)
      const cashIn = isReplayed ? intent : await jobs.requestCharge(intent)
      if (cashIn.status === 'FAILED' && !isReplayed) {
        throw new Refusal('partner_refused', { existing: { id: cashIn.id, status: cashIn.status } })
      }
      return createdAnswer(`/api/pix/cash-in/${cashIn.id}`, createdView(cashIn), isReplayed)
    },
    getCashIn: async ({ params }) => ({ status: 200, body: detailView(await found(store, params.id), clock.now()) }),
  }
}

type ListInput = Pick<HandlerInput<typeof endpoints.listCashIns>, 'query' | 'context'>

/**
 * A body whose shape is right, as what it asks for, and the hash that tells whether two ask for the same.
 * @throws validation_error (400) more than two decimals
 * @source rules#cash-in.create.1, rules#external-id.3
 */
function contentOf({ transaction, payer }: EndpointInput<typeof endpoints.createCashIn>['body']) {
  const content = {
    valueCents: centsOf(transaction.value, 'transaction.value'),
    externalId: transaction.externalId,
    description: descriptionOf(transaction.description),
    expirationSeconds: transaction.expirationTime ?? limits.expirationDefaultSeconds,
    generateQrCode: transaction.generateQrCode ?? true,
    // An invalid document is refused later, after duplicates were looked up; until then it stays as it came.
    payer: payer ? { fullName: payer.fullName, document: normaliseDocument(payer.document) ?? payer.document } : null,
  }
  return { ...content, bodyHash: hashOf(content) }
}
