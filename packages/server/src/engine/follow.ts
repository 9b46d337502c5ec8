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

/** Reason of a doubt: with the status, part of the state. */
export type Reason = 'no_answer' | 'conflict' | 'not_dispatched'

/** Stored words of the reasons. @see docs/adr/0021 */
const STORED = { no_answer: 'missing', conflict: 'contradiction', not_dispatched: 'unrecorded' } as const

/** `null` after a doubt, absent before the first. */
export type ReasonFact = {
  readonly doubt?: (typeof STORED)[Reason] | null
}

const REASONS = new Map<unknown, Reason>(Object.entries(STORED).map(([reason, word]) => [word, reason as Reason]))

/** `null`: not in doubt. */
export function reasonOf({ facts }: Pick<Operation, 'facts'>): Reason | null {
  return REASONS.get(facts.doubt) ?? null
}

export function reasonFact(reason: Reason | null): ReasonFact {
  return { doubt: reason === null ? null : STORED[reason] }
}

/** The fact to write if the row changes the reason. */
export function reasonAfter(operation: Pick<Operation, 'facts'>, { reason }: Pick<Row, 'reason'>): ReasonFact {
  if (reason === 'same' || reason === reasonOf(operation)) return {}
  return reasonFact(reason as Reason | null)
}

/** Notification before the operation's failure is added. */
export interface NotificationDraft extends Pick<Notification, 'eventType' | 'status' | 'reference'> {
  readonly event: object
}

export function draftNotification<Type extends EventType>(
  eventType: Type,
  event: EventOf<Type>,
  reference = '',
): NotificationDraft {
  return { eventType, status: event.status, reference, event }
}

/**
 * The notification of an operation. That of a failure says why.
 * @param facts of the operation afterwards
 * @source rules#events.6
 */
export function notificationOf(
  operationId: string,
  { event, ...draft }: NotificationDraft,
  facts: Document,
): Notification {
  const { failureCode, failureReason = null } = facts
  const why =
    draft.status === 'FAILED' && failureCode != null ? { failure_code: failureCode, failure_reason: failureReason } : {}
  const body = { event_type: draft.eventType, event: { ...event, ...why } }
  return { ...draft, operationId, body: Buffer.from(JSON.stringify(body)) }
}

/** Changes of a move besides status and reason, and the cases that it closes. */
export type Changes = Pick<
  Move,
  'facts' | 'expiresAt' | 'dueAt' | 'plan' | 'transactionId' | 'endToEndId' | 'givesUpExclusiveKey'
> &
  Pick<Decision<unknown>, 'closes'>

/** Part of a row that changes depend on. */
export interface Target<Op extends Operation = Operation>
  extends Pick<Row, 'when' | 'reason' | 'posts' | 'opens' | 'asks' | 'decides' | 'rule'> {
  readonly to: Op['status']
}

/** Input to a state machine, with everything that a row may need. */
export interface Step<Op extends Operation, Trigger extends string, Guard extends string, Outcome> {
  readonly on: Trigger
  readonly holds: (guard: Guard) => boolean
  /** Called if the row makes a move. */
  readonly changes?: (row: Target<Op>) => Changes
  /** For a row that posts a journal. */
  readonly amounts?: Journal['amounts']
  /** End-to-end or return id that identifies journal and case. */
  readonly reference: string
  /** For a row that emits a notification. */
  readonly notification?: (to: Op['status']) => NotificationDraft
  /** Facts of the case that the row opens, or evidence of a decision. */
  readonly evidence?: Document | ((row: Target<Op>) => Document)
  /** Case that an operator decides. */
  readonly decides?: Pick<OpenCase, 'id' | 'kind'>
  /** Money of the case stays in suspense. */
  readonly isLeftOpen?: boolean
  /** Result for the caller. `isApplied` is false if the table has no row, or ignores the input. */
  readonly outcome: (after: Op, isApplied: boolean) => Outcome
}

/**
 * Decides by the row of the resource's table. Without a row nothing changes.
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
  // A query leaves its case open, unless it ends the doubt.
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
  const after = moved(operation, move, now)
  return {
    moves: [move],
    journals: row.posts
      ? [{ operationId: operation.id, kind: row.posts, reference: step.reference, amounts: step.amounts ?? {} }]
      : [],
    notifications:
      row.emits && step.notification
        ? [notificationOf(operation.id, step.notification(row.to), after.facts as Document)]
        : [],
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
      // Operators decide one case at a time: the others stay open. @source rules#cases.5
      ...(isDoubtOver && !step.decides && step.on !== 'doubt.decided' ? doubtCaseIds(operation) : []),
      ...(step.decides && isDecided ? [step.decides.id] : []),
      ...closes,
    ],
    outcome: step.outcome(after, true),
  }
}
