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
import type { CaseOption, CaseOrder, HandedOver, LineKey, Prepared, StatementLines, StoredCase } from './case.ts'

/**
 * Cases without an operation: differences to the bank's statement, events that were set aside, requested adjustments, and faults
 * that are only to be looked at. What one is about is read when it is decided; what a decision books is an adjustment.
 */

/** A line of the bank's statement that left and that the books do not have. */
export interface LineSubject extends LineKey {
  readonly is: 'line'
  readonly valueCents: bigint
  /** The operation on which it was booked meanwhile. */
  readonly bookedOn: string | null
  /** The operation that had it booked until an operator took that back. */
  readonly takenBackFrom: string | null
}

/** An event of the bank, by its callback and its place in it, from 0. */
export interface EventKey {
  readonly inboxId: string
  readonly ordinal: number
}

/** An event of the bank that was set aside. Instants are epoch milliseconds. */
export interface EventSubject extends EventKey {
  readonly is: 'event'
  readonly endpoint: string
  /** As it came; `null`: erased. */
  readonly body: Buffer | null
  readonly receivedAt: number
  readonly state: string
  readonly outcome: string | null
  /** `null`: it is being applied. */
  readonly setAsideAt: number | null
  /** Whether the bank's connector can read it: only then it can be applied to anything. */
  readonly isReadable: boolean
  /** The money that it tells of, centavos; `null`: nobody knows. */
  readonly valueCents: bigint | null
}

/** What the bank has more than the books, centavos; negative: less. */
export interface DifferenceSubject {
  readonly is: 'difference'
  readonly cents: bigint
  /** The movement of the books, whose amount is compared when it is written; `null`: they have none. */
  readonly movement: MovementId & { readonly valueCents: bigint | null }
  /** The books have booked it since the case was told of it: the next reading of the statement tells that. */
  readonly isOutdated?: boolean
  /** The charge that the merchant was credited by, with the payment that the bank does not have. */
  readonly credit?: { readonly chargeId: string; readonly endToEndId: string }
  /** The merchant has, or bore, none of the movement or not all: nothing of it is taken from them or given to them. */
  readonly isOthers?: boolean
}

/** What a case is about. `request`: the adjustment that is asked for, negative: out. */
export type CaseSubject =
  | LineSubject
  | EventSubject
  | DifferenceSubject
  | { readonly is: 'request'; readonly cents: bigint }
  | { readonly is: 'nothing' }

/** An adjustment that was booked for a case. */
export interface Booked {
  readonly status: AdjustmentStatus
  readonly valueCents: bigint
}

/** A case with what it is about. */
export interface ReadCase extends Omit<StoredCase, 'operationId'> {
  readonly subject: CaseSubject
  /** What all adjustments about the same money have in common. */
  readonly about: string
  /** The adjustments that were booked about it before. */
  readonly booked: readonly Booked[]
}

/** What decisions ask of the inbox. */
export interface SetAsideEvents {
  /** An event with its bytes as they came; `undefined` where there is none. */
  read(event: EventKey): Promise<EventSubject | undefined>
  /** Whether an operation is one that an event can be applied to. */
  accepts(event: EventKey, operationId: string): Promise<boolean>
}

/** What decisions ask of charges. */
export interface ChargeReversals {
  /** What takes back the credit of a charge. */
  reversal(
    id: string,
    order: {
      readonly endToEndId: string
      readonly caseId: string
      readonly operator: string
      readonly reason: string
    },
  ): Command<unknown>
}

/** What these cases are decided with. */
export interface WithoutOperation {
  readonly ids: Ids
  readonly events: SetAsideEvents
  readonly statement: StatementLines
  readonly charges: ChargeReversals
}

/** Reads what a case is about. */
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

type Told = Pick<StoredCase, 'kind' | 'reference' | 'facts'>

/** @source rules#cases.53, rules#cases.54 */
async function subjectOf(
  queries: Queries,
  events: SetAsideEvents,
  told: Told,
  booked: readonly Booked[],
): Promise<CaseSubject> {
  const { kind, reference, facts } = told
  switch (kind) {
    case 'event_set_aside':
      return (await events.read({ inboxId: String(facts.inboxId), ordinal: Number(facts.ordinal) })) ?? NOTHING
    case 'unexplained_debit':
      return (await lineOf(queries, ...partsOf(reference))) ?? NOTHING
    case 'line_missing':
      return lacking(await movementOf(queries, ...partsOf(reference)), booked) ?? NOTHING
    case 'line_differs': {
      // What it is about stands in its facts: the same line may have several.
      const [direction, id] = [facts.direction === 'in' ? 'in' : 'out', String(facts.movementId)] as const
      return differing(facts, { direction, id }, await movementOf(queries, direction, id), booked)
    }
    case 'adjustment_requested': {
      const cents = centsIn(facts) ?? 0n
      return { is: 'request', cents: facts.direction === 'in' ? cents : -cents }
    }
    default:
      return NOTHING
  }
}

