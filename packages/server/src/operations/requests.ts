import { type Caps, limits, Refusal, reaisToCents } from '@pixgate/spec'
import type { Operator } from '../audit/trail.ts'
import { ExternalIdTaken, IdempotencyKeyTaken } from '../engine/batch.ts'
import type { Document, Operation } from '../engine/operation.ts'
import { type Condition, type OperationFilter, type OperationStore, statusIs } from '../engine/operation-store.ts'
import { sha256 } from '../platform/crypto.ts'
import type { RequestContext } from '../platform/http/handler.ts'
import { type PageQuery, pageOf, pageView, timesOf } from '../platform/http/page.ts'
import { idempotencyKeyOf } from '../platform/http/request.ts'
import { isUuid } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'

/** Common to the endpoints of all resources: creating once, reading, listing. */

export interface AskedBy {
  readonly correlationId: string
  /** `Idempotency-Key` with its scope; `null` without one. */
  readonly idempotencyKey: string | null
  readonly madeBy: MadeBy
  /** The operator who orders, or who created the API key; `null` or absent: the administrative token, or unknown. */
  readonly keyMadeBy?: string | null | undefined
  readonly caps?: Caps | undefined
  /** Nothing is decided after this request has timed out. */
  readonly live?: LiveRequest
}

/**
 * @param endpoint scope of the key, with the caller
 * @throws validation_error (400) invalid key
 * @source rules#idempotency.1
 */
export function identityOf(endpoint: string, context: RequestContext): AskedBy {
  const { headers, caller, correlationId, live, remoteAddress } = context
  const key = idempotencyKeyOf(headers)
  const idempotencyKey = key === null ? null : `${caller.id} ${endpoint} ${key}`
  const madeBy = { caller: caller.id, address: remoteAddress }
  // Only operators have a name.
  const keyMadeBy = caller.keyMadeBy ?? (caller.name === undefined ? undefined : caller.id)
  return { correlationId, live, idempotencyKey, madeBy, caps: caller.caps, keyMadeBy }
}

/** Equal hashes mean equal requests. @source rules#external-id.3 */
export function hashOf(content: object): Buffer {
  return sha256(JSON.stringify(content, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
}

/**
 * Converts an amount to centavos.
 * @param field its name for the client
 * @throws validation_error (400) more than two decimals
 * @source rules#money.1
 */
export function centsOf(reais: number, field: string): bigint {
  const cents = reaisToCents(reais)
  if (cents !== null) return cents
  const message = `${field} must be in reais with at most two decimals`
  throw new Refusal('validation_error', { message, fields: [{ field, code: 'decimals', message }] })
}

/** Joins lines of a description. @source rules#text.2 */
export function descriptionOf(text: string | undefined): string | null {
  return text?.replaceAll(/\r\n|[\r\n]/g, ' ') ?? null
}

/** The 201 of a creation or its replay. @source rules#idempotency.2 */
export function createdAnswer<Body>(location: string, body: Body, isReplayed: boolean) {
  const headers = { location, ...(isReplayed ? { 'idempotent-replayed': 'true' } : {}) }
  return { status: 201, body, headers } as const
}

/** @throws not_found (404) no operation of this kind has this id */
export async function found<Op extends Operation>(store: Pick<OperationStore<Op>, 'get'>, id: string): Promise<Op> {
  const operation = isUuid(id) ? await store.get(id) : undefined
  if (!operation) throw new Refusal('not_found')
  return operation
}

/** Filters common to all lists, besides days. */
interface ListQuery<Status extends string> extends PageQuery {
  readonly status?: Status | undefined
  readonly external_id?: string | undefined
  readonly end_to_end_id?: string | undefined
  readonly cash_in_id?: string | undefined
  readonly paid_from?: string | undefined
  readonly paid_to?: string | undefined
}

/**
 * A page of operations, newest first; charges by payment in its order.
 * @param conditionOf maps a status whose shown and stored values differ
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
  const { status, external_id, end_to_end_id, cash_in_id, paid_from, paid_to } = query
  const isByPayment = paid_from !== undefined || paid_to !== undefined
  const filter: OperationFilter = {
    ...page,
    ...(status === undefined ? {} : { status: conditionOf(status) }),
    ...(external_id === undefined ? {} : { externalId: external_id }),
    ...(end_to_end_id === undefined ? {} : { endToEndId: end_to_end_id }),
    ...(cash_in_id === undefined ? {} : { cashInId: cash_in_id.toLowerCase() }),
    ...(isByPayment && { paid: timesOf(paid_from, paid_to, ['paid_from', 'paid_to']) }),
  }
  const [rows, counted] = await Promise.all([
    store.list(filter, isWanted),
    store.count(filter, limits.exactTotalMax + 1),
  ])
  const placeOf = ({ id, createdAt, facts }: Op) => ({ id, at: isByPayment ? Number(facts.paidAt) : createdAt })
  return { status: 200, body: pageView(page, rows, counted, view, placeOf) } as const
}

/**
 * The earlier order of the same request; refuses everything else.
 * @param error thrown by the creation
 * @param is tests the kind
 * @param field name of the external id for the client
 * @throws idempotency_key_reused (422) · duplicate_external_id (409) · any other error
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
  throw error instanceof ExternalIdTaken ? duplicateOf(error, request, field) : error
}

/** @source rules#external-id.2 */
export function duplicateOf(
  { operation: { id, status, bodyHash } }: ExternalIdTaken,
  request: { readonly bodyHash: Buffer },
  field: string,
): Refusal {
  return new Refusal('duplicate_external_id', {
    fields: [{ field, code: 'duplicate', message: 'externalId was already used' }],
    existing: { id, status, samePayload: bodyHash.equals(request.bodyHash) },
  })
}

/** Caller and address of a request, stored on the operation and its first move. @source rules#limits.7 */
export type MadeBy = {
  /** Id of the API key or operator. */
  readonly caller: string
  readonly address: string
}

/** Absent if the bank created the operation. */
export interface MadeByFact extends Document {
  readonly madeBy?: MadeBy
}

/** An operator refuses an order that was never claimed. @source rules#cash-out.approval.11 */
export interface OperatorRefusal {
  readonly on: 'operator.refused'
  readonly approver: Operator
  readonly reason: string
}
