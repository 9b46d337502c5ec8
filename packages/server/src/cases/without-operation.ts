import {
  type AdjustmentStatus,
  type CaseDecision,
  caseKind,
  type JournalKind,
  type JournalTemplate,
  journals,
  limits,
  min,
  Refusal,
} from '@pixgate/spec'
import {
  type Command,
  type Decision,
  type Document,
  type EventOrder,
  type Journal,
  type MovementId,
  mergeDecisions,
  type State,
} from '../engine/operation.ts'
import { adjustmentOf } from '../operations/adjustment.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Queries, statement } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { assertNamed, notDecidable } from './by-table.ts'
import type { CaseOption, DecisionInput, HandedOver, LineKey, Prepared, StatementLines, StoredCase } from './case.ts'

/**
 * Cases without an operation: differences to the bank's statement, events set aside, requested adjustments and refunds, and
 * faults. The subject is read at decision time; a decision books an adjustment, or creates the requested refund.
 */

/** A debit on the bank's statement that the books lack. */
export interface LineSubject extends LineKey {
  readonly is: 'line'
  readonly valueCents: bigint
  /** Booked on this operation meanwhile. */
  readonly bookedOn: string | null
  /** Had been booked on this operation until an operator reversed it. */
  readonly takenBackFrom: string | null
}

/** A callback, and the event's position in it from 0. */
export interface EventKey {
  readonly inboxId: string
  readonly ordinal: number
}

/** Instants are epoch milliseconds. */
export interface EventSubject extends EventKey {
  readonly is: 'event'
  readonly endpoint: string
  /** Raw bytes; `null`: erased. */
  readonly body: Buffer | null
  readonly receivedAt: number
  readonly state: string
  readonly outcome: string | null
  /** `null`: being applied. */
  readonly setAsideAt: number | null
  /** Readable by the bank's connector, and hence applicable. */
  readonly isReadable: boolean
  /** Reported amount, centavos; `null`: unknown. */
  readonly valueCents: bigint | null
}

/** Bank minus books, centavos. */
export interface DifferenceSubject {
  readonly is: 'difference'
  readonly cents: bigint
  /** Movement of the books as read; compared again in the commit. `null` value: not booked. */
  readonly movement: MovementId & { readonly valueCents: bigint | null }
  /** Booked after the case was reported; the next reading of the statement updates the case. */
  readonly isOutdated?: boolean
  /** The credited charge, and the payment that the bank lacks. */
  readonly credit?: { readonly chargeId: string; readonly endToEndId: string }
  /** The merchant neither has nor bore the whole amount: only a gain or a loss of the house is possible. */
  readonly isOthers?: boolean
}

/** A refund that an operator requested. @source rules#console.14 */
export interface RequestedRefund {
  readonly cashInId: string
  readonly valueCents: bigint
  readonly reason: string
  /** `null`: none was given, and the refund's own id serves. */
  readonly externalId: string | null
}

interface RefundSubject extends RequestedRefund {
  readonly is: 'refund'
}

/** `request`: the requested adjustment, negative for a debit. */
export type CaseSubject =
  | LineSubject
  | EventSubject
  | DifferenceSubject
  | { readonly is: 'request'; readonly cents: bigint }
  | RefundSubject
  | { readonly is: 'nothing' }

export interface Booked {
  readonly status: AdjustmentStatus
  readonly valueCents: bigint
}

export interface ReadCase extends Omit<StoredCase, 'operationId'> {
  readonly subject: CaseSubject
  /** Common to all adjustments about the same money. */
  readonly about: string
  readonly booked: readonly Booked[]
}

export interface SetAsideEvents {
  /** With its raw bytes. */
  read(event: EventKey): Promise<EventSubject | undefined>
  accepts(event: EventKey, operationId: string): Promise<boolean>
}

