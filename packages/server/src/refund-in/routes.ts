import type { EndpointInput, endpoints } from '@pixgate/spec'
import { centsOf, createdAnswer, found, hashOf, identityOf, listed } from '../operations/requests.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import type { RefundInCommands } from './commands.ts'
import type { RefundInStore } from './store.ts'
import { createdView, detailView } from './view.ts'

/** The endpoints of refunds. @source rules#refund-in.detail.2 */
export type RefundInHandlers = Handlers<Pick<typeof endpoints, 'createRefundIn' | 'getRefundIn' | 'listRefundIns'>>

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
 * A body whose shape is right, as what it asks for, and the hash that tells whether two ask for the same.
 * @throws validation_error (400) more than two decimals
 * @source rules#refund-in.create.1, rules#external-id.3
 */
function contentOf(
  pathId: string,
  { refundValue, reason, externalId }: EndpointInput<typeof endpoints.createRefundIn>['body'],
) {
  const content = {
    cashInId: isUuid(pathId) ? pathId.toLowerCase() : null,
    valueCents: centsOf(refundValue, 'refundValue'),
    reason: reason ?? null,
    externalId: externalId ?? null,
  }
  return { ...content, bodyHash: hashOf(content) }
}
