import { type Caps, limits, Refusal, reaisToCents } from '@pixgate/spec'
import type { Operator } from '../audit/trail.ts'
import { ExternalIdTaken, IdempotencyKeyTaken } from '../engine/batch.ts'
import type { Document, Operation } from '../engine/operation.ts'
import { type Condition, type OperationFilter, type OperationStore, statusIs } from '../engine/operation-store.ts'
import { sha256 } from '../platform/crypto.ts'
import { idempotencyKeyOf } from '../platform/http/endpoint-route.ts'
import type { RequestContext } from '../platform/http/handler.ts'
import { type PageQuery, pageOf, pageView } from '../platform/http/page.ts'
import { isUuid } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'

/** What the endpoints of every resource do alike: creating once, reading one, listing. */

/** By whom, from where and under which key something is asked for. */
export interface AskedBy {
  readonly correlationId: string
  /** The client's `Idempotency-Key` with its scope; `null` where it sent none. */
  readonly idempotencyKey: string | null
  readonly madeBy: MadeBy
  /** The operator who made the API key; `null`, or absent: the administrative token did, or nobody knows. */
  readonly keyMadeBy?: string | null | undefined
  /** Of the API key that asks, where it has caps of its own. */
  readonly caps?: Caps | undefined
  /** Nothing is decided for it once it has lapsed. */
  readonly live?: LiveRequest
}

/**
 * By whom and under which key something is asked for.
 * @param endpoint the scope of the key, beside the caller
 * @throws validation_error (400) the key is none
 * @source rules#idempotency.1
 */
export function identityOf(endpoint: string, context: RequestContext): AskedBy {
  const { headers, caller, correlationId, live, remoteAddress } = context
  const key = idempotencyKeyOf(headers)
  const idempotencyKey = key === null ? null : `${caller.id} ${endpoint} ${key}`
  const madeBy = { caller: caller.id, address: remoteAddress }
  return { correlationId, live, idempotencyKey, madeBy, caps: caller.caps, keyMadeBy: caller.keyMadeBy }
}

/** What tells whether two requests ask for the same. @source rules#external-id.3 */
export function hashOf(content: object): Buffer {
  return sha256(JSON.stringify(content, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
}

/**
 * An amount in centavos.
 * @param field where it stands, for the client
 * @throws validation_error (400) more than two decimals
 * @source rules#money.1
 */
export function centsOf(reais: number, field: string): bigint {
  const cents = reaisToCents(reais)
  if (cents !== null) return cents
  const message = `${field} must be in reais with at most two decimals`
  throw new Refusal('validation_error', { message, fields: [{ field, code: 'decimals', message }] })
}

/** A description in one line, or none. @source rules#text.2 */
export function descriptionOf(text: string | undefined): string | null {
  return text?.replaceAll(/\r\n|[\r\n]/g, ' ') ?? null
}

/** The 201 of something that was created, now or when the same request came before. @source rules#idempotency.2 */
export function createdAnswer<Body>(location: string, body: Body, isReplayed: boolean) {
  const headers = { location, ...(isReplayed ? { 'idempotent-replayed': 'true' } : {}) }
  return { status: 201, body, headers } as const
}

/**
 * The operation that a path names.
 * @throws not_found (404) no operation of this kind has this id
 */
export async function found<Op extends Operation>(store: Pick<OperationStore<Op>, 'get'>, id: string): Promise<Op> {
  const operation = isUuid(id) ? await store.get(id) : undefined
  if (!operation) throw new Refusal('not_found')
  return operation
}

/** What every list can be narrowed to, besides days. */
interface ListQuery<Status extends string> extends PageQuery {
  readonly status?: Status | undefined
  readonly external_id?: string | undefined
  readonly end_to_end_id?: string | undefined
  /** Of refunds. */
  readonly cash_in_id?: string | undefined
}

/**
 * A page of operations, newest first.
 * @param conditionOf what a status means where it is not shown as it is stored
 * @source rules#lists.1, rules#cash-in.list.3, rules#cash-in.list.4
 */
export async function listed<Op extends Operation, Status extends string, Item>(
  store: Pick<OperationStore<Op>, 'list' | 'count'>,
  { query, context }: { readonly query: ListQuery<Status>; readonly context: Pick<RequestContext, 'isGone'> },
  view: (operation: Op) => Item,
  conditionOf: (status: Status) => Condition = statusIs,
) {
  const page = pageOf(query)
  const isWanted = () => !context.isGone?.()
  const { status, external_id, end_to_end_id, cash_in_id } = query
  const filter: OperationFilter = {
    ...page,
    ...(status === undefined ? {} : { status: conditionOf(status) }),
    ...(external_id === undefined ? {} : { externalId: external_id }),
    ...(end_to_end_id === undefined ? {} : { endToEndId: end_to_end_id }),
    ...(cash_in_id === undefined ? {} : { cashInId: cash_in_id.toLowerCase() }),
  }
  const [rows, counted] = await Promise.all([
    store.list(filter, isWanted),
    store.count(filter, limits.exactTotalMax + 1),
  ])
  return { status: 200, body: pageView(page, rows, counted, view) } as const
}

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

/** Who asked for an operation, and from where: it stands on the operation, and on the move that made it. @source rules#limits.7 */
export type MadeBy = {
  /** The id of the API key, or of the operator. */
  readonly caller: string
  readonly address: string
}

/** The part of an operation's facts that tells it; absent where the bank made the operation, or a version that kept none. */
export interface MadeByFact extends Document {
  readonly madeBy?: MadeBy
}

/** An operator refuses an order, payout or refund, that nobody tried to send. @source rules#cash-out.approval.11 */
export interface OperatorRefusal {
  readonly on: 'operator.refused'
  readonly approver: Operator
  readonly reason: string
}
