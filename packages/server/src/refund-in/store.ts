import { limits } from '@pixgate/spec'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/operation-row.ts'
import { createOperationStore, type OperationStore } from '../engine/operation-store.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { isRefundIn, type RefundIn } from './refund-in.ts'

/** All SQL of refunds. */
export interface RefundInStore extends OperationStore<RefundIn> {
  /**
   * Refunds on which work is due, oldest first.
   * @param isSending whether those that only wait to be sent are wanted too; those that are to be given back are in any
   *   case
   */
  due(at: number, most: number, isSending: boolean): Promise<RefundIn[]>
  /** The ids of the refunds of a cash-in that are under way. */
  open(cashInId: string): Promise<string[]>
  /**
   * The ids of the refunds of a cash-in that a return of this amount may be: those that are under way, and the hundred
   * latest of those that failed although they may have arrived, and whose reference at the bank nobody knows.
   * @source rules#cash-in.returns.1, rules#cash-in.returns.8
   */
  explaining(cashInId: string, valueCents: bigint): Promise<string[]>
}

/**
 * What only waits to be sent and is not to be given back yet. Anything else is given back or asked about, also what is
 * in doubt although it was never sent. It says the same as `nextStep`.
 * @source failure-modes#P8, rules#refund-in.states.6, rules#refund-in.doubt.2
 */
const WAITS_TO_BE_SENT = `status = 'PENDING'
  AND coalesce(facts ->> 'doubt', '') NOT IN ('contradiction', 'unrecorded')
  AND facts ->> 'isAccepted' IS DISTINCT FROM 'true'
  AND coalesce(facts ->> 'attempts', '0') = coalesce(facts ->> 'unsentAttempts', '0')
  AND coalesce((facts ->> 'firstAttemptAt')::bigint > $5, created_at > $4::timestamptz)`

const selectDue = statement<
  [at: string, most: number, isSending: boolean, unclaimedSince: string, unsentSince: number],
  OperationRow
>(
  'refund_in.due',
  `SELECT ${OPERATION_COLUMNS} FROM refund_in
    WHERE due_at <= $1 AND ($3 OR NOT (${WAITS_TO_BE_SENT}))
    ORDER BY due_at LIMIT $2`,
)

const selectOpen = statement<[cashInId: string], { id: string }>(
  'refund_in.open',
  `SELECT id FROM refund_in WHERE detail ->> 'cashInId' = $1 AND status = 'PENDING' ORDER BY id`,
)

const selectExplaining = statement<[cashInId: string, valueCents: bigint], { id: string }>(
  'refund_in.explaining',
  `SELECT id FROM refund_in WHERE detail ->> 'cashInId' = $1 AND status = 'PENDING'
   UNION ALL
   (SELECT id FROM refund_in
     WHERE detail ->> 'cashInId' = $1 AND value_cents = $2 AND status = 'FAILED' AND transaction_id IS NULL
       AND coalesce((facts ->> 'attempts')::int, 0) > coalesce((facts ->> 'unsentAttempts')::int, 0)
     ORDER BY created_at DESC LIMIT 100)`,
)

/** Makes the store of a database. */
export function createRefundInStore(database: Database): RefundInStore {
  return {
    ...createOperationStore(database, 'refund_in', isRefundIn),
    due: async (at, most, isSending) => {
      const rows = await database.rows(selectDue, [
        instantParameter(at),
        most,
        isSending,
        instantParameter(at - limits.unclaimedReleaseMs),
        at - limits.unsentReleaseMs,
      ])
      return operationsOf(rows, isRefundIn)
    },
    explaining: async (cashInId, valueCents) =>
      (await database.rows(selectExplaining, [cashInId, valueCents])).map(({ id }) => id),
    open: async (cashInId) => (await database.rows(selectOpen, [cashInId])).map(({ id }) => id),
  }
}
