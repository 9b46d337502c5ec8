import { IN_A_FILE } from '@pixgate/spec'
import type { Operator } from '../../audit/operator.ts'
import { insertAudit } from '../../audit/store.ts'
import type { StatementEntry } from '../../banks/port.ts'
import { type Database, instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import {
  closingCasesOf,
  closingUnexplained,
  ENTRY_ROWS,
  type EntryKey,
  type EntryParameters,
  type EntryTable,
  entryParameters,
  MISSING,
  markingOf,
  type OpenRow,
  openEntries,
  openEntryOf,
  UUID_TEXT,
} from '../entries/store.ts'
import type { OpenEntry } from '../rules.ts'
import type { NamedTariff } from '../tariff-names.ts'
import { contradictingFiles, type DayBalance, insertBalances } from './balances/store.ts'
import { boundOf } from './bound/store.ts'

/** All SQL of statements that operators import. They stand beside the bank's own, and never in it. */

/** A file that was imported, with what became of the movements of its days. */
export interface ImportRow {
  readonly id: string
  readonly first_day: string
  readonly last_day: string
  readonly opening_cents: bigint
  readonly closing_cents: bigint
  readonly row_count: number
  readonly imported_at: number
  readonly imported_by: string
  readonly matched: number
  readonly different: number
  readonly only_theirs: number
  readonly only_ours: number
}

/** A file to be kept. */
export interface NewImport {
  readonly id: string
  readonly sha256: Buffer
  readonly firstDay: string
  readonly lastDay: string
  /** Epoch milliseconds; `until` is not in it. */
  readonly since: number
  readonly until: number
  readonly openingCents: bigint
  readonly closingCents: bigint
  readonly entries: readonly StatementEntry[]
  /** Of its days but the last. */
  readonly balances: readonly DayBalance[]
}

/** A movement that two statements have otherwise. */
export interface Contradiction {
  readonly kind: StatementEntry['kind']
  readonly id: string
  readonly direction: 'in' | 'out'
  readonly value_cents: bigint
  readonly other_cents: bigint
  readonly end_to_end_id: string
  readonly other_end_to_end_id: string
  /** The file that has it so. */
  readonly import_id: string
}

const SETTLEMENT = `(SELECT id FROM account WHERE code = 'settlement')`

const IS_NAMED = `e.reference <> '' AND e.reference NOT LIKE 'unnamed %'`

/** Near an end of the days the bank may have it on the other side of it. */
const SKEW = `interval '5 minutes'`

/** Movements that we booked between two instants and that neither the bank's own statement nor a file has. */
const onlyOurs = (since: string, until: string) => `
  SELECT m.direction, m.id, m.operation_id::text AS operation_id, m.value_cents
    FROM entry e
    JOIN movement m ON m.operation_id = e.operation_id AND m.id = e.reference
                   AND m.direction = CASE WHEN e.amount_cents < 0 THEN 'in' ELSE 'out' END
   WHERE e.account_id = ${SETTLEMENT} AND e.at >= ${since} + ${SKEW} AND e.at < ${until} - ${SKEW} AND ${IS_NAMED}
     AND NOT EXISTS (SELECT FROM statement_entry s
                      WHERE s.direction = m.direction AND s.id = m.id AND s.kind <> 'TARIFF')
     AND NOT EXISTS (SELECT FROM statement_import_entry s
                      WHERE s.direction = m.direction AND s.id = m.id AND s.kind <> 'TARIFF')`

const selectImport = statement<[sha256: Buffer], ImportRow>(
  'statement_import.get',
  `SELECT i.id, i.first_day::text AS first_day, i.last_day::text AS last_day, i.opening_cents, i.closing_cents, i.row_count,
          i.imported_at, i.imported_by, s.matched, s.different + i.contradicting AS different, s.only_theirs,
          (SELECT count(*)::integer FROM (${onlyOurs('i.since', 'i.until')}) o) AS only_ours
     FROM statement_import i
    CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE outcome IN ('MATCHED', 'KEPT')))::integer AS matched,
             (count(*) FILTER (WHERE outcome = 'DIFFERS'))::integer AS different,
             (count(*) FILTER (WHERE outcome IS NULL))::integer AS only_theirs
        FROM statement_import_entry WHERE occurred_at >= i.since AND occurred_at < i.until) s
    WHERE i.sha256 = $1`,
)

const insertImport = statement<
  [
    id: string,
    sha256: Buffer,
    firstDay: string,
    lastDay: string,
    since: string,
    until: string,
    openingCents: bigint,
    closingCents: bigint,
    rows: number,
    contradicting: number,
    at: string,
    by: string,
  ],
  { id: string }
>(
  'statement_import.insert',
  `INSERT INTO statement_import (id, sha256, first_day, last_day, since, until, opening_cents, closing_cents, row_count,
                                 contradicting, imported_at, imported_by)
   VALUES ($1, $2, $3::date, $4::date, $5, $6, $7, $8, $9, $10, $11, $12)
   ON CONFLICT (sha256) DO NOTHING RETURNING id`,
)

/** What files have; see the table. */
const ENTRIES: EntryTable = { table: 'statement_import_entry', name: 'statement_import' }

const insertEntries = statement<[...EntryParameters, now: string, importId: string]>(
  'statement_import.keep',
  `INSERT INTO statement_import_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at,
                                       import_id)
   SELECT t.direction, t.id, t.kind, t.end_to_end_id, t.reference, t.value_cents, t.occurred_at, $8, $9 FROM ${ENTRY_ROWS}
    ORDER BY t.direction COLLATE "C", t.id COLLATE "C", t.kind COLLATE "C"
   ON CONFLICT DO NOTHING`,
)

const CONTRADICTION = `t.kind, t.id, t.direction, t.value_cents, s.value_cents AS other_cents, t.end_to_end_id,
  s.end_to_end_id AS other_end_to_end_id`

const selectContradicting = statement<EntryParameters, Omit<Contradiction, 'import_id'>>(
  'statement_import.contradicting',
  `SELECT ${CONTRADICTION} FROM ${ENTRY_ROWS} JOIN statement_import_entry s USING (direction, id, kind)
    WHERE (s.value_cents, s.end_to_end_id) <> (t.value_cents, t.end_to_end_id)`,
)

const selectTariffs = statement<
  [references: readonly string[]],
  { id: string; end_to_end_id: string; value_cents: bigint; occurred_at: number }
>(
  'statement_import.tariffs',
  `SELECT DISTINCT ON (id) id, end_to_end_id, value_cents, occurred_at
     FROM (SELECT 1 AS place, * FROM (SELECT id, kind, direction, end_to_end_id, value_cents, occurred_at
                                        FROM statement_entry) s
           UNION ALL
           SELECT 2, * FROM (SELECT id, kind, direction, end_to_end_id, value_cents, occurred_at
                               FROM statement_import_entry) s) kept
    WHERE direction = 'out' AND kind = 'TARIFF' AND id = ANY ($1)
    ORDER BY id, place`,
)

const selectOpen = statement<[direction: string, id: string, kind: string, limit: number], OpenRow>(
  'statement_import.open',
  `${openEntries(
    `(s.direction, s.id, s.kind) > ($1, $2, $3)
      AND NOT EXISTS (SELECT FROM statement_entry b
                       WHERE b.direction = s.direction AND b.id = s.id AND b.kind = s.kind)
      ORDER BY s.direction, s.id, s.kind LIMIT $4`,
    'statement_import_entry',
  )}
    ORDER BY s.direction, s.id, s.kind`,
)

/** What the bank's own statement has as the file does is the bank's word: what became of that is what becomes of this. */
const settleConfirmed = statement<[now: string]>(
  'statement_import.confirmed',
  `WITH settled AS (
     UPDATE statement_import_entry i SET outcome = s.outcome, operation_id = s.operation_id, settled_at = $1
       FROM statement_entry s
      WHERE i.settled_at IS NULL AND s.direction = i.direction AND s.id = i.id AND s.kind = i.kind
        AND s.settled_at IS NOT NULL AND (s.value_cents, s.end_to_end_id) = (i.value_cents, i.end_to_end_id)
   RETURNING i.kind, i.id, i.value_cents
   )
   ${closingUnexplained(ENTRIES, '$1')}`,
)

/** Tariffs that our books have; a file books none. */
const settleTariffs = statement<[now: string]>(
  'statement_import.booked_tariffs',
  `WITH settled AS (
     UPDATE statement_import_entry s SET outcome = 'MATCHED', operation_id = e.operation_id, settled_at = $1
       FROM entry e
      WHERE s.settled_at IS NULL AND s.kind = 'TARIFF' AND e.journal = 'tariff_deducted'
        AND e.operation_id = CASE WHEN s.reference ~ '${UUID_TEXT}'
                                  THEN s.reference::uuid END
        AND e.reference = CASE WHEN s.id = s.reference THEN '' ELSE s.id END
        AND e.account_id = ${SETTLEMENT} AND e.amount_cents = s.value_cents
   RETURNING s.kind, s.id, s.value_cents
   )
   ${closingUnexplained(ENTRIES, '$1')}`,
)

/** What the bank's own statement has otherwise. */
const selectDenied = statement<[limit: number], Contradiction>(
  'statement_import.denied',
  `SELECT ${CONTRADICTION}, t.import_id
     FROM statement_import_entry t JOIN statement_entry s USING (direction, id, kind)
    WHERE t.settled_at IS NULL AND (s.value_cents, s.end_to_end_id) <> (t.value_cents, t.end_to_end_id)
    ORDER BY t.direction, t.id, t.kind LIMIT $1`,
)

/** Where the bank's own statement is read it is that which finds them. @source rules#import.5 */
const NEVER_READ = `NOT EXISTS (SELECT FROM statement_mark WHERE matched_until IS NOT NULL)`

const insertGaps = statement<[since: string, until: string, now: string, importId: string]>(
  'statement_import.gaps',
  `INSERT INTO statement_import_gap (direction, id, operation_id, value_cents, missed_at, import_id)
   SELECT o.direction, o.id, o.operation_id::uuid, o.value_cents, $3::timestamptz, $4
     FROM (${onlyOurs('$1::timestamptz', '$2::timestamptz')}) o WHERE ${NEVER_READ}
   ON CONFLICT DO NOTHING`,
)

/** A file closes none where the bank's own statement is read; that does, by what it has itself. */
const fillGaps = statement<[now: string]>(
  'statement_import.fill_gaps',
  `WITH filled AS (
     UPDATE statement_import_gap g SET filled_at = $1
      WHERE g.filled_at IS NULL
        AND (EXISTS (SELECT FROM statement_entry s
                      WHERE s.direction = g.direction AND s.id = g.id AND s.kind <> 'TARIFF')
             OR ${NEVER_READ}
                AND EXISTS (SELECT FROM statement_import_entry s
                             WHERE s.direction = g.direction AND s.id = g.id AND s.kind <> 'TARIFF'))
     RETURNING g.direction, g.id, g.value_cents
   )
   ${closingCasesOf(MISSING, `f.direction || ' ' || f.id || '${IN_A_FILE}' || f.value_cents`, 'filled f', '$1')}`,
)

/** The SQL of imports. */
export type ImportStore = ReturnType<typeof createImportStore>

/** Makes the store of a database. */
export function createImportStore(database: Database) {
  return { ...filesOf(database), ...entriesOf(database), ...gapsOf(database), ...boundOf(database) }
}

function filesOf(database: Database) {
  return {
    /** The import of these very bytes. */
    find: async (sha256: Buffer): Promise<ImportRow | undefined> => (await database.rows(selectImport, [sha256]))[0],
    /** Tariffs that are kept under the references that these bear. */
    keptTariffs: async (entries: readonly StatementEntry[]): Promise<NamedTariff[]> => {
      const references = entries.flatMap(({ kind, reference }) => (kind === 'TARIFF' ? [reference] : []))
      if (references.length === 0) return []
      return (await database.rows(selectTariffs, [references])).map((row) => ({
        reference: row.id,
        endToEndId: row.end_to_end_id,
        valueCents: row.value_cents,
        occurredAt: row.occurred_at,
      }))
    },
    /**
     * Keeps a file with its row in the audit trail, or nothing where another request has kept the same one.
     * @returns rows that a file before has otherwise
     */
    keep: (file: NewImport, operator: Operator, auditId: string, nowMs: number): Promise<Contradiction[]> =>
      database.transaction((queries) => keepFile(queries, file, operator, auditId, nowMs)),
  }
}

/** Other requests have their turn between so many. */
const ROWS_AT_ONCE = 5_000

/** In one order for all files, which is that of the statement: of two at once neither waits for the other in turn. */
function chunksOf(entries: readonly StatementEntry[]): StatementEntry[][] {
  const placed = entries.map((entry) => ({ entry, place: `${entry.direction} ${entry.movementId} ${entry.kind}` }))
  placed.sort((one, other) => (one.place < other.place ? -1 : one.place > other.place ? 1 : 0))
  return Array.from({ length: Math.ceil(placed.length / ROWS_AT_ONCE) }, (_, chunk) =>
    placed.slice(chunk * ROWS_AT_ONCE, (chunk + 1) * ROWS_AT_ONCE).map(({ entry }) => entry),
  )
}

async function keepFile(
  queries: Queries,
  file: NewImport,
  operator: Operator,
  auditId: string,
  nowMs: number,
): Promise<Contradiction[]> {
  const { id, sha256, firstDay, lastDay, since, until, openingCents, closingCents, entries, balances } = file
  const at = instantParameter(nowMs)
  // First: of two files at once the second waits here for the first, and sees what that one has otherwise.
  const chunks = chunksOf(entries)
  for (const chunk of chunks) await queries.rows(insertEntries, [...entryParameters(chunk), at, id])
  const contradicting: Contradiction[] = []
  for (const chunk of chunks) {
    const rows = await queries.rows(selectContradicting, entryParameters(chunk))
    contradicting.push(...rows.map((row) => ({ ...row, import_id: id })))
  }
  const kept = await queries.rows(insertImport, [
    ...([id, sha256, firstDay, lastDay, instantParameter(since), instantParameter(until)] as const),
    ...([openingCents, closingCents, entries.length, contradicting.length, at] as const),
    operator.actorName ?? operator.actor,
  ])
  if (kept.length === 0) return []
  await insertBalances(queries, id, balances)
  const ends = { openingCents: Number(openingCents), closingCents: Number(closingCents) }
  const facts = { sha256: sha256.toString('hex'), firstDay, lastDay, rows: entries.length, ...ends }
  await insertAudit(queries, { ...operator, id: auditId, at: nowMs, action: 'statement.imported', subject: id, facts })
  return contradicting
}

function entriesOf(database: Database) {
  return {
    /** Settles what the bank's own statement, or the booking of a tariff, has settled. */
    settleConfirmed: async (nowMs: number): Promise<void> => {
      await database.rows(settleConfirmed, [instantParameter(nowMs)])
      await database.rows(settleTariffs, [instantParameter(nowMs)])
    },
    /** What the bank's own statement has otherwise, and nobody was told yet: so many at most. */
    denied: (limit: number): Promise<Contradiction[]> => database.rows(selectDenied, [limit]),
    /** Rows that nothing has settled and that the bank's own statement does not have, so many after the one given. */
    open: async (after: EntryKey | undefined, limit: number): Promise<OpenEntry[]> => {
      const { direction = '', movementId = '', kind = '' } = after ?? {}
      return (await database.rows(selectOpen, [direction, movementId, kind, limit])).map(openEntryOf)
    },
    /** Files that contradict one before them, of which no case tells yet. */
    contradictingFiles: () => contradictingFiles(database),
    ...markingOf(database, ENTRIES),
  }
}

function gapsOf(database: Database) {
  return {
    /** Notes, where no statement of the bank is read, what our books have in the days of a file and no file has. */
    noteGaps: async ({ id, since, until }: Pick<NewImport, 'id' | 'since' | 'until'>, nowMs: number): Promise<void> => {
      await database.rows(insertGaps, [
        ...([since, until, nowMs].map(instantParameter) as [string, string, string]),
        id,
      ])
    },
    /** Closes what a file has after all, with its case. */
    fillGaps: async (nowMs: number): Promise<void> => {
      await database.rows(fillGaps, [instantParameter(nowMs)])
    },
  }
}
