import type { CashInStatus } from '@pixgate/spec'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/operation-row.ts'
import { type Condition, createOperationStore, type OperationStore, statusIs } from '../engine/operation-store.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { type CashIn, isCashIn } from './cash-in.ts'

/** All SQL of cash-ins. */
export interface CashInStore extends OperationStore<CashIn> {
  /** Cash-ins on which work is due, oldest first. */
  due(nowMs: number, limit: number): Promise<CashIn[]>
  /** Until when the bank's statement was matched, by the bank's time; `null` where it was not. */
  statementMark(): Promise<number | null>
  /** What was credited unverified after an entry of the settlement account, and after an instant. */
  unverifiedCredits(afterVersion: bigint, since: number | null): Promise<UnverifiedSum>
}

/** What was credited on events' word alone. */
export interface UnverifiedSum {
  readonly cents: bigint
  /** Of the last entry that was looked at. */
  readonly version: bigint
  /** There are more entries than are looked at: what is missing is not known. */
  readonly isTooMany: boolean
}

/** Entries looked at, at most: some 20 ms. */
const ENTRIES_MAX = 20_000

const selectMark = statement<[], { matched_until: number | null }>(
  'cash_in.statement_mark',
  'SELECT matched_until FROM statement_mark',
)

/** Newest first: what lies before the mark is not read. */
const selectUnverified = statement<
  [afterVersion: bigint, since: string | null, limit: number],
  { cents: bigint; version: bigint; entries: bigint }
>(
  'cash_in.unverified',
  `SELECT coalesce(-sum(e.amount_cents) FILTER (WHERE o.facts ->> 'isUnverified' = 'true'), 0)::bigint AS cents,
          coalesce(max(e.version), $1)::bigint AS version, count(*) AS entries
     FROM (SELECT version, amount_cents, operation_id, journal, at FROM entry
            WHERE account_id = (SELECT id FROM account WHERE code = 'settlement') AND version > $1
            ORDER BY version DESC LIMIT $3) e
     LEFT JOIN operation o ON o.id = e.operation_id AND e.journal = 'cash_in_paid'
    WHERE $2::timestamptz IS NULL OR e.at > $2::timestamptz`,
)

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
    statementMark: async () => (await database.rows(selectMark, []))[0]?.matched_until ?? null,
    unverifiedCredits: async (afterVersion, since) => {
      const at = since === null ? null : instantParameter(since)
      const [row] = await database.rows(selectUnverified, [afterVersion, at, ENTRIES_MAX])
      return {
        cents: row?.cents ?? 0n,
        version: row?.version ?? afterVersion,
        isTooMany: row?.entries === BigInt(ENTRIES_MAX),
      }
    },
  }
}