export interface WithoutOperation {
  readonly ids: Ids
  readonly events: SetAsideEvents
  readonly statement: StatementLines
  readonly charges: {
    reversal(
      id: string,
      order: Pick<DecisionInput, 'caseId' | 'reason'> & { readonly endToEndId: string; readonly operator: string },
    ): Command<unknown>
  }
  readonly refunds: {
    /** Creates the refund as of the API. @param id of the refund, and of its case */
    requestedCommand(id: string, refund: RequestedRefund, operatorId: string): Command<unknown>
  }
}

export async function readSubject(
  queries: Queries,
  events: SetAsideEvents,
  { operationId: _, ...stored }: StoredCase,
): Promise<ReadCase> {
  const about = aboutOf(stored)
  const booked = (await queries.rows(selectBooked, [about])).map(({ status, value_cents: valueCents }) => ({
    status,
    valueCents,
  }))
  return { ...stored, about, booked, subject: await subjectOf(queries, events, stored, booked) }
}

type CaseReport = Pick<StoredCase, 'kind' | 'reference' | 'facts'>

/** @source rules#cases.53, rules#cases.54 */
async function subjectOf(
  queries: Queries,
  events: SetAsideEvents,
  about: CaseReport,
  booked: readonly Booked[],
): Promise<CaseSubject> {
  const { kind, reference, facts } = about
  switch (kind) {
    case 'event_set_aside':
      return (await events.read({ inboxId: String(facts.inboxId), ordinal: Number(facts.ordinal) })) ?? NOTHING
    case 'unexplained_debit':
      return (await lineOf(queries, ...partsOf(reference))) ?? NOTHING
    case 'line_missing':
      return lacking(await movementOf(queries, ...partsOf(reference)), booked) ?? NOTHING
    case 'line_differs': {
      const [direction, id] = [facts.direction === 'in' ? 'in' : 'out', String(facts.movementId)] as const
      return differing(facts, { direction, id }, await movementOf(queries, direction, id), booked)
    }
    case 'adjustment_requested': {
      const cents = centsIn(facts) ?? 0n
      return { is: 'request', cents: facts.direction === 'in' ? cents : -cents }
    }
    case 'refund_requested':
      return refundIn(facts) ?? NOTHING
    default:
      return NOTHING
  }
}

const NOTHING: CaseSubject = { is: 'nothing' }

function refundIn(facts: Document): RefundSubject | undefined {
  const { cashInId, reason, externalId = null } = facts
  const valueCents = centsIn(facts)
  if (typeof cashInId !== 'string' || typeof reason !== 'string' || valueCents === undefined) return undefined
  return { is: 'refund', cashInId, valueCents, reason, externalId: externalId === null ? null : String(externalId) }
}

/** An order of an operator that waits for a second person: without a proposal it has no purpose. */
export function isRequest({ kind }: Pick<StoredCase, 'kind'>): boolean {
  return kind === 'adjustment_requested' || kind === 'refund_requested'
}

/** Common to adjustments about the same money. */
function aboutOf({ kind, reference }: CaseReport): string {
  switch (kind) {
    case 'unexplained_debit':
      return `movement ${reference}`
    case 'line_missing':
      return `missing ${reference}`
    case 'line_differs':
      return `difference ${reference}`
    default:
      return reference
  }
}

/** A reference is a word and an id, which may contain blanks. */
function partsOf(reference: string): [word: string, id: string] {
  const blank = reference.indexOf(' ')
  return blank < 0 ? [reference, ''] : [reference.slice(0, blank), reference.slice(blank + 1)]
}

const selectBooked = statement<[about: string], { status: AdjustmentStatus; value_cents: bigint }>(
  'cases.booked',
  `SELECT status, value_cents FROM operation
    WHERE kind = 'adjustment' AND detail ? 'about' AND detail ->> 'about' = $1
    ORDER BY created_at, id`,
)

