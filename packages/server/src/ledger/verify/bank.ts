import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'

/** How the books compare with what the database has of the bank. Wide numbers come as text, as a snapshot reads them. */

/** A difference between the bank and the books that is a case, and that no operator has decided yet. */
export interface BankDifference {
  readonly caseId: string
  readonly kind: string
  /** Of a line of the statement its kind and id, of a movement of the books its direction and id. */
  readonly reference: string
  /** The operation that it is of, where one is known. */
  readonly operationId: string | null
  /** Centavos that differ, without sign; `null`: what the bank has cannot be read. */
  readonly cents: bigint | null
  /** Epoch milliseconds. */
  readonly openedAt: number
}

/** The part of the bank's statement that was compared with the books, by the bank's time, epoch milliseconds. */
export interface ReadStatement {
  readonly from: number
  readonly until: number
  /** How many movements it has. */
  readonly movements: number
}

/** The books and the bank's balance at the end of a day, centavos, as the newest close has them that knew the balance. */
export interface ComparedBalance {
  readonly day: string
  /** The end of that day, epoch milliseconds. */
  readonly at: number
  readonly bankCents: bigint
  readonly booksCents: bigint
  /** The bank's less the books'. */
  readonly differenceCents: bigint
  /** What of it neither the statement nor an open case explains. */
  readonly unexplainedCents: bigint
  /** The case about that; `null` where there is none. */
  readonly caseId: string | null
  /** Whether an operator has decided that case. */
  readonly isDecided: boolean
}

/** The books compared with the bank. */
export interface BankComparison {
  /** `null`: the statement was never read. */
  readonly statement: ReadStatement | null
  /** All of them, the largest first. */
  readonly differences: readonly BankDifference[]
  /** `null`: never compared. */
  readonly balance: ComparedBalance | null
  /** Adjustments that operators booked after that instant, and that no line of the statement explains; `cents` is their sum. */
  readonly adjustmentsSince: { readonly count: number; readonly cents: bigint }
}

const selectStatement = statement<[], { from: number; until: number; movements: string }>(
  'ledger.verify.statement',
  `SELECT floor(extract(epoch FROM read_from) * 1000)::float8 AS from,
          floor(extract(epoch FROM matched_until) * 1000)::float8 AS until,
          (SELECT count(*) FROM statement_entry)::text AS movements
     FROM statement_mark WHERE read_from IS NOT NULL AND matched_until IS NOT NULL`,
)

/** A case may say anything: what is no number is no amount. */
function centsIn(facts: string): string {
  return `CASE jsonb_typeof(${facts} -> 'valueCents') WHEN 'number' THEN (${facts} ->> 'valueCents')::numeric END`
}

/** The kinds of case of a difference between the bank and the books. */
const DIFFERENCES = "'unexplained_debit', 'line_missing', 'line_differs', 'statement_unreadable'"

/** A case is opened once a connector can be late no longer, and closes by itself where the difference ends. */
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

/** What a close leaves unexplained, later ones leave too until it ends: the case about it may be of an earlier day. */
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
 * Compares the books with the bank's statement and with the newest balance of the bank that a close has.
 * @param queries the snapshot in which the books are verified
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

/** Whether something differs that no operator has decided. @source rules#ledger.verify.6 */
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
