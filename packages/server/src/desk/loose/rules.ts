import { caseKind, type JournalTemplate, journals, type LooseDecision, limits, min, Refusal } from '@pixgate/spec'
import {
  type Create,
  type Decision,
  type EventOrder,
  type Journal,
  mergeDecisions,
  type Operation,
  type State,
} from '../../engine/operation.ts'
import { adjustmentOf } from '../../operations/adjustment.ts'
import { sha256 } from '../../platform/crypto.ts'
import type { HandedOver } from '../decider.ts'
import { abs, isHandedOver, isReversal, type Step, stepOf } from './bookings.ts'
import type { LooseMovement, LooseOption, LooseOrder, ReadCase } from './case.ts'
import { centsIn } from './subject.ts'

/** What may be decided of a case of no operation, and what a decision does to the money. Pure. */

/** What may be decided here and now. @source rules#desk.50 */
export function optionsOf(read: ReadCase): readonly LooseOption[] {
  const { decisions = {} } = caseKind(read.kind) ?? {}
  if (read.closedAt !== null) return []
  return (Object.entries(decisions) as [LooseDecision, string][]).flatMap(([decision, says]) =>
    isPossible(read, decision) ? [{ decision, says, needs: decision === 'book' ? ['operationId'] : [] }] : [],
  )
}

/** A case that holds money is not closed. @source rules#desk.61 */
function isPossible({ subject }: ReadCase, decision: LooseDecision): boolean {
  if (decision === 'close') return subject.is !== 'difference' || subject.cents === 0n
  switch (subject.is) {
    case 'event':
      return subject.setAsideAt !== null && subject.body !== null && isApplicable(subject, decision)
    case 'movement':
      return subject.bookedOn === null
    case 'difference':
    case 'request':
      return subject.cents !== 0n && isOfSign(decision, subject.cents)
    case 'nothing':
      return false
  }
}

function isApplicable({ isReadable }: { readonly isReadable: boolean }, decision: LooseDecision): boolean {
  return decision === 'ask_again' || isReadable
}

function isOfSign(decision: LooseDecision, cents: bigint): boolean {
  return decision === 'credit' ? cents > 0n : decision === 'debit' || decision === 'reverse' ? cents < 0n : true
}

/** Who decides, and by which ids what is booked is known. */
export interface Deciding {
  readonly read: ReadCase
  readonly order: LooseOrder
  /** The operation that is named; `null`: none is. */
  readonly attributedTo: string | null
  /** What an operation decides with it: that the movement is its own, or that its credit is taken back. */
  readonly handed: HandedOver | undefined
  /** Of the adjustment. */
  readonly id: string
}

/**
 * Decides a case: what is booked and that it closes, both or neither. The case of an event that is ordered again closes when it was
 * applied.
 * @throws case_changed (409) the movement was booked meanwhile
 * @throws not_possible_in_state (409) the operation does not accept what is handed over to it
 * @source rules#desk.51, rules#desk.52, rules#desk.53, rules#desk.54
 */
export function decideLoose(
  deciding: Deciding,
  state: State,
  now: number,
  decision: LooseDecision,
): Decision<undefined> {
  const { read, handed } = deciding
  const { subject } = read
  const own = ownDecision(deciding, state, decision)
  if (subject.is !== 'movement') return handed ? mergeDecisions(handed.decide(state, now), own) : own
  const bookedOn = state.movement(keyOf(subject))?.operationId ?? null
  if (bookedOn !== subject.takenBackFrom) throw new Refusal('case_changed')
  return handed ? mergeDecisions(acceptedBy(handed, subject, state, now), own) : own
}

/**
 * What the operation books of a movement. A decision that books none of it would leave the money without a home.
 * @throws not_possible_in_state (409)
 */
