import type {
  AccountCode,
  AdjustmentStatus,
  CaseOfOperation,
  CaseWithoutOperation,
  CashInStatus,
  CashOutStatus,
  EventType,
  JournalKind,
  RefundInStatus,
  Variable,
} from '@pixgate/spec'
import type { LiveRequest } from '../platform/live-request.ts'
import type { AllowanceChange, AllowanceName, Recipient, RecipientName, Used } from './allowance.ts'

/**
 * What the engine keeps and what a decision may change. Amounts are centavos (`bigint`), instants epoch milliseconds.
 */

/** The statuses of each kind of operation. */
export interface Statuses {
  readonly cash_in: CashInStatus
  readonly cash_out: CashOutStatus
  readonly refund_in: RefundInStatus
  readonly adjustment: AdjustmentStatus
}

/** The kinds of operation. */
export type OperationKind = keyof Statuses

/** A row that decisions look at besides operations and accounts. */
export type ControlName = 'cash_out_switch' | 'holders'

/** Which way money moved at the bank, seen from the merchant's account. */
export type MovementDirection = 'in' | 'out'

/** The bank's name of one movement of money: an end-to-end id, or a return id. */
export interface MovementId {
  readonly direction: MovementDirection
  readonly id: string
}

/** The operation on which a movement was booked, and the amount that was. */
export interface BookedMovement {
  readonly operationId: string
  readonly valueCents: bigint
}

/** JSON as the database keeps it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/** A document of an operation. */
export type Document = { readonly [key: string]: Json | undefined }

/** What a worker does about an operation that is due. */
export type Step = 'send' | 'ask' | 'release' | 'case'

/** What is to be done about an operation when it is due. */
export interface Plan {
  readonly step: Step
  /** When that would become another step without a move, epoch milliseconds; `null`: never. */
  readonly changesAt: number | null
}

/** An operation as it stands: the projection of its moves. */
export interface Operation<
  Kind extends OperationKind = OperationKind,
  Detail extends Document = Document,
  Facts extends Document = Document,
> {
  readonly id: string
  readonly kind: Kind
  /** The client's reference, unique per kind for ever. */
  readonly externalId: string
  /** The id at the bank; `null` of an adjustment. Never changes. @source rules#ids.4 */
  readonly orderId: string | null
  readonly status: Statuses[Kind]
  /** How many moves it has had. */
  readonly version: number
  readonly valueCents: bigint
  readonly feeCents: bigint
  readonly correlationId: string
  /** SHA-256 of the normalised request body. */
  readonly bodyHash: Buffer
  /** The client's `Idempotency-Key` with its scope; `null` where it sent none. */
  readonly idempotencyKey: string | null
  /** What no other operation may hold at the same time; `null` where it holds nothing, or no longer. */
  readonly exclusiveKey: string | null
  readonly expiresAt: number | null
  /** When a worker must look at it; `null` when nothing is to be done. */
  readonly dueAt: number | null
  /** What is to be done then; absent or `null` where nobody has computed it. */
  readonly plan?: Plan | null
  readonly transactionId: string | null
  readonly endToEndId: string | null
  /** What the client asked for; never changes. */
  readonly detail: Detail
  /** What became known since. */
  readonly facts: Facts
  readonly createdAt: number
  readonly updatedAt: number
  /** Its cases that are open: known where it is decided, left out where it is only shown. @source rules#engine.19 */
  readonly openCases?: readonly OpenCase[]
}

/** A case that is open. An operation has one at most of a kind and reference. */
export interface OpenCase {
  readonly id: string
  readonly kind: string
  readonly reference: string
  /** The rule by which it was opened, or was last reported again. */
  readonly rule: string
  /** Grows with every change that a decision depends on. @source rules#engine.22 */
  readonly version: number
}

/** A new operation. Its creation is its first move. */
export interface Create<Op extends Operation = Operation> {
  readonly operation: Omit<Op, 'version' | 'createdAt' | 'updatedAt' | 'openCases'>
}

/** One step of an operation that exists. Fields left out keep their value. */
export interface Move {
  readonly operationId: string
  readonly trigger: string
  readonly to: Operation['status']
  readonly facts?: Document
  /** Of a charge that the bank had before it was ordered here. */
  readonly expiresAt?: number
  readonly dueAt?: number | null
  /** See {@link Operation.plan}. */
  readonly plan?: Plan
  readonly transactionId?: string
  readonly endToEndId?: string
  /** Others may hold what it held. */
  readonly givesUpExclusiveKey?: boolean
  /** What the bank said, where the move opens a case: the case keeps only what the first one said. */
  readonly evidence?: Document
}

