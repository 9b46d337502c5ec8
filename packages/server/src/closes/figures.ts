import {
  type AccountCode,
  type getClose,
  type JournalKind,
  type JournalTemplate,
  journals,
  limits,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import type { UnlistedFees } from '../banks/port.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { DayBounds } from '../platform/sao-paulo.ts'

/** The figures of a day: read from the database in one snapshot, and made into the content of its close. */

type View = Static<(typeof getClose)['responses'][200]['schema']>

/** The content of a close: the JSON that is stored, hashed and exported. */
export type CloseContent = Omit<View, 'madeAt' | 'hash' | 'journals'> & {
  readonly journals: Omit<View['journals'][number], 'meaning'>[]
}

/** Figures of a day as the database has them, in one snapshot. Amounts in signed centavos. */
export interface Figures
  extends Pick<CloseContent, 'accounts' | 'reservations' | 'journals' | 'timing' | 'kept' | 'openCases'> {
  /** The bank's balance at the end of the day, and the most that the bank may have deducted from it; `null`: unknown. */
  readonly bank: { readonly closingCents: number; readonly setAsideCents: number } | null
  /** Differences between bank and books that an open case explains, or that have no case yet. */
  readonly differences: CloseContent['explained']['cases']
  readonly carried: Carried
}

/** The unexplained difference at the end of the last earlier day on which it is known, and the movements since then. */
export interface Carried {
  readonly cents: number
  readonly count: number
  /** Sum of their absolute amounts. */
  readonly movedCents: number
}

/** Most items of a list in a close; the count beside it is of all. */
const LISTED_MAX = 100

/** A day with the bounds of its close. */
export interface DayToClose extends DayBounds {
  readonly day: string
}

/** Makes the content of a close. Pure. @source rules#close.1, rules#close.3 */
export function contentOf({ day, from, to }: DayToClose, figures: Figures): CloseContent {
  const { accounts, reservations, journals, timing, kept, differences, carried, openCases } = figures
  const booksCents = 0 - (accounts.find(({ account }) => account === 'settlement')?.closingCents ?? 0)
  const explainedCents = differences.reduce((sum, { cents }) => sum + cents, 0)
  const expectedCents = booksCents + timing.cents + kept.cents + explainedCents
  const closingCents = figures.bank && closingOf(figures.bank, [expectedCents, expectedCents + carried.cents])
  const unexplainedCents = closingCents === null ? null : closingCents - expectedCents
  const isNews = unexplainedCents !== null && unexplainedCents !== 0 && unexplainedCents !== carried.cents
  return {
    id: day,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    status: statusOf(unexplainedCents, differences.length),
    accounts,
    journals,
    reservations,
    bank: closingCents === null ? null : { closingCents },
    booksCents,
    differenceCents: closingCents === null ? null : closingCents - booksCents,
    timing,
    kept,
    explained: { count: differences.length, cents: explainedCents, cases: differences.slice(0, LISTED_MAX) },
    unexplainedCents,
    caseReference: isNews ? day : null,
    openCases,
  }
}

/**
 * The bank's balance at the end of the day. The bank may have deducted all, part or none of what is set aside, so the balance is a range.
 * @param expected the balance with nothing unexplained, and with what was unexplained before
 * @returns the end of the range that is expected, else the end nearer to it; `null`: what is expected lies inside the range
 * @source rules#close.12
 */
function closingOf(
  { closingCents: least, setAsideCents }: NonNullable<Figures['bank']>,
  expected: readonly number[],
): number | null {
  const most = least + setAsideCents
  if (least === most || expected.includes(least)) return least
  if (expected.includes(most) || expected.every((cents) => cents > most)) return most
  return expected.every((cents) => cents < least) ? least : null
}

function statusOf(unexplainedCents: number | null, explaining: number): CloseContent['status'] {
  if (unexplainedCents === null) return 'UNCONFIRMED'
  if (unexplainedCents !== 0) return 'DIFFERS'
  return explaining > 0 ? 'EXPLAINED' : 'BALANCED'
}

/**
 * Whether the bank lacks more than at the last close of which it is known, by more than the unlisted fees of the movements since.
 * @source rules#trip-wire.9
 */
export function lacksMore(
  unexplainedCents: number | null,
  { cents, count, movedCents }: Carried,
  fees: UnlistedFees = { centsPerMovement: 0n, percent: 0n },
): boolean {
  if (unexplainedCents === null) return false
  const allowedCents = BigInt(count) * fees.centsPerMovement + (BigInt(movedCents) * fees.percent) / 100n
  return BigInt(cents - unexplainedCents) > allowedCents
}

/** Kinds of journals that book on `settlement`, the account that stands for the bank. */
type OfSettlement = {
  [Kind in JournalKind]: Extract<(typeof journals)[Kind]['postings'][number], { account: 'settlement' }> extends never
    ? never
    : Kind
}[JournalKind]

/** Those whose template has the direction of the bank's movement. */
type OfMovement = {
  [Kind in JournalKind]: (typeof journals)[Kind] extends { movement: 'in' | 'out' } ? Kind : never
}[JournalKind]

/**
 * The others, with the direction of the line that the statement has for them; `null`: none. A journal that is added without a line
 * here does not compile.
 */
export const BESIDE_MOVEMENTS: Readonly<Record<Exclude<OfSettlement, OfMovement>, 'in' | 'out' | null>> = {
  // A return is held until its operation is known, then released and booked there.
  return_held: 'out',
  return_known: 'out',
  // Handed over and attributed in the same instant: the first booking stands for the movement.
  arrival_handed_over: null,
  cash_in_attributed: null,
  // Their lines are found by the operation, and a tariff's by its id.
  tariff_deducted: null,
  adjustment_credited: null,
  adjustment_debited: null,
  // Unexplained incoming money, under its id, until it is explained.
  held_arrived: 'in',
  held_explained: 'in',
  // A credit that the bank does not have, under its own id.
  credit_reversed: 'in',
  // Differences, which have cases.
  difference_borne: null,
  difference_gained: null,
  difference_lost: null,
}

/** Direction of the statement's line for a journal; `null`: none. */
export function directionOf(kind: JournalKind): 'in' | 'out' | null {
  const { movement }: JournalTemplate = journals[kind]
  return movement ?? (Object.hasOwn(BESIDE_MOVEMENTS, kind) ? BESIDE_MOVEMENTS[kind as OfBeside] : null)
}

type OfBeside = keyof typeof BESIDE_MOVEMENTS

/** The same in SQL, for an entry `e`. */
const DIRECTION = `CASE WHEN e.journal IN (${listOf('in')}) THEN 'in' WHEN e.journal IN (${listOf('out')}) THEN 'out' END`

/** Journals that are booked before it is known which operation has the movement. */
export const BEFORE_KNOWN = `'return_held', 'return_known', 'held_arrived', 'held_explained'`

function listOf(direction: 'in' | 'out'): string {
  const kinds = Object.keys(journals) as JournalKind[]
  return kinds
    .filter((kind) => directionOf(kind) === direction)
    .map((kind) => `'${kind}'`)
    .join(', ')
}

/** An account over a period. */
export interface AccountOfPeriod {
  readonly id: number
  readonly account: AccountCode
  readonly publicId: string
  readonly openingCents: bigint
  readonly closingCents: bigint
  /** Its entries of the period have versions above the one and up to the other. */
  readonly versions: { readonly after: bigint; readonly upTo: bigint }
}

/** The balance now less the entries since: right however late something was booked. Wide numbers as text: a snapshot has no parser. */
const selectAccounts = statement<
  [from: string, to: string],
  { id: number; account: AccountCode; publicId: string; opening: string; closing: string; after: string; upTo: string }
>(
  'closes.accounts',
  `SELECT a.id, a.code AS account, a.public_id::text AS "publicId",
          (a.balance_cents - coalesce(s.since, 0) - coalesce(s.during, 0))::text AS opening,
          (a.balance_cents - coalesce(s.since, 0))::text AS closing,
          (coalesce(s.first, 1) - 1)::text AS after, coalesce(s.last, 0)::text AS "upTo"
     FROM account a
     LEFT JOIN (SELECT account_id, sum(amount_cents) FILTER (WHERE at >= $2) AS since,
                       sum(amount_cents) FILTER (WHERE at < $2) AS during,
                       min(version) FILTER (WHERE at < $2) AS first, max(version) FILTER (WHERE at < $2) AS last
                  FROM entry WHERE at >= $1 GROUP BY account_id) s ON s.account_id = a.id
    ORDER BY a.id`,
)

/** Every account over a period. @param queries a snapshot */
export async function accountsOf(queries: Queries, { from, to }: DayBounds): Promise<AccountOfPeriod[]> {
  const rows = await queries.rows(selectAccounts, [instantParameter(from), instantParameter(to)])
  return rows.map(({ opening, closing, after, upTo, ...row }) => ({
    ...row,
    openingCents: BigInt(opening),
    closingCents: BigInt(closing),
    versions: { after: BigInt(after), upTo: BigInt(upTo) },
  }))
}

/** A tally of rows with `cents`. */
const TALLY = `json_build_object('count', count(*), 'cents', coalesce(sum(cents), 0))`

const SIGNED = `CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END`

/** The account that stands for the bank. */
const SETTLEMENT = `(SELECT id FROM account WHERE code = 'settlement')`

const JOURNALS = `SELECT coalesce(json_agg(json_build_object('journal', journal, 'count', count, 'accounts', accounts) ORDER BY journal), '[]')
     FROM (SELECT journal, max(count) FILTER (WHERE id IS NULL) AS count,
                  json_agg(json_build_object('account', code, 'cents', cents) ORDER BY id) FILTER (WHERE id IS NOT NULL) AS accounts
             FROM (SELECT e.journal, a.id, a.code, count(DISTINCT (e.operation_id, e.reference)) AS count,
                          sum(e.amount_cents) AS cents
                     FROM entry e JOIN account a ON a.id = e.account_id
                    WHERE e.at >= $1 AND e.at < $2
                    GROUP BY GROUPING SETS ((e.journal), (e.journal, a.id, a.code))) g
            GROUP BY journal) j`

/** Operations that reserve money at the end of the day: those of the close before, changed by the entries since. @source rules#close.14 */
const RESERVING = `SELECT coalesce((SELECT (content::jsonb #>> '{reservations,count}')::integer
                      FROM daily_close WHERE day < $3::date ORDER BY day DESC LIMIT 1), 0)
          + coalesce(sum((before + during <> 0)::integer - (before <> 0)::integer), 0)
     FROM (SELECT sum(e.amount_cents) AS during,
                  coalesce((SELECT sum(p.amount_cents) FROM entry p
                             WHERE p.operation_id = e.operation_id AND p.account_id = e.account_id AND p.at < $1), 0) AS before
             FROM entry e
            WHERE e.account_id = (SELECT id FROM account WHERE code = 'reserved') AND e.at >= $1 AND e.at < $2
            GROUP BY e.operation_id, e.account_id) r`

/** The clocks of bank and service may differ by this. */
const SKEW = `interval '${limits.statementClockSkewMs} ms'`

/** End of what a balance includes: `as_of` counts whole. */
const AFTER = `b.as_of + interval '1 ms'`

/**
 * Comparable balances `b` since the end of a day: the statement is read and matched up to each. Without `as_of` a movement near the
 * reading may or may not be included, so there must be none within the clock skew.
 */
const comparable = (dayEnd: string) => `bank_balance b, statement_mark m
    WHERE coalesce(b.as_of, b.read_at) >= ${dayEnd} AND m.matched_until >= coalesce(${AFTER}, b.read_at + ${SKEW})
      AND (b.as_of IS NOT NULL
           OR NOT EXISTS (SELECT FROM statement_entry s
                           WHERE s.occurred_at >= b.read_at - ${SKEW} AND s.occurred_at < b.read_at + ${SKEW}))`

/** Prefers a balance with nothing set aside, then the first. Subtracts the movements between the end of the day and the balance. */
const BANK = `SELECT json_build_object('closingCents', b.available_cents
             - coalesce((SELECT sum(${SIGNED}) FROM statement_entry s
                          WHERE s.occurred_at >= $2 AND s.occurred_at < coalesce(${AFTER}, b.read_at)), 0),
             'setAsideCents', b.set_aside_cents)
     FROM ${comparable('$2')}
    ORDER BY b.set_aside_cents <> 0, b.read_at LIMIT 1`

/** Reference of the case about a line of the statement. */
const LINE_CASE = `s.kind || ' ' || s.id`

/**
 * An entry is of the operation that has its movement, or of one that held the money before that was known. Another operation's entry
 * of the same movement is a difference, with a case.
 */
const IS_OF_MOVEMENT = `(e.journal IN (${BEFORE_KNOWN})
              OR EXISTS (SELECT FROM movement m
                          WHERE m.direction = ${DIRECTION} AND m.id = e.reference AND m.operation_id = e.operation_id))`

/** Entries after the day of which the statement has the line by its end. */
const BOOKED_LATER = `SELECT -e.amount_cents AS cents
     FROM entry e
    WHERE e.account_id = ${SETTLEMENT} AND e.at >= $2
      AND (e.reference <> '' AND ${IS_OF_MOVEMENT}
           AND EXISTS (SELECT FROM statement_entry s
                        WHERE s.direction = ${DIRECTION} AND s.id = e.reference AND s.kind <> 'TARIFF'
                          AND s.occurred_at < $2)
           OR e.journal LIKE 'adjustment%'
           AND EXISTS (SELECT FROM statement_entry s
                        WHERE s.outcome = 'KEPT' AND s.operation_id = e.operation_id AND s.occurred_at < $2)
           OR e.journal = 'tariff_deducted'
           AND EXISTS (SELECT FROM statement_entry s
                        WHERE s.direction = 'out' AND s.kind = 'TARIFF' AND s.occurred_at < $2
                          AND s.id = CASE e.reference WHEN '' THEN (SELECT o.order_id FROM operation o WHERE o.id = e.operation_id)
                                              ELSE e.reference END))`

/** Entries by the end of the day of which the statement has the line after it. One for each way from a line to its entry. */
const BOOKED_EARLIER = [
  `JOIN movement m ON m.direction = s.direction AND m.id = s.id
   JOIN entry e ON e.operation_id = m.operation_id AND e.reference = s.id AND s.direction = ${DIRECTION}
    WHERE s.kind <> 'TARIFF'`,
  `JOIN operation o ON o.kind = 'adjustment' AND o.detail ? 'about' AND o.detail ->> 'about' = 'movement ' || ${LINE_CASE}
   JOIN entry e ON e.operation_id = o.id AND e.reference = s.id AND e.journal IN ('held_arrived', 'held_explained')
    WHERE s.direction = 'in'`,
  `JOIN entry e ON e.operation_id = s.operation_id AND e.journal LIKE 'adjustment%'
    WHERE s.kind <> 'TARIFF' AND s.outcome = 'KEPT'`,
  `JOIN entry e ON e.operation_id = s.operation_id AND e.journal = 'tariff_deducted'
               AND e.reference = CASE WHEN s.id = s.reference THEN '' ELSE s.id END
    WHERE s.kind = 'TARIFF'`,
].map((way) => `SELECT e.amount_cents FROM later_line s ${way} AND e.account_id = ${SETTLEMENT} AND e.at < $2`)

/** A case that was open when the day ended, whatever became of it since. */
const WAS_OPEN = `(c.closed_at IS NULL OR c.closed_at >= $2)`

/** A return held until its operation is known is in the books, even if it was held after midnight. */
const IS_HELD_RETURN = `EXISTS (SELECT FROM "case" c JOIN entry e ON e.operation_id = c.operation_id AND e.reference = s.id
                          WHERE c.kind = 'return_unexplained' AND c.reference = s.id AND ${WAS_OPEN}
                            AND s.direction = 'out' AND e.journal = 'return_held')`

/** Unexplained incoming money is in the books, whenever it was booked: its timing counts as that of any other line. */
const IS_HELD_CREDIT = `EXISTS (SELECT FROM operation o
                                 WHERE s.direction = 'in' AND o.kind = 'adjustment' AND o.detail ? 'about' AND o.status <> 'EXPLAINED'
                                   AND o.detail ->> 'about' = 'movement ' || ${LINE_CASE})`

/** Lines without an entry, lines with another amount, and entries without a line: as it was when the day ended. */
const DIFFERENCES = `SELECT CASE s.direction WHEN 'in' THEN 'unexplained_credit' ELSE 'unexplained_debit' END AS kind,
            ${LINE_CASE} AS reference, ${SIGNED} AS cents
       FROM statement_entry s
      WHERE s.settled_at IS NULL AND s.occurred_at < $2
        AND (s.kind = 'TARIFF'
             OR NOT EXISTS (SELECT FROM movement m WHERE m.direction = s.direction AND m.id = s.id)
                AND NOT ${IS_HELD_RETURN} AND NOT ${IS_HELD_CREDIT})
     UNION ALL
     SELECT 'line_differs', ${LINE_CASE},
            ${SIGNED} + coalesce((SELECT sum(e.amount_cents)
                                    FROM movement m
                                    JOIN entry e ON e.operation_id = m.operation_id AND e.reference = s.id
                                                AND e.account_id = ${SETTLEMENT} AND s.direction = ${DIRECTION}
                                   WHERE m.direction = s.direction AND m.id = s.id), 0)
       FROM statement_entry s WHERE s.outcome = 'DIFFERS' AND s.occurred_at < $2
     UNION ALL
     SELECT 'line_missing', g.direction || ' ' || g.id, sum(e.amount_cents)
       FROM statement_gap g
       JOIN entry e ON e.operation_id = g.operation_id AND e.reference = g.id AND e.account_id = ${SETTLEMENT}
                   AND g.direction = ${DIRECTION} AND e.at < $2
      WHERE g.filled_at IS NULL
      GROUP BY g.direction, g.id`

const OPEN_CASES = `SELECT json_build_object('count', coalesce(max(total), 0), 'cases', coalesce(json_agg(
            json_build_object('id', id, 'kind', kind, 'operationId', operation_id, 'amountCents', amount_cents)
            ORDER BY opened_at, id), '[]'))
     FROM (SELECT id, kind, operation_id, amount_cents, opened_at, count(*) OVER () AS total
             FROM "case" WHERE closed_at IS NULL ORDER BY opened_at, id LIMIT ${LISTED_MAX}) c`

/** All figures but the accounts, which a period of any length has too. */
const selectFigures = statement<
  [from: string, to: string, day: string],
  Omit<Figures, 'accounts' | 'reservations'> & { reserving: number }
>(
  'closes.figures',
  `WITH later_line AS MATERIALIZED (SELECT * FROM statement_entry WHERE occurred_at >= $2),
   known AS (
     SELECT (content::jsonb ->> 'unexplainedCents')::bigint AS cents, (content::jsonb ->> 'to')::timestamptz AS until
       FROM daily_close WHERE day < $3::date AND content::jsonb ->> 'unexplainedCents' IS NOT NULL ORDER BY day DESC LIMIT 1
   ),
   difference AS (
     SELECT c.id AS "caseId", f.kind, f.reference, f.cents
       FROM (${DIFFERENCES}) f
       LEFT JOIN "case" c ON c.operation_id IS NULL AND c.kind = f.kind AND c.reference = f.reference
      -- A difference without a case will have one.
      WHERE f.cents <> 0 AND (c.id IS NULL OR ${WAS_OPEN})
   )
   SELECT (${JOURNALS}) AS journals, (${BANK}) AS bank, (${RESERVING})::integer AS reserving,
          (SELECT ${TALLY} FROM (${[BOOKED_LATER, ...BOOKED_EARLIER].join(' UNION ALL ')}) t) AS timing,
          (SELECT ${TALLY} FROM (SELECT ${SIGNED} AS cents FROM statement_entry s
                                  WHERE s.outcome = 'KEPT' AND s.operation_id IS NULL AND s.occurred_at < $2) k) AS kept,
          (SELECT coalesce(json_agg(d ORDER BY abs(d.cents) DESC, d.kind, d.reference), '[]') FROM difference d) AS differences,
          (${OPEN_CASES}) AS "openCases",
          (SELECT json_build_object('cents', coalesce((SELECT cents FROM known), 0), 'count', count(*),
                                    'movedCents', coalesce(sum(abs(e.amount_cents)), 0))
             FROM entry e
            WHERE e.account_id = ${SETTLEMENT} AND e.at < $2
              AND e.at >= coalesce((SELECT until FROM known), '-infinity')) AS carried`,
)

/** Reads the figures of a day. @param queries a snapshot @source rules#close.1, rules#close.3, rules#close.11 */
export async function readFigures(queries: Queries, { day, ...bounds }: DayToClose): Promise<Figures> {
  const accounts = (await accountsOf(queries, bounds)).map(({ account, openingCents, closingCents }) => {
    return { account, openingCents: Number(openingCents), closingCents: Number(closingCents) }
  })
  const [row] = await queries.rows(selectFigures, [instantParameter(bounds.from), instantParameter(bounds.to), day])
  if (row === undefined) throw new Error('the figures of the day are missing')
  const { reserving: count, ...figures } = row
  const cents = accounts.find(({ account }) => account === 'reserved')?.closingCents ?? 0
  return { ...figures, accounts, reservations: { count, cents } }
}

/** Conditions for closing a day that is over. Instants in epoch milliseconds; `null`: none yet. */
export interface Readiness {
  /** The statement is read and matched up to here. */
  readonly readUntil: number | null
  /** There is a balance of the bank that can be compared. */
  readonly isBalanceKnown: boolean
  /** Time of the first balance since the end of the day. */
  readonly firstBalanceAt: number | null
}

const selectReadiness = statement<[dayEnd: string], Readiness>(
  'closes.readiness',
  `SELECT (SELECT floor(extract(epoch FROM matched_until) * 1000)::float8 FROM statement_mark) AS "readUntil",
          EXISTS (SELECT FROM ${comparable('$1')}) AS "isBalanceKnown",
          (SELECT floor(extract(epoch FROM min(read_at)) * 1000)::float8 FROM bank_balance
            WHERE read_at >= $1) AS "firstBalanceAt"`,
)

/** Reads what a day waits for. @param dayEnd epoch milliseconds */
export async function readReadiness(queries: Queries, dayEnd: number): Promise<Readiness> {
  const [row] = await queries.rows(selectReadiness, [instantParameter(dayEnd)])
  if (row === undefined) throw new Error('the readiness of the day is missing')
  return row
}
