import type { StatementEntry } from '../../banks/port.ts'
import type { Document, OperationKind } from '../../engine/operation.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import type { EntryKey } from '../store.ts'

/** All SQL of entries of the statement that an operator decides of. */
export interface EntryStore {
  entry(key: EntryKey): Promise<StatementEntry | undefined>
  /**
   * Movements that an operator decided the bank lacks, and that its statement has: those of which no case tells since.
   */
  contradicted(): Promise<Contradicted[]>
  /** What the case told that was closed last of those about each of these entries, by their references. */
  decided(references: readonly string[]): Promise<Map<string, Document>>
  kindOf(operationId: string): Promise<OperationKind | undefined>
  /** Keeps an entry for an operation. @returns whether it is kept for no other */
  claim(key: EntryKey, operationId: string): Promise<boolean>
  /** Gives it free again, where it was not booked. */
  giveUp(key: EntryKey, operationId: string): Promise<void>
  /** Notes that an entry is in the books, where it is, and closes its case. @returns whether it is */
  settleBooked(key: EntryKey, nowMs: number): Promise<boolean>
}

/** A decision that the bank's statement contradicts. */
export interface Contradicted {
  /** What the adjustments of the decision are about. */
  readonly about: string
  /** What they booked beyond what the bank has, with its sign. */
  readonly cents: bigint
}

const selectContradicted = statement<[], { about: string; cents: bigint }>(
  'statement.desk_contradicted',
  `SELECT o.about, o.cents
     FROM (SELECT detail ->> 'about' AS about, max(created_at) AS at,
                  sum(CASE status WHEN 'CLEARING_ADDED' THEN value_cents ELSE -value_cents END)::bigint AS cents
             FROM operation
            WHERE kind = 'adjustment' AND detail ? 'about' AND status IN ('CLEARING_ADDED', 'CLEARING_REMOVED')
              AND detail ->> 'about' LIKE 'missing %'
            GROUP BY 1) o
    WHERE o.cents <> 0
      AND EXISTS (SELECT FROM statement_entry s
                   WHERE s.direction = split_part(o.about, ' ', 2)
                     AND s.id = substr(o.about, length('missing ' || split_part(o.about, ' ', 2)) + 2)
                     AND s.kind <> 'TARIFF' AND s.outcome = 'MATCHED')
      AND NOT EXISTS (SELECT FROM "case" c
                       WHERE c.operation_id IS NULL AND c.kind = 'statement_corrected' AND c.reference = o.about
                         AND (c.closed_at IS NULL OR c.closed_at >= o.at))`,
)

const selectDecided = statement<[references: readonly string[]], { reference: string; facts: Document }>(
  'statement.desk_decided',
  `SELECT r.reference, c.facts
     FROM unnest($1::text[]) AS r (reference)
    CROSS JOIN LATERAL (
      SELECT c.facts FROM "case" c
       WHERE c.operation_id IS NULL AND c.kind = 'statement_differs' AND c.closed_at IS NOT NULL
         AND (c.reference = r.reference OR starts_with(c.reference, r.reference || ' again '))
       ORDER BY c.closed_at DESC LIMIT 1) c`,
)

const selectEntry = statement<
  [direction: string, id: string, kind: string],
  { end_to_end_id: string; reference: string; value_cents: bigint; occurred_at: number }
>(
  'statement.desk_entry',
  `SELECT end_to_end_id, reference, value_cents, occurred_at FROM statement_entry
    WHERE direction = $1 AND id = $2 AND kind = $3`,
)

const selectKind = statement<[id: string], { kind: OperationKind }>(
  'statement.desk_kind',
  'SELECT kind FROM operation WHERE id = $1',
)

type Claim = [direction: string, id: string, kind: string, operationId: string]

const claim = statement<Claim, { id: string }>(
  'statement.desk_claim',
  `UPDATE statement_entry SET operation_id = $4
    WHERE direction = $1 AND id = $2 AND kind = $3 AND settled_at IS NULL AND (operation_id IS NULL OR operation_id = $4)
   RETURNING id`,
)

const giveUp = statement<Claim>(
  'statement.desk_give_up',
  `UPDATE statement_entry SET operation_id = NULL
    WHERE direction = $1 AND id = $2 AND kind = $3 AND settled_at IS NULL AND operation_id = $4`,
)

const settleBooked = statement<[direction: string, id: string, kind: string, now: string], { is_booked: boolean }>(
  'statement.desk_settle',
  `WITH booked AS (
     SELECT operation_id FROM movement WHERE direction = $1 AND id = $2
   ), settled AS (
     UPDATE statement_entry s SET outcome = 'MATCHED', operation_id = b.operation_id, settled_at = $4
       FROM booked b WHERE s.direction = $1 AND s.id = $2 AND s.kind = $3 AND s.settled_at IS NULL
   ), closed AS (
     UPDATE "case" SET closed_at = $4
      WHERE operation_id IS NULL AND kind = 'statement_unexplained' AND reference = $3 || ' ' || $2
        AND closed_at IS NULL AND EXISTS (SELECT FROM booked)
   )
   SELECT EXISTS (SELECT FROM booked) AS is_booked`,
)

/** Makes the store of a database. */
export function createEntryStore(database: Database): EntryStore {
  return {
    entry: async ({ direction, movementId, kind }) => {
      const [row] = await database.rows(selectEntry, [direction, movementId, kind])
      if (!row) return undefined
      const { end_to_end_id: endToEndId, reference, value_cents: valueCents, occurred_at: occurredAt } = row
      return { kind, direction, movementId, endToEndId, reference, valueCents, occurredAt }
    },
    contradicted: () => database.rows(selectContradicted, []),
    decided: async (references) => {
      if (references.length === 0) return new Map()
      const rows = await database.rows(selectDecided, [references])
      return new Map(rows.map(({ reference, facts }) => [reference, facts]))
    },
    kindOf: async (id) => (await database.rows(selectKind, [id]))[0]?.kind,
    claim: async ({ direction, movementId, kind }, operationId) =>
      (await database.rows(claim, [direction, movementId, kind, operationId])).length > 0,
    giveUp: async ({ direction, movementId, kind }, operationId) => {
      await database.rows(giveUp, [direction, movementId, kind, operationId])
    },
    settleBooked: async ({ direction, movementId, kind }, nowMs) => {
      const [row] = await database.rows(settleBooked, [direction, movementId, kind, instantParameter(nowMs)])
      return row?.is_booked ?? false
    },
  }
}
