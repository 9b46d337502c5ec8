import {
  type AdjustmentStatus,
  type CaseDecision,
  type EvidenceField,
  adjustment as machine,
  Refusal,
} from '@pixgate/spec'
import { openCaseIds } from '../engine/cases.ts'
import { follow, type Step } from '../engine/follow.ts'
import {
  type Decision,
  type Document,
  type MovementId,
  mergeDecisions,
  type Operation,
  type State,
} from '../engine/operation.ts'
import { adjustmentOf } from '../operations/adjustment.ts'
import type { MadeByFact } from '../operations/requests.ts'
import { sha256 } from '../platform/crypto.ts'
import { assertNamed, assertOpen, exceedsSuspense, optionsBy, orderedBy } from './by-table.ts'
import type { CaseDecider, DecidableCase, DecisionInput, HandedOver, StatementLines } from './case.ts'
import { acceptedBy, notAccepted } from './without-operation.ts'

/**
 * An unexplained credit, held in suspense by an adjustment. While `HELD` it claims no movement, so an operation paid by
 * it can book it; the first decision claims the movement. Pure.
 * @source rules#adjustment.held.1
 */
export type Held = Operation<'adjustment', HeldDetail, HeldFacts>

export interface HeldDetail extends Document {
  readonly reason: string
  readonly about: string
  readonly entry: string
  readonly movementId: string
  readonly endToEndId: string
  /** By the bank’s clock, epoch milliseconds. */
  readonly occurredAt: number
  /** The operation that had it booked until an operator reversed that, if any. */
  readonly takenBackFrom?: string
}

/** Refunds and returns have the shape of a charge's. */
export interface HeldFacts extends MadeByFact {
  readonly openRefunds?: Readonly<
    Record<string, { readonly valueCents: number; readonly transactionId: string | null; readonly payment: string }>
  >
  readonly returns?: Readonly<
    Record<
      string,
      {
        readonly state: 'from_suspense'
        readonly cents: number
        readonly endToEndId: string
        /** Absent if the bank returned it by itself. */
        readonly refundId?: string
      }
    >
  >
  /** Refunds ordered by operators, by end-to-end id. */
  readonly returnOrders?: Readonly<Record<string, number>>
}

export interface Line {
  readonly kind: string
  readonly movementId: string
  readonly endToEndId: string
  readonly valueCents: bigint
  readonly occurredAt: number
  readonly takenBackFrom?: string | undefined
}

export function isHeld(operation: Operation | undefined): operation is Held {
  return operation?.kind === 'adjustment' && typeof operation.detail.movementId === 'string'
}

/** Common to all adjustments about a line. */
export function aboutLine({ kind, movementId }: Pick<Line, 'kind' | 'movementId'>): string {
  return `movement ${kind} ${movementId}`
}

/** Holds a line in suspense and opens its case. @source rules#statement.6 */
export function holding(line: Line, id: string, facts: Document): Decision<undefined> {
  const { kind: entry, movementId, endToEndId, valueCents, occurredAt, takenBackFrom } = line
  const about = aboutLine(line)
  const create = adjustmentOf<HeldDetail>({
    ...{ id, externalId: `${about} 1`, status: 'HELD', valueCents, correlationId: id, bodyHash: sha256(about) },
    detail: {
      reason: SHOWN,
      about,
      entry,
      movementId,
      endToEndId,
      occurredAt,
      ...(takenBackFrom && { takenBackFrom }),
    },
    madeBy: { caller: 'statement', address: '' },
  })
  return {
    creates: [create],
    journals: [{ operationId: id, kind: 'held_arrived', reference: movementId, amounts: { p: valueCents } }],
    cases: [
      {
        operationId: id,
        kind: 'unexplained_credit',
        reference: `${entry} ${movementId}`,
        facts: { ...facts, rule: 'adjustment.held.1' },
      },
    ],
    outcome: undefined,
  }
}

/** Description of the ledger entry. */
const SHOWN = 'Incoming money without an explanation'

/** Suspense, including what is being returned, centavos. */
export function inSuspenseCents({ status, valueCents, facts }: Held): bigint {
  if (status !== 'HELD' && status !== 'SUSPENDED') return 0n
  return Object.values(facts.returns ?? {}).reduce((left, { cents }) => left - BigInt(cents), valueCents)
}

/** Booked by another operation, and not reversed. */
function isBookedElsewhere({ id, detail }: Held, state: Pick<State, 'movement'>): boolean {
  const booked = state.movement(movementOf(detail))
  return booked !== undefined && booked.operationId !== id && booked.operationId !== detail.takenBackFrom
}

