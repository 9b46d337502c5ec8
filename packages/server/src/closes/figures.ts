import { type AccountCode, type JournalKind, type JournalTemplate, journals } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { DayBounds } from '../platform/sao-paulo.ts'
import {
  type DifferenceFigures,
  type Figures,
  type JournalFigures,
  LISTED_MAX,
  type OpenCase,
  type Tally,
} from './content.ts'
import { bankAt } from './store.ts'

/**
 * Which movement of the bank an entry of `settlement` is of. Most journals book one and say so; of the others it is told here.
 */

/** Kinds of journals that book on the account that stands for the bank. */
type OfSettlement = {
  [Kind in JournalKind]: Extract<(typeof journals)[Kind]['postings'][number], { account: 'settlement' }> extends never
    ? never
    : Kind
}[JournalKind]

/** Those of them that say themselves which way the money moved. */
type OfMovement = {
  [Kind in JournalKind]: (typeof journals)[Kind] extends { movement: 'in' | 'out' } ? Kind : never
}[JournalKind]

/**
 * The others, each with the direction in which the statement has what they name: a journal that is added without a word here does not
 * compile. `null`: they stand for no movement.
 */
export const BESIDE_MOVEMENTS: Readonly<Record<Exclude<OfSettlement, OfMovement>, 'in' | 'out' | null>> = {
  // What went back is held before it is known whose it is; then that is undone, and it is booked as what it is.
  return_held: 'out',
  return_known: 'out',
  // Handed over and attributed in the same instant: where it was booked first it stands for the movement still.
  arrival_handed_over: null,
  cash_in_attributed: null,
  // These are found by the operation and by the tariff's name.
  tariff_deducted: null,
  adjustment_credited: null,
  adjustment_debited: null,
  // Incoming money that nothing explains, under its id, until it is booked as what it is.
  held_arrived: 'in',
  held_explained: 'in',
  // A credit that the bank does not have, under its own id.
  credit_reversed: 'in',
  // Differences: their cases tell of them.
  difference_borne: null,
  difference_gained: null,
  difference_lost: null,
}

/** The direction that the statement has a journal's movement in; `null` where it stands for none. */
export function directionOf(kind: JournalKind): 'in' | 'out' | null {
  const { movement }: JournalTemplate = journals[kind]
  return movement ?? (Object.hasOwn(BESIDE_MOVEMENTS, kind) ? BESIDE_MOVEMENTS[kind as OfBeside] : null)
}

type OfBeside = keyof typeof BESIDE_MOVEMENTS

/** The same in SQL, of an entry `e`. */
const DIRECTION = `CASE WHEN e.journal IN (${listOf('in')}) THEN 'in' WHEN e.journal IN (${listOf('out')}) THEN 'out' END`

/** Journals, in SQL, that are booked before it is known which operation has the movement. */
export const BEFORE_KNOWN = `'return_held', 'return_known', 'held_arrived', 'held_explained'`

function listOf(direction: 'in' | 'out'): string {
  const kinds = Object.keys(journals) as JournalKind[]
  return kinds
    .filter((kind) => directionOf(kind) === direction)
    .map((kind) => `'${kind}'`)
    .join(', ')
}

/**
 * What the books and the bank's statement have of a day. All of it has to be read in one snapshot. Amounts come as text, as a
 * snapshot's connection has no parsers of ours.
 */

/** What an account has now, less what was booked since: right whatever was booked late, and for which day. */
const selectAccounts = statement<
  [from: string, to: string],
  { account: AccountCode; opening: string; closing: string }
>(
  'closes.accounts',
  `SELECT a.code AS account,
          (a.balance_cents - coalesce(s.since, 0) - coalesce(s.during, 0))::text AS opening,
          (a.balance_cents - coalesce(s.since, 0))::text AS closing
     FROM account a
     LEFT JOIN (SELECT account_id, sum(amount_cents) FILTER (WHERE at >= $2) AS since,
                       sum(amount_cents) FILTER (WHERE at < $2) AS during
                  FROM entry WHERE at >= $1 GROUP BY account_id) s ON s.account_id = a.id
    ORDER BY a.id`,
)

const selectJournals = statement<
  [from: string, to: string],
  { journal: string; account: AccountCode | null; count: number; cents: string }
>(
  'closes.journals',
  `SELECT e.journal, a.code AS account, count(DISTINCT (e.operation_id, e.reference))::integer AS count,
          sum(e.amount_cents)::text AS cents
     FROM entry e JOIN account a ON a.id = e.account_id
    WHERE e.at >= $1 AND e.at < $2
    GROUP BY GROUPING SETS ((e.journal), (e.journal, a.id, a.code))
    ORDER BY e.journal, a.id NULLS FIRST`,
)

const SIGNED = `CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END`

/** The account that stands for the bank. */
const SETTLEMENT = `(SELECT id FROM account WHERE code = 'settlement')`

/**
 * An entry is its movement's: of the operation that has it, or of one that held it before that was known. What another one booked
 * of the same movement is a difference, with a case.
 */