/** SQL: an operator reversed the booking of this movement, because the bank lacks it. @param movement its alias */
export function isTakenBack(movement: 'm' | 'x'): string {
  return `(EXISTS (SELECT FROM operation o WHERE o.id = ${movement}.operation_id AND o.facts -> 'reversed' ? ${movement}.id)
      OR EXISTS (SELECT FROM operation o
                  WHERE o.kind = 'adjustment' AND o.detail ? 'about'
                    AND o.detail ->> 'about' = 'missing ' || ${movement}.direction || ' ' || ${movement}.id))`
}

const selectLine = statement<
  [kind: string, id: string],
  { direction: 'in' | 'out'; value_cents: bigint; booked_on: string | null; is_taken_back: boolean }
>(
  'cases.line',
  `SELECT s.direction, s.value_cents, m.operation_id AS booked_on, coalesce(m.id IS NOT NULL AND ${isTakenBack('m')}, false) AS is_taken_back
     FROM statement_entry s LEFT JOIN movement m ON m.direction = s.direction AND m.id = s.id
    WHERE s.direction = CASE WHEN $1 IN ('PAYMENT_RECEIVED', 'PAYOUT_RETURNED') THEN 'in' ELSE 'out' END
      AND s.id = $2 AND s.kind = $1`,
)

async function lineOf(queries: Queries, kind: string, movementId: string): Promise<LineSubject | undefined> {
  const [row] = await queries.rows(selectLine, [kind, movementId])
  if (!row) return undefined
  const { direction, value_cents: valueCents, booked_on, is_taken_back } = row
  const [bookedOn, takenBackFrom] = is_taken_back ? [null, booked_on] : [booked_on, null]
  return { is: 'line', kind, direction, movementId, valueCents, bookedOn, takenBackFrom }
}

interface KnownMovement {
  readonly id: string
  readonly direction: 'in' | 'out'
  readonly valueCents: bigint
  /** The statement has it meanwhile. */
  readonly isInStatement: boolean
  /** The charge that has it; `null`: no charge. */
  readonly chargeId: string | null
  /** Wholly credited to, or debited from, the merchant: no part is in suspense or written off. */
  readonly isMerchants: boolean
  /** An operator reversed its booking. */
  readonly isTakenBack: boolean
}

const selectMovement = statement<[direction: string, id: string], KnownMovement>(
  'cases.movement',
  `SELECT m.direction, m.id, m.value_cents AS "valueCents",
          EXISTS (SELECT FROM statement_entry s
                   WHERE s.direction = m.direction AND s.id = m.id AND s.kind <> 'TARIFF'
                     AND s.outcome IS DISTINCT FROM 'KEPT') AS "isInStatement",
          (SELECT o.id FROM operation o WHERE o.id = m.operation_id AND o.kind = 'cash_in') AS "chargeId",
          (SELECT coalesce(sum(n.amount_cents), 0) = CASE m.direction WHEN 'in' THEN m.value_cents ELSE -m.value_cents END
             FROM entry n JOIN account a ON a.id = n.account_id
            WHERE n.operation_id = m.operation_id AND n.reference = m.id
              AND a.code IN ('available', 'reserved', 'receivable', 'fees')) AS "isMerchants",
          ${isTakenBack('m')} AS "isTakenBack"
     FROM movement m WHERE m.direction = $1 AND m.id = $2`,
)

async function movementOf(queries: Queries, direction: string, id: string): Promise<KnownMovement | undefined> {
  return (await queries.rows(selectMovement, [direction, id]))[0]
}

/** Bank minus books for a movement that only the books have. */
function lacking(known: KnownMovement | undefined, booked: readonly Booked[]): DifferenceSubject | undefined {
  if (known === undefined) return undefined
  const { id, direction, valueCents, isInStatement, chargeId, isMerchants } = known
  const value = isInStatement ? 0n : valueCents
  const cents = (direction === 'in' ? -value : value) - correctedCents(booked)
  const credit = chargeId !== null && cents < 0n && { credit: { chargeId, endToEndId: id } }
  const movement = { direction, id, valueCents }
  return { is: 'difference', cents, movement, ...credit, ...(!isMerchants && { isOthers: true }) }
}

