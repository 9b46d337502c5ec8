import {
  adjustment,
  cashIn,
  cashOut,
  type EndpointInput,
  type endpoints,
  limits,
  type Machine,
  maskReported,
  normaliseDocument,
  normalisePixKey,
  type operationSummary,
  pixKeyTypes,
  refundIn,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import { insertAudit, operatorOf } from '../audit/trail.ts'
import { isCashIn, paidCents, statusAt } from '../cash-in/index.ts'
import { isCashOut } from '../cash-out/index.ts'
import { reasonOf } from '../engine/follow.ts'
import type { Operation, OperationKind } from '../engine/operation.ts'
import { OPERATION_COLUMNS, type OperationRow, operationOf } from '../engine/rows.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { cursorAfter, instantText, placeOf } from '../platform/http/page.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Ids } from '../platform/ids.ts'
import { boundsOf, isDay } from '../platform/sao-paulo.ts'
import { isRefundIn } from '../refund-in/index.ts'

/** Operations of all kinds in one list, and their summaries. */

export type OperationSummary = Static<typeof operationSummary>

export const MACHINES: Readonly<Record<OperationKind, Pick<Machine, 'states' | 'meanings' | 'rows'>>> = {
  cash_in: cashIn,
  cash_out: cashOut,
  refund_in: refundIn,
  adjustment,
}

const KINDS = Object.keys(MACHINES) as OperationKind[]

/** Rows examined for a page by a filter that no index has. The page ends there, with a cursor to continue. */
export const EXAMINED_MAX = 20_000

