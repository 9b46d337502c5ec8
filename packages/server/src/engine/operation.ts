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
 * Stored state, and the changes of a decision. Amounts are centavos (`bigint`), instants epoch milliseconds.
 */

export interface Statuses {
  readonly cash_in: CashInStatus
  readonly cash_out: CashOutStatus
  readonly refund_in: RefundInStatus
  readonly adjustment: AdjustmentStatus
}

export type OperationKind = keyof Statuses

/** Name of a shared row, such as the kill switch. */
export type ControlName = 'cash_out_switch' | 'holders'

/** Direction at the bank, seen from the merchant's account. */
export type MovementDirection = 'in' | 'out'

/** The bank's id of a movement: an end-to-end id, or a return id. */
export interface MovementId {
  readonly direction: MovementDirection
  readonly id: string
}

export interface BookedMovement {
  readonly operationId: string
  readonly valueCents: bigint
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

export type Document = { readonly [key: string]: Json | undefined }

/** Next step of a worker. */
export type Step = 'send' | 'ask' | 'release' | 'case'

export interface Plan {
  readonly step: Step
  /** Time at which the step changes without a move, epoch milliseconds; `null`: never. */
  readonly changesAt: number | null
}

/** Current state: the projection of the moves. */
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
  /** Number of moves. */
  readonly version: number
  readonly valueCents: bigint
  readonly feeCents: bigint
  readonly correlationId: string
  /** SHA-256 of the normalised request body. */
  readonly bodyHash: Buffer
  /** `Idempotency-Key` with its scope; `null`: none. */
  readonly idempotencyKey: string | null
  /** Key that only one operation may hold at a time; `null`: none, or given up. */
  readonly exclusiveKey: string | null
  readonly expiresAt: number | null
  /** Time of the next work; `null`: none. */
  readonly dueAt: number | null
  /** Step at `dueAt`; absent or `null`: not computed. */
  readonly plan?: Plan | null
  readonly transactionId: string | null
  readonly endToEndId: string | null
  /** Request; never changes. */
  readonly detail: Detail
  /** Later knowledge. */
  readonly facts: Facts
  readonly createdAt: number
  readonly updatedAt: number
  /** Read for decisions, absent in views. @source rules#engine.19 */
  readonly openCases?: readonly OpenCase[]
}

/** At most one per operation, kind and reference. */
export interface OpenCase {
  readonly id: string
  readonly kind: string
  readonly reference: string
  /** Rule that opened it, or reported it last. */
  readonly rule: string
  /** Grows with every change that a decision depends on. @source rules#engine.22 */
  readonly version: number
}

/** The creation is the first move. */
export interface Create<Op extends Operation = Operation> {
  readonly operation: Omit<Op, 'version' | 'createdAt' | 'updatedAt' | 'openCases'>
}

/** Step of an existing operation. Absent fields keep their value. */
export interface Move {
  readonly operationId: string
  readonly trigger: string
  readonly to: Operation['status']
  readonly facts?: Document
  /** For a charge that the bank had before. */
  readonly expiresAt?: number
  readonly dueAt?: number | null
  /** See {@link Operation.plan}. */
  readonly plan?: Plan
  readonly transactionId?: string
  readonly endToEndId?: string
  /** Gives up the exclusive key. */
  readonly givesUpExclusiveKey?: boolean
  /** The bank's report, if the move opens a case or decides one. */
  readonly evidence?: Document
}

/** Journal to post: the template's postings with these amounts, without zeros. */
export interface Journal {
  readonly operationId: string
  readonly kind: JournalKind
  /** Distinguishes journals of one kind and operation: an end-to-end id, a return id, or ''. */
  readonly reference: string
  readonly amounts: Partial<Readonly<Record<Variable, bigint>>>
}

/** Unique per (operation, event type, status, reference). */
export interface Notification {
  readonly operationId: string
  readonly eventType: EventType
  readonly status: string
  readonly reference: string
  /** The exact bytes to sign and send. */
  readonly body: Buffer
}

/** Unique per (operation, kind, reference). A case of an operation opens with one of its moves. */
export type Case = (
  | { readonly operationId: string; readonly kind: CaseOfOperation }
  // Each of these has its decisions. @source rules#cases.50
  | { readonly operationId: null; readonly kind: CaseWithoutOperation }
) & {
  readonly reference: string
  /** Report, with the rule that opens the case. */
  readonly facts: Document & { readonly rule: string }
}

export interface Audit {
  readonly actor: string
  readonly actorName?: string
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: Document
}

/** Stored step of a case: proposal, approval, refusal, decision or note. */
export interface CaseStep {
  readonly id: string
  readonly caseId: string
  readonly step: 'decided' | 'approved'
  /** Approved proposal; a proposal ends once. */
  readonly proposalId: string | null
  readonly operatorId: string
  readonly operatorName: string | null
  readonly content: Document
  readonly caseVersion: string
  readonly amountCents: bigint
  /** With its scope; `null`: none. */
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly answer: Document
}