/** Bank minus books for a line whose values differ from the books, or, if not booked yet, from its first values. */
function differing(
  facts: Document,
  movement: MovementId,
  known: KnownMovement | undefined,
  booked: readonly Booked[],
): CaseSubject {
  const [listed, shown] = [centsIn(facts), centsIn(facts.booked ?? facts.before)]
  // After a reversal the books have what was held, or decided, of the line since: its first values.
  const has = known?.isTakenBack ? shown : (known?.valueCents ?? shown)
  if (listed === undefined || has === undefined) return NOTHING
  const cents = (movement.direction === 'in' ? listed - has : has - listed) - correctedCents(booked)
  const isOutdated = known?.isTakenBack === false && known.valueCents !== shown
  return {
    is: 'difference',
    cents,
    movement: { ...movement, valueCents: known?.valueCents ?? null },
    ...(isOutdated && { isOutdated }),
    ...((known?.isMerchants !== true || known.isTakenBack) && { isOthers: true }),
  }
}

/** Sum of earlier decisions about the difference, as an increase of the books. */
function correctedCents(booked: readonly Booked[]): bigint {
  const isMore = (status: AdjustmentStatus) => status === 'CREDITED' || status === 'GAINED'
  return booked.reduce((sum, { status, valueCents }) => (isMore(status) ? sum + valueCents : sum - valueCents), 0n)
}

function centsIn(facts: unknown): bigint | undefined {
  const { valueCents } = (facts ?? {}) as { readonly valueCents?: unknown }
  return typeof valueCents === 'number' && Number.isSafeInteger(valueCents) ? BigInt(valueCents) : undefined
}

export function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents
}

/** Decisions possible now. @source rules#cases.50 */
export function optionsOf(read: ReadCase): readonly CaseOption[] {
  const { decisions = {} } = caseKind(read.kind) ?? {}
  if (read.closedAt !== null) return []
  return (Object.entries(decisions) as [CaseDecision, string][]).flatMap(([decision, meaning]) => {
    const needs = decision === 'book' ? (['operationId'] as const) : []
    return isPossible(read, decision) ? [{ decision, meaning, needs, isOffered: true, whyNot: [] }] : []
  })
}

/** A case with an open difference cannot be closed. @source rules#cases.61 */
function isPossible({ subject }: ReadCase, decision: CaseDecision): boolean {
  if (decision === 'close') {
    // An event that is being applied may still be booked.
    if (subject.is === 'event') return subject.setAsideAt !== null
    return subject.is !== 'difference' || (subject.cents === 0n && !subject.isOutdated)
  }
  switch (subject.is) {
    case 'event': {
      const isApplicable = decision === 'ask_again' || subject.isReadable
      return subject.setAsideAt !== null && subject.body !== null && isApplicable
    }
    case 'line':
      return subject.bookedOn === null
    case 'difference':
      if (subject.isOutdated) return false
      if (subject.isOthers && decision !== 'write_off') return false
      return subject.cents !== 0n && isOfSign(decision, subject.cents)
    case 'request':
      return subject.cents !== 0n && isOfSign(decision, subject.cents)
    case 'refund':
      return decision === 'return_to_payer'
    case 'nothing':
      return false
  }
}

function isOfSign(decision: CaseDecision, cents: bigint): boolean {
  return decision === 'credit' ? cents > 0n : decision === 'debit' || decision === 'reverse' ? cents < 0n : true
}

/** Amount of a decision now, centavos; `null`: unknown. */
export function atStakeCents(read: ReadCase, decision: CaseDecision): bigint | null {
  const { subject } = read
  if (decision === 'close') return leftCents(read, decision)
  switch (subject.is) {
    case 'line':
    case 'refund':
      return subject.valueCents
    case 'event':
      return handedCents(read, decision)
    case 'difference':
    case 'request':
      return abs(subject.cents)
    case 'nothing':
      return reportedCents(read)
  }
}

