import { limits } from '@pixgate/spec'
import type { BankBalance } from '../../banks/port.ts'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { Figures } from '../content.ts'

/** SQL for the bank's balance, which is read for the close of a day. */

const selectReserved = statement<[], { cents: string }>(
  'closes.reserved',
  `SELECT balance_cents::text AS cents FROM account WHERE code = 'reserved'`,
)

const insertBalance = statement<
  [now: string, asOf: string | null, availableCents: bigint, blockedCents: bigint, reservedCents: bigint]
>(
  'closes.keep_balance',
  `INSERT INTO bank_balance (read_at, as_of, available_cents, set_aside_cents)
   SELECT $1, $2, $3, $4 + greatest($5, balance_cents) FROM account WHERE code = 'reserved'
   ON CONFLICT DO NOTHING`,
)

const SKEW = `interval '${limits.statementClockSkewMs} ms'`

/** End of what a balance includes: `as_of` counts whole. */
const AFTER = `b.as_of + interval '1 ms'`

/**
 * Comparable balances `b` since the end of a day: the statement is read and matched up to each. Without `as_of` a movement near the
 * reading may or may not be included, so there must be none within the clock skew.
 */
const COMPARABLE = `bank_balance b, statement_mark m
    WHERE coalesce(b.as_of, b.read_at) >= $1 AND m.matched_until >= coalesce(${AFTER}, b.read_at + ${SKEW})
      AND (b.as_of IS NOT NULL
           OR NOT EXISTS (SELECT FROM statement_entry s
                           WHERE s.occurred_at >= b.read_at - ${SKEW} AND s.occurred_at < b.read_at + ${SKEW}))`

const selectIsKnown = statement<[dayEnd: string], { known: boolean }>(
  'closes.balance_known',
  `SELECT EXISTS (SELECT FROM ${COMPARABLE}) AS known`,
)

const selectFirst = statement<[dayEnd: string], { at: string | null }>(
  'closes.first_balance',
  `SELECT ((extract(epoch FROM min(read_at)) * 1000)::bigint)::text AS at FROM bank_balance WHERE read_at >= $1`,
)

/** Prefers a balance with nothing set aside, then the first. Subtracts the movements between the end of the day and the balance. */
const selectClosing = statement<[dayEnd: string], { cents: string; setAside: string }>(
  'closes.bank',
  `SELECT (b.available_cents
           - coalesce((SELECT sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END)
                         FROM statement_entry s
                        WHERE s.occurred_at >= $1 AND s.occurred_at < coalesce(${AFTER}, b.read_at)), 0))::text AS cents,
          b.set_aside_cents::text AS "setAside"
     FROM ${COMPARABLE}
    ORDER BY b.set_aside_cents <> 0, b.read_at LIMIT 1`,
)

/** Money reserved for orders under way, centavos. */
export async function reservedNow(queries: Queries): Promise<bigint> {
  return BigInt((await queries.rows(selectReserved, []))[0]?.cents ?? 0)
}

/**
 * Stores a balance with the most that the bank may have deducted from it.
 * @param reservedCents reserved before the reading; what is reserved now counts where it is more
 */
export async function keepBalance(
  queries: Queries,
  { availableCents, asOf, blockedCents = 0n }: BankBalance,
  reservedCents: bigint,
  nowMs: number,
): Promise<void> {
  const instants = [instantParameter(nowMs), asOf === null ? null : instantParameter(asOf)] as const
  await queries.rows(insertBalance, [...instants, availableCents, blockedCents, reservedCents])
}

/** Whether there is a comparable balance since the end of a day. @param dayEnd epoch milliseconds */
export async function isBalanceKnown(queries: Queries, dayEnd: number): Promise<boolean> {
  return (await queries.rows(selectIsKnown, [instantParameter(dayEnd)]))[0]?.known ?? false
}

/** Time of the first balance since the end of a day, epoch milliseconds; `undefined`: none yet. */
export async function firstBalanceAt(queries: Queries, dayEnd: number): Promise<number | undefined> {
  const [row] = await queries.rows(selectFirst, [instantParameter(dayEnd)])
  return row?.at == null ? undefined : Number(row.at)
}

/** The bank's balance at the end of a day; `null`: unknown. @param dayEnd an instant for SQL @source rules#close.11 */
export async function bankAt(queries: Queries, dayEnd: string): Promise<Figures['bank']> {
  const [row] = await queries.rows(selectClosing, [dayEnd])
  return row === undefined ? null : { closingCents: BigInt(row.cents), setAsideCents: BigInt(row.setAside) }
}
