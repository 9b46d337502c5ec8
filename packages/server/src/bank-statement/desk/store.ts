import type { StatementEntry } from '../../banks/port.ts'
import type { OperationKind } from '../../engine/operation.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import type { EntryKey } from '../store.ts'

/** All SQL of entries of the statement that an operator decides of. */
export interface EntryStore {
  entry(key: EntryKey): Promise<StatementEntry | undefined>
  kindOf(operationId: string): Promise<OperationKind | undefined>
  /** Notes that an entry is in the books, where it is, and closes its case. @returns whether it is */
  settleBooked(key: EntryKey, nowMs: number): Promise<boolean>
}

const selectEntry = statement<
  [direction: string, id: string, kind: string],
  { end_to_end_id: string; reference: string; value_cents: bigint; occurred_at: number }
>(
  'statement.desk_entry',
  `SELECT end_to_end_id, reference, value_cents, occurred_at FROM statement_entry
    WHERE direction = $1 AND id = $2 AND kind = $3`,
)

const selectKind = statement<[id: string], { kind: OperationKind }>(
  'statement.desk_kind',
  'SELECT kind FROM operation WHERE id = $1',
)

const settleBooked = statement<[direction: string, id: string, kind: string, now: string], { is_booked: boolean }>(
  'statement.desk_settle',
  `WITH booked AS (
     SELECT operation_id FROM movement WHERE direction = $1 AND id = $2
   ), settled AS (
     UPDATE statement_entry s SET outcome = 'MATCHED', operation_id = b.operation_id, settled_at = $4
       FROM booked b WHERE s.direction = $1 AND s.id = $2 AND s.kind = $3 AND s.settled_at IS NULL
   ), closed AS (
     UPDATE "case" SET closed_at = $4
      WHERE operation_id IS NULL AND kind = 'statement_unexplained' AND reference = $3 || ' ' || $2
        AND closed_at IS NULL AND EXISTS (SELECT FROM booked)
   )
   SELECT EXISTS (SELECT FROM booked) AS is_booked`,
)

/** Makes the store of a database. */
export function createEntryStore(database: Database): EntryStore {
  return {
    entry: async ({ direction, movementId, kind }) => {
      const [row] = await database.rows(selectEntry, [direction, movementId, kind])
      if (!row) return undefined
      const { end_to_end_id: endToEndId, reference, value_cents: valueCents, occurred_at: occurredAt } = row
      return { kind, direction, movementId, endToEndId, reference, valueCents, occurredAt }
    },
    kindOf: async (id) => (await database.rows(selectKind, [id]))[0]?.kind,
    settleBooked: async ({ direction, movementId, kind }, nowMs) => {
      const [row] = await database.rows(settleBooked, [direction, movementId, kind, instantParameter(nowMs)])
      return row?.is_booked ?? false
    },
  }
}
