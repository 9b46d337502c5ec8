import { limits } from '@pixgate/spec'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { MovementDirection, Operation, OperationKind } from './operation.ts'
import { OPERATION_COLUMNS, type OperationRow, operationOf, operationsOf } from './rows.ts'

export type OperationStore<Op extends Operation> = ReturnType<typeof createOperationStore<Op>>

/** References of an operation in a bank's message. */
export interface PartnerReferences {
  /** The bank's reference. */
  readonly transactionId: string | null
  /** The order id, or the client's reference. */
  readonly externalId: string | null
  readonly endToEndId: string | null
}

/** Reported movement: a return may have both ids, a payment only its own. */
export interface ReportedMovement {
  readonly endToEndId: string
  readonly returnId: string | null
  readonly valueCents: bigint
}

export interface Match {
  readonly id: string
  /** Matching reference; `orderId`: our id, in the field of the client's reference. */
  readonly by: 'orderId' | keyof PartnerReferences
  /** The cash-in of a refund; `null` for any other operation. */
  readonly of: string | null
  /** Return that the bank made by itself. */
  readonly isBanks: boolean
}

/** Filter of a list; instants are epoch milliseconds. */
export interface OperationFilter {
  readonly status?: Condition
  /** Inclusive. */
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
  readonly externalId?: string
  readonly endToEndId?: string
  /** Time of payment, for charges. Orders the list. */
  readonly paid?: Pick<OperationFilter, 'from' | 'to'>
  /** The cash-in that a refund is of. */
  readonly cashInId?: string
  readonly skip: number
  /** Only operations after this one. */
  readonly after?: { readonly at: number; readonly id: string }
  readonly limit: number
}

/** Condition on one value; `key` is part of the statement's name. */
export interface Condition {
  readonly key: string
  readonly sql: (parameter: string) => string
  readonly value: string
}

export function statusIs(status: string): Condition {
  return { key: 'status', sql: (p) => `status = ${p}`, value: status }
}

const PAID_AT = "(facts ->> 'paidAt')::numeric"

/** The same value in a form that no index has. */
const PAID_AT_UNINDEXED = `(${PAID_AT} + 0)`

/** A page in the order of its index seldom needs the whole range. */
const SHORTER_BY = 4

const DAY_MS = 86_400_000

/**
 * Time of payment, without its index where the range of creation is much the shorter one. The planner cannot know that charges are
 * paid soon after their creation: of a million it read a year of payments for one day of charges, 2.2 s instead of 25 ms.
 */
function paidAtFor({ from, to, paid = {} }: Pick<OperationFilter, 'from' | 'to' | 'paid'>): string {
  if (from === undefined || to === undefined) return PAID_AT
  // Charges are paid after their creation, give or take a day.
  const paidMs = (paid.to ?? to) - Math.max(paid.from ?? 0, from - DAY_MS)
  return (to - from) * SHORTER_BY < paidMs ? PAID_AT_UNINDEXED : PAID_AT
}

/** Both bounds always, since the planner takes a range with one for a third of the table. */
function paidConditions(filter: Pick<OperationFilter, 'from' | 'to' | 'paid'>): Condition[] {
  if (!filter.paid) return []
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter.paid
  const at = paidAtFor(filter)
  return [
    { key: at === PAID_AT ? 'paid' : 'made', sql: (p) => `${at} >= ${p}::numeric`, value: String(from) },
    { key: 'until', sql: (p) => `${at} < ${p}::numeric`, value: String(to) },
  ]
}

/**
 * SQL of the rows and the conditions of a filter, their values, and a name for the statement. Each combination is a
 * statement of its own, so that the planner chooses the right index; texts are constants, values are parameters.
 * @source rules#cash-in.list.3, rules#cash-in.list.6
 */
