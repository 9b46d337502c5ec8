import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'

/** Compares the books with the bank's data in the database. Large numbers are text, as a snapshot reads them. */

/** A difference with an undecided case. */
export interface BankDifference {
  readonly caseId: string
  readonly kind: string
  /** Kind and id of a line, or direction and id of a movement. */
  readonly reference: string
  readonly operationId: string | null
  /** Absolute value; `null`: unreadable at the bank. */
  readonly cents: bigint | null
  /** Epoch milliseconds. */
  readonly openedAt: number
}

/** Reconciled part of the bank's statement, by the bank's clock, epoch milliseconds. */
export interface ReadStatement {
  readonly from: number
  readonly until: number
  readonly movements: number
}

/** Balances of the newest close with a bank balance, centavos. */
export interface ComparedBalance {
  readonly day: string
  readonly at: number
  readonly bankCents: bigint
  readonly booksCents: bigint
  /** Bank minus books. */
  readonly differenceCents: bigint
  /** Part explained by neither the statement nor an open case. */
  readonly unexplainedCents: bigint
  readonly caseId: string | null
  readonly isDecided: boolean
}

export interface BankComparison {
  /** `null`: never read. */
  readonly statement: ReadStatement | null
  /** Largest first. */
  readonly differences: readonly BankDifference[]
  /** `null`: never compared. */
  readonly balance: ComparedBalance | null
  /** Adjustments booked after that instant that no line of the statement explains; `cents` is their sum. */
  readonly adjustmentsSince: { readonly count: number; readonly cents: bigint }
}

const selectStatement = statement<[], { from: number; until: number; movements: string }>(
  'ledger.verify.statement',
  `SELECT floor(extract(epoch FROM read_from) * 1000)::float8 AS from,
          floor(extract(epoch FROM matched_until) * 1000)::float8 AS until,
          (SELECT count(*) FROM statement_entry)::text AS movements
     FROM statement_mark WHERE read_from IS NOT NULL AND matched_until IS NOT NULL`,
)

/** Case facts are free-form: a non-number is no amount. */
function centsIn(facts: string): string {
  return `CASE jsonb_typeof(${facts} -> 'valueCents') WHEN 'number' THEN (${facts} ->> 'valueCents')::numeric END`
}

const DIFFERENCES = "'unexplained_debit', 'line_missing', 'line_differs', 'statement_unreadable'"

/** A case opens after the connector's delay, and closes when the difference vanishes. */
const selectDifferences = statement<
  [],
  { id: string; kind: string; reference: string; operation: string | null; cents: string | null; opened: number }
>(
  'ledger.verify.bank_differences',
  `SELECT id::text AS id, kind, reference, facts ->> 'operationId' AS operation,
          trunc(cents)::text AS cents, floor(extract(epoch FROM opened_at) * 1000)::float8 AS opened
     FROM (SELECT c.*,
                  CASE WHEN kind <> 'statement_unreadable' THEN coalesce(
                    CASE kind WHEN 'line_differs' THEN nullif(
                      abs(${centsIn('facts')} - coalesce(${centsIn("facts -> 'booked'")}, ${centsIn("facts -> 'before'")})), 0) END,
                    amount_cents) END AS cents
             FROM "case" c
            WHERE closed_at IS NULL
              AND (operation_id IS NULL AND kind IN (${DIFFERENCES}) OR kind = 'unexplained_credit')) d
    ORDER BY d.cents DESC NULLS FIRST, d.opened_at, d.id`,
)

interface BalanceRow {
  readonly day: string
  readonly at: string
  readonly bank: string
  readonly books: string
  readonly difference: string
  readonly unexplained: string
  readonly case_id: string | null
  readonly is_decided: boolean | null
}

/** An unexplained rest persists in later closes, so its case may be of an earlier day. */
const selectBalance = statement<[], BalanceRow>(
  'ledger.verify.bank_balance',
  `SELECT d.day, d.content ->> 'to' AS at, d.content #>> '{bank,closingCents}' AS bank, d.content ->> 'booksCents' AS books,
          d.content ->> 'differenceCents' AS difference, d.content ->> 'unexplainedCents' AS unexplained,
          c.id::text AS case_id, c.is_decided
     FROM (SELECT k.day::text AS day, k.content::jsonb AS content FROM daily_close k
            WHERE k.content::jsonb ->> 'unexplainedCents' IS NOT NULL ORDER BY k.day DESC LIMIT 1) d
     LEFT JOIN LATERAL (
       SELECT k.id, k.closed_at IS NOT NULL
                    AND EXISTS (SELECT FROM case_step s WHERE s.case_id = k.id AND s.step IN ('decided', 'approved')) AS is_decided
         FROM "case" k
        WHERE k.operation_id IS NULL AND k.kind = 'close_differs' AND d.content ->> 'unexplainedCents' <> '0'
          AND k.facts ->> 'valueCents' = d.content ->> 'unexplainedCents'
        ORDER BY k.opened_at DESC, k.id DESC LIMIT 1) c ON true`,
)

const selectAdjustments = statement<[since: string | null], { count: string; cents: string }>(
  'ledger.verify.adjustments_since',
  `SELECT count(*)::text AS count,
          coalesce(sum(CASE status WHEN 'CREDITED' THEN value_cents ELSE -value_cents END), 0)::text AS cents
     FROM operation o
    WHERE kind = 'adjustment' AND status IN ('CREDITED', 'DEBITED') AND NOT detail ? 'about' AND ($1::timestamptz IS NULL OR created_at >= $1)
      AND NOT EXISTS (SELECT FROM statement_entry s WHERE s.outcome = 'KEPT' AND s.operation_id = o.id)`,
)

/**
 * Compares the books with the bank's statement, and with the bank's balance of the newest close.
 * @param queries the snapshot of the verification
 * @source rules#ledger.verify.6
 */
export async function compareWithBank(queries: Queries): Promise<BankComparison> {
  const [read] = await queries.rows(selectStatement, [])
  const differences = await queries.rows(selectDifferences, [])
  const balance = (await queries.rows(selectBalance, [])).map(balanceOf)[0] ?? null
  const since = balance === null ? null : instantParameter(balance.at)
  const [adjustments] = await queries.rows(selectAdjustments, [since])
  return {
    statement: read ? { ...read, movements: Number(read.movements) } : null,
    differences: differences.map(({ id, operation, cents, opened, ...row }) => ({
      ...row,
      caseId: id,
      operationId: operation,
      cents: cents === null ? null : BigInt(cents),
      openedAt: opened,
    })),
    balance,
    adjustmentsSince: { count: Number(adjustments?.count ?? 0), cents: BigInt(adjustments?.cents ?? 0) },
  }
}

/** An undecided difference exists. @source rules#ledger.verify.6 */
export function isUndecided({ differences, balance }: BankComparison): boolean {
  return differences.length > 0 || (balance !== null && balance.unexplainedCents !== 0n && !balance.isDecided)
}

function balanceOf(row: BalanceRow): ComparedBalance {
  return {
    day: row.day,
    at: Date.parse(row.at),
    bankCents: BigInt(row.bank),
    booksCents: BigInt(row.books),
    differenceCents: BigInt(row.difference),
    unexplainedCents: BigInt(row.unexplained),
    caseId: row.case_id,
    isDecided: row.is_decided ?? false,
  }
}