function movementOf({ movementId }: Pick<HeldDetail, 'movementId'>): MovementId {
  return { direction: 'in', id: movementId }
}

/** Part that refunds in flight return, centavos. */
export function underWayCents({ facts }: Held): bigint {
  return Object.values(facts.openRefunds ?? {}).reduce((sum, { valueCents }) => sum + BigInt(valueCents), 0n)
}

/** Part that can be decided now, centavos. */
function decidableCents(held: Held): bigint {
  const left = inSuspenseCents(held) - underWayCents(held)
  return left > 0n ? left : 0n
}

/** Ends the hold after an explanation; ignored if it was decided meanwhile. @source rules#adjustment.held.2 */
export function explained(held: Held, now: number): Decision<Held> {
  return moved(
    held,
    'line.explained',
    { amounts: { p: held.valueCents }, changes: () => ({ closes: caseIds(held) }) },
    now,
  )
}

/**
 * Claims the movement, and books it in suspense under its id.
 * @throws case_changed (409) an operation booked it meanwhile
 * @source rules#adjustment.held.4
 */
function claimed(held: Held, state: Pick<State, 'movement'>, now: number): Decision<Held> {
  if (held.status !== 'HELD') return { outcome: held }
  if (isBookedElsewhere(held, state)) throw new Refusal('case_changed')
  const amounts = { p: held.valueCents }
  const first = moved(held, 'line.claimed', { amounts }, now)
  if (first.outcome.status === 'SUSPENDED') return first
  return mergeDecisions(first, moved(first.outcome, 'line.claimed', { amounts }, now))
}

interface TakenBack {
  readonly returnId: string
  readonly valueCents: bigint
}

/**
 * Books the bank's own return, whole or in part.
 * @returns false as outcome if the suspense does not cover it
 * @source rules#adjustment.held.8
 */
export function takenBack(
  held: Held,
  { returnId, valueCents }: TakenBack,
  state: Pick<State, 'movement'>,
  now: number,
): Decision<boolean> {
  const isOver = state.movement({ direction: 'out', id: returnId }) !== undefined
  const isAnothers = held.status === 'HELD' && isBookedElsewhere(held, state)
  if (isOver || isAnothers || valueCents > decidableCents(held)) return { outcome: false }
  const own = claimed(held, state, now)
  const { endToEndId } = held.detail
  const returns = withReturn(own.outcome, returnId, { state: 'from_suspense', cents: Number(valueCents), endToEndId })
  const step = { amounts: { p: valueCents }, changes: () => emptied(held, own.outcome, { returns }) }
  return { ...mergeDecisions(own, moved(own.outcome, 'line.taken_back', step, now, returnId)), outcome: true }
}

export interface RefundOfHeld {
  readonly on: 'refund.confirmed' | 'refund.released' | 'refund.named'
  readonly refundId: string
  readonly valueCents: bigint
  readonly returnId?: string
  readonly transactionId?: string
}

/** @source rules#adjustment.held.9 */
export function refunded(held: Held, event: RefundOfHeld, now: number): Decision<Held> {
  return moved(held, event.on, { changes: () => emptied(held, held, factsOfRefund(held, event)) }, now)
}

function factsOfRefund(
  held: Held,
  { on, refundId, valueCents, returnId = '', transactionId }: RefundOfHeld,
): HeldFacts {
  const { [refundId]: known, ...others } = held.facts.openRefunds ?? {}
  const { endToEndId } = held.detail
  if (on === 'refund.named') {
    const named = {
      valueCents: Number(valueCents),
      payment: endToEndId,
      ...known,
      transactionId: transactionId ?? null,
    }
    return { openRefunds: { ...others, [refundId]: named } }
  }
  if (on === 'refund.released') return { openRefunds: others }
  const returned = { state: 'from_suspense', cents: Number(valueCents), endToEndId, refundId } as const
  return { openRefunds: others, returns: withReturn(held, returnId, returned) }
}

function factsOfReturnOrder({ facts, detail }: Held, refundId: string, valueCents: bigint): HeldFacts {
  const { endToEndId: payment } = detail
  return {
    openRefunds: { ...facts.openRefunds, [refundId]: { valueCents: Number(valueCents), transactionId: null, payment } },
    returnOrders: { ...facts.returnOrders, [payment]: (facts.returnOrders?.[payment] ?? 0) + 1 },
  }
}

function withReturn(
  { facts }: Held,
  returnId: string,
  returned: NonNullable<HeldFacts['returns']>[string],
): NonNullable<HeldFacts['returns']> {
  return { ...facts.returns, [returnId]: returned }
}

