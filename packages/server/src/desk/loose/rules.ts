import {
  type AdjustmentStatus,
  adjustment,
  type JournalKind,
  type JournalTemplate,
  journals,
  type LooseDecision,
  limits,
  looseCaseKind,
  min,
  Refusal,
} from '@pixgate/spec'
import {
  type Case,
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
import { abs, isHandedOver, type Step, stepsOf } from './bookings.ts'
import type { LooseMovement, LooseOption, LooseOrder, ReadCase } from './case.ts'
import type { HandedOver } from './ports.ts'
import { centsIn, clearingCents } from './subject.ts'

/** What may be decided of a case of no operation, and what a decision does to the money. Pure. */

/** What may be decided here and now. @source rules#desk.50 */
export function optionsOf(read: ReadCase): readonly LooseOption[] {
  const { decisions = {} } = looseCaseKind(read.kind) ?? {}
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
      return subject.bookedOn === null && isOfSign(decision, subject.direction === 'in' ? 1n : -1n)
    case 'difference':
    case 'clearing':
    case 'request':
      return subject.cents !== 0n && isOfSign(decision, subject.cents)
    case 'decided':
      return subject.booked.length > 0
    case 'nothing':
      return false
  }
}

function isApplicable({ isReadable }: { readonly isReadable: boolean }, decision: LooseDecision): boolean {
  return decision === 'ask_again' || isReadable
}

function isOfSign(decision: LooseDecision, cents: bigint): boolean {
  return decision === 'credit' ? cents > 0n : decision === 'debit' ? cents < 0n : true
}

const JOURNALS: ReadonlyMap<AdjustmentStatus, JournalKind> = new Map(
  adjustment.rows.flatMap(({ to, posts }) => (posts ? [[to, posts] as const] : [])),
)

/** Who decides, and by which ids what is booked is known. */
export interface Deciding {
  readonly read: ReadCase
  readonly order: LooseOrder
  /** The operation that is named; `null`: none is. */
  readonly attributedTo: string | null
  /** What the named operation decides of the movement that is handed over to it. */
  readonly handed: HandedOver | undefined
  /** Of the adjustments, in their order. */
  readonly ids: readonly string[]
}

/**
 * Decides a case: what is booked, which case closes, and what is opened for what stays in clearing, all together or not at all. The case of
 * an event that is ordered again closes when it was applied.
 * @throws case_changed (409) the movement was booked meanwhile
 * @throws not_possible_in_state (409) the operation does not accept what is handed over to it
 * @source rules#desk.51, rules#desk.52, rules#desk.53, rules#desk.54, rules#desk.55
 */
export function decideLoose(
  deciding: Deciding,
  state: State,
  now: number,
  decision: LooseDecision,
): Decision<undefined> {
  const { read, handed } = deciding
  const { subject } = read
  if (subject.is !== 'movement') return ownDecision(deciding, state, decision)
  if (state.movement(keyOf(subject))) throw new Refusal('case_changed')
  const own = ownDecision(deciding, state, decision)
  return handed ? mergeDecisions(acceptedBy(handed, subject, state, now), own) : own
}

/** What the operation books of a movement. A decision that books none of it would leave the money without a home. */
function acceptedBy(
  { decide }: HandedOver,
  { direction, movementId }: LooseMovement,
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

/** What a decision does beside what it hands over. */
function ownDecision(deciding: Deciding, state: Pick<State, 'balance'>, decision: LooseDecision): Decision<undefined> {
  const { read, order, ids, attributedTo } = deciding
  const steps = stepsOf(read, decision)
  const available = state.balance('available')
  if (steps.some(({ status, valueCents }) => status === 'DEBITED' && available < valueCents)) {
    throw new Refusal('insufficient_balance')
  }
  const left = clearingCents([...read.booked, ...steps])
  const opens = left !== 0n && decision !== 'close' && read.kind !== 'in_clearing'
  const ordered = eventOrders(read, decision, attributedTo)
  return {
    creates: steps.map((one, index) => createOf(one, ids[index] ?? '', index, { read, order })),
    journals: steps.map((one, index) => journalOf(one, ids[index] ?? '', available)),
    cases: opens ? [clearingCase(read, left)] : [],
    closes: ordered.length > 0 ? [] : [read.id],
    exact: steps.some(({ status }) => status === 'CLEARING_DEBITED') ? ['available', 'receivable'] : [],
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

/** What a decision hands over; `null`: nobody knows. @source rules#desk.47, rules#desk.52 */
export function handedCents({ subject }: ReadCase, decision: LooseDecision): bigint | null {
  if (!isHandedOver(decision)) return 0n
  return subject.is === 'movement' || subject.is === 'event' ? subject.valueCents : 0n
}

/**
 * What a decision that moves nothing leaves as it is, though its case closes; `null`: nobody knows.
 * @source rules#desk.46, rules#desk.47, rules#desk.48
 */
export function leftCents({ subject, facts, atStakeCents }: ReadCase, decision: LooseDecision): bigint | null {
  if (decision !== 'close') return 0n
  if (subject.is === 'event') return subject.valueCents
  if (subject.is !== 'nothing') return 0n
  const told = [centsIn(facts), atStakeCents].flatMap((cents) => (cents == null ? [] : [abs(cents)]))
  return told.length === 0 ? null : told.reduce((most, cents) => (cents > most ? cents : most))
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
  index: number,
  { read, order }: Pick<Deciding, 'read' | 'order'>,
): Create<Operation<'adjustment'>> {
  return adjustmentOf({
    id,
    // The database refuses what was booked already.
    externalId: `${read.about} ${read.booked.length + index + 1}`,
    status,
    valueCents,
    correlationId: read.id,
    bodyHash: sha256(read.version),
    detail: {
      reason: shownReason(read, order),
      about: read.about,
      caseId: read.id,
    },
    madeBy: { caller: order.operator, address: '' },
  })
}

function journalOf({ status, valueCents, reference }: Step, operationId: string, available: bigint): Journal {
  const kind = JOURNALS.get(status)
  if (!kind) throw new Error(`no journal books ${status}`)
  const amounts = status === 'CLEARING_DEBITED' ? { v: valueCents, d: min(available, valueCents) } : { v: valueCents }
  return { operationId, kind, reference, amounts }
}

function clearingCase({ about, id, kind }: ReadCase, cents: bigint): Case {
  const facts = { decidedCase: id, of: kind, direction: cents > 0n ? 'in' : 'out', valueCents: Number(abs(cents)) }
  return { operationId: null, kind: 'in_clearing', reference: about, facts }
}