export function acceptedBy(
  { decide }: HandedOver,
  { direction, movementId }: Pick<LooseMovement, 'direction' | 'movementId'>,
  state: State,
  now: number,
): Decision<unknown> {
  const taken = decide(state, now)
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
function ownDecision(deciding: Deciding, state: Pick<State, 'balance'>, decision: LooseDecision): Decision<undefined> {
  const { read, attributedTo, id } = deciding
  const step = stepOf(read, decision)
  const available = state.balance('available')
  if (step?.status === 'DEBITED' && available < step.valueCents) throw new Refusal('insufficient_balance')
  const ordered = eventOrders(read, decision, attributedTo)
  const isBorne = step?.status === 'BORNE' || isReversal(read.subject, decision)
  return {
    creates: step ? [createOf(step, id, deciding)] : [],
    journals: step ? [journalOf(step, id, available)] : [],
    closes: ordered.length > 0 ? [] : [read.id],
    exact: isBorne ? ['available', 'receivable'] : [],
    controls: { loose_cases: { decided: read.id } },
    eventOrders: ordered,
    outcome: undefined,
  }
}

/** @source rules#desk.57, rules#desk.58 */
function eventOrders({ subject }: ReadCase, decision: LooseDecision, attributedTo: string | null): EventOrder[] {
  if (subject.is !== 'event' || subject.setAsideAt === null || !isHandedOver(decision)) return []
  const { inboxId, ordinal, setAsideAt } = subject
  return [{ inboxId, ordinal, setAsideAt, attributedTo }]
}

/**
 * What a decision hands over; `null`: nobody knows. An event without an amount may end an operation, and so free what that holds.
 * @source rules#desk.47, rules#desk.52
 */
export function handedCents({ subject }: ReadCase, decision: LooseDecision): bigint | null {
  if (!isHandedOver(decision)) return 0n
  if (subject.is === 'event') return subject.valueCents === 0n ? null : subject.valueCents
  return subject.is === 'movement' ? subject.valueCents : 0n
}

/** The money that a decision is about as things are; `null`: nobody knows. */
export function looseCents(read: ReadCase, decision: LooseDecision): bigint | null {
  const { subject } = read
  if (decision === 'close') return leftCents(read, decision)
  switch (subject.is) {
    case 'movement':
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
 * What a decision that moves nothing leaves as it is, though its case closes; `null`: nobody knows.
 * @source rules#desk.46, rules#desk.47, rules#desk.48
 */
export function leftCents(read: ReadCase, decision: LooseDecision): bigint | null {
  const { subject } = read
  if (decision !== 'close') return 0n
  if (subject.is === 'event') return subject.valueCents
  return subject.is === 'nothing' ? reportedCents(read) : 0n
}

function reportedCents({ facts, atStakeCents }: ReadCase): bigint | null {
  const reported = [centsIn(facts), atStakeCents].flatMap((cents) => (cents == null ? [] : [abs(cents)]))
  return reported.length === 0 ? null : reported.reduce((most, cents) => (cents > most ? cents : most))
}

function keyOf({ direction, movementId }: { readonly direction: 'in' | 'out'; readonly movementId: string }) {
  return { direction, id: movementId }
}

/** What the merchant reads beside an entry: the operator's own words are the trail's. */
const SHOWN = 'A difference between the books and the bank was settled'

/** The ledger shows the reason of an adjustment that somebody asked for. */
function shownReason({ subject }: ReadCase, { reason = SHOWN }: LooseOrder): string {
  return subject.is === 'request' && reason.length <= limits.reasonMaxLength ? reason : SHOWN
}

function createOf(
  { status, valueCents }: Step,
  id: string,
  { read, order }: Pick<Deciding, 'read' | 'order'>,
): Create<Operation<'adjustment'>> {
  // The statement may list what was asked for: only what is about a line or a movement explains no other.
  const about = read.subject.is === 'request' ? {} : { about: read.about }
  return adjustmentOf({
    id,
    // The database refuses what was booked already.
    externalId: `${read.about} ${read.booked.length + 1}`,
    status,
    valueCents,
    correlationId: read.id,
    bodyHash: sha256(read.version),
    detail: { reason: shownReason(read, order), ...about, caseId: read.id },
    madeBy: { caller: order.operator, address: '' },
  })
}

function journalOf({ posts, valueCents, reference }: Step, operationId: string, available: bigint): Journal {
  return { operationId, kind: posts, reference, amounts: { v: valueCents, d: min(available, valueCents) } }
}
