import { IN_A_FILE } from '@pixgate/spec'
import { type Database, instantParameter, statement } from '../../../platform/db/database.ts'
import { FILE_CASES_MAX } from './bound.ts'

/** All SQL of how many cases files have, and of what they have beyond. */

/** What of a file has no case of its own, in amounts that are never negative. */
export interface RestOfFile {
  readonly id: string
  readonly first_day: string
  readonly last_day: string
  readonly row_count: number
  readonly only_theirs: number
  readonly in_cents: bigint
  readonly out_cents: bigint
  readonly only_ours: number
  readonly only_ours_cents: bigint
  readonly contradicting: number
}

/** The case that stands for the rest of a file is known by the file's id. */
export const REST = 'import_differs'

/** In SQL: an operator has closed the case about the rest of a file. */
function isGivenUp(importId: string): string {
  return `EXISTS (SELECT FROM "case" k WHERE k.operation_id IS NULL AND k.kind = '${REST}' AND k.reference = ${importId}::text
                             AND k.closed_at IS NOT NULL)`
}

/** Of a file that was given up there is no room. */
const selectOpen = statement<[ids: readonly string[]], { id: string; open: number }>(
  'statement_import.open_cases',
  `SELECT i.id, CASE WHEN ${isGivenUp('i.id')} THEN ${FILE_CASES_MAX}
                     ELSE (SELECT count(*) FROM "case" c
                            WHERE c.facts ->> 'importId' = i.id::text AND c.closed_at IS NULL AND c.operation_id IS NULL
                              AND c.kind <> '${REST}')::integer END AS open
     FROM unnest($1::uuid[]) AS i (id)`,
)

const selectRests = statement<[ids: readonly string[]], RestOfFile>(
  'statement_import.rests',
  `SELECT i.id, i.first_day::text AS first_day, i.last_day::text AS last_day, i.row_count, r.only_theirs, r.in_cents, r.out_cents,
          g.only_ours, g.only_ours_cents, i.contradicting
     FROM statement_import i
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS only_theirs,
             coalesce(sum(value_cents) FILTER (WHERE direction = 'in'), 0)::bigint AS in_cents,
             coalesce(sum(value_cents) FILTER (WHERE direction = 'out'), 0)::bigint AS out_cents
        FROM statement_import_entry s WHERE s.import_id = i.id AND s.settled_at IS NULL AND s.reported_at IS NULL) r
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS only_ours, coalesce(sum(value_cents), 0)::bigint AS only_ours_cents
        FROM statement_import_gap g WHERE g.import_id = i.id AND g.filled_at IS NULL AND g.reported_at IS NULL) g
    WHERE i.id = ANY ($1::uuid[])
      AND NOT EXISTS (SELECT FROM "case" k WHERE k.operation_id IS NULL AND k.kind = '${REST}' AND k.reference = i.id::text)
    ORDER BY i.id`,
)

/** A gap that has no case yet. */
export interface ImportGap {
  readonly direction: 'in' | 'out'
  readonly id: string
  readonly operation_id: string
  readonly value_cents: bigint
  readonly import_id: string
}

/** Of each file as many as may be cases, and one more: by that it is seen that there are others. */
const selectGaps = statement<[], ImportGap>(
  'statement_import.gaps_to_report',
  `SELECT g.direction, g.id, g.operation_id::text AS operation_id, g.value_cents, g.import_id
     FROM (SELECT *, row_number() OVER (PARTITION BY import_id ORDER BY value_cents DESC, direction, id) AS place
             FROM statement_import_gap WHERE filled_at IS NULL AND reported_at IS NULL) g
    WHERE g.place <= ${FILE_CASES_MAX + 1} AND NOT ${isGivenUp('g.import_id')}
    ORDER BY g.import_id, g.place`,
)

const noteGapsReported = statement<[references: readonly string[], now: string]>(
  'statement_import.gaps_reported',
  `UPDATE statement_import_gap g SET reported_at = $2
    WHERE g.filled_at IS NULL AND g.reported_at IS NULL
      AND g.direction || ' ' || g.id || '${IN_A_FILE}' || g.value_cents = ANY ($1)`,
)

/** Makes the store of a database. */
export function boundOf(database: Database) {
  return {
    /** How many cases each of these files has open, by its id. */
    openCases: async (ids: readonly string[]): Promise<Map<string, number>> =>
      new Map((await database.rows(selectOpen, [[...new Set(ids)]])).map(({ id, open }) => [id, open])),
    /** What of these files has no case, of those about which there never was the case that stands for it. */
    rests: (ids: readonly string[]): Promise<RestOfFile[]> => database.rows(selectRests, [ids]),
    /** What files lack and no case tells of yet. */
    gapsToReport: (): Promise<ImportGap[]> => database.rows(selectGaps, []),
    /** Notes that these have a case, by its reference. */
    noteGapsReported: async (references: readonly string[], nowMs: number): Promise<void> => {
      if (references.length > 0) await database.rows(noteGapsReported, [references, instantParameter(nowMs)])
    },
  }
}