/**
 * Amount attributed by a decision; `null`: unknown. An event without an amount may end an operation, and so release its
 * reservation.
 * @source rules#cases.47, rules#cases.52
 */
function handedCents({ subject }: ReadCase, decision: CaseDecision): bigint | null {
  if (!isHandedOver(decision)) return 0n
  if (subject.is === 'event') return subject.valueCents === 0n ? null : subject.valueCents
  return subject.is === 'line' ? subject.valueCents : 0n
}

/** Amount that a closing decision leaves as it is. @source rules#cases.46, rules#cases.47, rules#cases.48 */
function leftCents(read: ReadCase, decision: CaseDecision): bigint | null {
  const { subject } = read
  if (decision !== 'close') return 0n
  if (subject.is === 'event') return subject.valueCents
  return subject.is === 'nothing' ? reportedCents(read) : 0n
}

function reportedCents({ facts, amountCents }: ReadCase): bigint | null {
  const reported = [centsIn(facts), amountCents].flatMap((cents) => (cents == null ? [] : [abs(cents)]))
  return reported.length === 0 ? null : reported.reduce((most, cents) => (cents > most ? cents : most))
}

/** Booked by an operation's table. */
function isHandedOver(decision: CaseDecision): boolean {
  return decision === 'book' || decision === 'ask_again'
}

/**
 * Prepares a decision.
 * @throws validation_error (400) · not_possible_in_state (409) not offered
 * @source rules#cases.51, rules#cases.52
 */
export async function prepareWithoutOperation(
  needs: WithoutOperation,
  read: ReadCase,
  order: DecisionInput,
): Promise<Prepared> {
  const { decision } = order
  if (read.subject.is === 'difference' && read.subject.isOutdated) throw new Refusal('case_changed')
  const option = optionsOf(read).find((one) => one.decision === decision)
  if (!option) throw notDecidable({ decision }, read)
  assertNamed(order, option.needs)
  const attributedTo = decision === 'book' ? await namedOperation(needs, read, order) : null
  const own = reversal(needs, read, order) ?? requestedRefund(needs, read, order)
  const handed = own ?? (await handedLine(needs, read, attributedTo))
  const deciding = { read, order, attributedTo, handed, id: needs.ids.uuid() }
  return {
    command: commandOf(read, handed),
    decide: (state, now) => decide(deciding, state, now),
    handedCents: handedCents(read, decision),
    leftCents: leftCents(read, decision),
  }
}

/**
 * The named operation, if it accepts the subject.
 * @throws validation_error (400)
 */
async function namedOperation(
  { events, statement: lines }: WithoutOperation,
  { subject }: ReadCase,
  { operationId }: DecisionInput,
): Promise<string> {
  if (operationId === undefined || !isUuid(operationId)) throw notAccepted('operationId must name an operation')
  const isAccepted =
    subject.is === 'event'
      ? await events.accepts(subject, operationId)
      : subject.is === 'line' && (await lines.accepts(subject.kind, operationId))
  if (!isAccepted) throw notAccepted('the operation is of another kind, or does not exist')
  return operationId
}

export function notAccepted(message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field: 'operationId', code: 'out_of_range', message }] })
}

/** Command of the operation that receives the line. */
async function handedLine(
  { statement: lines }: WithoutOperation,
  { subject }: ReadCase,
  to: string | null,
): Promise<HandedOver | undefined> {
  if (subject.is !== 'line' || to === null) return undefined
  const { kind, direction, movementId } = subject
  const handed = await lines.attributionCommand({ kind, direction, movementId }, to)
  const message = 'the statement no longer has the movement'
  if (!handed) throw new Refusal('not_possible_in_state', { message })
  return handed
}

/** Command of the charge that reverses its credit. */
function reversal(
  { charges }: WithoutOperation,
  { subject, id: caseId }: ReadCase,
  { decision, operatorId, reason }: DecisionInput,
): HandedOver | undefined {
  if (decision !== 'reverse' || subject.is !== 'difference' || subject.credit === undefined) return undefined
  const { chargeId, endToEndId } = subject.credit
  return applied(charges.reversal(chargeId, { ...{ endToEndId, caseId, reason }, operator: operatorId }))
}