/** A journal to post: its template's postings with these amounts; zero amounts are not written. */
export interface Journal {
  readonly operationId: string
  readonly kind: JournalKind
  /** Tells journals of one kind and operation apart: an end-to-end id, a return id, or ''. */
  readonly reference: string
  readonly amounts: Partial<Readonly<Record<Variable, bigint>>>
}

/** A notification to send: unique per (operation, event type, status, reference). */
export interface Notification {
  readonly operationId: string
  readonly eventType: EventType
  readonly status: string
  readonly reference: string
  /** The exact bytes to sign and send. */
  readonly body: Buffer
}

/** A case for an operator: unique per (operation, kind, reference). One of an operation opens with a move of it. */
export type Case = (
  | { readonly operationId: string; readonly kind: CaseOfOperation }
  // Each of these has its decisions. @source rules#cases.50
  | { readonly operationId: null; readonly kind: CaseWithoutOperation }
) & {
  readonly reference: string
  /** The report, and the rule by which it opens the case. */
  readonly facts: Document & { readonly rule: string }
}

/** A row of the audit trail: who did what, from where. */
export interface Audit {
  readonly actor: string
  readonly actorName?: string
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: Document
}

/** A step towards the decision of a case by operators, as it is kept. */
export interface CaseStep {
  readonly id: string
  readonly caseId: string
  readonly step: 'decided' | 'approved'
  /** The proposal that is approved. It ends once. */
  readonly proposalId: string | null
  readonly operatorId: string
  readonly operatorName: string | null
  readonly content: Document
  readonly caseVersion: string
  readonly amountCents: bigint
  /** With its scope; `null` where the client sent none. */
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  /** What is answered. */
  readonly answer: Document
}

/** What an operator orders of an event of the bank that was set aside: the inbox applies it again. */
export interface EventOrder {
  readonly inboxId: string
  /** Its place in its callback, from 0. */
  readonly ordinal: number
  /** When it was set aside, as it was read, epoch milliseconds: one that was ordered since stays as it is. */
  readonly setAsideAt: number
  /** The operation that the operator names; `null`: what the event names. */
  readonly attributedTo: string | null
}

/** Everything one input changes, decided before anything is written. */
export interface Decision<Outcome> {
  readonly creates?: readonly Create[]
  readonly moves?: readonly Move[]
  readonly journals?: readonly Journal[]
  readonly notifications?: readonly Notification[]
  /** Cases to open. */
  readonly cases?: readonly Case[]
  /**
   * Ids of cases to close, before others open: of operations that it moves, or of none. See {@link Operation.openCases}.
   * @source rules#engine.19
   */
  readonly closes?: readonly string[]
  /** Accounts whose very balance the decision used: it is decided again where they have changed since. */
  readonly exact?: readonly AccountCode[]
  /** New values of controls that the command looked at. */
  readonly controls?: Partial<Readonly<Record<ControlName, Document>>>
  /** What it takes of allowances, and gives back. */
  readonly allowances?: readonly AllowanceChange[]
  /** Pix keys to which no more than this may have been paid before, centavos. */
  readonly recipients?: readonly RecipientBound[]
  /** What the audit trail is told of it, written with it or not at all. */
  readonly audits?: readonly Audit[]
  /** What is kept of an operator's decision, written with it or not at all. @source rules#cases.38 */
  readonly caseSteps?: readonly CaseStep[]
  /** Events that are due again, written with it or not at all. @source rules#cases.57 */
  readonly eventOrders?: readonly EventOrder[]
  /** What the caller is told once all of it is committed. */
  readonly outcome: Outcome
}

/** The most that may be paid to a Pix key, with what the decision makes. */
export interface RecipientBound {
  readonly pixKey: string
  readonly valueCents: bigint
  readonly maxCents: bigint
}

/** What a decision may look at. */
export interface State {
  /** An operation the command reads, or `undefined` where there is none. */
  operation(id: string): Operation | undefined
  /** A case without an operation that the command decides; `undefined` where it is not open. */
  openCase(id: string): OpenCase | undefined
  /** An account's balance in centavos. */
  balance(code: AccountCode): bigint
  /** A control that the command looks at. */
  control(name: ControlName): Document
  /** What was used of an allowance that the command looks at. */
  used(name: AllowanceName): Used
  /** The same from a bucket on, centavos. */
  usedSince(name: AllowanceName, since: number): bigint
  /** What was paid to a Pix key that the command names. */
  recipient(pixKey: string): Recipient
  /** Where a movement that the command names was booked; `undefined` where it was not. */
  movement(movement: MovementId): BookedMovement | undefined
  /** How often that control was set, its first value included. */
  versionOf(name: ControlName): bigint
  /** The debts that the engine repays by itself once these are posted. @source rules#ledger.recover */
  repaidBy(journals: readonly Journal[]): readonly Journal[]
}

