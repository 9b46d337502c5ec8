import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import type { ComparedBalance } from './compare.ts'

/** All SQL of the balances that the bank told. */
export interface ReportedBalanceStore {
  /**
   * What the list comes to at a moment around which nothing moved, centavos; what was in the account before the list follows from
   * the first one.
   * @param moment from when until when, by the bank's time, nothing may have moved
   * @param reported the balance; with something set aside nothing follows from it of what was there before
   * @returns `undefined`: something moved, or it is not known yet what was there before
   */
  listedAt(
    moment: Moment,
    reported: { readonly cents: bigint; readonly reservedCents: bigint },
  ): Promise<bigint | undefined>
  /**
   * Keeps what was told as that of a day's end: the first one, and the first one that the list explains.
   * @param dayEnd the balance is of later, epoch milliseconds
   * @param until the balance has what the list has before this; `null`: all of it
   */
  keep(dayEnd: number, balance: ComparedBalance, until: number | null, nowMs: number): Promise<void>
}

/** Epoch milliseconds. */
export interface Moment {
  readonly from: number
  readonly to: number
}

/** What an entry `s` of the statement adds to the account, in SQL. */
const SIGNED = `CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END`

const selectListed = statement<
  [from: string, to: string, reportedCents: bigint, reservedCents: bigint],
  { cents: bigint }
>(
  'reported_balances.listed',
  `WITH listed AS (
     SELECT m.entries_cents - coalesce((SELECT sum(${SIGNED}) FROM statement_entry s WHERE s.occurred_at >= $2), 0) AS cents
       FROM statement_mark m
      WHERE NOT EXISTS (SELECT FROM statement_entry s WHERE s.occurred_at >= $1 AND s.occurred_at < $2)
   )
   UPDATE bank_shortfall b SET base_cents = coalesce(b.base_cents, $3 - l.cents)
     FROM listed l WHERE b.name = 'statement' AND (b.base_cents IS NOT NULL OR $4::bigint = 0)
   RETURNING (b.base_cents + l.cents)::bigint AS cents`,
)

/** What is kept already is not added up again. */
const insertReported = statement<
  [dayEnd: string, cents: bigint, unlistedCents: bigint, until: string | null, now: string]
>(
  'reported_balances.keep',
  `INSERT INTO reported_balance (day_end, is_listed, cents, unlisted_cents, reported_at)
   SELECT $1, $3::bigint = 0,
          $2::bigint - coalesce((SELECT sum(${SIGNED}) FROM statement_entry s
                                  WHERE s.occurred_at >= $1 AND ($4::timestamptz IS NULL OR s.occurred_at < $4)), 0),
          $3, $5
    WHERE NOT EXISTS (SELECT FROM reported_balance t WHERE t.day_end = $1 AND (t.is_listed OR $3::bigint <> 0))
   ON CONFLICT DO NOTHING`,
)

/** Makes the store of a database. */
export function createReportedBalanceStore(database: Database): ReportedBalanceStore {
  return {
    listedAt: async ({ from, to }, { cents, reservedCents }) => {
      const instants = [instantParameter(from), instantParameter(to)] as const
      return (await database.rows(selectListed, [...instants, cents, reservedCents]))[0]?.cents
    },
    keep: async (dayEnd, { cents, unlistedCents }, until, nowMs) => {
      const before = until === null ? null : instantParameter(until)
      await database.rows(insertReported, [
        instantParameter(dayEnd),
        cents,
        unlistedCents,
        before,
        instantParameter(nowMs),
      ])
    },
  }
}
