import {
  type DeskDecision,
  deskDecisionNames,
  deskTriggers,
  type EvidenceField,
  type Machine,
  Refusal,
  type Row,
} from '@pixgate/spec'
import type { Document, MovementDirection, MovementId, Operation } from '../engine/operation.ts'
import { reasonOf } from '../engine/reason.ts'
import type { DecidableCase, DeskOption, DeskOrder } from './decider.ts'

/** What deciding a case by a table is for every kind of operation. Pure. */

/** What of a machine says which decisions there are. */
type Table = Pick<Machine, 'rows' | 'guards'>

/**
 * The decisions that a table has for a case where its operation stands, each with why it is not offered now.
 * @param holds whether a condition holds for this decision
 * @source rules#desk.2
 */
export function optionsBy(
  { rows, guards }: Table,
  operation: Operation,
  { kind }: DecidableCase,
  holds: (decision: DeskDecision, guard: string) => boolean,
  needsOf: (decision: DeskDecision) => readonly EvidenceField[],
): DeskOption[] {
  const standing = { status: operation.status, reason: reasonOf(operation) }
  return deskDecisionNames.flatMap((decision): DeskOption[] => {
    const known = rows.filter((row) => isOf(row, deskTriggers[decision], kind, standing))
    const failing = known.map((row) => failingOf(row, (guard) => holds(decision, guard), guards))
    const offered = failing.findIndex(({ length }) => length === 0)
    const row = known[offered < 0 ? 0 : offered]
    if (!row) return []
    const because = offered < 0 ? [...new Set(failing.flat())] : []
    return [{ decision, says: row.says, needs: needsOf(decision), isOffered: offered >= 0, because }]
  })
}

function isOf(
  { from, because, on, decides = [] }: Row,
  trigger: string,
  kind: string,
  standing: { readonly status: string; readonly reason: string | null },
): boolean {
  const isHere = from === standing.status && (because === '*' || because === standing.reason)
  return isHere && on === trigger && decides.includes(kind)
}

/** What stands in the way of a row. */
function failingOf({ when, unless }: Row, holds: (guard: string) => boolean, guards: Table['guards']): string[] {
  return [
    ...when.filter((guard) => !holds(guard)).map((guard) => `not: ${guards[guard] ?? guard}`),
    ...unless.filter(holds).map((guard) => guards[guard] ?? guard),
  ]
}

/**
 * A case is decided once, whoever decides it first.
 * @throws not_possible_in_state (409)
 * @source rules#desk.3
 */
export function assertOpen({ openCases = [] }: Operation, { id }: Pick<DecidableCase, 'id'>): void {
  if (openCases.some((open) => open.id === id)) return
  throw new Refusal('not_possible_in_state', { message: 'the case is closed: it was decided, or has ended by itself' })
}

/** What a decision that the table does not have now is refused with. */
export function notDecidable({ decision }: DeskOrder, { kind }: DecidableCase): Refusal {
  const message = `${decision} is no decision for a case ${kind} as things are`
  return new Refusal('not_possible_in_state', { message })
}

/**
 * What a decision needs must be named.
 * @throws validation_error (400)
 */
export function assertNamed(order: DeskOrder, needs: readonly EvidenceField[]): void {
  const missing = needs.filter((field) => namedIn(order, field) === undefined)
  if (missing.length === 0) return
  throw new Refusal('validation_error', {
    fields: missing.map((field) => ({
      field: field === 'attributeTo' ? field : `evidence.${field}`,
      code: 'required',
      message: `${field} is required for this decision`,
    })),
  })
}

function namedIn({ attributeTo, evidence }: DeskOrder, field: EvidenceField): string | undefined {
  return field === 'attributeTo' ? attributeTo : evidence[field]
}

/**
 * The movements that an operator names, each with the way in which it went: one that is booked proves nothing.
 * @source rules#desk.13
 */
export function movementsNamed(
  { evidence }: DeskOrder,
  ways: { readonly endToEndId: MovementDirection; readonly returnId: MovementDirection },
): MovementId[] {
  return (['endToEndId', 'returnId'] as const).flatMap((field): MovementId[] => {
    const id = evidence[field]
    return id === undefined ? [] : [{ direction: ways[field], id }]
  })
}

/** What the move keeps of who decided what, and why. @source rules#desk.4 */
export function evidenceOfOrder({
  decision,
  caseId,
  operator,
  approver,
  reason,
  evidence,
  attributeTo,
}: DeskOrder): Document {
  const { endToEndId, returnId, reference, note } = evidence
  const proof = { endToEndId, returnId, reference, note }
  return { caseId, decision, operator, approver, reason, evidence: proof, ...(attributeTo && { attributeTo }) }
}

/** An operation whose case was decided: the others are open. */
export function withoutCase<Op extends Operation>(operation: Op, id: string): Op {
  return { ...operation, openCases: operation.openCases?.filter((open) => open.id !== id) ?? [] }
}

const CASTING = new WeakMap<readonly Row[], ReadonlySet<string>>()

/** Whether a case is open that keeps a doubt alive, as it is of a kind that casts one. @source rules#desk.5 */
export function isKeptInDoubt({ rows }: Pick<Table, 'rows'>, { openCases = [] }: Operation, decided?: string): boolean {
  let kinds = CASTING.get(rows)
  if (!kinds) {
    kinds = new Set(rows.flatMap(({ opens, reason }) => (opens && reason && reason !== 'same' ? [opens] : [])))
    CASTING.set(rows, kinds)
  }
  return openCases.some(({ id, kind }) => id !== decided && kinds.has(kind))
}
