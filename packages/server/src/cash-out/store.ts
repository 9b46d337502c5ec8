import { limits } from '@pixgate/spec'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/operation-row.ts'
import { createOperationStore, type OperationStore } from '../engine/operation-store.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { type CashOut, isCashOut } from './cash-out.ts'

/** All SQL of cash-outs. */
export interface CashOutStore extends OperationStore<CashOut> {
  /**
   * Cash-outs on which work is due, oldest first.
   * @param isSending whether those that only wait to be sent are wanted too; those that are to be given back are in any
   *   case
   */
  due(at: number, most: number, isSending: boolean): Promise<CashOut[]>
  /** Whether payouts are enabled, as committed now. */
  isEnabled(): Promise<boolean>
  /** Sets the total of a day, `YYYY-MM-DD` in São Paulo, to what was sent on it. */
  recountDay(day: string): Promise<void>
}

/**
 * What only waits to be sent and is not to be given back yet; NULL is no. Anything else is given back or asked about,
 * also what is in doubt although it was never sent. It says the same as `nextStep`.
 * @source failure-modes#CO-24, rules#cash-out.states.3, rules#cash-out.states.5, rules#cash-out.states.10
 */
const WAITS_TO_BE_SENT = `CASE
  WHEN status = 'RESERVED' THEN created_at > $4::timestamptz
  WHEN (facts ->> 'firstAttemptAt')::bigint <= $5 THEN false
  WHEN status IN ('DISPATCHED', 'PROVIDER_RESULT_UNKNOWN') OR facts ->> 'doubt' = 'missing'
    THEN facts ->> 'attempts' = facts ->> 'unsentAttempts' AND facts ->> 'isAccepted' IS DISTINCT FROM 'true'
END`

const selectDue = statement<
  [at: string, most: number, isSending: boolean, unclaimedSince: string, unsentSince: number],
  OperationRow
>(
  'cash_out.due',
  `SELECT ${OPERATION_COLUMNS} FROM cash_out
    WHERE due_at <= $1 AND ($3 OR (${WAITS_TO_BE_SENT}) IS NOT TRUE)
    ORDER BY due_at LIMIT $2`,
)

const selectSwitch = statement<[], { enabled: boolean }>(
  'cash_out.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled FROM control WHERE name = 'cash_out_switch'`,
)

const lockDay = statement<[]>('cash_out.lock_day', `SELECT FROM control WHERE name = 'cash_out_day' FOR UPDATE`)

const updateDay = statement<[day: string]>(
  'cash_out.update_day',
  `UPDATE control
      SET version = version + 1,
          value = jsonb_build_object('day', $1::text, 'sentCents',
                    (SELECT coalesce(sum(value_cents), 0) FROM cash_out
                      WHERE created_at >= ($1::date)::timestamp AT TIME ZONE 'America/Sao_Paulo'
                        AND status NOT IN ('FAILED', 'RELEASED')))
    WHERE name = 'cash_out_day'`,
)

/** Makes the store of a database. */
export function createCashOutStore(database: Database): CashOutStore {
  return {
    ...createOperationStore(database, 'cash_out', isCashOut),
    due: async (at, most, isSending) => {
      const rows = await database.rows(selectDue, [
        instantParameter(at),
        most,
        isSending,
        instantParameter(at - limits.unclaimedReleaseMs),
        at - limits.unsentReleaseMs,
      ])
      return operationsOf(rows, isCashOut)
    },
    // Locked first, so that the sum sees every payout whose total was kept.
    recountDay: (day) =>
      database.transaction(async ({ rows }) => {
        await rows(lockDay, [])
        await rows(updateDay, [day])
      }),
    isEnabled: async () => (await database.rows(selectSwitch, []))[0]?.enabled ?? false,
  }
}
