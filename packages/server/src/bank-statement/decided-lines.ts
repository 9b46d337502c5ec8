import type { StatementEntry } from '../banks/port.ts'
import type { StatementLines } from '../cases/case.ts'
import type { Document, OperationKind } from '../engine/operation.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { EntryKey } from './entries/store.ts'
import type { Receivers } from './receivers.ts'
import { SUBJECT_KINDS } from './rules.ts'

/** Lines of the statement about which operators decide. */
export interface LineStore {
  entry(key: EntryKey): Promise<StatementEntry | undefined>
  /** What the case told that was closed last of those about each of these entries, by their references. */
  decided(references: readonly string[]): Promise<Map<string, Document>>
  /**
   * The open cases about these entries that the statement told otherwise later, by the references of the entries: of several of an entry the
   * newest, also one that was opened after a decision.
   * @source rules#desk.56
   */
  retold(references: readonly string[]): Promise<Map<string, RetoldCase>>
  kindOf(operationId: string): Promise<OperationKind | undefined>
}

/** An open case of an entry that the statement told otherwise later. */
export interface RetoldCase {
  /** Its own: after a decision it is not the entry's. */
  readonly reference: string
  readonly facts: Document
}

const selectDecided = statement<[references: readonly string[]], { reference: string; facts: Document }>(
  'statement.case_decided',
  `SELECT r.reference, c.facts
     FROM unnest($1::text[]) AS r (reference)
    CROSS JOIN LATERAL (
      SELECT c.facts FROM "case" c
       WHERE c.operation_id IS NULL AND c.kind = 'line_differs' AND c.closed_at IS NOT NULL
         AND (c.reference = r.reference OR starts_with(c.reference, r.reference || ' again '))
       ORDER BY c.closed_at DESC LIMIT 1) c`,
)

const selectRetold = statement<[references: readonly string[]], { entry: string; reference: string; facts: Document }>(
  'statement.case_retold',
  `SELECT r.entry, c.reference, c.facts
     FROM unnest($1::text[]) AS r (entry)
    CROSS JOIN LATERAL (
      SELECT c.reference, c.facts FROM "case" c
       WHERE c.operation_id IS NULL AND c.kind = 'line_differs' AND c.closed_at IS NULL AND c.facts ? 'before'
         AND (c.reference = r.entry OR starts_with(c.reference, r.entry || ' again '))
       ORDER BY c.opened_at DESC, c.id DESC LIMIT 1) c`,
)

const selectEntry = statement<
  [direction: string, id: string, kind: string],
  { end_to_end_id: string; reference: string; value_cents: bigint; occurred_at: number }
>(
  'statement.case_entry',
  `SELECT end_to_end_id, reference, value_cents, occurred_at FROM statement_entry
    WHERE direction = $1 AND id = $2 AND kind = $3`,
)

const selectKind = statement<[id: string], { kind: OperationKind }>(
  'statement.case_kind',
  'SELECT kind FROM operation WHERE id = $1',
)

/** Makes the store of a database. */
export function createLineStore(database: Database): LineStore {
  return {
    entry: async ({ direction, movementId, kind }) => {
      const [row] = await database.rows(selectEntry, [direction, movementId, kind])
      if (!row) return undefined
      const { end_to_end_id: endToEndId, reference, value_cents: valueCents, occurred_at: occurredAt } = row
      return { kind, direction, movementId, endToEndId, reference, valueCents, occurredAt }
    },
    decided: async (references) => {
      const rows = references.length === 0 ? [] : await database.rows(selectDecided, [references])
      return new Map(rows.map(({ reference, facts }) => [reference, facts]))
    },
    retold: async (references) => {
      const rows = references.length === 0 ? [] : await database.rows(selectRetold, [references])
      return new Map(rows.map(({ entry, ...open }) => [entry, open]))
    },
    kindOf: async (id) => (await database.rows(selectKind, [id]))[0]?.kind,
  }
}

/**
 * What decisions ask of the statement. A line is handed over as something that the bank said; the next reading finds it booked.
 * @source rules#desk.53
 */
export function createStatementLines(store: Pick<LineStore, 'entry' | 'kindOf'>, receivers: Receivers): StatementLines {
  return {
    accepts: async (kind, operationId) =>
      isEntryKind(kind) && (await store.kindOf(operationId)) === SUBJECT_KINDS[kind],
    command: async ({ kind, ...key }, operationId) => {
      const entry = isEntryKind(kind) ? await store.entry({ kind, ...key }) : undefined
      return entry && receivers[entry.kind].command(operationId, entry)
    },
  }
}

function isEntryKind(kind: string): kind is StatementEntry['kind'] {
  return kind !== 'TARIFF' && Object.hasOwn(SUBJECT_KINDS, kind)
}
