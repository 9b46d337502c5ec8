import type { CashInStatus } from '@pixgate/spec'
import { type Condition, createOperationStore, type OperationStore, statusIs } from '../engine/operation-store.ts'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/rows.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { type CashIn, isCashIn } from './cash-in.ts'

/** All SQL of cash-ins. */
export interface CashInStore extends OperationStore<CashIn> {
  /** Cash-ins on which work is due, oldest first. */
  due(nowMs: number, limit: number): Promise<CashIn[]>
}

const selectDue = statement<[now: string, limit: number], OperationRow>(
  'cash_in.due',
  `SELECT ${OPERATION_COLUMNS} FROM cash_in WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
)

/**
 * The condition on a status as a client sees it at an instant: a charge whose time is over is `EXPIRED`, whoever has
 * noticed.
 * @source rules#cash-in.list.2
 */
export function statusConditionAt(status: CashInStatus, nowMs: number): Condition {
  const now = instantParameter(nowMs)
  if (status === 'PENDING') {
    return { key: status, sql: (p) => `status = 'PENDING' AND expires_at >= ${p}::timestamptz`, value: now }
  }
  if (status === 'EXPIRED') {
    const sql = (p: string) => `(status = 'EXPIRED' OR (status = 'PENDING' AND expires_at < ${p}::timestamptz))`
    return { key: status, sql, value: now }
  }
  return statusIs(status)
}

/** Makes the store of a database. */
export function createCashInStore(database: Database): CashInStore {
  return {
    ...createOperationStore(database, 'cash_in', isCashIn),
    due: async (nowMs, limit) =>
      operationsOf(await database.rows(selectDue, [instantParameter(nowMs), limit]), isCashIn),
  }
}
