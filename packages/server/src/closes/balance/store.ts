import { limits } from '@pixgate/spec'
import type { BankBalance } from '../../banks/port.ts'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { Figures } from '../content.ts'

/** All SQL of the bank's balance, which is read for the close of a day. */

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

/** It has what was booked in the very millisecond that the bank says. */
const AFTER = `b.as_of + interval '1 ms'`

/**
 * Balances `b` since the end of a day that the statement reaches. Where the bank does not say as of when a balance is, what moves within
 * the difference of the clocks may be in it or not: nothing may move then.
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

/** When the first balance since the end of a day was read. */
const selectFirst = statement<[dayEnd: string], { at: string | null }>(
  'closes.first_balance',
  `SELECT ((extract(epoch FROM min(read_at)) * 1000)::bigint)::text AS at FROM bank_balance WHERE read_at >= $1`,
)

/** The first balance with nothing set aside, else the first one, less what the statement has between the end of the day and then. */
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

/** What is set aside for orders under way, centavos. */
export async function reservedNow(queries: Queries): Promise<bigint> {
  return BigInt((await queries.rows(selectReserved, []))[0]?.cents ?? 0)
}

/**
 * Keeps a balance.
 * @param reservedCents what was set aside before it was read: with what is now, the most that the bank may have taken off
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

/** Whether a balance is known that the close of a day can be held against. @param dayEnd epoch milliseconds */
export async function isBalanceKnown(queries: Queries, dayEnd: number): Promise<boolean> {
  return (await queries.rows(selectIsKnown, [instantParameter(dayEnd)]))[0]?.known ?? false
}

/** When the first balance since the end of a day was read, epoch milliseconds; `undefined`: none was. */
export async function firstBalanceAt(queries: Queries, dayEnd: number): Promise<number | undefined> {
  const [row] = await queries.rows(selectFirst, [instantParameter(dayEnd)])
  return row?.at == null ? undefined : Number(row.at)
}

/** What the bank had at the end of a day; `null`: no balance says. @param dayEnd as in SQL @source rules#close.11 */
export async function bankAt(queries: Queries, dayEnd: string): Promise<Figures['bank']> {
  const [row] = await queries.rows(selectClosing, [dayEnd])
  return row === undefined ? null : { closingCents: BigInt(row.cents), setAsideCents: BigInt(row.setAside) }
}