/** Closes the case when the suspense is empty. @param known with its open cases */
function emptied(known: Held, held: Held, facts: HeldFacts) {
  const isEmpty = inSuspenseCents({ ...held, facts: { ...held.facts, ...facts } }) === 0n
  return { facts, ...(isEmpty ? { closes: caseIds(known) } : {}) }
}

function caseIds(held: Held): readonly string[] {
  return openCaseIds(held, ({ kind }) => kind === 'unexplained_credit')
}

type Trigger = (typeof machine)['triggers'][number]

function holds({ detail }: Held, guard: string): boolean {
  return guard === 'its movement was taken back' && detail.takenBackFrom !== undefined
}

/** Ignored without a row. */
function moved(
  held: Held,
  on: Trigger,
  step: Pick<Step<Held, Trigger, string, Held>, 'amounts' | 'changes'>,
  now: number,
  reference = held.detail.movementId,
): Decision<Held> {
  return follow(
    machine,
    held as Held & { readonly status: AdjustmentStatus },
    { ...step, on, holds: (guard) => holds(held, guard), reference, outcome: (after: Held) => after },
    now,
  )
}

/** @param lines attributes lines of the bank’s statement to operations */
export function createHeldDecider(lines: StatementLines): CaseDecider<Held> {
  return {
    options: (held, openCase) => {
      const maxCents = decidableCents(held)
      // Every decision but the attribution first claims the movement.
      const standings = held.status === 'HELD' ? [held, { ...held, status: 'SUSPENDED' as const }] : [held]
      return standings.flatMap((standing) =>
        optionsBy(machine, standing, openCase, (guard) => holdsForDecision(held, guard), needsOf, maxCents),
      )
    },
    handOver: async (held, _, order) => (order.decision === 'book' ? handedTo(lines, held, order) : undefined),
    readsFor: (held, _openCase, _order, handed) => {
      const own = movementOf(held.detail)
      if (!handed) return { reads: [held.id], movements: [own] }
      const { decide: _decide, reads, movements = [], ...others } = handed
      return { ...others, reads: [held.id, ...reads], movements: [own, ...movements] }
    },
    decide: (held, openCase, order, state, nowMs, handed) => {
      assertOpen(held, openCase)
      assertNamed(order, needsOf(order.decision))
      if (order.decision !== 'book') return decideOwn(held, openCase, order, state, nowMs)
      if (handed === undefined || isBookedElsewhere(held, state)) throw new Refusal('case_changed')
      const own = ordered(held, openCase, order, held.valueCents, nowMs)
      return mergeDecisions(acceptedBy(handed, { direction: 'in', ...held.detail }, state, nowMs), own)
    },
  }
}

function needsOf(decision: CaseDecision): readonly EvidenceField[] {
  if (decision === 'return_to_payer') return ['amountCents']
  return decision === 'book' ? ['operationId'] : []
}

function holdsForDecision(held: Held, guard: string): boolean {
  if (guard === 'a return of it is under way') return underWayCents(held) > 0n
  return guard === 'it is no payment' && held.detail.entry !== 'PAYMENT_RECEIVED'
}

/** Command of the operation that receives the line. @throws validation_error (400) it does not accept it */
async function handedTo(lines: StatementLines, { detail }: Held, order: DecisionInput): Promise<HandedOver> {
  assertNamed(order, needsOf(order.decision))
  const { operationId = '' } = order
  const line = { kind: detail.entry, direction: 'in', movementId: detail.movementId } as const
  const handed = (await lines.accepts(detail.entry, operationId))
    ? await lines.attributionCommand(line, operationId)
    : undefined
  if (handed) return handed
  throw notAccepted('the operation is of another kind, or does not exist')
}

/** The first decision about the money claims its movement. */
function decideOwn(
  held: Held,
  openCase: DecidableCase,
  order: DecisionInput,
  state: State,
  nowMs: number,
): Decision<Held> {
  const own = claimed(held, state, nowMs)
  const left = decidableCents(held)
  const cents = order.amountCents ?? left
  if (cents > left) throw exceedsSuspense(left)
  return mergeDecisions(own, ordered(own.outcome, openCase, order, cents, nowMs))
}

function ordered(held: Held, openCase: DecidableCase, order: DecisionInput, p: bigint, nowMs: number): Decision<Held> {
  const isReturn = order.decision === 'return_to_payer'
  return orderedBy(
    machine,
    held,
    openCase,
    order,
    {
      holds: (guard) => holdsForDecision(held, guard),
      changes: () => (isReturn ? { facts: factsOfReturnOrder(held, order.newId, p) } : {}),
      amounts: { p },
      reference: held.detail.movementId,
      isLeftOpen: isReturn,
    },
    nowMs,
  )
}
