import {
  type CaseDecision,
  caseKind,
  decisionNames,
  decisionTriggers,
  type EvidenceField,
  formatReais,
  type JournalKind,
  type Machine,
  Refusal,
  type Row,
} from '@pixgate/spec'
import { follow, reasonOf, type Step } from '../engine/follow.ts'
import {
  type Decision,
  type Document,
  type MovementDirection,
  type MovementId,
  mergeDecisions,
  type OpenCase,
  type Operation,
} from '../engine/operation.ts'
import type { CaseOption, CaseOrder, CaseOutcome, DecidableCase } from './case.ts'

/** What deciding a case by a table is for every kind of operation. Pure. */

/** What of a machine says which decisions there are. */
type Table = Pick<Machine, 'rows' | 'guards'>

/**
 * The decisions that a table has for a case where its operation stands, each with why it is not offered now.
 * @param holds whether a condition holds for this decision
 * @source rules#cases.2
 */
export function optionsBy(
  { rows, guards }: Table,
  operation: Operation,
  { kind }: DecidableCase,
  holds: (decision: CaseDecision, guard: string) => boolean,
  needsOf: (decision: CaseDecision) => readonly EvidenceField[],
): CaseOption[] {
  const standing = { status: operation.status, reason: reasonOf(operation) }
  return decisionNames.flatMap((decision): CaseOption[] => {
    const known = rows.filter((row) => isOf(row, decisionTriggers[decision], kind, standing))
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
  return isHere && on === trigger && decides.some((one) => one === kind)
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
 * @source rules#cases.3
 */
export function assertOpen({ openCases = [] }: Operation, { id }: Pick<DecidableCase, 'id'>): void {
  if (openCases.some((open) => open.id === id)) return
  throw new Refusal('not_possible_in_state', { message: 'the case is closed: it was decided, or has ended by itself' })
}

/** The rows by which one kind of operation moves. */
type RowsOf<Op extends Operation, Trigger extends string, Guard extends string> = Pick<
  Machine<Op['status'], string, Trigger, Guard>,
  'rows'
>

/** What a table is looked up with, besides what says which decision it is. */
type Looking<Op extends Operation, Guard extends string> = Pick<
  Step<Op, string, Guard, never>,
  'holds' | 'changes' | 'amounts' | 'notification' | 'isLeftOpen'
>

/** Journals of which an amount is what is there of the balance. */
const BY_BALANCE: ReadonlySet<JournalKind> = new Set([
  'payout_left_in_suspense',
  'refund_left_in_suspense',
  'return_debited',
])

/**
 * What an operator orders of a case, by the row that the table has for it now.
 * @param step what the row is looked up with, and what journal and movement are known by
 * @throws not_possible_in_state (409) it has none
 * @source rules#cases.1
 */
export function orderedBy<Op extends Operation, Trigger extends string, Guard extends string>(
  machine: RowsOf<Op, Trigger, Guard>,
  operation: Op,
  openCase: DecidableCase,
  order: CaseOrder,
  step: Looking<Op, Guard> & { readonly reference: string },
  nowMs: number,
): Decision<Op> {
  const on = decisionTriggers[order.decision] as Trigger
  const decision: Decision<Op | undefined> = follow(
    machine,
    operation,
    {
      ...step,
      on,
      evidence: evidenceOfOrder(order),
      decides: openCase,
      outcome: (after, isApplied) => (isApplied ? after : undefined),
    },
    nowMs,
  )
  const { outcome } = decision
  if (!outcome) throw notDecidable(order, openCase)
  const isExact = decision.journals?.some(({ kind }) => BY_BALANCE.has(kind))
  return { ...decision, outcome, ...(isExact ? { exact: ['available'] } : {}) }
}

/**
 * Where a decision closes its case, and no other one keeps the operation in doubt, the doubt ends, as the table says.
 * @param decided what was decided, with the operation after it
 * @param stepOf what the row is looked up with, of the operation without the case
 * @source rules#cases.5
 */
export function endedBy<Op extends Operation, Trigger extends string, Guard extends string>(
  machine: RowsOf<Op, Trigger, Guard>,
  { id, kind }: DecidableCase,
  decided: Decision<Op>,
  stepOf: (operation: Op) => Looking<Op, Guard>,
  nowMs: number,
): Decision<CaseOutcome<Op>> {
  const isClosed = decided.closes?.includes(id) ?? false
  const operation = isClosed ? withoutCase(decided.outcome, id) : decided.outcome
  const before: Decision<CaseOutcome<Op>> = { ...decided, outcome: { operation } }
  if (!isClosed || reasonOf(operation) === null) return before
  const on = 'doubt.decided' as Trigger
  const step = { ...stepOf(operation), on, reference: '', evidence: { decidedCase: kind } }
  const end: Decision<CaseOutcome<Op>> = follow(
    machine,
    operation,
    { ...step, outcome: (after) => ({ operation: after }) },
    nowMs,
  )
  return mergeDecisions(before, end)
}

/** What a decision that the table does not have now is refused with. */
export function notDecidable(
  { decision }: { readonly decision: string },
  { kind }: Pick<DecidableCase, 'kind'>,
): Refusal {
  const message = `${decision} is no decision for a case ${kind} as things are`
  return new Refusal('not_possible_in_state', {
    message,
    fields: [{ field: 'decision', code: 'not_possible', message }],
  })
}

/** What an amount is refused with that is more than is in suspense. */
export function exceedsSuspense(cents: bigint): Refusal {
  const message = `${formatReais(cents)} of it can be decided now`
  return new Refusal('not_possible_in_state', {
    message,
    fields: [{ field: 'amountCents', code: 'too_large', message }],
  })
}

/**
 * What a decision needs must be named; an operation or an amount that it does not take must not: part of what it is about would be
 * decided for a smaller amount, or left behind.
 * @throws validation_error (400)
 * @source rules#cases.35
 */
export function assertNamed(order: CaseOrder, needs: readonly EvidenceField[]): void {
  const missing = needs.filter((field) => namedIn(order, field) === undefined)
  const surplus = INSTRUCTIONS.filter((field) => order[field] !== undefined && !needs.includes(field))
  if (missing.length + surplus.length === 0) return
  throw new Refusal('validation_error', {
    fields: [
      ...missing.map((field) => ({
        field: isInstruction(field) ? field : `evidence.${field}`,
        code: 'required',
        message: `${field} is required for this decision`,
      })),
      ...surplus.map((field) => ({ field, code: 'unknown_field', message: `this decision takes no ${field}` })),
    ],
  })
}

/** What an order says of what is to be done; the rest that it names is proof. */
const INSTRUCTIONS = ['operationId', 'amountCents'] as const

function isInstruction(field: EvidenceField): field is (typeof INSTRUCTIONS)[number] {
  return INSTRUCTIONS.some((instruction) => instruction === field)
}

function namedIn(order: CaseOrder, field: EvidenceField): string | bigint | undefined {
  return isInstruction(field) ? order[field] : order.evidence[field]
}

/**
 * The movements that an operator names, each with the way in which it went: one that is booked proves nothing.
 * @source rules#cases.13
 */
export function movementsNamed(
  { evidence }: CaseOrder,
  ways: { readonly endToEndId: MovementDirection; readonly returnId: MovementDirection },
): MovementId[] {
  return (['endToEndId', 'returnId'] as const).flatMap((field): MovementId[] => {
    const id = evidence[field]
    return id === undefined ? [] : [{ direction: ways[field], id }]
  })
}

/** What the move keeps of who decided what, and why. @source rules#cases.4 */
export function evidenceOfOrder({
  decision,
  caseId,
  operator,
  approver,
  reason,
  evidence,
  operationId,
  amountCents,
}: CaseOrder): Document {
  const { endToEndId, returnId, reference, note } = evidence
  const proof = { endToEndId, returnId, reference, note }
  const amount = amountCents === undefined ? {} : { amountCents: Number(amountCents) }
  return {
    caseId,
    decision,
    operator,
    approver,
    reason,
    evidence: proof,
    ...(operationId && { operationId }),
    ...amount,
  }
}

/** An operation whose case was decided: the others are open. */
function withoutCase<Op extends Operation>(operation: Op, id: string): Op {
  return { ...operation, openCases: operation.openCases?.filter((open) => open.id !== id) ?? [] }
}

const CASTING = new WeakMap<readonly Row[], ReadonlySet<string>>()

/**
 * Whether a case is open that keeps a doubt alive. One with money in suspense does where any line opens its kind with a doubt, any other
 * one where a line under its rule does.
 * @source rules#cases.5
 */
export function isKeptInDoubt({ rows }: Pick<Table, 'rows'>, { openCases = [] }: Operation, decided?: string): boolean {
  let casting = CASTING.get(rows)
  if (!casting) {
    casting = new Set(
      rows.flatMap(({ opens, reason, rule }) =>
        opens && reason && reason !== 'same' ? [castBy({ kind: opens, rule })] : [],
      ),
    )
    CASTING.set(rows, casting)
  }
  const all = casting
  return openCases.some((open) => open.id !== decided && all.has(castBy(open)))
}

function castBy({ kind, rule }: Pick<OpenCase, 'kind' | 'rule'>): string {
  return caseKind(kind)?.holds === 'suspense' ? kind : `${kind} ${rule}`
}