/** Command that creates the requested refund. @source rules#console.14 */
function requestedRefund(
  { refunds }: WithoutOperation,
  { subject, id }: ReadCase,
  { decision, operatorId }: DecisionInput,
): HandedOver | undefined {
  if (decision !== 'return_to_payer' || subject.is !== 'refund') return undefined
  return applied(refunds.requestedCommand(id, subject, operatorId))
}

function applied({ decide: decideIt, ...command }: Command<unknown>): HandedOver {
  return { ...command, decide: (state, now) => ({ ...decideIt(state, now), outcome: { result: 'APPLIED' } }) }
}

const NOTHING_HANDED: HandedOver = { reads: [], decide: () => ({ outcome: undefined }) }

/** Adds the line's own movement to the reads of the receiving operation. */
function commandOf({ id: caseId, subject }: ReadCase, handed: HandedOver | undefined): Prepared['command'] {
  const own = subject.is === 'line' ? [movementIdOf(subject)] : subject.is === 'difference' ? [subject.movement] : []
  const { decide: _, movements = [], ...others } = handed ?? NOTHING_HANDED
  return { ...others, cases: [caseId], movements: [...own, ...movements] }
}

function movementIdOf({ direction, movementId }: Pick<LineKey, 'direction' | 'movementId'>): MovementId {
  return { direction, id: movementId }
}

interface Deciding {
  readonly read: ReadCase
  readonly order: DecisionInput
  /** The named operation, or `null`. */
  readonly attributedTo: string | null
  /** Command of the operation that books the line or reverses its credit, or of the requested refund. */
  readonly handed: HandedOver | undefined
  /** Id of the adjustment. */
  readonly id: string
}

/**
 * Books and closes the case in one commit. The case of an event applied again closes after its application.
 * @throws case_changed (409) the movement was booked meanwhile
 * @throws not_possible_in_state (409) the operation does not accept it
 * @source rules#cases.51, rules#cases.52, rules#cases.53, rules#cases.54
 */
function decide(deciding: Deciding, state: State, now: number): Decision<undefined> {
  const { subject } = deciding.read
  const { handed } = deciding
  const own = ownDecision(deciding, state)
  if (subject.is === 'difference') {
    const has = state.movement(subject.movement)?.valueCents ?? null
    if (has !== subject.movement.valueCents) throw new Refusal('case_changed')
  }
  if (subject.is !== 'line') return handed ? mergeDecisions(handed.decide(state, now), own) : own
  const bookedOn = state.movement(movementIdOf(subject))?.operationId ?? null
  if (bookedOn !== subject.takenBackFrom) throw new Refusal('case_changed')
  return handed ? mergeDecisions(acceptedBy(handed, subject, state, now), own) : own
}

/**
 * Requires that the operation books the line; otherwise the money would have no owner.
 * @throws not_possible_in_state (409)
 */
export function acceptedBy(
  handed: HandedOver,
  { direction, movementId }: Pick<LineKey, 'direction' | 'movementId'>,
  state: State,
  now: number,
): Decision<unknown> {
  const taken = handed.decide(state, now)
  const isBooked = ({ kind, reference }: Journal) =>
    reference === movementId && (journals[kind] as JournalTemplate).movement === direction
  if (taken.journals?.some(isBooked)) return taken
  const result = taken.outcome?.result ?? 'GONE'
  const because = result === 'APPLIED' ? 'it does not book the money yet' : result
  const message = `the operation does not accept it: ${because}`
  const fields = [{ field: 'operationId', code: 'not_possible', message }]
  throw new Refusal('not_possible_in_state', { message, fields })
}