const IS_OF_MOVEMENT = `(e.journal IN (${BEFORE_KNOWN})
              OR EXISTS (SELECT FROM movement m
                          WHERE m.direction = ${DIRECTION} AND m.id = e.reference AND m.operation_id = e.operation_id))`

/** What a case about an entry of the statement is known by. */
const ENTRY_CASE = `s.kind || ' ' || s.id`

const TARIFF_ID = `CASE WHEN s.id = s.reference THEN '' ELSE s.id END`

/** Booked after the day, and of the day to the bank. */
const selectLater = statement<[to: string], { count: number; cents: string }>(
  'closes.booked_later',
  `SELECT count(*)::integer AS count, coalesce(-sum(e.amount_cents), 0)::text AS cents
     FROM entry e
    WHERE e.account_id = ${SETTLEMENT} AND e.at >= $1
      AND (e.reference <> '' AND ${IS_OF_MOVEMENT}
           AND EXISTS (SELECT FROM statement_entry s
                        WHERE s.direction = ${DIRECTION} AND s.id = e.reference AND s.kind <> 'TARIFF'
                          AND s.occurred_at < $1)
           OR e.journal LIKE 'adjustment%'
           AND EXISTS (SELECT FROM statement_entry s
                        WHERE s.outcome = 'KEPT' AND s.operation_id = e.operation_id AND s.occurred_at < $1)
           OR e.journal = 'tariff_deducted'
           AND EXISTS (SELECT FROM statement_entry s
                        WHERE s.direction = 'out' AND s.kind = 'TARIFF' AND s.occurred_at < $1
                          AND s.id = CASE e.reference WHEN '' THEN (SELECT o.order_id FROM operation o WHERE o.id = e.operation_id)
                                              ELSE e.reference END))`,
)

/** Booked by the end of the day, and after it to the bank. */
const selectEarlier = statement<[to: string], { count: number; cents: string }>(
  'closes.booked_earlier',
  `WITH line AS MATERIALIZED (SELECT * FROM statement_entry WHERE occurred_at >= $1)
   SELECT count(*)::integer AS count, coalesce(sum(b.amount_cents), 0)::text AS cents
     FROM (SELECT e.amount_cents
             FROM line s
             JOIN movement m ON m.direction = s.direction AND m.id = s.id
             JOIN entry e ON e.operation_id = m.operation_id AND e.reference = s.id AND e.account_id = ${SETTLEMENT}
                         AND s.direction = ${DIRECTION}
            WHERE s.kind <> 'TARIFF' AND e.at < $1
           UNION ALL
           SELECT e.amount_cents
             FROM line s
             JOIN operation o ON o.kind = 'adjustment' AND o.detail ? 'about' AND o.detail ->> 'about' = 'movement ' || ${ENTRY_CASE}
             JOIN entry e ON e.operation_id = o.id AND e.reference = s.id AND e.account_id = ${SETTLEMENT} AND e.at < $1
                         AND e.journal IN ('held_arrived', 'held_explained')
            WHERE s.direction = 'in'
           UNION ALL
           SELECT e.amount_cents
             FROM line s
             JOIN entry e ON e.operation_id = s.operation_id AND e.account_id = ${SETTLEMENT} AND e.at < $1
            WHERE s.kind <> 'TARIFF' AND s.outcome = 'KEPT' AND e.journal LIKE 'adjustment%'
           UNION ALL
           SELECT e.amount_cents
             FROM line s
             JOIN entry e ON e.operation_id = s.operation_id AND e.journal = 'tariff_deducted' AND e.at < $1
                         AND e.reference = ${TARIFF_ID} AND e.account_id = ${SETTLEMENT}
            WHERE s.kind = 'TARIFF' AND s.operation_id IS NOT NULL) b`,
)

const selectKept = statement<[to: string], { count: number; cents: string }>(
  'closes.kept',
  `SELECT count(*)::integer AS count, coalesce(sum(${SIGNED}), 0)::text AS cents
     FROM statement_entry s WHERE s.outcome = 'KEPT' AND s.operation_id IS NULL AND s.occurred_at < $1`,
)

interface DifferenceRow {
  readonly kind: string
  readonly reference: string
  readonly cents: string
  readonly caseId: string | null
  readonly isOpen: boolean
}

/** A case that stood when the day ended, whatever became of it since: the same day told again is told the same. */
const STOOD = `(c.closed_at IS NULL OR c.closed_at >= $1)`

/** A return that is held, as nobody knows yet whose it is, is in the books. */
const IS_HELD = `EXISTS (SELECT FROM "case" c JOIN entry e ON e.operation_id = c.operation_id AND e.reference = s.id
                          WHERE c.kind = 'return_unexplained' AND c.reference = s.id AND ${STOOD}
                            AND s.direction = 'out' AND e.journal = 'return_held' AND e.at < $1)`

/** Incoming money that nothing explained is in the books, whenever it was booked: its timing counts as that of any other line. */
const IS_HELD_CREDIT = `EXISTS (SELECT FROM operation o
                                 WHERE s.direction = 'in' AND o.kind = 'adjustment' AND o.detail ? 'about' AND o.status <> 'EXPLAINED'
                                   AND o.detail ->> 'about' = 'movement ' || ${ENTRY_CASE})`

