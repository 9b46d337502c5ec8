import { type CashInStatus, limits } from '@pixgate/spec'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/operation-row.ts'
import { type Condition, createOperationStore, type OperationStore, statusIs } from '../engine/operation-store.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { type CashIn, isCashIn } from './cash-in.ts'
import { REPORTED_PAYMENTS } from './reported.ts'

/** All SQL of cash-ins. */
export interface CashInStore extends OperationStore<CashIn> {
  /** Cash-ins on which work is due, oldest first. */
  due(nowMs: number, limit: number): Promise<CashIn[]>
  /**
   * Counts credits in that are to be booked on the word of an event, as many as fit under a bound, in their order; what was
   * counted in before is not counted twice, and what is verified all the same not at all: what is dated before its charge, or
   * was told before and is to be confirmed.
   * @returns those that may be booked
   */
  admitUnverified(
    credits: readonly ReportedCredit[],
    bounds: { readonly maxCents: bigint; readonly nowMs: number },
  ): Promise<UnverifiedCredit[]>
}

/** A payment of a charge of which only an event told. */
export interface UnverifiedCredit {
  readonly operationId: string
  readonly endToEndId: string
  readonly valueCents: bigint
}

/** The same as an event tells it. */
export interface ReportedCredit extends UnverifiedCredit {
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number
}

/**
 * Whoever holds the total admits: what others admitted meanwhile is in it, whatever the snapshot shows.
 * @source rules#cash-in.credits.3
 */
const admit = statement<
  [
    operationIds: readonly string[],
    endToEndIds: readonly string[],
    cents: readonly bigint[],
    max: bigint,
    now: string,
    /** The last instant at which its charge may have been made. */
    chargedBy: readonly number[],
  ],
  { operation_id: string; end_to_end_id: string; value_cents: bigint }
>(
  'cash_in.admit_unverified',
  `WITH asked AS (
     SELECT a.*, u.operation_id IS NOT NULL AND u.settled_at IS NULL AS is_counted,
            (o.created_at > a.charged_by OR o.facts -> '${REPORTED_PAYMENTS}' ? a.end_to_end_id) IS TRUE AS is_verified
       FROM unnest($1::uuid[], $2::text[], $3::bigint[], $6::timestamptz[]) WITH ORDINALITY
              AS a (operation_id, end_to_end_id, value_cents, charged_by, ordinal)
       LEFT JOIN unverified_credit u USING (operation_id, end_to_end_id, value_cents)
       LEFT JOIN operation o ON o.id = a.operation_id
   ), total AS MATERIALIZED (
     SELECT cents FROM unverified_total FOR UPDATE
   ), fresh AS (
     SELECT a.*, sum(a.value_cents) OVER (ORDER BY a.ordinal) AS running FROM asked a
      WHERE NOT a.is_counted AND NOT a.is_verified
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
  { isKeyed: true },
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
        credits.map(({ valueCents }) => valueCents),
        maxCents,
        instantParameter(nowMs),
        credits.map(({ occurredAt }) => Math.max(0, occurredAt + limits.paidBeforeChargeMs)),
      ])
      return rows.map((row) => ({
        operationId: row.operation_id,
        endToEndId: row.end_to_end_id,
        valueCents: row.value_cents,
      }))
    },
  }
}