const NOTHING: CaseSubject = { is: 'nothing' }

/** What adjustments about a case have in common. Cases about the same money have the same. */
function aboutOf({ kind, reference }: Told): string {
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

/** A reference is a word and an id, which may have blanks. */
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

/** An operator took back what was booked of a movement `m`: the bank did not have it. */
const IS_TAKEN_BACK = `(EXISTS (SELECT FROM operation x WHERE x.id = m.operation_id AND x.facts -> 'reversed' ? m.id)
      OR EXISTS (SELECT FROM operation x
                  WHERE x.kind = 'adjustment' AND x.detail ? 'about'
                    AND x.detail ->> 'about' = 'missing ' || m.direction || ' ' || m.id))`

const selectLine = statement<
  [kind: string, id: string],
  { direction: 'in' | 'out'; value_cents: bigint; booked_on: string | null; is_taken_back: boolean }
>(
  'cases.line',
  `SELECT s.direction, s.value_cents, m.operation_id AS booked_on, coalesce(m.id IS NOT NULL AND ${IS_TAKEN_BACK}, false) AS is_taken_back
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

/** A movement of the books. */
interface KnownMovement {
  readonly id: string
  readonly direction: 'in' | 'out'
  readonly valueCents: bigint
  /** The statement has it after all. */
  readonly isInStatement: boolean
  /** The charge that it is booked on; `null`: it is no charge's. */
  readonly chargeId: string | null
  /** The whole of it was credited to the merchant, or taken from them: nothing of it is in suspense or written off. */
  readonly isMerchants: boolean
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
              AND a.code IN ('available', 'reserved', 'receivable', 'fees')) AS "isMerchants"
     FROM movement m WHERE m.direction = $1 AND m.id = $2`,
)

async function movementOf(queries: Queries, direction: string, id: string): Promise<KnownMovement | undefined> {
  return (await queries.rows(selectMovement, [direction, id]))[0]
}

/** Of a movement that only the books have. */
function lacking(known: KnownMovement | undefined, booked: readonly Booked[]): DifferenceSubject | undefined {
  if (known === undefined) return undefined
  const { id, direction, valueCents, isInStatement, chargeId, isMerchants } = known
  const value = isInStatement ? 0n : valueCents
  const cents = (direction === 'in' ? -value : value) - correctedCents(booked)
  const credit = chargeId !== null && cents < 0n && { credit: { chargeId, endToEndId: id } }
  const movement = { direction, id, valueCents }
  return { is: 'difference', cents, movement, ...credit, ...(!isMerchants && { isOthers: true }) }
}

/** Of a line that the statement has otherwise than the books, or, where these do not have it yet, otherwise than before. */
function differing(
  facts: Document,
  movement: MovementId,
  known: KnownMovement | undefined,
  booked: readonly Booked[],
): CaseSubject {
  const [told, shown] = [centsIn(facts), centsIn(facts.booked ?? facts.before)]
  const has = known?.valueCents ?? shown
  if (told === undefined || has === undefined) return NOTHING
  const cents = (movement.direction === 'in' ? told - has : has - told) - correctedCents(booked)
  const isOutdated = known !== undefined && known.valueCents !== shown
  return {
    is: 'difference',
    cents,
    movement: { ...movement, valueCents: known?.valueCents ?? null },
    ...(isOutdated && { isOutdated }),
    ...(known?.isMerchants !== true && { isOthers: true }),
  }
}

/** What decisions about a difference booked: the books have so much more of it, negative: less. */
function correctedCents(booked: readonly Booked[]): bigint {
  const isMore = (status: AdjustmentStatus) => status === 'CREDITED' || status === 'GAINED'
  return booked.reduce((sum, { status, valueCents }) => (isMore(status) ? sum + valueCents : sum - valueCents), 0n)
}

/** The amount that facts tell, centavos; `undefined`: none. */
function centsIn(facts: unknown): bigint | undefined {
  const { valueCents } = (facts ?? {}) as { readonly valueCents?: unknown }
  return typeof valueCents === 'number' && Number.isSafeInteger(valueCents) ? BigInt(valueCents) : undefined
}

function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents
}

