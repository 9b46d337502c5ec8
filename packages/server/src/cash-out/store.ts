import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/rows.ts'
import { createOrderStore, type OrderStore } from '../operations/store.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { type CashOut, isCashOut } from './cash-out.ts'

/** Reading cash-outs. */
export interface CashOutStore extends OrderStore<CashOut> {
  /** Those that wait for an approval, made after the one with an id, or all, oldest first. */
  awaitingApproval(after: string | undefined, limit: number): Promise<CashOut[]>
}

// The ids are UUIDv7, which sort by the time they were made.
const selectAwaiting = statement<[after: string | null, limit: number], OperationRow>(
  'cash_out.awaiting_approval',
  `SELECT ${OPERATION_COLUMNS} FROM operation
    WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval' AND NOT facts ? 'approvedAt'
      AND ($1::uuid IS NULL OR id > $1)
    ORDER BY id LIMIT $2`,
)

/** Makes the store of a database. */
export function createCashOutStore(database: Database): CashOutStore {
  return {
    ...createOrderStore(database, 'cash_out', isCashOut),
    awaitingApproval: async (after, limit) =>
      operationsOf(await database.rows(selectAwaiting, [after ?? null, limit]), isCashOut),
  }
}
