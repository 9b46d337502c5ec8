import type { CashOutStatus } from '@pixgate/spec'
import { createOrderStore, type OrderStore } from '../operations/store.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { type CashOut, isCashOut } from './cash-out.ts'
import { planOf } from './schedule.ts'

/** All SQL of cash-outs. */
export interface CashOutStore extends OrderStore<CashOut> {
  /** Whether payouts are enabled, as committed now. */
  isEnabled(): Promise<boolean>
  /** Sets the total of a day, `YYYY-MM-DD` in São Paulo, to what was sent on it. */
  recountDay(day: string): Promise<void>
}

const selectSwitch = statement<[], { enabled: boolean }>(
  'cash_out.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled FROM control WHERE name = 'cash_out_switch'`,
)

/** Whether a payout in this state counts for the cap of the day on which it was made. */
const COUNTS: Readonly<Record<CashOutStatus, boolean>> = {
  RESERVED: true,
  DISPATCHED: true,
  PROVIDER_RESULT_UNKNOWN: true,
  CONFIRMED: true,
  FAILED: false,
  RELEASED: false,
  REVERSED: true,
  RECONCILIATION_REQUIRED: true,
}

const COUNTING = Object.keys(COUNTS).filter((status) => COUNTS[status as CashOutStatus])

const lockDay = statement<[]>('cash_out.lock_day', `SELECT FROM control WHERE name = 'cash_out_day' FOR UPDATE`)

const updateDay = statement<[day: string, counting: readonly string[]]>(
  'cash_out.update_day',
  `UPDATE control
      SET version = version + 1,
          value = jsonb_build_object('day', $1::text, 'sentCents',
                    (SELECT coalesce(sum(value_cents), 0) FROM cash_out
                      WHERE created_at >= ($1::date)::timestamp AT TIME ZONE 'America/Sao_Paulo'
                        AND status = ANY ($2::text[])))
    WHERE name = 'cash_out_day'`,
)

/** Makes the store of a database. */
export function createCashOutStore(database: Database): CashOutStore {
  return {
    ...createOrderStore(database, 'cash_out', isCashOut, planOf),
    // Locked first, so that the sum sees every payout whose total was kept.
    recountDay: (day) =>
      database.transaction(async ({ rows }) => {
        await rows(lockDay, [])
        await rows(updateDay, [day, COUNTING])
      }),
    isEnabled: async () => (await database.rows(selectSwitch, []))[0]?.enabled ?? false,
  }
}
