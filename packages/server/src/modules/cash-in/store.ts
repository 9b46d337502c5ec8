import type { CashInStatus } from '@pixgate/spec'
import { operationOf } from '../../engine/reader.ts'
import { OPERATION_COLUMNS, type OperationRow } from '../../engine/statement.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import type { CashIn } from './rules.ts'

/** All SQL of cash-ins: they are read here; only the engine writes them. */
export interface CashInStore {
  get(id: string): Promise<CashIn | undefined>
  /** A page, newest first, with one row more than asked for where there are more. */
  list(filter: CashInFilter): Promise<CashIn[]>
  /** How many there are, counted no further than `most`. */
  count(filter: CashInFilter, most: number): Promise<number>
  /** Cash-ins on which work is due, oldest first. */
  due(at: number, most: number): Promise<CashIn[]>
  /** For each pair of references, the ids of all cash-ins that it could mean. */
  match(references: readonly PartnerReferences[]): Promise<string[][]>
}

/** What the partner calls a charge. */
export interface PartnerReferences {
  readonly transactionId: string
  /** Our id as we sent it, or the client's reference. */
  readonly externalId: string | null
}

/** Which cash-ins to list. What is left out filters nothing. Times are epoch milliseconds. */
export interface CashInFilter {
  /** As a client sees it at `at`: a charge whose time is over is `EXPIRED`, whoever has noticed. */
  readonly status?: CashInStatus
  readonly at: number
  /** Inclusive. */
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
  readonly externalId?: string
  readonly endToEndId?: string
  readonly skip: number
  readonly most: number
}

const getById = statement<[id: string], OperationRow>(
  'cash_in.get',
  `SELECT ${OPERATION_COLUMNS} FROM cash_in WHERE id = $1`,
)

const selectDue = statement<[at: string, most: number], OperationRow>(
  'cash_in.due',
  `SELECT ${OPERATION_COLUMNS} FROM cash_in WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
)

const selectMatches = statement<
  [transactionIds: readonly string[], externalIds: readonly (string | null)[]],
  { ordinal: bigint; ids: string[] | null }
>(
  'cash_in.match',
  `SELECT r.ordinal, array_agg(DISTINCT o.id::text) FILTER (WHERE o.id IS NOT NULL) AS ids
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS r (transaction_id, external_id, ordinal)
     LEFT JOIN LATERAL (
       SELECT id FROM cash_in WHERE transaction_id = r.transaction_id
       UNION ALL
       SELECT id FROM cash_in WHERE external_id = r.external_id
       UNION ALL
       SELECT id FROM cash_in
        WHERE id = CASE WHEN r.external_id ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
                        THEN r.external_id::uuid END
     ) o ON true
    GROUP BY r.ordinal ORDER BY r.ordinal`,
)

/** A condition on one value; `key` names it in the statement's name. */
interface Condition {
  readonly key: string
  readonly sql: (parameter: string) => string
  readonly value: string
}

/**
 * The conditions of a filter. Each combination is a statement of its own, so that the planner knows which index fits;
 * texts are constants, values are parameters.
 * @source rules#cash-in.list.3
 */
function conditionsOf({ status, at, from, to, externalId, endToEndId }: CashInFilter): Condition[] {
  const conditions: Condition[] = []
  if (status !== undefined) conditions.push(statusCondition(status, at))
  if (from !== undefined) {
    conditions.push({ key: 'from', sql: (p) => `created_at >= ${p}::timestamptz`, value: instantParameter(from) })
  }
  if (to !== undefined) {
    conditions.push({ key: 'to', sql: (p) => `created_at < ${p}::timestamptz`, value: instantParameter(to) })
  }
  if (externalId !== undefined) {
    conditions.push({ key: 'external', sql: (p) => `external_id = ${p}`, value: externalId })
  }
  if (endToEndId !== undefined) {
    conditions.push({ key: 'e2e', sql: (p) => `end_to_end_id = ${p}`, value: endToEndId })
  }
  return conditions
}

/** @source rules#cash-in.list.2 */
function statusCondition(status: CashInStatus, at: number): Condition {
  const now = instantParameter(at)
  if (status === 'PENDING') {
    return { key: status, sql: (p) => `status = 'PENDING' AND expires_at >= ${p}::timestamptz`, value: now }
  }
  if (status === 'EXPIRED') {
    const sql = (p: string) => `(status = 'EXPIRED' OR (status = 'PENDING' AND expires_at < ${p}::timestamptz))`
    return { key: status, sql, value: now }
  }
  return { key: 'status', sql: (p) => `status = ${p}`, value: status }
}

/** The conditions as SQL, their values, and a name for statements that have them. */
function whereOf(filter: CashInFilter) {
  const conditions = conditionsOf(filter)
  return {
    where: ['true', ...conditions.map(({ sql }, index) => sql(`$${index + 1}`))].join(' AND '),
    values: conditions.map(({ value }) => value),
    name: conditions.map(({ key }) => key).join('.'),
  }
}

/** Makes the store of a database. */
export function createCashInStore(database: Database): CashInStore {
  return {
    list: async (filter) => {
      const { where, values, name } = whereOf(filter)
      const query = statement<readonly unknown[], OperationRow>(
        `cash_in.list.${name}`,
        `SELECT ${OPERATION_COLUMNS} FROM cash_in WHERE ${where}
          ORDER BY created_at DESC, id DESC OFFSET $${values.length + 1} LIMIT $${values.length + 2}`,
      )
      return (await database.rows(query, [...values, filter.skip, filter.most + 1])).map(cashInOf)
    },
    count: async (filter, most) => {
      const { where, values, name } = whereOf(filter)
      const query = statement<readonly unknown[], { total: bigint }>(
        `cash_in.count.${name}`,
        `SELECT count(*) AS total FROM (SELECT FROM cash_in WHERE ${where} LIMIT $${values.length + 1}) counted`,
      )
      return Number((await database.rows(query, [...values, most]))[0]?.total ?? 0n)
    },
    get: async (id) => (await database.rows(getById, [id])).map(cashInOf)[0],
    due: async (at, most) => (await database.rows(selectDue, [instantParameter(at), most])).map(cashInOf),
    match: async (references) => {
      const rows = await database.rows(selectMatches, [
        references.map(({ transactionId }) => transactionId),
        references.map(({ externalId }) => externalId),
      ])
      return rows.map(({ ids }) => ids ?? [])
    },
  }
}

/** The documents of a row are those that `rules.ts` wrote. */
function cashInOf(row: OperationRow): CashIn {
  return operationOf(row) as CashIn
}