/** What tells a client's intention apart from every other. */
export interface Identity {
  readonly kind: OperationKind
  readonly externalId: string
  /** With its scope; `null` where the client sent none. */
  readonly idempotencyKey: string | null
  /** See {@link Operation.exclusiveKey}. */
  readonly exclusiveKey?: string | null
}

/**
 * One input to the engine. `decide` is pure: same state, same time, same decision; it may be called several times.
 * It throws a `Refusal` to change nothing.
 */
export interface Command<Outcome> {
  /** Ids of the operations it looks at or moves. */
  readonly reads: readonly string[]
  /** Ids of cases without an operation that it decides. */
  readonly cases?: readonly string[]
  /** Controls it looks at or changes. */
  readonly controls?: readonly ControlName[]
  /** Movements that it may book, or that it looks at: looked up afresh for each decision, but for those that it books. */
  readonly movements?: readonly MovementId[]
  /** Allowances of which it may take something within a bound. */
  readonly allowances?: readonly AllowanceName[]
  /** Pix keys to which it may pay within a bound. */
  readonly recipients?: readonly RecipientName[]
  /** What the operation it creates is known by, so that this is looked up before any refusal is answered. */
  readonly creates?: Identity
  /**
   * The request of a client or an operator that it carries out; nothing is decided for one that has lapsed. What the
   * bank said and what a worker found out have none: they count however late.
   * @source rules#engine.17
   */
  readonly request?: LiveRequest | undefined
  /** It touches no account and no operation, and waits for nothing that does. @source rules#engine.20 */
  readonly isUrgent?: boolean
  decide(state: State, now: number): Decision<Outcome>
}

/** An operation that the bank knows. */
export interface Ordered {
  readonly orderId: string
}

/** The operation after its creation. */
export function created<Op extends Operation>({ operation }: Create<Op>, now: number): Op {
  return { ...operation, version: 1, createdAt: now, updatedAt: now, openCases: [] } as unknown as Op
}

/** The operation after a move. */
export function moved<Op extends Operation>(operation: Op, move: Move, now: number): Op {
  return {
    ...operation,
    status: move.to,
    version: operation.version + 1,
    facts: move.facts ? { ...operation.facts, ...move.facts } : operation.facts,
    expiresAt: move.expiresAt ?? operation.expiresAt,
    dueAt: move.dueAt === undefined ? operation.dueAt : move.dueAt,
    ...(move.plan ? { plan: move.plan } : {}),
    transactionId: move.transactionId ?? operation.transactionId,
    endToEndId: move.endToEndId ?? operation.endToEndId,
    exclusiveKey: move.givesUpExclusiveKey ? null : operation.exclusiveKey,
    updatedAt: now,
  }
}

/** Two decisions as one; what the second tells its caller counts. */
export function mergeDecisions<Outcome>(
  first: Omit<Decision<unknown>, 'outcome'>,
  then: Decision<Outcome>,
): Decision<Outcome> {
  return {
    creates: joined(first.creates, then.creates),
    moves: joined(first.moves, then.moves),
    journals: joined(first.journals, then.journals),
    notifications: joined(first.notifications, then.notifications),
    cases: joined(first.cases, then.cases),
    closes: joined(first.closes, then.closes),
    exact: joined(first.exact, then.exact),
    controls: { ...first.controls, ...then.controls },
    allowances: joined(first.allowances, then.allowances),
    recipients: joined(first.recipients, then.recipients),
    audits: joined(first.audits, then.audits),
    caseSteps: joined(first.caseSteps, then.caseSteps),
    eventOrders: joined(first.eventOrders, then.eventOrders),
    outcome: then.outcome,
  }
}

/** Most decisions have most of it in one of the two, or in neither: then no array is made. */
function joined<Item>(first: readonly Item[] = [], then: readonly Item[] = []): readonly Item[] {
  if (first.length === 0) return then
  return then.length === 0 ? first : [...first, ...then]
}

/** What no two operations of a batch may have in common. */
export function identityKeys({ kind, externalId, idempotencyKey, exclusiveKey = null }: Identity): string[] {
  return [
    `${kind} ${externalId}`,
    ...(idempotencyKey === null ? [] : [`key ${idempotencyKey}`]),
    ...(exclusiveKey === null ? [] : [`exclusive ${exclusiveKey}`]),
  ]
}