function whereOf(filter: Omit<OperationFilter, 'skip' | 'limit'>) {
  const { status, from, to, externalId, endToEndId, cashInId } = filter
  const wanted = (key: string, value: string | undefined, sql: Condition['sql']): Condition[] =>
    value === undefined ? [] : [{ key, value, sql }]
  const instant = (at: number | undefined) => (at === undefined ? undefined : instantParameter(at))
  const conditions = [
    ...paidConditions(filter),
    ...(status === undefined ? [] : [status]),
    ...wanted('from', instant(from), (p) => `created_at >= ${p}::timestamptz`),
    ...wanted('to', instant(to), (p) => `created_at < ${p}::timestamptz`),
    ...wanted('external', externalId, (p) => `external_id = ${p}`),
    ...wanted('e2e', endToEndId, (p) => `end_to_end_id = ${p}`),
    ...wanted('cash_in', cashInId, (p) => `detail ->> 'cashInId' = ${p}`),
  ]
  const texts = conditions.map(({ sql }, index) => sql(`$${index + 1}`))
  return {
    where: ['true', ...texts].join(' AND '),
    values: conditions.map(({ value }) => value),
    name: conditions.map(({ key }) => key).join('.'),
  }
}

const READS = { batchMax: 256, queueMax: 5_000 }

/**
 * Reads operations of one kind. Only the engine writes them.
 * @param kind also the name of the view of its operations
 * @param is type guard of the kind
 */
export function createOperationStore<Op extends Operation>(
  database: Database,
  kind: Op['kind'],
  is: (operation: Operation) => operation is Op,
) {
  // The kind is checked after the lookup: on a small database the planner would choose the kind's index, read all operations of
  // the kind, and keep that plan.
  const selectByIds = statement<[ids: readonly string[]], OperationRow>(
    `${kind}.get`,
    `SELECT ${OPERATION_COLUMNS} FROM operation WHERE id = ANY ($1::uuid[])`,
  )
  const selectMatches = matchesOf(kind)
  const reads = createBatcher<string, Op | undefined>(async (ids) => {
    const rows = await database.rows(selectByIds, [ids])
    const found = new Map(
      rows
        .map(operationOf)
        .filter(is)
        .map((operation) => [operation.id, operation]),
    )
    return ids.map((id) => ({ result: found.get(id.toLowerCase()) }))
  }, READS)

  return {
    /** Concurrent calls share a statement. @throws QueueFull · DatabaseUnavailable */
    get: (id: string): Promise<Op | undefined> => reads.submit(id),
    /**
     * A page, newest first, plus one row if there are more.
     * @param isWanted called before the query runs
     * @throws NoLongerWanted
     */
    list: async (filter: OperationFilter, isWanted?: () => boolean): Promise<Op[]> => {
      const { query, values } = pageQuery(kind, filter)
      return operationsOf(await database.rows(query, values, isWanted), is)
    },
    /** Count, at most `limit`. */
    count: async (filter: OperationFilter, limit: number): Promise<number> => {
      const { where, values, name } = whereOf(filter)
      const query = statement<readonly unknown[], { total: bigint }>(
        `${kind}.count.${name}`,
        `SELECT count(*) AS total FROM (SELECT FROM ${kind} WHERE ${where} LIMIT $${values.length + 1}) counted`,
      )
      return Number((await database.rows(query, [...values, limit]))[0]?.total ?? 0n)
    },
    /** For each set of references, the operations that each reference names. */
    match: async (references: readonly PartnerReferences[]): Promise<Match[][]> => {
      const rows = await database.rows(selectMatches, [
        references.map(({ transactionId }) => transactionId),
        references.map(({ externalId }) => externalId),
        references.map(({ endToEndId }) => endToEndId),
        [kind],
      ])
      const byOrdinal = Map.groupBy(rows, ({ ordinal }) => ordinal)
      return references.map((_, index) => (byOrdinal.get(index + 1) ?? []).map(matchOf))
    },
  }
}

/** Time that orders a list, and its parameter. */
function orderOf(filter: Pick<OperationFilter, 'from' | 'to' | 'paid'>) {
  if (filter.paid) return { at: paidAtFor(filter), type: 'numeric', parameter: String }
  return { at: 'created_at', type: 'timestamptz', parameter: instantParameter }
}

/**
 * Statement of a page, newest first. A page after a cursor uses the index. A page by offset skips all rows before it, within the index
 * alone if that covers the filter, and one such statement at a time.
 * @source rules#lists.3, rules#lists.4
 */