export interface ListNeeds {
  /** The pool of the console. */
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

type Query = EndpointInput<typeof endpoints.listOperations>['query']

export function createListHandler(needs: ListNeeds): Pick<Handlers<typeof endpoints>, 'listOperations'> {
  return {
    listOperations: async ({ query, context }) => {
      const filter = filterOf(query)
      const after = afterOf(query.cursor)
      const { document, key, limit = limits.pageLimitDefault } = query
      if (document !== undefined) await auditSearch(needs, 'document', document, context)
      if (key !== undefined) await auditSearch(needs, 'pix_key', key, context)
      const { ids, next } = await pageOf(needs, filter, limit, after)
      const nextCursor = next && cursorAfter(next, 0)
      return {
        status: 200,
        body: {
          data: await readSummaries(needs, ids),
          pagination: { limit, hasMore: next !== null, nextCursor },
        },
      }
    },
  }
}

/**
 * Audits a search by what names a person. The trail has no personal data, only enough to compare.
 * @source rules#console.8
 */
export function auditSearch(
  { database, clock, ids }: ListNeeds,
  by: 'document' | 'pix_key',
  text: string,
  context: Pick<RequestContext, 'caller' | 'remoteAddress'>,
): Promise<void> {
  return insertAudit(database, {
    ...operatorOf(context),
    id: ids.uuid(),
    at: clock.now(),
    action: 'operation.searched',
    subject: sha256Hex(normaliseDocument(text) ?? text).slice(0, 16),
    facts: { by },
  })
}

/** Times are epoch milliseconds, `to` exclusive. Documents and keys: in all spellings. */
export interface OperationsFilter {
  readonly kind?: OperationKind | undefined
  readonly status?: string | undefined
  readonly created?: Range | undefined
  readonly paid?: Range | undefined
  readonly minCents?: number | undefined
  readonly maxCents?: number | undefined
  readonly documents?: readonly string[] | undefined
  readonly keys?: readonly string[] | undefined
}

interface Range {
  readonly from: number
  readonly to: number
}

/** @throws validation_error (400) days in the wrong order · no document */
function filterOf(query: Query): OperationsFilter {
  const { kind, status, min_cents: minCents, max_cents: maxCents, document, key } = query
  const normal = document === undefined ? undefined : normaliseDocument(document)
  if (normal === null) throw invalidField('document', 'invalid', 'document must be a CPF or CNPJ')
  return {
    ...{ kind, status, minCents, maxCents },
    created: rangeOf(query.from, query.to, ['from', 'to']),
    paid: rangeOf(query.paid_from, query.paid_to, ['paid_from', 'paid_to']),
    documents: normal === undefined ? undefined : spellingsOf(normal),
    keys: key === undefined ? undefined : [...new Set([key, ...pixKeysOf(key)])],
  }
}

/** Instants that PostgreSQL and cursors can have. */
const EVER: Range = { from: 0, to: Date.parse('9999-12-31T00:00:00Z') }

/** Bounds of days of America/Sao_Paulo, both included; `undefined`: none given. */
function rangeOf(from: string | undefined, to: string | undefined, [first, last]: readonly [string, string]) {
  if (from === undefined && to === undefined) return undefined
  if (from !== undefined && !isDay(from)) throw invalidField(first, 'out_of_range', `${first} must be since 1900`)
  if (to !== undefined && !isDay(to)) throw invalidField(last, 'out_of_range', `${last} must be since 1900`)
  if (from !== undefined && to !== undefined && to < from) {
    throw invalidField(last, 'out_of_range', `${last} must not be before ${first}`)
  }
  return {
    from: from === undefined ? EVER.from : boundsOf(from).from,
    to: to === undefined ? EVER.to : boundsOf(to).to,
  }
}

/** @throws validation_error (400) */
function afterOf(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const place = placeOf(cursor)
  if (!place) throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
  return place.after
}

/** Spellings of a normalised document in the index: whole, and as banks mask a CPF. */
export function spellingsOf(document: string): readonly string[] {
  return document.length === 11 ? [document, `***${document.slice(3, 9)}**`] : [document]
}

/** The text as a Pix key of each type that it may be of. */
export function pixKeysOf(text: string): readonly string[] {
  return [...new Set(pixKeyTypes.flatMap((type) => normalisePixKey(type, text) ?? []))]
}

/** The time that orders a list, and the id. */
interface Position {
  readonly at: number
  readonly id: string
}

/** `?` stands for the value. */
interface Condition {
  readonly sql: string
  readonly value: unknown
}

/** Rows in the order of one index. */
interface Source {
  /** Constant text: the table, and conditions of the index. */
  readonly from: string
  readonly conditions?: readonly Condition[]
  /** Conditions that the index does not have. */
  readonly others?: readonly Condition[]
}

interface Plan {
  readonly sources: readonly Source[]
  /** Conditions on all sources, of their indexes and beyond them. */
  readonly conditions: readonly Condition[]
  readonly others: readonly Condition[]
  /** Expression of the time that orders the list, and its parameter. */
  readonly at: string
  readonly parameter: (at: number) => string
}

const PAID_AT = "(facts ->> 'paidAt')::numeric"
const BY_CREATION = { at: 'created_at', parameter: instantParameter } as const

/** The most selective index that a filter has. Charges by their payment are in its order. @source rules#console.6 */
function planOf(filter: OperationsFilter, nowMs: number): Plan {
  const { keys, documents, paid, kind, status, created } = filter
  const amounts = amountConditions(filter)
  const createdThen = created ? rangeConditions('created_at', '::timestamptz', created, instantParameter) : []
  const rest = [
    ...(kind === undefined ? [] : [{ sql: 'kind = ?', value: kind }]),
    ...(status === undefined ? [] : statusConditions(status, nowMs)),
    ...createdThen,
    ...amounts,
  ]
  if (keys) return { ...BY_CREATION, sources: keys.flatMap(payoutsTo), conditions: [], others: rest }
  if (documents) return { ...BY_CREATION, sources: documents.flatMap(personsWith), conditions: [], others: rest }
  if (paid) {
    const sources = [{ from: "operation WHERE kind = 'cash_in' AND (facts ->> 'paidAt') IS NOT NULL" }]
    const conditions = rangeConditions(PAID_AT, '::numeric', paid, String)
    return { at: PAID_AT, parameter: String, sources, conditions, others: rest }
  }
  return { ...BY_CREATION, sources: listSources(filter, nowMs), conditions: createdThen, others: amounts }
}

function rangeConditions(column: string, cast: string, range: Range, parameter: (at: number) => string): Condition[] {
  return [
    { sql: `${column} >= ?${cast}`, value: parameter(range.from) },
    { sql: `${column} < ?${cast}`, value: parameter(range.to) },
  ]
}

function amountConditions({ minCents, maxCents }: OperationsFilter): Condition[] {
  return [
    ...(minCents === undefined ? [] : [{ sql: 'value_cents >= ?::bigint', value: String(minCents) }]),
    ...(maxCents === undefined ? [] : [{ sql: 'value_cents <= ?::bigint', value: String(maxCents) }]),
  ]
}

/** Status as shown: a charge is `EXPIRED` from its expiry on, though stored as `PENDING` until a worker writes it. */
function statusConditions(status: string, nowMs: number): Condition[] {
  const overdue = "kind = 'cash_in' AND expires_at < ?::timestamptz"
  const now = instantParameter(nowMs)
  if (status === 'PENDING') return [{ sql: `status = 'PENDING' AND NOT (${overdue})`, value: now }]
  if (status === 'EXPIRED') return [{ sql: `(status = 'EXPIRED' OR (status = 'PENDING' AND ${overdue}))`, value: now }]
  return [{ sql: 'status = ?', value: status }]
}

/** One source per kind, and stored status where one is wanted. */
function listSources({ kind, status }: OperationsFilter, nowMs: number): Source[] {
  const kinds = KINDS.filter((one) => kind === undefined || one === kind)
  if (status === undefined) return kinds.map((one) => ({ from: `operation WHERE kind = '${one}'` }))
  const stored = status === 'EXPIRED' ? ['EXPIRED', 'PENDING'] : [status]
  const others = status === 'EXPIRED' || status === 'PENDING' ? statusConditions(status, nowMs) : []
  return kinds
    .filter((one) => MACHINES[one].states.includes(status))
    .flatMap((one) =>
      stored.map((state) => ({ from: `operation WHERE kind = '${one}' AND status = '${state}'`, others })),
    )
}

/** Payouts to a Pix key, in two indexes. */
function payoutsTo(pixKey: string): Source[] {
  const conditions = [{ sql: "detail #>> '{recipient,pixKey}' = ?", value: pixKey }]
  return [
    {
      from: `operation WHERE kind = 'cash_out' AND status NOT IN ('FAILED', 'RELEASED')
        AND (NOT facts ? 'returns' OR still_paid(value_cents, facts) > 0)`,
      conditions,
    },
    {
      from: `operation WHERE kind = 'cash_out'
        AND (status IN ('FAILED', 'RELEASED') OR (facts ? 'returns' AND still_paid(value_cents, facts) <= 0))`,
      conditions,
    },
  ]
}

/** Open operations, whose persons have no index: by kind and status. */
export const OPEN = [
  "kind = 'cash_in' AND status = 'PENDING'",
  "kind = 'cash_out' AND status = 'RESERVED'",
  "kind = 'cash_out' AND status = 'DISPATCHED'",
] as const

/** All others, as the indexes of persons say it. */
export const NOT_OPEN = "status NOT IN ('PENDING', 'RESERVED', 'DISPATCHED')"

function personsWith(document: string): Source[] {
  const isTheirs = [{ sql: 'person_document(detail, facts) = ?', value: document }]
  return [
    { from: `operation WHERE ${NOT_OPEN} AND person_document(detail, facts) IS NOT NULL`, conditions: isTheirs },
    ...OPEN.map((open) => ({ from: `operation WHERE ${open}`, others: isTheirs })),
  ]
}

/**
 * Reads a page, newest first. Rows are examined down to a position; a page with fewer operations continues there.
 * @source rules#console.6
 */
export async function pageOf(
  { database, clock }: Pick<ListNeeds, 'database' | 'clock'>,
  filter: OperationsFilter,
  limit: number,
  after?: Position,
): Promise<{ readonly ids: readonly string[]; readonly next: Position | null }> {
  const plan = planOf(filter, clock.now())
  if (plan.sources.length === 0) return { ids: [], next: null }
  const horizon = isExamined(plan) ? await horizonOf(database, plan, after) : undefined
  const rows = await positions(database, plan, { after, horizon, limit: limit + 1 })
  const last = rows.length > limit ? rows[limit - 1] : horizon
  return { ids: rows.slice(0, limit).map(({ id }) => id), next: last ?? null }
}

function isExamined({ others, sources }: Plan): boolean {
  return others.length > 0 || sources.some((source) => (source.others ?? []).length > 0)
}

/** The newest position at which a source has had as many rows as are examined; `undefined`: all are fewer. */
async function horizonOf(queries: Queries, plan: Plan, after: Position | undefined): Promise<Position | undefined> {
  const bare = { ...plan, others: [], sources: plan.sources.map((source) => ({ ...source, others: [] })) }
  const [horizon] = await positions(queries, bare, { after, limit: 1, skip: EXAMINED_MAX - 1 })
  return horizon
}

interface Part {
  readonly after?: Position | undefined
  /** Included. */
  readonly horizon?: Position | undefined
  readonly limit: number
  readonly skip?: number
}

/** Every combination of filters is a statement of its own, so that the planner knows which index has the order. */
async function positions(queries: Queries, plan: Plan, part: Part): Promise<Position[]> {
  const { after, horizon, limit, skip = 0 } = part
  const values: unknown[] = []
  const place = (value: unknown) => `$${values.push(value)}`
  const limits = `OFFSET ${place(skip)}::int LIMIT ${place(limit)}::int`
  const bound = (sign: string, position: Position | undefined) => {
    if (position === undefined) return []
    const cast = plan.at === PAID_AT ? 'numeric' : 'timestamptz'
    return [`(${plan.at}, id) ${sign} (${place(plan.parameter(position.at))}::${cast}, ${place(position.id)}::uuid)`]
  }
  const bounds = [...bound('<', after), ...bound('>=', horizon)]
  const texts = (conditions: readonly Condition[]) =>
    conditions.map(({ sql, value }) => sql.replace('?', () => place(value)))
  const shared = [...bounds, ...texts(plan.conditions), ...texts(plan.others)]
  const sources = plan.sources.map(({ from, conditions = [], others = [] }) => {
    const all = [from, ...shared, ...texts(conditions), ...texts(others)].join(' AND ')
    return `(SELECT id, ${plan.at} AS at FROM ${all} ORDER BY ${plan.at} DESC, id DESC ${limits})`
  })
  const text = `SELECT id, at FROM (${sources.join(' UNION ALL ')}) found ORDER BY at DESC, id DESC LIMIT $2::int`
  const name = `console.operations.${sha256Hex(text).slice(0, 16)}`
  const rows = await queries.rows(statement<unknown[], { id: string; at: number | string }>(name, text), values)
  return rows.map(({ id, at }) => ({ id, at: Number(at) }))
}

const selectByIds = statement<[ids: readonly string[]], OperationRow>(
  'console.by_ids',
  `SELECT ${OPERATION_COLUMNS} FROM operation WHERE id = ANY ($1::uuid[])`,
)

/** Summaries in the order of the ids. */
export async function readSummaries(
  { database, clock }: Pick<ListNeeds, 'database' | 'clock'>,
  ids: readonly string[],
) {
  if (ids.length === 0) return []
  const operations = (await database.rows(selectByIds, [ids])).map(operationOf)
  const charges = await chargesOf(database, operations)
  const found = new Map(
    operations.map((operation) => [operation.id, summaryOf(operation, clock.now(), charges.get(operation.id))]),
  )
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** The charge of each refund, which has the payer. */
export async function chargesOf(
  queries: Queries,
  operations: readonly Operation[],
): Promise<ReadonlyMap<string, Operation>> {
  const refunded = new Map(
    operations.flatMap(({ id, kind, detail: { cashInId } }) =>
      kind === 'refund_in' && typeof cashInId === 'string' ? [[id, cashInId] as const] : [],
    ),
  )
  if (refunded.size === 0) return new Map()
  const rows = await queries.rows(selectByIds, [[...new Set(refunded.values())]])
  const charges = new Map(rows.map((row) => [row.id, operationOf(row)]))
  return new Map(
    [...refunded].flatMap(([id, of]) => {
      const charge = charges.get(of)
      return charge ? [[id, charge] as const] : []
    }),
  )
}

/** An operation by its id. */
export async function readOperation(queries: Queries, id: string): Promise<Operation | undefined> {
  const [row] = await queries.rows(selectByIds, [[id]])
  return row && operationOf(row)
}

/** @source rules#console.6 */
export function summaryOf(operation: Operation, nowMs: number, charge?: Operation): OperationSummary {
  const { id, kind, externalId, valueCents, feeCents, endToEndId, createdAt } = operation
  return {
    ...{ id, kind, externalId, endToEndId },
    status: isCashIn(operation) ? statusAt(operation, nowMs) : operation.status,
    doubt: reasonOf(operation),
    valueCents: Number(isCashIn(operation) ? paidCents(operation) : valueCents),
    feeCents: Number(feeCents),
    ...personOf(operation, charge),
    createdAt: new Date(createdAt).toISOString(),
  }
}

/** The person, the texts, and the time of the money, by kind; a refund has the payer of its charge. Documents are masked. */
function personOf(
  operation: Operation,
  charge: Operation | undefined,
): Pick<OperationSummary, 'name' | 'document' | 'pixKey' | 'description' | 'settledAt'> {
  if (isCashIn(operation)) {
    const { detail, facts } = operation
    const name = facts.payerName ?? detail.payer?.fullName ?? null
    const document = maskReported(facts.payerDocument ?? detail.payer?.document)
    return {
      name,
      document,
      pixKey: null,
      description: detail.description,
      settledAt: instantText(facts.paidAt ?? null),
    }
  }
  if (isCashOut(operation)) {
    const { detail, facts } = operation
    const { recipient, description } = detail
    const name = facts.recipientName ?? recipient.name
    const document = maskReported(facts.recipientDocument ?? recipient.document)
    return { name, document, pixKey: recipient.pixKey, description, settledAt: instantText(facts.confirmedAt ?? null) }
  }
  const { reason } = operation.detail
  const description = typeof reason === 'string' ? reason : null
  const settledAt = isRefundIn(operation) ? instantText(operation.facts.confirmedAt ?? null) : null
  const { name, document } = charge ? personOf(charge, undefined) : { name: null, document: null }
  return { name, document, pixKey: null, description, settledAt }
}