function ownDecision(deciding: Deciding, state: Pick<State, 'balance'>): Decision<undefined> {
  const { read, handed, order } = deciding
  const booking = handed ? undefined : bookingOf(read, order.decision)
  const available = state.balance('available')
  if (booking?.status === 'DEBITED' && available < booking.valueCents) throw new Refusal('insufficient_balance')
  const ordered = eventOrders(deciding)
  const isBorne = booking?.status === 'BORNE' || order.decision === 'reverse'
  return {
    ...(booking && bookedBy(booking, deciding, available)),
    closes: ordered.length > 0 ? [] : [read.id],
    exact: isBorne ? ['available', 'receivable'] : [],
    eventOrders: ordered,
    outcome: undefined,
  }
}

/** @source rules#cases.57, rules#cases.58 */
function eventOrders({ read: { subject }, order, attributedTo }: Deciding): EventOrder[] {
  if (subject.is !== 'event' || subject.setAsideAt === null || !isHandedOver(order.decision)) return []
  const { inboxId, ordinal, setAsideAt } = subject
  return [{ inboxId, ordinal, setAsideAt, attributedTo }]
}

interface Booking extends Booked {
  readonly posts: JournalKind
  /** Id of the bank movement that it books; `''`: none. */
  readonly reference: string
}

/** `undefined` if no money is moved. @source rules#cases.53, rules#cases.54 */
function bookingOf({ subject }: ReadCase, decision: CaseDecision): Booking | undefined {
  if (decision === 'close') return undefined
  switch (subject.is) {
    case 'line': {
      const { valueCents, movementId: reference, takenBackFrom } = subject
      // A movement is booked only once.
      if (takenBackFrom !== null) return differenceBooking(-valueCents, decision)
      return decision === 'write_off'
        ? { status: 'LOST', posts: 'debit_written_off', valueCents, reference }
        : { status: 'BORNE', posts: 'debit_borne', valueCents, reference }
    }
    case 'difference':
      return differenceBooking(subject.cents, decision)
    case 'request': {
      const valueCents = abs(subject.cents)
      return subject.cents > 0n
        ? { status: 'CREDITED', posts: 'adjustment_credited', valueCents, reference: '' }
        : { status: 'DEBITED', posts: 'adjustment_debited', valueCents, reference: '' }
    }
    default:
      return undefined
  }
}

function differenceBooking(cents: bigint, decision: CaseDecision): Booking {
  const [valueCents, reference] = [abs(cents), '']
  if (decision === 'credit') return { status: 'CREDITED', posts: 'adjustment_credited', valueCents, reference }
  if (decision !== 'write_off') return { status: 'BORNE', posts: 'difference_borne', valueCents, reference }
  return cents > 0n
    ? { status: 'GAINED', posts: 'difference_gained', valueCents, reference }
    : { status: 'LOST', posts: 'difference_lost', valueCents, reference }
}

/** Description of the ledger entry; the operator's words are in the audit trail. */
const SHOWN = 'A difference between the books and the bank was settled'

function bookedBy(
  { status, posts, valueCents, reference }: Booking,
  { id, read, order: { operatorId, reason } }: Deciding,
  available: bigint,
): Pick<Decision<undefined>, 'creates' | 'journals'> {
  const isRequest = read.subject.is === 'request'
  const create = adjustmentOf({
    id,
    // Unique in the database, so it is booked only once.
    externalId: `${read.about} ${read.booked.length + 1}`,
    status,
    valueCents,
    correlationId: read.id,
    bodyHash: sha256(`${read.id} ${read.version}`),
    detail: {
      // The ledger shows the reason of a requested adjustment.
      reason: isRequest && reason.length <= limits.reasonMaxLength ? reason : SHOWN,
      // A requested adjustment may explain a line; one about a line explains no other.
      ...(!isRequest && { about: read.about }),
      caseId: read.id,
    },
    madeBy: { caller: operatorId, address: '' },
  })
  const amounts = { v: valueCents, d: min(available, valueCents) }
  return { creates: [create], journals: [{ operationId: id, kind: posts, reference, amounts }] }
}