/** Order to apply a set-aside event again. */
export interface EventOrder {
  readonly inboxId: string
  /** Index in its callback. */
  readonly ordinal: number
  /** Time of the setting aside as read, epoch milliseconds; compared, so that an event is ordered once. */
  readonly setAsideAt: number
  /** Operation that the operator names; `null`: as the event says. */
  readonly attributedTo: string | null
}

/** All changes of one input, decided before anything is written. */
export interface Decision<Outcome> {
  readonly creates?: readonly Create[]
  readonly moves?: readonly Move[]
  readonly journals?: readonly Journal[]
  readonly notifications?: readonly Notification[]
  /** Cases to open. */
  readonly cases?: readonly Case[]
  /**
   * Ids of cases to close before others open: of moved operations, or without one. See {@link Operation.openCases}.
   * @source rules#engine.19
   */
  readonly closes?: readonly string[]
  /** Accounts whose exact balance the decision used; the commit compares them. */
  readonly exact?: readonly AccountCode[]
  readonly controls?: Partial<Readonly<Record<ControlName, Document>>>
  readonly allowances?: readonly AllowanceChange[]
  /** Bounds of earlier payments to Pix keys, centavos. */
  readonly recipients?: readonly RecipientBound[]
  /** Rows of the audit trail, in the same commit. */
  readonly audits?: readonly Audit[]
  /** In the same commit. @source rules#cases.38 */
  readonly caseSteps?: readonly CaseStep[]
  /** In the same commit. @source rules#cases.57 */
  readonly eventOrders?: readonly EventOrder[]
  /** Result for the caller, after the commit. */
  readonly outcome: Outcome
}

/** Bound of payments to a Pix key, including the decision's own. */
export interface RecipientBound {
  readonly pixKey: string
  readonly valueCents: bigint
  readonly maxCents: bigint
}

/** State that a decision sees. */
export interface State {
  /** `undefined`: does not exist. The command must have named it. */
  operation(id: string): Operation | undefined
  /** Named case without an operation; `undefined`: not open. */
  openCase(id: string): OpenCase | undefined
  /** Centavos. */
  balance(code: AccountCode): bigint
  control(name: ControlName): Document
  used(name: AllowanceName): Used
  /** Usage since a bucket, centavos. */
  usedSince(name: AllowanceName, since: number): bigint
  recipient(pixKey: string): Recipient
  /** Booking of a named movement; `undefined`: none. */
  movement(movement: MovementId): BookedMovement | undefined
  versionOf(name: ControlName): bigint
  /** Repayments that the engine adds to these journals. @source rules#ledger.recover */
  repaidBy(journals: readonly Journal[]): readonly Journal[]
}

/** Identity of a client's request. */
export interface Identity {
  readonly kind: OperationKind
  readonly externalId: string
  /** With its scope; `null` where the client sent none. */
  readonly idempotencyKey: string | null
  /** See {@link Operation.exclusiveKey}. */
  readonly exclusiveKey?: string | null
}

/**
 * Input to the engine. `decide` is pure and may be called several times; a `Refusal` changes nothing.
 */
export interface Command<Outcome> {
  /** Ids of operations to read. */
  readonly reads: readonly string[]
  /** Ids of decided cases without an operation. */
  readonly cases?: readonly string[]
  readonly controls?: readonly ControlName[]
  /** Movements that it may book or looks at; read again for each decision. */
  readonly movements?: readonly MovementId[]
  readonly allowances?: readonly AllowanceName[]
  readonly recipients?: readonly RecipientName[]
  /** Identity of the operation that it may create: looked up before a refusal is answered. */
  readonly creates?: Identity
  /**
   * Request of a client or an operator; a lapsed one is not decided. Bank events and results of workers have none, as they
   * count however late.
   * @source rules#engine.17
   */
  readonly request?: LiveRequest | undefined
  /** Touches no account and no operation, and waits for no command that does. @source rules#engine.20 */
  readonly isUrgent?: boolean
  decide(state: State, now: number): Decision<Outcome>
}

export interface Ordered {
  readonly orderId: string
}

export function created<Op extends Operation>({ operation }: Create<Op>, now: number): Op {
  return { ...operation, version: 1, createdAt: now, updatedAt: now, openCases: [] } as unknown as Op
}

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

/** Combines two decisions; the second outcome counts. */
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

/** Allocates only if both have items, which is rare. */
function joined<Item>(first: readonly Item[] = [], then: readonly Item[] = []): readonly Item[] {
  if (first.length === 0) return then
  return then.length === 0 ? first : [...first, ...then]
}

/** Keys that must be unique within a batch. */
export function identityKeys({ kind, externalId, idempotencyKey, exclusiveKey = null }: Identity): string[] {
  return [
    `${kind} ${externalId}`,
    ...(idempotencyKey === null ? [] : [`key ${idempotencyKey}`]),
    ...(exclusiveKey === null ? [] : [`exclusive ${exclusiveKey}`]),
  ]
}
