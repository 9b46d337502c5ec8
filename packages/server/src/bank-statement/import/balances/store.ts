import { type Database, instantParameter, type Queries, statement } from '../../../platform/db/database.ts'

/** All SQL of what files say the bank had at the end of each day, and of which of them contradict each other. */

/** What a file says the bank had when a day was over, epoch milliseconds and centavos. */
export interface DayBalance {
  readonly at: number
  readonly cents: bigint
}

/** A file that says otherwise than one before it what the bank had. */
export interface ContradictingFile {
  readonly id: string
  /** The days that they have otherwise, in their order: the first, the last, how many. */
  readonly first_day: string
  readonly last_day: string
  readonly days: number
}

const insertStatement = statement<[importId: string, at: readonly string[], cents: readonly string[]]>(
  'statement_import.balances',
  `INSERT INTO statement_import_balance (import_id, at, cents)
   SELECT $1, b.at, b.cents FROM unnest($2::timestamptz[], $3::bigint[]) AS b (at, cents)`,
)

/** Keeps them beside their file. */
export async function insertBalances(
  queries: Queries,
  importId: string,
  balances: readonly DayBalance[],
): Promise<void> {
  if (balances.length === 0) return
  const instants = balances.map(({ at }) => instantParameter(at))
  await queries.rows(insertStatement, [importId, instants, balances.map(({ cents }) => String(cents))])
}

/** What the reference of a case begins with that tells of such a file; the id of the file follows. */
export const BALANCES = 'balances '

const selectContradicting = statement<[], ContradictingFile>(
  'statement_import.contradicting_balances',
  `WITH claim AS (
     SELECT id, imported_at, until AS at, closing_cents AS cents FROM statement_import
     UNION ALL
     SELECT id, imported_at, since, opening_cents FROM statement_import
     UNION ALL
     SELECT i.id, i.imported_at, b.at, b.cents FROM statement_import_balance b JOIN statement_import i ON i.id = b.import_id
   ), contradicting AS (
     SELECT a.id, to_char((a.at - interval '1 second') AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS day
       FROM claim a
       JOIN claim b ON b.at = a.at AND b.cents <> a.cents AND (b.imported_at, b.id) < (a.imported_at, a.id)
   )
   SELECT c.id, min(c.day) AS first_day, max(c.day) AS last_day, count(DISTINCT c.day)::integer AS days
     FROM contradicting c
    WHERE NOT EXISTS (SELECT FROM "case" k
                       WHERE k.operation_id IS NULL AND k.kind = 'statement_differs'
                         AND k.reference = '${BALANCES}' || c.id)
    GROUP BY c.id ORDER BY c.id`,
)

/** Files that contradict one before them, and of which no case tells yet: whoever commits last sees the other. */
export function contradictingFiles(database: Database): Promise<ContradictingFile[]> {
  return database.rows(selectContradicting, [])
}
