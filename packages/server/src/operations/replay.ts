import { Refusal } from '@pixgate/spec'
import { ExternalIdTaken, IdempotencyKeyTaken } from '../engine/batch.ts'
import type { Operation } from '../engine/operation.ts'

/**
 * The order that the same request made before; everything else is refused.
 * @param error what creating it threw
 * @param is tells its kind
 * @param field where the external id stands, for the client
 * @throws idempotency_key_reused (422) · duplicate_external_id (409) · the error, where it is another
 * @source rules#external-id.2, rules#idempotency.2, rules#refund-in.create.6
 */
export function replayedOf<Order extends Operation>(
  error: unknown,
  request: { readonly bodyHash: Buffer },
  is: (operation: Operation) => operation is Order,
  field: string,
): Order {
  if (error instanceof IdempotencyKeyTaken) {
    const { operation } = error
    if (!is(operation) || !operation.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
    return operation
  }
  if (error instanceof ExternalIdTaken) {
    const { id, status, bodyHash } = error.operation
    throw new Refusal('duplicate_external_id', {
      fields: [{ field, code: 'duplicate', message: 'externalId was already used' }],
      existing: { id, status, samePayload: bodyHash.equals(request.bodyHash) },
    })
  }
  throw error
}