function pageQuery(kind: OperationKind, { after, skip, limit, ...filter }: OperationFilter) {
  const { where, values, name } = whereOf(filter)
  const { at, type, parameter } = orderOf(filter)
  const newestFirst = `ORDER BY ${at} DESC, id DESC`
  const [one, two, three] = [1, 2, 3].map((place) => `$${values.length + place}`)
  if (after) {
    const text = `SELECT ${OPERATION_COLUMNS} FROM ${kind}
       WHERE ${where} AND (${at}, id) < (${one}::${type}, ${two}::uuid) ${newestFirst} LIMIT ${three}`
    return {
      query: statement<readonly unknown[], OperationRow>(`${kind}.after.${name}`, text),
      values: [...values, parameter(after.at), after.id, limit + 1],
    }
  }
  const isLong = skip >= limits.deepPageFrom
  const page = `FROM ${kind} WHERE ${where} ${newestFirst} OFFSET ${one} LIMIT ${two}`
  const text = isLong
    ? `SELECT ${OPERATION_COLUMNS} FROM operation WHERE id IN (SELECT id ${page}) ${newestFirst}`
    : `SELECT ${OPERATION_COLUMNS} ${page}`
  return {
    query: statement<readonly unknown[], OperationRow>(`${kind}.${isLong ? 'deep' : 'list'}.${name}`, text, { isLong }),
    values: [...values, skip, limit + 1],
  }
}

/**
 * Operations named by any of a set of references. The kind is checked afterwards (IS TRUE): without statistics the planner could choose
 * an index that begins with the kind and read all of them. Refunds share the end-to-end id of their charge, and may be many.
 */
function matchesOf(kind: OperationKind) {
  return statement<
    [
      transactionIds: readonly (string | null)[],
      externalIds: readonly (string | null)[],
      endToEndIds: readonly (string | null)[],
      kinds: readonly OperationKind[],
    ],
    MatchRow
  >(
    `${kind}.match`,
    `SELECT r.ordinal::integer, o.id, o.by, o.of, o.origin
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY
              AS r (transaction_id, external_id, end_to_end_id, ordinal)
      CROSS JOIN LATERAL (
         SELECT id, kind, 'transactionId' AS by, detail ->> 'cashInId' AS of, detail ->> 'origin' AS origin
           FROM operation WHERE transaction_id = r.transaction_id
         UNION ALL
         SELECT id, kind, 'endToEndId', detail ->> 'cashInId', detail ->> 'origin'
           FROM operation WHERE end_to_end_id = r.end_to_end_id
         UNION ALL
         SELECT o.id, kind, 'endToEndId', detail ->> 'cashInId', detail ->> 'origin'
           FROM movement m JOIN operation o ON o.id = m.operation_id
          WHERE m.direction = '${PAYMENTS[kind] ?? ''}' AND m.id = r.end_to_end_id
            -- What an operator attributed to another operation is that one's.
            AND NOT EXISTS (SELECT FROM operation c
                             WHERE c.end_to_end_id = m.id AND (c.kind = o.kind) IS TRUE AND c.id <> o.id)
         UNION ALL
         SELECT id, kind, 'externalId', detail ->> 'cashInId', detail ->> 'origin'
           FROM operation WHERE kind = ANY ($4::text[]) AND external_id = r.external_id
         UNION ALL
         SELECT id, kind, 'orderId', detail ->> 'cashInId', detail ->> 'origin' FROM operation
          WHERE order_id = r.external_id
       ) o
      WHERE (o.kind = ANY ($4::text[])) IS TRUE
      ORDER BY r.ordinal, o.id`,
    { isKeyed: true },
  )
}

/** Direction of a kind's payments: payments in suspense, too, are found by their end-to-end id. */
const PAYMENTS: Partial<Record<OperationKind, MovementDirection>> = { cash_in: 'in', cash_out: 'out' }

interface MatchRow {
  readonly ordinal: number
  readonly id: string
  readonly by: Match['by']
  readonly of: string | null
  readonly origin: string | null
}

function matchOf({ id, by, of, origin }: MatchRow): Match {
  return { id, by, of, isBanks: origin === 'PARTNER' }
}