/** Of what the statement has otherwise, or at all, of what it has not, and of what two operations have: as it was when the day ended. */
const selectDifferences = statement<[to: string], DifferenceRow>(
  'closes.differences',
  `WITH found AS (
     SELECT CASE s.direction WHEN 'in' THEN 'unexplained_credit' ELSE 'unexplained_debit' END AS kind, ${ENTRY_CASE} AS reference, ${SIGNED} AS cents, NULL::uuid AS operation_id
       FROM statement_entry s
      WHERE s.settled_at IS NULL AND s.occurred_at < $1
        AND (s.kind = 'TARIFF'
             OR NOT EXISTS (SELECT FROM movement m WHERE m.direction = s.direction AND m.id = s.id) AND NOT ${IS_HELD}
                AND NOT ${IS_HELD_CREDIT})
     UNION ALL
     SELECT 'line_differs', ${ENTRY_CASE},
            ${SIGNED} + coalesce((SELECT sum(e.amount_cents)
                                    FROM movement m
                                    JOIN entry e ON e.operation_id = m.operation_id AND e.reference = s.id
                                                AND e.account_id = ${SETTLEMENT} AND s.direction = ${DIRECTION}
                                   WHERE m.direction = s.direction AND m.id = s.id), 0), NULL
       FROM statement_entry s WHERE s.outcome = 'DIFFERS' AND s.occurred_at < $1
     UNION ALL
     SELECT 'line_missing', g.direction || ' ' || g.id, sum(e.amount_cents), NULL
       FROM statement_gap g
       JOIN entry e ON e.operation_id = g.operation_id AND e.reference = g.id AND e.account_id = ${SETTLEMENT}
                   AND g.direction = ${DIRECTION} AND e.at < $1
      WHERE g.filled_at IS NULL
      GROUP BY g.direction, g.id
   )
   SELECT f.kind, f.reference, f.cents::text AS cents, c.id::text AS "caseId",
          -- What has no case will have one.
          c.id IS NULL OR ${STOOD} AS "isOpen"
     FROM found f
     LEFT JOIN "case" c ON c.operation_id IS NOT DISTINCT FROM f.operation_id AND c.kind = f.kind
                       AND c.reference = f.reference
    WHERE f.cents <> 0
    ORDER BY abs(f.cents) DESC, f.kind, f.reference`,
)

const selectOpenCases = statement<
  [limit: number],
  { id: string; kind: string; operationId: string | null; cents: string | null; count: number }
>(
  'closes.open_cases',
  `SELECT id::text AS id, kind, operation_id::text AS "operationId",
          CASE jsonb_typeof(facts -> 'valueCents') WHEN 'number' THEN facts ->> 'valueCents' END AS cents,
          (count(*) OVER ())::integer AS count
     FROM "case" WHERE closed_at IS NULL ORDER BY opened_at, id LIMIT $1`,
)

/** Reads a day, in the snapshot that `queries` are of. @source rules#close.1, rules#close.3 */
export async function readFigures(queries: Queries, { from, to }: DayBounds): Promise<Figures> {
  const [start, end] = [instantParameter(from), instantParameter(to)]
  const accounts = await queries.rows(selectAccounts, [start, end])
  const journals = await queries.rows(selectJournals, [start, end])
  const bank = await bankAt(queries, end)
  const later = tallyOf(await queries.rows(selectLater, [end]))
  const earlier = tallyOf(await queries.rows(selectEarlier, [end]))
  const kept = tallyOf(await queries.rows(selectKept, [end]))
  const differences = await queries.rows(selectDifferences, [end])
  const openCases = await queries.rows(selectOpenCases, [LISTED_MAX])
  return {
    accounts: accounts.map(({ account, opening, closing }) => ({
      account,
      openingCents: BigInt(opening),
      closingCents: BigInt(closing),
    })),
    journals: journalsOf(journals),
    bank,
    timing: { count: later.count + earlier.count, cents: later.cents + earlier.cents },
    kept,
    differences: differences.map(differenceOf),
    openCases: { count: openCases[0]?.count ?? 0, cases: openCases.map(openCaseOf) },
  }
}

function tallyOf([row]: readonly { count: number; cents: string }[]): Tally {
  return { count: row?.count ?? 0, cents: BigInt(row?.cents ?? 0) }
}

function journalsOf(
  rows: readonly { journal: string; account: AccountCode | null; count: number; cents: string }[],
): JournalFigures[] {
  return rows
    .filter(({ account }) => account === null)
    .map(({ journal, count }) => ({
      journal,
      count,
      accounts: rows.flatMap((row) =>
        row.journal === journal && row.account !== null ? [{ account: row.account, cents: BigInt(row.cents) }] : [],
      ),
    }))
}

function differenceOf({ cents, ...row }: DifferenceRow): DifferenceFigures {
  return { ...row, cents: BigInt(cents) }
}

function openCaseOf({ id, kind, operationId, cents }: { cents: string | null } & Omit<OpenCase, 'amountCents'>) {
  const amountCents = cents !== null && /^-?\d+$/.test(cents) ? BigInt(cents) : null
  return { id, kind, operationId, amountCents }
}
