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
import type { CaseDecider, CaseOption, DecidableCase, DecisionInput } from './case.ts'

/** Decisions by the tables of all kinds of operation. Pure. */

type Table = Pick<Machine, 'rows' | 'guards'>

/**
 * Decisions that the table has for a case in the operation's state, each with the reasons why it is not offered.
 * @source rules#cases.2
 */
export function optionsBy(
  { rows, guards }: Table,
  operation: Operation,
  { kind }: DecidableCase,
  holds: (guard: string) => boolean,
  needsOf: (decision: CaseDecision) => readonly EvidenceField[],
  maxCents?: bigint,
): CaseOption[] {
  const standing = { status: operation.status, reason: reasonOf(operation) }
  return decisionNames.flatMap((decision): CaseOption[] => {
    const known = rows.filter((row) => isOf(row, decisionTriggers[decision], kind, standing))
    const failing = known.map((row) => failingOf(row, holds, guards))
    const offered = failing.findIndex(({ length }) => length === 0)
    const row = known[offered < 0 ? 0 : offered]
    if (!row) return []
    const whyNot = offered < 0 ? [...new Set(failing.flat())] : []
    const needs = needsOf(decision)
    const most = maxCents !== undefined && needs.includes('amountCents') ? { maxCents } : {}
    return [{ decision, meaning: row.says, needs, ...most, isOffered: offered >= 0, whyNot }]
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

function failingOf({ when, unless }: Row, holds: (guard: string) => boolean, guards: Table['guards']): string[] {
  return [
    ...when.filter((guard) => !holds(guard)).map((guard) => `not: ${guards[guard] ?? guard}`),
    ...unless.filter(holds).map((guard) => guards[guard] ?? guard),
  ]
}

/**
 * Allows one decision per case.
 * @throws not_possible_in_state (409)
 * @source rules#cases.3
 */
export function assertOpen({ openCases = [] }: Operation, { id }: Pick<DecidableCase, 'id'>): void {
  if (openCases.some((open) => open.id === id)) return
  throw new Refusal('not_possible_in_state', { message: 'the case is closed' })
}

/** Decider by the table of one kind of operation. */
export function deciderBy<Op extends Operation, Guard extends string>({
  machine,
  holds,
  needsOf,
  maxCents,
  readsFor,
  decide,
}: Pick<CaseDecider<Op>, 'readsFor' | 'decide'> & {
  readonly machine: Table
  readonly holds: (operation: Op, openCase: DecidableCase, guard: Guard, nowMs: number) => boolean
  readonly needsOf: (operation: Op, openCase: DecidableCase, decision: CaseDecision) => readonly EvidenceField[]
  readonly maxCents?: (operation: Op, openCase: DecidableCase) => bigint
}): CaseDecider<Op> {
  return {
    options: (operation, openCase, nowMs) =>
      optionsBy(
        machine,
        operation,
        openCase,
        (guard) => holds(operation, openCase, guard as Guard, nowMs),
        (decision) => needsOf(operation, openCase, decision),
        maxCents?.(operation, openCase),
      ),
    readsFor,
    decide: (operation, openCase, order, ...rest) => {
      assertOpen(operation, openCase)
      assertNamed(order, needsOf(operation, openCase, order.decision))
      return decide(operation, openCase, order, ...rest)
    },
  }
}

/** Time of the reported event, epoch milliseconds; now if the report has none. */
export function occurredAtOf({ occurredAt }: Document, nowMs: number): number {
  return typeof occurredAt === 'number' ? occurredAt : nowMs
}

type RowsOf<Op extends Operation, Trigger extends string, Guard extends string> = Pick<
  Machine<Op['status'], string, Trigger, Guard>,
  'rows'
>

/** Context of the row, besides the decision itself. */
type Looking<Op extends Operation, Guard extends string> = Pick<
  Step<Op, string, Guard, never>,
  'holds' | 'changes' | 'amounts' | 'notification' | 'isLeftOpen'
>

/** Journals with an amount that depends on the available balance. */
const BY_BALANCE: ReadonlySet<JournalKind> = new Set([
  'payout_left_in_suspense',
  'refund_left_in_suspense',
  'return_debited',
])

/**
 * Applies a decision by the row that the table has for it now.
 * @param step context of the row, and reference of journal and movement
 * @throws not_possible_in_state (409) no row
 * @source rules#cases.1
 */
export function orderedBy<Op extends Operation, Trigger extends string, Guard extends string>(
  machine: RowsOf<Op, Trigger, Guard>,
  operation: Op,
  openCase: DecidableCase,
  order: DecisionInput,
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
 * Ends the doubt by the table if the decision closed the last case that causes it.
 * @param decided the decision, with the operation after it
 * @param stepOf context of the row, for the operation without the case
 * @source rules#cases.5
 */
export function endedBy<Op extends Operation, Trigger extends string, Guard extends string>(
  machine: RowsOf<Op, Trigger, Guard>,
  { id, kind }: DecidableCase,
  decided: Decision<Op>,
  stepOf: (operation: Op) => Looking<Op, Guard>,
  nowMs: number,
): Decision<Op> {
  if (!decided.closes?.includes(id)) return decided
  const operation = withoutCase(decided.outcome, id)
  if (reasonOf(operation) === null) return { ...decided, outcome: operation }
  const on = 'doubt.decided' as Trigger
  const step = { ...stepOf(operation), on, reference: '', evidence: { decidedCase: kind } }
  const end = follow(machine, operation, { ...step, outcome: (after: Op) => after }, nowMs)
  return mergeDecisions(decided, end)
}

export function notDecidable(
  { decision }: { readonly decision: string },
  { kind }: Pick<DecidableCase, 'kind'>,
): Refusal {
  const message = `${decision} is not possible for a case ${kind} in its current state`
  return new Refusal('not_possible_in_state', {
    message,
    fields: [{ field: 'decision', code: 'not_possible', message }],
  })
}

export function exceedsSuspense(cents: bigint): Refusal {
  const message = `at most ${formatReais(cents)} of it can be decided now`
  return new Refusal('not_possible_in_state', {
    message,
    fields: [{ field: 'amountCents', code: 'too_large', message }],
  })
}

/**
 * Requires the evidence of the decision, and refuses an operation or amount that the decision ignores: it would be
 * decided for less, or not at all.
 * @throws validation_error (400)
 * @source rules#cases.35
 */
export function assertNamed(order: DecisionInput, needs: readonly EvidenceField[]): void {
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
      ...surplus.map((field) => ({
        field,
        code: 'unknown_field',
        message: `${field} is not allowed for this decision`,
      })),
    ],
  })
}

/** Instructions; other fields are evidence. */
const INSTRUCTIONS = ['operationId', 'amountCents'] as const

function isInstruction(field: EvidenceField): field is (typeof INSTRUCTIONS)[number] {
  return INSTRUCTIONS.some((instruction) => instruction === field)
}

function namedIn(order: DecisionInput, field: EvidenceField): string | bigint | undefined {
  return isInstruction(field) ? order[field] : order.evidence[field]
}

/** Movements named by the operator. A booked one proves nothing. @source rules#cases.13 */
export function movementsNamed(
  { evidence }: DecisionInput,
  ways: { readonly endToEndId: MovementDirection; readonly returnId: MovementDirection },
): MovementId[] {
  return (['endToEndId', 'returnId'] as const).flatMap((field): MovementId[] => {
    const id = evidence[field]
    return id === undefined ? [] : [{ direction: ways[field], id }]
  })
}

/** @source rules#cases.4 */
export function evidenceOfOrder(order: DecisionInput): Document {
  const { newId: _, operatorId: operator, approverId: approver, evidence, amountCents, ...others } = order
  const amount = amountCents === undefined ? {} : { amountCents: Number(amountCents) }
  return { ...others, operator, approver, evidence: { ...evidence }, ...amount }
}

function withoutCase<Op extends Operation>(operation: Op, id: string): Op {
  return { ...operation, openCases: operation.openCases?.filter((open) => open.id !== id) ?? [] }
}

/**
 * A case that causes doubt is open. A case with money in suspense causes doubt if any line opens its kind with a doubt;
 * other cases, if a line of their rule does.
 * @source rules#cases.5
 */
export function isKeptInDoubt({ rows }: Pick<Table, 'rows'>, { openCases = [] }: Operation, decided?: string): boolean {
  const casting = new Set(
    rows.flatMap(({ opens, reason, rule }) =>
      opens && reason && reason !== 'same' ? [castBy({ kind: opens, rule })] : [],
    ),
  )
  return openCases.some((open) => open.id !== decided && casting.has(castBy(open)))
}

function castBy({ kind, rule }: Pick<OpenCase, 'kind' | 'rule'>): string {
  return caseKind(kind)?.holds === 'suspense' ? kind : `${kind} ${rule}`
}
