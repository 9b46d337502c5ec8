import type { CashInStatus } from '@pixgate/spec'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/operation-row.ts'
import { type Condition, createOperationStore, type OperationStore, statusIs } from '../engine/operation-store.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { type CashIn, isCashIn } from './cash-in.ts'

/** All SQL of cash-ins. */
export interface CashInStore extends OperationStore<CashIn> {
  /** Cash-ins on which work is due, oldest first. */
  due(nowMs: number, limit: number): Promise<CashIn[]>
  /**
   * Counts credits in that are to be booked on the word of an event, as many as fit under a bound, in their order; what was
   * counted in before is not counted twice.
   * @returns those that may be booked
   */
  admitUnverified(
    credits: readonly UnverifiedCredit[],
    bounds: { readonly maxCents: bigint; readonly nowMs: number },
  ): Promise<UnverifiedCredit[]>
}

/** A payment of a charge of which only an event told. */
export interface UnverifiedCredit {
  readonly operationId: string
  readonly endToEndId: string
  readonly valueCents: bigint
}

/**
 * Whoever holds the total admits: what others admitted meanwhile is in it, whatever the snapshot shows.
 * @source rules#cash-in.credits.3
 */
const admit = statement<
  [operationIds: readonly string[], endToEndIds: readonly string[], cents: readonly string[], max: bigint, now: string],
  { operation_id: string; end_to_end_id: string; value_cents: bigint }
>(
  'cash_in.admit_unverified',
  `WITH asked AS (
     SELECT a.*, u.operation_id IS NOT NULL AND u.settled_at IS NULL AS is_counted
       FROM unnest($1::uuid[], $2::text[], $3::bigint[]) WITH ORDINALITY
              AS a (operation_id, end_to_end_id, value_cents, ordinal)
       LEFT JOIN unverified_credit u USING (operation_id, end_to_end_id, value_cents)
   ), total AS MATERIALIZED (
     SELECT cents FROM unverified_total FOR UPDATE
   ), fresh AS (
     SELECT a.*, sum(a.value_cents) OVER (ORDER BY a.ordinal) AS running FROM asked a WHERE NOT a.is_counted
   ), admitted AS (
     INSERT INTO unverified_credit (operation_id, end_to_end_id, value_cents, admitted_at)
     SELECT f.operation_id, f.end_to_end_id, f.value_cents, $5
       FROM fresh f JOIN total t ON t.cents + f.running <= $4
     ON CONFLICT (operation_id, end_to_end_id, value_cents)
       DO UPDATE SET admitted_at = excluded.admitted_at, settled_at = NULL, asked_at = NULL, denied_at = NULL,
                     asking_ended_at = NULL
         WHERE unverified_credit.settled_at IS NOT NULL
     RETURNING operation_id, end_to_end_id, value_cents
   ), counted AS (
     UPDATE unverified_total u SET cents = t.cents + a.cents
       FROM total t, (SELECT sum(value_cents) AS cents FROM admitted) a
      WHERE a.cents IS NOT NULL
   )
   SELECT * FROM admitted
   UNION ALL
   SELECT operation_id, end_to_end_id, value_cents FROM asked WHERE is_counted`,
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
    admitUnverified: async (credits, { maxCents, nowMs }) => {
      const rows = await database.rows(admit, [
        credits.map(({ operationId }) => operationId),
        credits.map(({ endToEndId }) => endToEndId),
        credits.map(({ valueCents }) => String(valueCents)),
        maxCents,
        instantParameter(nowMs),
      ])
      return rows.map((row) => ({
        operationId: row.operation_id,
        endToEndId: row.end_to_end_id,
        valueCents: row.value_cents,
      }))
    },
  }
}
