import type { AdjustmentStatus } from '@pixgate/spec'
import type { Document } from '../../engine/operation.ts'
import { type Queries, statement } from '../../platform/db/database.ts'
import type { BookedStep, StoredCase } from './case.ts'
import type { KnownMoney } from './subject.ts'

/** All SQL of cases of no operation. */
export interface LooseStore {
  get(id: string): Promise<StoredCase | undefined>
  /** What adjustments booked for what a case is about, in their order. */
  booked(about: string): Promise<BookedStep[]>
  /** What the bank and the books have under the reference of a case about the statement. */
  known(stored: StoredCase): Promise<KnownMoney>
  /** How often a case of no operation was decided. */
  version(): Promise<bigint>
  /** How often a case was decided, proposals aside. */
  decisions(caseId: string): Promise<number>
}

interface CaseRow {
  readonly id: string
  readonly kind: string
  readonly reference: string
  readonly facts: Document
  readonly amount_cents: bigint | null
  readonly opened_at: number
  readonly closed_at: number | null
}

const COLUMNS = 'id, kind, reference, facts, amount_cents, opened_at, closed_at'

const selectCase = statement<[id: string], CaseRow>(
  'loose.get',
  `SELECT ${COLUMNS} FROM "case" WHERE id = $1 AND operation_id IS NULL`,
)

const selectBooked = statement<[about: string], { status: AdjustmentStatus; value_cents: bigint }>(
  'loose.booked',
  `SELECT status, value_cents FROM operation
    WHERE kind = 'adjustment' AND detail ? 'about' AND detail ->> 'about' = $1
    ORDER BY created_at, id`,
)

/** An operator took back what was booked of a movement `m`: the bank did not have it. */
const IS_TAKEN_BACK = `(EXISTS (SELECT FROM operation x WHERE x.id = m.operation_id AND x.facts -> 'reversed' ? m.id)
      OR EXISTS (SELECT FROM operation x
                  WHERE x.kind = 'adjustment' AND x.detail ? 'about'
                    AND x.detail ->> 'about' = 'missing ' || m.direction || ' ' || m.id))`

const selectEntry = statement<
  [kind: string, id: string],
  { direction: 'in' | 'out'; value_cents: bigint; booked_on: string | null; is_taken_back: boolean }
>(
  'loose.entry',
  `SELECT s.direction, s.value_cents, m.operation_id AS booked_on, coalesce(m.id IS NOT NULL AND ${IS_TAKEN_BACK}, false) AS is_taken_back
     FROM statement_entry s LEFT JOIN movement m ON m.direction = s.direction AND m.id = s.id
    WHERE s.direction = CASE WHEN $1 IN ('PAYMENT_RECEIVED', 'PAYOUT_RETURNED') THEN 'in' ELSE 'out' END
      AND s.id = $2 AND s.kind = $1`,
)

const selectMovement = statement<
  [direction: string, id: string],
  { value_cents: bigint; is_in_statement: boolean; charge_id: string | null }
>(
  'loose.movement',
  `SELECT m.value_cents,
          EXISTS (SELECT FROM statement_entry s
                   WHERE s.direction = m.direction AND s.id = m.id AND s.kind <> 'TARIFF'
                     AND s.outcome IS DISTINCT FROM 'KEPT') AS is_in_statement,
          (SELECT o.id FROM operation o WHERE o.id = m.operation_id AND o.kind = 'cash_in') AS charge_id
     FROM movement m WHERE m.direction = $1 AND m.id = $2`,
)

const selectVersion = statement<[], { version: bigint }>(
  'loose.version',
  `SELECT version FROM control WHERE name = 'loose_cases'`,
)

const countDecisions = statement<[caseId: string], { decisions: bigint }>(
  'loose.decisions',
  `SELECT count(*) AS decisions FROM case_step WHERE case_id = $1 AND step IN ('decided', 'approved')`,
)

/** Cases of drifts that are there: those that an operator closed are decided of. */
const selectDrifts = statement<[], { id: string; reference: string; is_open: boolean; is_decided: boolean }>(
  'loose.drifts',
  `SELECT c.id, c.reference, c.closed_at IS NULL AS is_open,
          EXISTS (SELECT FROM audit a WHERE a.action IN ('case.decided', 'case.approved') AND a.subject = c.id::text) AS is_decided
     FROM "case" c WHERE c.operation_id IS NULL AND c.kind = 'ledger_drift'`,
)

/** A case of a fault in the books. */
export interface DriftCase {
  readonly id: string
  readonly reference: string
  readonly isOpen: boolean
  readonly isDecided: boolean
}

/** Every case of a fault in the books, whatever became of it. */
export async function driftCases(database: Queries): Promise<DriftCase[]> {
  const rows = await database.rows(selectDrifts, [])
  return rows.map(({ is_open: isOpen, is_decided: isDecided, ...row }) => ({ ...row, isOpen, isDecided }))
}

/** Makes the store of a database. */
export function createLooseStore(database: Queries): LooseStore {
  return {
    get: async (id) => (await database.rows(selectCase, [id])).map(caseOf)[0],
    booked: async (about) =>
      (await database.rows(selectBooked, [about])).map(({ status, value_cents }) => ({
        status,
        valueCents: value_cents,
      })),
    known: async ({ kind, reference, facts }) => {
      const [first, rest] = partsOf(reference)
      // What it is about stands in its facts: the same entry may have several.
      if (kind === 'line_differs') {
        const { direction, movementId } = facts
        return { entry: undefined, movement: await movementOf(database, String(direction), String(movementId)) }
      }
      if (kind === 'unexplained_credit' || kind === 'unexplained_debit') {
        return { entry: await entryOf(database, first, rest), movement: undefined }
      }
      return { entry: undefined, movement: await movementOf(database, first, rest) }
    },
    version: async () => {
      const [row] = await database.rows(selectVersion, [])
      if (!row) throw new Error('the control of cases is missing')
      return row.version
    },
    decisions: async (caseId) => Number((await database.rows(countDecisions, [caseId]))[0]?.decisions ?? 0),
  }
}

/** A reference is a word and an id, which may have blanks. */
function partsOf(reference: string): [word: string, id: string] {
  const blank = reference.indexOf(' ')
  return blank < 0 ? [reference, ''] : [reference.slice(0, blank), reference.slice(blank + 1)]
}

async function entryOf(database: Queries, kind: string, id: string): Promise<KnownMoney['entry']> {
  const [row] = await database.rows(selectEntry, [kind, id])
  if (!row) return undefined
  const { direction, value_cents: valueCents, booked_on, is_taken_back } = row
  const [bookedOn, takenBackFrom] = is_taken_back ? [null, booked_on] : [booked_on, null]
  return { kind, id, direction, valueCents, bookedOn, takenBackFrom }
}

async function movementOf(database: Queries, direction: string, id: string): Promise<KnownMoney['movement']> {
  if (direction !== 'in' && direction !== 'out') return undefined
  const [row] = await database.rows(selectMovement, [direction, id])
  return (
    row && {
      direction,
      valueCents: row.value_cents,
      isInStatement: row.is_in_statement,
      chargeId: row.charge_id,
    }
  )
}

function caseOf({ amount_cents, opened_at, closed_at, ...row }: CaseRow): StoredCase {
  return { ...row, atStakeCents: amount_cents, openedAt: opened_at, closedAt: closed_at }
}
