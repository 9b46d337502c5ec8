import type { AccountCode } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { Check } from './check.ts'
import { checks } from './checks.ts'

/** A check that found something. */
export interface Drift extends Pick<Check, 'name' | 'meaning'> {
  /** How many faults there are. */
  readonly count: number
  /** Some of them: at most {@link EXAMPLES}. */
  readonly examples: readonly string[]
}

/** What came out of all checks. */
export interface Verification {
  /** The database's time of the snapshot that was looked at, epoch milliseconds. */
  readonly at: number
  /** How many faults there are: 0 when the books are right. */
  readonly faults: number
  readonly drifts: readonly Drift[]
}

/** An account's turnover and balance. Credits are what the signed ledger writes as positive amounts. */
export interface AccountTotal {
  readonly code: AccountCode
  readonly debitCents: bigint
  readonly creditCents: bigint
  readonly balanceCents: bigint
}

/** However much is wrong, only so much of it is kept and told. */
export const EXAMPLES = 20

const selectNow = statement<[], { now: number }>(
  'ledger.verify.now',
  'SELECT floor(extract(epoch FROM transaction_timestamp()) * 1000)::float8 AS now',
)

const statements = checks.map((check) => ({
  ...check,
  find: statement<[], { what: string; count: string }>(
    `ledger.verify.${check.name}`,
    `SELECT what, (count(*) OVER ())::text AS count FROM (${check.sql}) faults LIMIT ${EXAMPLES}`,
  ),
}))

/**
 * Runs every check, one after the other.
 * @param queries a snapshot: while others write, two looks at different moments would find what is not there
 * @source rules#ledger.verify.1
 */
export async function verify(queries: Queries): Promise<Verification> {
  const [{ now } = { now: Number.NaN }] = await queries.rows(selectNow, [])
  const drifts: Drift[] = []
  for (const { name, meaning, find } of statements) {
    const rows = await queries.rows(find, [])
    const [first] = rows
    if (first) drifts.push({ name, meaning, count: Number(first.count), examples: rows.map(({ what }) => what) })
  }
  return { at: now, faults: drifts.reduce((sum, { count }) => sum + count, 0), drifts }
}

const selectTotals = statement<
  [at: string | null],
  { code: AccountCode; debit: string; credit: string; balance: string }
>(
  'ledger.verify.trial_balance',
  `SELECT a.code, coalesce(e.debit, 0)::text AS debit, coalesce(e.credit, 0)::text AS credit,
          coalesce(e.credit - e.debit, 0)::text AS balance
     FROM account a
     LEFT JOIN (SELECT account_id, -coalesce(sum(amount_cents) FILTER (WHERE amount_cents < 0), 0) AS debit,
                       coalesce(sum(amount_cents) FILTER (WHERE amount_cents > 0), 0) AS credit
                  FROM entry WHERE $1::timestamptz IS NULL OR at <= $1
                 GROUP BY account_id) e ON e.account_id = a.id
    ORDER BY a.id`,
)

/**
 * Every account, recomputed from its entries.
 * @param untilMs epoch milliseconds, inclusive; `null`: all entries
 * @source rules#ledger.verify.2
 */
export async function trialBalance(queries: Queries, untilMs: number | null): Promise<AccountTotal[]> {
  const rows = await queries.rows(selectTotals, [untilMs === null ? null : instantParameter(untilMs)])
  return rows.map(({ code, debit, credit, balance }) => ({
    code,
    debitCents: BigInt(debit),
    creditCents: BigInt(credit),
    balanceCents: BigInt(balance),
  }))
}