/** What may be decided here and now. @source rules#cases.50 */
export function optionsOf(read: ReadCase): readonly CaseOption[] {
  const { decisions = {} } = caseKind(read.kind) ?? {}
  if (read.closedAt !== null) return []
  return (Object.entries(decisions) as [CaseDecision, string][]).flatMap(([decision, says]) => {
    const needs = decision === 'book' ? (['operationId'] as const) : []
    return isPossible(read, decision) ? [{ decision, says, needs, isOffered: true, because: [] }] : []
  })
}

/** A case that holds money is not closed. @source rules#cases.61 */
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
    case 'nothing':
      return false
  }
}

function isOfSign(decision: CaseDecision, cents: bigint): boolean {
  return decision === 'credit' ? cents > 0n : decision === 'debit' || decision === 'reverse' ? cents < 0n : true
}

/** The money that a decision is about as things are, centavos; `null`: nobody knows. */
export function atStakeCents(read: ReadCase, decision: CaseDecision): bigint | null {
  const { subject } = read
  if (decision === 'close') return leftCents(read, decision)
  switch (subject.is) {
    case 'line':
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
 * What a decision hands over; `null`: nobody knows. An event without an amount may end an operation, and so free what that holds.
 * @source rules#cases.47, rules#cases.52
 */
function handedCents({ subject }: ReadCase, decision: CaseDecision): bigint | null {
  if (!isHandedOver(decision)) return 0n
  if (subject.is === 'event') return subject.valueCents === 0n ? null : subject.valueCents
  return subject.is === 'line' ? subject.valueCents : 0n
}

/** What a decision that moves nothing leaves as it is, though its case closes. @source rules#cases.46, rules#cases.47, rules#cases.48 */
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

/** Whether an operation books what is decided, by its own table. */
function isHandedOver(decision: CaseDecision): boolean {
  return decision === 'book' || decision === 'ask_again'
}

/**
 * A decision as it is ordered, with all that it must look up.
 * @throws validation_error (400) · not_possible_in_state (409) it is not offered
 * @source rules#cases.51, rules#cases.52
 */
export async function prepareWithoutOperation(
  needs: WithoutOperation,
  read: ReadCase,
  order: CaseOrder,
): Promise<Prepared> {
  const { decision } = order
  if (read.subject.is === 'difference' && read.subject.isOutdated) throw new Refusal('case_changed')
  const option = optionsOf(read).find((one) => one.decision === decision)
  if (!option) throw notDecidable({ decision }, read)
  assertNamed(order, option.needs)
  const attributedTo = decision === 'book' ? await namedOperation(needs, read, order) : null
  const handed = reversal(needs, read, order) ?? (await handedLine(needs, read, attributedTo))
  const deciding = { read, order, attributedTo, handed, id: needs.ids.uuid() }
  return {
    looks: looksOf(read, handed),
    decide: (state, now) => decide(deciding, state, now),
    handedCents: handedCents(read, decision),
    leftCents: leftCents(read, decision),
  }
}

/** The operation that is named, which takes what the case is about. @throws validation_error (400) */
async function namedOperation(
  { events, statement: lines }: WithoutOperation,
  { subject }: ReadCase,
  { operationId }: CaseOrder,
): Promise<string> {
  if (operationId === undefined || !isUuid(operationId)) throw notAccepted('operationId must name an operation')
  const isAccepted =
    subject.is === 'event'
      ? await events.accepts(subject, operationId)
      : subject.is === 'line' && (await lines.accepts(subject.kind, operationId))
  if (!isAccepted) throw notAccepted('the operation is of another kind, or does not exist')
  return operationId
}

/** An operation that does not take what is to be booked on it. */
export function notAccepted(message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field: 'operationId', code: 'out_of_range', message }] })
}

/** A line that is handed over, as a command of the operation that takes it. */
async function handedLine(
  { statement: lines }: WithoutOperation,
  { subject }: ReadCase,
  to: string | null,
): Promise<HandedOver | undefined> {
  if (subject.is !== 'line' || to === null) return undefined
  const { kind, direction, movementId } = subject
  const handed = await lines.command({ kind, direction, movementId }, to)
  const message = 'the statement has the movement no more'
  if (!handed) throw new Refusal('not_possible_in_state', { message })
  return handed
}

/** A credit that its charge takes back, by its own table. */
function reversal(
  { charges }: WithoutOperation,
  { subject, id: caseId }: ReadCase,
  { decision, operator, reason }: CaseOrder,
): HandedOver | undefined {
  if (decision !== 'reverse' || subject.is !== 'difference' || subject.credit === undefined) return undefined
  const { chargeId, endToEndId } = subject.credit
  const { decide: reverse, ...looks } = charges.reversal(chargeId, { endToEndId, caseId, operator, reason })
  return { ...looks, decide: (state, now) => ({ ...reverse(state, now), outcome: { result: 'APPLIED' } }) }
}

