import { operationOf } from '../../engine/reader.ts'
import { OPERATION_COLUMNS, type OperationRow } from '../../engine/statement.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import type { CashIn } from './rules.ts'

/** All SQL of cash-ins: they are read here; only the engine writes them. */
export interface CashInStore {
  get(id: string): Promise<CashIn | undefined>
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

/** Makes the store of a database. */
export function createCashInStore(database: Database): CashInStore {
  return {
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
