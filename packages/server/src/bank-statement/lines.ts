import type { StatementEntry } from '../banks/port.ts'
import type { StatementLines } from '../cases/case.ts'
import { isTakenBack } from '../cases/without-operation.ts'
import type { Document, OperationKind } from '../engine/operation.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import type { Receivers } from './receivers.ts'
import { type OpenEntry, SUBJECT_KINDS } from './rules.ts'

/** Entries of the statement in the database, joined with our books. */

/** Unique key of an entry. */
export type EntryKey = Pick<StatementEntry, 'direction' | 'movementId' | 'kind'>

export interface Settled {
  readonly entry: EntryKey
  readonly outcome: 'MATCHED' | 'DIFFERS' | 'KEPT'
  readonly operationId: string | null
}

export const MISSING = 'line_missing' as const

/** Debits that the books lack; unexplained credits are cases of adjustments. */
export const UNEXPLAINED = 'unexplained_debit' as const

/**
 * SQL that closes the cases of a kind about the rows of a table expression.
 * @param kind an expression @param reference of the case @param now the parameter
 */
export function closingCasesOf(kind: string, reference: string, from: string, now: string): string {
  return `UPDATE "case" c SET closed_at = ${now} FROM ${from}
    WHERE c.kind = ${kind} AND c.operation_id IS NULL AND c.reference = ${reference} AND c.closed_at IS NULL`
}

export type EntryParameters = [
  directions: readonly string[],
  ids: readonly string[],
  kinds: readonly string[],
  endToEndIds: readonly string[],
  references: readonly string[],
  cents: readonly string[],
  occurredAt: readonly string[],
]

