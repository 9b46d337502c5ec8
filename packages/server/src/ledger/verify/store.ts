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

/** What our books believe, and the bank's statement, as far as it was read, does not confirm. */
export interface Unconfirmed {
  /** When the statement was last read whole, epoch milliseconds; `null`: never, so that nothing is known. */
  readonly readAt: number | null
  readonly count: number
  /** Together: money that our books have too much, or that left by them alone. */
  readonly cents: bigint
  /** At most {@link EXAMPLES}, the largest first. */
  readonly examples: readonly string[]
}

/** Beside a difference whose case was closed by an operator, who has decided of it. */
const selectUnconfirmed = statement<[], { what: string; total: string; count: string }>(
  'ledger.verify.unconfirmed',
  `WITH found AS (
     SELECT concat_ws(' ', CASE g.direction WHEN 'in' THEN 'credit' ELSE 'debit' END, g.id, 'of', g.operation_id,
                      'is not in the statement') AS what,
            g.value_cents AS cents, 'statement_missing' AS kind, g.direction || ' ' || g.id AS reference
       FROM statement_gap g
      WHERE g.filled_at IS NULL AND (g.direction = 'in' OR g.reported_at IS NOT NULL)
     UNION ALL
     SELECT concat_ws(' ', s.direction, s.id, 'is', s.value_cents, 'in the statement and', m.value_cents, 'in the books'),
            abs(m.value_cents - s.value_cents), 'statement_differs', s.kind || ' ' || s.id
       FROM statement_entry s JOIN movement m ON m.direction = s.direction AND m.id = s.id
      WHERE s.outcome = 'DIFFERS'
        AND CASE s.direction WHEN 'in' THEN m.value_cents > s.value_cents ELSE m.value_cents < s.value_cents END
     UNION ALL
     SELECT concat_ws(' ', 'debit', s.id, 'of the statement is not in the books'), s.value_cents,
            'statement_unexplained', s.kind || ' ' || s.id
       FROM statement_entry s
      WHERE s.direction = 'out' AND s.settled_at IS NULL AND s.reported_at IS NOT NULL
   )
   SELECT concat(cents, ': ', what) AS what, (sum(cents) OVER ())::text AS total, (count(*) OVER ())::text AS count
     FROM found f
    WHERE NOT EXISTS (SELECT FROM "case" c
                       WHERE c.operation_id IS NULL AND c.kind = f.kind AND c.reference = f.reference
                         AND c.closed_at IS NOT NULL)
    ORDER BY cents DESC, f.what LIMIT ${EXAMPLES}`,
)

const selectReadAt = statement<[], { read_at: number | null }>(
  'ledger.verify.statement_read',
  'SELECT floor(extract(epoch FROM read_at) * 1000)::float8 AS read_at FROM statement_mark',
)

/**
 * Looks for money in the books that the bank did not confirm, among what its statement should have by now.
 * @param queries the snapshot of {@link verify}
 * @source rules#ledger.verify.6
 */
export async function unconfirmed(queries: Queries): Promise<Unconfirmed> {
  const [mark] = await queries.rows(selectReadAt, [])
  const rows = await queries.rows(selectUnconfirmed, [])
  return {
    readAt: mark?.read_at ?? null,
    count: Number(rows[0]?.count ?? 0),
    cents: BigInt(rows[0]?.total ?? 0),
    examples: rows.map(({ what }) => what),
  }
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