const NOTHING_HANDED: HandedOver = { reads: [], decide: () => ({ outcome: undefined }) }

/** With its own movement, and all that whoever takes it looks at. */
function looksOf({ id: caseId, subject }: ReadCase, handed: HandedOver | undefined): Prepared['looks'] {
  const own = subject.is === 'line' ? [movementIdOf(subject)] : subject.is === 'difference' ? [subject.movement] : []
  const isOwn = ({ direction, id }: MovementId) => own.some((one) => one.direction === direction && one.id === id)
  const { decide: _, movements = [], ...others } = handed ?? NOTHING_HANDED
  return { ...others, cases: [caseId], movements: [...own, ...movements.filter((movement) => !isOwn(movement))] }
}

function movementIdOf({ direction, movementId }: Pick<LineKey, 'direction' | 'movementId'>): MovementId {
  return { direction, id: movementId }
}

/** A decision, and by which ids what it books is known. */
interface Deciding {
  readonly read: ReadCase
  readonly order: CaseOrder
  /** The operation that is named; `null`: none is. */
  readonly attributedTo: string | null
  /** What an operation decides with it: that the movement is its own, or that its credit is taken back. */
  readonly handed: HandedOver | undefined
  /** Of the adjustment. */
  readonly id: string
}

/**
 * What is booked and that the case closes, both or neither. The case of an event that is ordered again closes when it was applied.
 * @throws case_changed (409) the movement was booked meanwhile
 * @throws not_possible_in_state (409) the operation does not accept what is handed over to it
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
 * What the operation books of a line. A decision that books none of it would leave the money without a home.
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
  const because = result === 'APPLIED' ? 'it books no money of it yet' : result
  const message = `the operation does not accept it: ${because}`
  const fields = [{ field: 'operationId', code: 'not_possible', message }]
  throw new Refusal('not_possible_in_state', { message, fields })
}

/** What a decision does beside what an operation does. */
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

/** An adjustment that a decision books. */
interface Booking extends Booked {
  readonly posts: JournalKind
  /** The bank's id of the movement that it books; `''`: it books none. */
  readonly reference: string
}

/** The adjustment that a decision books; nothing where no money is moved. @source rules#cases.53, rules#cases.54 */
function bookingOf({ subject }: ReadCase, decision: CaseDecision): Booking | undefined {
  if (decision === 'close') return undefined
  switch (subject.is) {
    case 'line': {
      const { valueCents, movementId: reference, takenBackFrom } = subject
      // What an operation has booked is booked once.
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

/** What the bank has more or less than the books. */
function differenceBooking(cents: bigint, decision: CaseDecision): Booking {
  const [valueCents, reference] = [abs(cents), '']
  if (decision === 'credit') return { status: 'CREDITED', posts: 'adjustment_credited', valueCents, reference }
  if (decision !== 'write_off') return { status: 'BORNE', posts: 'difference_borne', valueCents, reference }
  return cents > 0n
    ? { status: 'GAINED', posts: 'difference_gained', valueCents, reference }
    : { status: 'LOST', posts: 'difference_lost', valueCents, reference }
}

/** What the merchant reads beside an entry: the operator's own words are the trail's. */
const SHOWN = 'A difference between the books and the bank was settled'

function bookedBy(
  { status, posts, valueCents, reference }: Booking,
  { id, read, order: { operator, reason } }: Deciding,
  available: bigint,
): Pick<Decision<undefined>, 'creates' | 'journals'> {
  const isRequest = read.subject.is === 'request'
  const create = adjustmentOf({
    id,
    // The database refuses what was booked already.
    externalId: `${read.about} ${read.booked.length + 1}`,
    status,
    valueCents,
    correlationId: read.id,
    bodyHash: sha256(`${read.id} ${read.version}`),
    detail: {
      // The ledger shows the reason of an adjustment that somebody asked for.
      reason: isRequest && reason.length <= limits.reasonMaxLength ? reason : SHOWN,
      // The statement may list what was asked for: only what is about a line explains no other.
      ...(!isRequest && { about: read.about }),
      caseId: read.id,
    },
    madeBy: { caller: operator, address: '' },
  })
  const amounts = { v: valueCents, d: min(available, valueCents) }
  return { creates: [create], journals: [{ operationId: id, kind: posts, reference, amounts }] }
}
