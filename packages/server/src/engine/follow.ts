import { type EventOf, type EventType, type Machine, type Row, rowFor } from '@pixgate/spec'
import { doubtCaseIds } from './cases.ts'
import {
  type Decision,
  type Document,
  type Journal,
  type Move,
  moved,
  type Notification,
  type OpenCase,
  type Operation,
} from './operation.ts'

/** Why an operation is in doubt: part of where it stands, beside its status. */
export type Reason = 'no_answer' | 'conflict' | 'not_dispatched'

/** A reason as the database keeps it among the facts, in the words of the first version. @see docs/adr/0021 */
const STORED = { no_answer: 'missing', conflict: 'contradiction', not_dispatched: 'unrecorded' } as const

/** The fact in which the database keeps it; `null` after a doubt, absent before the first. */
export type ReasonFact = {
  readonly doubt?: (typeof STORED)[Reason] | null
}

const REASONS = new Map<unknown, Reason>(Object.entries(STORED).map(([reason, word]) => [word, reason as Reason]))

/** Why an operation is in doubt; `null`: it is not. */
export function reasonOf({ facts }: Pick<Operation, 'facts'>): Reason | null {
  return REASONS.get(facts.doubt) ?? null
}

/** The fact to write. */
export function reasonFact(reason: Reason | null): ReasonFact {
  return { doubt: reason === null ? null : STORED[reason] }
}

/** The fact in which a row's reason is kept, where the row changes it. */
export function reasonAfter(operation: Pick<Operation, 'facts'>, { reason }: Pick<Row, 'reason'>): ReasonFact {
  if (reason === 'same' || reason === reasonOf(operation)) return {}
  return reasonFact(reason as Reason | null)
}

/**
 * What the merchant is told: an event as its published schema says, in the exact bytes that are signed and sent.
 * @param reference tells notifications of one operation, type and status apart: a return id, or ''
 * @source rules#events.2
 */
export function notificationOf<Type extends EventType>(
  eventType: Type,
  event: EventOf<Type>,
  reference = '',
): Omit<Notification, 'operationId'> {
  return {
    eventType,
    status: event.status,
    reference,
    body: Buffer.from(JSON.stringify({ event_type: eventType, event })),
  }
}

/** What a move may change besides status and reason, and which open cases close with it. */
export type Changes = Pick<
  Move,
  'facts' | 'expiresAt' | 'dueAt' | 'plan' | 'transactionId' | 'endToEndId' | 'givesUpExclusiveKey'
> &
  Pick<Decision<unknown>, 'closes'>

/** What of a row decides about a move's changes. */
export interface Target<Op extends Operation = Operation>
  extends Pick<Row, 'when' | 'reason' | 'posts' | 'opens' | 'asks' | 'decides' | 'rule'> {
  readonly to: Op['status']
}

/** One input to a state machine, with everything a row may need. */
export interface Step<Op extends Operation, Trigger extends string, Guard extends string, Outcome> {
  readonly on: Trigger
  /** Whether a condition of the table holds for this input. */
  readonly holds: (guard: Guard) => boolean
  /** What the move changes besides status and reason, should there be one. */
  readonly changes?: (row: Target<Op>) => Changes
  /** Amounts of the journal, should the row post one. */
  readonly amounts?: Journal['amounts']
  /** End-to-end or return id that identifies journal and case. */
  readonly reference: string
  /** What the merchant is told, should the row emit a notification. */
  readonly notification?: (to: Op['status']) => Omit<Notification, 'operationId'>
  /** What a case tells its operator, or an operator who decides one the move. */
  readonly evidence?: Document | ((row: Target<Op>) => Document)
  /** The open case that an operator decides. */
  readonly decides?: Pick<OpenCase, 'id' | 'kind'>
  /** Money is still in suspense for that case afterwards. */
  readonly isLeftOpen?: boolean
  /** What the caller is told, given the operation as it will be; `false`: the table has no row for this, or ignores it. */
  readonly outcome: (after: Op, isApplied: boolean) => Outcome
}

function isByPeople({ on, decides }: { readonly on: string; readonly decides?: unknown }): boolean {
  return decides !== undefined || on === 'doubt.decided'
}

/**
 * Looks the input up in the resource's table and decides what its row says. No row: nothing changes.
 * @source rules#engine.1
 */
export function follow<Op extends Operation, Trigger extends string, Guard extends string, Outcome>(
  machine: Pick<Machine<Op['status'], string, Trigger, Guard>, 'rows'>,
  operation: Op,
  step: Step<Op, Trigger, Guard, Outcome>,
  now: number,
): Decision<Outcome> {
  const standing = { status: operation.status, reason: reasonOf(operation) }
  const row = rowFor(machine, standing, step.on, step.holds, step.decides?.kind)
  if (!row || row.isIgnored) return { outcome: step.outcome(operation, false) }
  const evidence = typeof step.evidence === 'function' ? step.evidence(row) : (step.evidence ?? {})
  const isDoubtOver = reasonOf(operation) !== null && row.reason === null
  // A query leaves its case open, unless it puts the operation back where it waits.
  const isDecided = step.decides !== undefined && row.decides && !step.isLeftOpen && (!row.asks || isDoubtOver)
  const { closes = [], ...changes } = step.changes?.(row) ?? {}
  const move: Move = {
    operationId: operation.id,
    trigger: step.on,
    to: row.to,
    ...changes,
    facts: { ...changes.facts, ...reasonAfter(operation, row) },
    ...(row.opens || row.decides ? { evidence } : {}),
  }
  return {
    moves: [move],
    journals: row.posts
      ? [{ operationId: operation.id, kind: row.posts, reference: step.reference, amounts: step.amounts ?? {} }]
      : [],
    notifications: row.emits && step.notification ? [{ operationId: operation.id, ...step.notification(row.to) }] : [],
    cases: row.opens
      ? [
          {
            operationId: operation.id,
            kind: row.opens,
            reference: step.reference,
            facts: { ...evidence, rule: row.rule },
          },
        ]
      : [],
    closes: [
      // People decide one case at a time: the others stay open. @source rules#cases.5
      ...(isDoubtOver && !isByPeople(step) ? doubtCaseIds(operation) : []),
      ...(step.decides && isDecided ? [step.decides.id] : []),
      ...closes,
    ],
    outcome: step.outcome(moved(operation, move, now), true),
  }
}