/** {@link entryParameters} as rows `t`, in SQL. */
export const ENTRY_ROWS = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[])
  AS t (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at)`

type KeyParameters = [directions: readonly string[], ids: readonly string[], kinds: readonly string[]]

const KEY_ROWS = 'unnest($1::text[], $2::text[], $3::text[]) AS r (direction, id, kind)'

const IS_ROW = 's.direction = r.direction AND s.id = r.id AND s.kind = r.kind'

const settle = statement<
  [...KeyParameters, outcomes: readonly string[], operationIds: readonly (string | null)[], now: string]
>(
  'statement.settle',
  `WITH settled AS (
     UPDATE statement_entry s SET outcome = r.outcome, operation_id = r.operation_id, settled_at = $6
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[])
         AS r (direction, id, kind, outcome, operation_id)
      WHERE ${IS_ROW} AND s.settled_at IS NULL
     RETURNING s.direction, s.kind, s.id
   )
   ${closingCasesOf(`'${UNEXPLAINED}'`, `s.kind || ' ' || s.id`, 'settled s', '$6')}`,
)

const noteAt = (name: string, column: 'asked_at' | 'reported_at') =>
  statement<[...KeyParameters, now: string]>(
    name,
    `UPDATE statement_entry s SET ${column} = $4 FROM ${KEY_ROWS} WHERE ${IS_ROW} AND s.${column} IS NULL`,
  )
const noteAsked = noteAt('statement.asked', 'asked_at')
const noteReported = noteAt('statement.reported', 'reported_at')

export function markingOf(database: Database) {
  const note = async (noted: typeof noteAsked, keys: readonly EntryKey[], nowMs: number): Promise<void> => {
    if (keys.length > 0) await database.rows(noted, [...keyParameters(keys), instantParameter(nowMs)])
  }
  return {
    /** Records outcomes and closes the cases about these entries. */
    settle: async (results: readonly Settled[], nowMs: number): Promise<void> => {
      if (results.length === 0) return
      await database.rows(settle, [
        ...keyParameters(results.map(({ entry }) => entry)),
        results.map(({ outcome }) => outcome),
        results.map(({ operationId }) => operationId),
        instantParameter(nowMs),
      ])
    },
    noteAsked: (keys: readonly EntryKey[], nowMs: number) => note(noteAsked, keys, nowMs),
    noteReported: (keys: readonly EntryKey[], nowMs: number) => note(noteReported, keys, nowMs),
    /** The cases about entries that differ, open or closed, by their references. @source rules#cases.56 */
    casesOf: async (references: readonly string[]): Promise<Map<string, LineCase>> => {
      const rows = references.length === 0 ? [] : await database.rows(selectCases, [references])
      return new Map(rows.map(({ reference, ...found }) => [reference, found]))
    },
  }
}

/** An adjustment may precede its movement by this time. @source rules#statement.9 */
const ADJUSTED_BEFORE_HOURS = 24

/** A row of {@link openEntries}: the parts of an {@link OpenEntry} as columns. */
export interface OpenRow extends Omit<OpenEntry, 'booked' | 'named' | 'paidBy' | 'arrivedOn' | 'heldBy'> {
  readonly bookedOn: string | null
  readonly bookedCents: bigint | null
  readonly isByOperator: boolean | null
  readonly namedId: string | null
  readonly namedKind: OperationKind | null
  readonly namedEndToEndId: string | null
  readonly paidBy: readonly string[] | null
  readonly arrivedOn: string | null
  readonly arrivedKind: OperationKind | null
  readonly heldBy: string | null
  readonly heldStatus: string | null
}

/**
 * Entries joined with our books, in SQL. Aggregated per end-to-end id, as a payment may have thousands of returns.
 * @param picked condition and limit
 */
export function openEntries(picked: string): string {
  return `WITH picked AS MATERIALIZED (
     SELECT * FROM statement_entry s WHERE s.settled_at IS NULL AND ${picked}
   ), paid AS MATERIALIZED (
     SELECT p.end_to_end_id, p.kind, array_agg(p.id::text) AS ids
       FROM (SELECT DISTINCT end_to_end_id FROM picked) d
       -- IS TRUE keeps the planner off the index on kind, which looks equally good on a young table.
       JOIN operation p ON p.end_to_end_id = d.end_to_end_id AND (p.kind IN ('cash_in', 'cash_out')) IS TRUE
      GROUP BY p.end_to_end_id, p.kind
   ), taken_back AS MATERIALIZED (
     SELECT t.end_to_end_id, sum(t.value_cents) AS cents
       FROM (SELECT DISTINCT end_to_end_id FROM picked WHERE kind IN ('PAYMENT_RECEIVED', 'PAYMENT_TAKEN_BACK')) d
       JOIN statement_entry t ON t.end_to_end_id = d.end_to_end_id AND t.kind = 'PAYMENT_TAKEN_BACK'
      GROUP BY t.end_to_end_id
   )
   SELECT s.direction, s.id AS "movementId", s.kind, s.end_to_end_id AS "endToEndId", s.reference,
          s.value_cents AS "valueCents", s.occurred_at AS "occurredAt", s.seen_at AS "seenAt", s.asked_at AS "askedAt",
          s.reported_at AS "reportedAt", b.operation_id AS "bookedOn", b.value_cents AS "bookedCents",
          (SELECT o.kind = 'adjustment' FROM operation o WHERE o.id = b.operation_id) AS "isByOperator",
          n.id AS "namedId", n.kind AS "namedKind", n.end_to_end_id AS "namedEndToEndId", paid.ids AS "paidBy",
          coalesce(c.id, p.id) AS "arrivedOn",
          CASE WHEN c.id IS NOT NULL THEN 'cash_in' WHEN p.id IS NOT NULL THEN 'adjustment' END AS "arrivedKind",
          c.facts -> 'returns' -> s.id ->> 'state' IS NOT DISTINCT FROM 'in_doubt'
            OR coalesce(p.is_returned_by_us, false) AS "isInDoubt",
          a.id AS "adjustmentId", h.id AS "heldBy", h.status AS "heldStatus",
          coalesce(t.cents <= w.value_cents, false) AS "isOfHeld",
          CASE WHEN m.is_taken_back THEN m.operation_id END AS "takenBackFrom",
          coalesce(s.kind IN ('PAYMENT_RECEIVED', 'PAYMENT_TAKEN_BACK') AND t.cents = r.value_cents, false)
            AS "isComeAndGone"
     FROM picked s
     LEFT JOIN LATERAL (
       SELECT x.*, ${isTakenBack('x')} AS is_taken_back FROM movement x WHERE x.direction = s.direction AND x.id = s.id LIMIT 1) m ON true
     LEFT JOIN LATERAL (
       SELECT o.id, o.status, o.value_cents FROM operation o
        WHERE o.kind = 'adjustment' AND o.detail ? 'about' AND o.detail ->> 'about' = 'movement ' || s.kind || ' ' || s.id
        ORDER BY o.created_at DESC, o.id DESC LIMIT 1) h ON true
     -- A reversed booking may be booked again by a later decision.
     LEFT JOIN LATERAL (
       SELECT m.operation_id, m.value_cents WHERE m.id IS NOT NULL AND NOT m.is_taken_back
       UNION ALL
       SELECT h.id, h.value_cents WHERE m.is_taken_back AND h.status NOT IN ('HELD', 'EXPLAINED')) b ON true
     LEFT JOIN operation n ON n.order_id = s.reference
     LEFT JOIN paid ON paid.end_to_end_id = s.end_to_end_id
                   AND paid.kind = CASE WHEN s.kind LIKE 'PAYOUT%' THEN 'cash_out' ELSE 'cash_in' END
     LEFT JOIN taken_back t ON t.end_to_end_id = s.end_to_end_id
     -- LIMIT keeps the planner on the key.
     LEFT JOIN LATERAL (
       SELECT r.value_cents FROM statement_entry r
        WHERE t.cents IS NOT NULL AND r.direction = 'in' AND r.id = s.end_to_end_id AND r.kind = 'PAYMENT_RECEIVED'
          AND (r.outcome IS NULL OR r.outcome = 'KEPT' AND r.operation_id IS NULL)
          AND NOT EXISTS (SELECT FROM movement x WHERE x.direction = 'in' AND x.id = r.id)
          AND NOT EXISTS (SELECT FROM operation x WHERE x.order_id = r.reference)
        LIMIT 1) r ON true
     -- The owner of the returned payment: a charge or an adjustment.
     LEFT JOIN LATERAL (
       SELECT o.id, o.facts FROM movement x JOIN operation o ON o.id = x.operation_id AND o.kind = 'cash_in'
        WHERE s.kind = 'PAYMENT_TAKEN_BACK' AND x.direction = 'in' AND x.id = s.end_to_end_id
          -- A reversed payment that was listed again is the adjustment's.
          AND NOT (coalesce(o.facts -> 'reversed' ? x.id, false)
                   AND EXISTS (SELECT FROM operation g
                                WHERE g.kind = 'adjustment' AND g.detail ? 'about' AND g.status <> 'EXPLAINED'
                                  AND g.detail ->> 'about' = 'movement PAYMENT_RECEIVED ' || s.end_to_end_id))
        LIMIT 1) c ON true
     LEFT JOIN LATERAL (
       SELECT o.* FROM operation o
        WHERE s.kind = 'PAYMENT_TAKEN_BACK' AND c.id IS NULL AND o.kind = 'adjustment' AND o.detail ? 'about'
          AND o.detail ->> 'about' = 'movement PAYMENT_RECEIVED ' || s.end_to_end_id
        ORDER BY o.created_at DESC, o.id DESC LIMIT 1) w ON true
     -- Only if its suspense covers the return.
     LEFT JOIN LATERAL (
       SELECT w.id, coalesce(f.is_same OR s.value_cents > w.value_cents - g.cents - f.cents, false) AS is_returned_by_us
         FROM (SELECT coalesce(sum((g.value ->> 'cents')::bigint), 0) AS cents FROM jsonb_each(w.facts -> 'returns') g) g
         LEFT JOIN LATERAL (
           -- In flight: may be this return, or have to end first.
           SELECT bool_or(f.value_cents = s.value_cents) AS is_same, sum(f.value_cents) AS cents
             FROM operation f
            WHERE f.kind = 'refund_in' AND f.end_to_end_id = s.end_to_end_id AND f.detail ->> 'from' = w.id::text
              AND f.status = 'PENDING') f ON true
        WHERE w.status IN ('HELD', 'SUSPENDED') AND w.value_cents - s.value_cents >= g.cents) p ON true
     LEFT JOIN LATERAL (
       SELECT o.id FROM operation o
        WHERE m.id IS NULL AND n.id IS NULL AND s.kind <> 'TARIFF' AND o.kind = 'adjustment'
          AND o.status = CASE s.direction WHEN 'in' THEN 'CREDITED' ELSE 'DEBITED' END
          -- An adjustment about one line or difference explains no other.
          AND o.value_cents = s.value_cents AND NOT o.detail ? 'about'
          AND o.created_at >= s.occurred_at - interval '${ADJUSTED_BEFORE_HOURS} hours'
          AND NOT EXISTS (SELECT FROM statement_entry k WHERE k.outcome = 'KEPT' AND k.operation_id = o.id)
        ORDER BY o.created_at LIMIT 1) a ON true`
}

export function entryParameters(entries: readonly StatementEntry[]): EntryParameters {
  return [
    ...keyParameters(entries),
    entries.map(({ endToEndId }) => endToEndId),
    entries.map(({ reference }) => reference),
    entries.map(({ valueCents }) => String(valueCents)),
    entries.map(({ occurredAt }) => instantParameter(occurredAt)),
  ]
}

function keyParameters(keys: readonly EntryKey[]): KeyParameters {
  return [
    keys.map(({ direction }) => direction),
    keys.map(({ movementId }) => movementId),
    keys.map(({ kind }) => kind),
  ]
}

export function openEntryOf(row: OpenRow): OpenEntry {
  const { bookedOn, bookedCents, isByOperator, namedId, namedKind, namedEndToEndId, paidBy, ...others } = row
  const { arrivedOn, arrivedKind, heldBy, heldStatus, ...entry } = others
  const { kind, endToEndId } = entry
  return {
    ...entry,
    booked:
      bookedOn === null || bookedCents === null
        ? undefined
        : { operationId: bookedOn, valueCents: bookedCents, ...(isByOperator && { isByOperator }) },
    named:
      namedId === null || namedKind === null
        ? undefined
        : { id: namedId, kind: namedKind, endToEndId: namedEndToEndId },
    paidBy: (paidBy ?? []).map((id) => ({ id, kind: SUBJECT_KINDS[kind], endToEndId })),
    arrivedOn: arrivedOn === null || arrivedKind === null ? null : { id: arrivedOn, kind: arrivedKind },
    heldBy: heldBy === null || heldStatus === null ? null : { id: heldBy, status: heldStatus },
  }
}

/** The case of an entry that differs. */
export interface LineCase {
  readonly isOpen: boolean
  readonly facts: Document
}

const selectCases = statement<[references: readonly string[]], LineCase & { reference: string }>(
  'statement.cases',
  `SELECT reference, closed_at IS NULL AS "isOpen", facts FROM "case"
    WHERE operation_id IS NULL AND kind = 'line_differs' AND reference = ANY ($1::text[])`,
)

const selectEntry = statement<[direction: string, id: string, kind: string], StatementEntry>(
  'statement.case_entry',
  `SELECT kind, direction, id AS "movementId", end_to_end_id AS "endToEndId", reference, value_cents AS "valueCents",
          occurred_at AS "occurredAt"
     FROM statement_entry WHERE direction = $1 AND id = $2 AND kind = $3`,
)

const selectKind = statement<[id: string], { kind: OperationKind }>(
  'statement.case_kind',
  'SELECT kind FROM operation WHERE id = $1',
)

/** Attributes a line as a report of the bank; the next reading finds it booked. @source rules#cases.53 */
export function createStatementLines(database: Database, receivers: Receivers): StatementLines {
  return {
    accepts: async (kind, operationId) =>
      isAttributable(kind) && (await database.rows(selectKind, [operationId]))[0]?.kind === SUBJECT_KINDS[kind],
    attributionCommand: async ({ kind, direction, movementId }, operationId) => {
      if (!isAttributable(kind)) return undefined
      const [entry] = await database.rows(selectEntry, [direction, movementId, kind])
      return entry && receivers[entry.kind].command(operationId, entry)
    },
  }
}

/** Operators attribute no tariffs. */
function isAttributable(kind: string): kind is StatementEntry['kind'] {
  return kind !== 'TARIFF' && Object.hasOwn(SUBJECT_KINDS, kind)
}
