import { type DeskDecision, type EvidenceField, type GuardOf, cashIn as machine, min } from '@pixgate/spec'
import {
  assertNamed,
  assertOpen,
  endedBy,
  evidenceOfOrder,
  isKeptInDoubt,
  notDecidable,
  optionsBy,
  orderedBy,
} from '../desk/by-table.ts'
import type { CaseDecider, DecidableCase, DeskOrder, DeskOutcome } from '../desk/decider.ts'
import { follow, type Target } from '../engine/follow.ts'
import { type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import { type CashIn, isCashIn, isOver } from './cash-in.ts'
import { changesByDecision, changesByEnd, changesByReceipt } from './desk-facts.ts'
import { deskNotification } from './desk-notification.ts'
import { isKnownReturn } from './returns.ts'
import { type Received, suspendedArrival, suspendedDeparture } from './suspense.ts'

/** What an operator's decision on a case of a cash-in does. Pure: the table in the spec says which there are. */

type Guard = GuardOf<typeof machine>

interface Given {
  readonly cashIn: CashIn
  readonly openCase: DecidableCase
  /** The movement that the operator names is booked somewhere. */
  readonly isKnown: boolean
  readonly nowMs: number
}

/** What the conditions of decisions mean. */
const GUARDS: Partial<Readonly<Record<Guard, (given: Given) => boolean>>> = {
  'another case is open': ({ cashIn, openCase }) => isKeptInDoubt(machine, cashIn, openCase.id),
  'money that arrived is in suspense': ({ cashIn, openCase }) => suspendedArrival(cashIn, openCase.reference) > 0n,
  'money that left is in suspense': ({ cashIn, openCase }) => suspendedDeparture(cashIn, openCase.reference) > 0n,
  'its movement is known': ({ isKnown }) => isKnown,
  'it pays the charge': ({ cashIn, openCase }) =>
    cashIn.endToEndId === null && suspendedArrival(cashIn, openCase.reference) === cashIn.valueCents,
  'the merchant has a payment of it': ({ cashIn: { endToEndId, facts } }) =>
    endToEndId !== null || Object.keys(facts.creditedPayments ?? {}).length > 0,
  'a payment is credited': ({ cashIn }) => cashIn.endToEndId !== null,
  'its failure is known': ({ cashIn: { facts } }) => facts.failureCode !== undefined,
  'its time is over': ({ cashIn, nowMs }) => isOver(cashIn, nowMs),
}

function holdsFor(given: Given, guard: Guard): boolean {
  return GUARDS[guard]?.(given) ?? false
}

/** Decides the cases of cash-ins. */
export const cashInDecider: CaseDecider<CashIn> = {
  options: (cashIn, openCase, nowMs) => {
    const given = { cashIn, openCase, isKnown: false, nowMs }
    return optionsBy(
      machine,
      cashIn,
      openCase,
      (_, guard) => holdsFor(given, guard as Guard),
      (decision) => needsOf(cashIn, openCase, decision),
    )
  },
  looks: (cashIn, _, { evidence: { returnId }, operationId }) => ({
    reads: [cashIn.id, ...(operationId === undefined ? [] : [operationId])],
    movements: returnId === undefined ? [] : [{ direction: 'out', id: returnId }],
  }),
  decide: (cashIn, openCase, order, state, nowMs) => {
    assertOpen(cashIn, openCase)
    assertNamed(order, needsOf(cashIn, openCase, order.decision))
    const decision = decideCase(cashIn, openCase, order, state, nowMs)
    return order.decision === 'book'
      ? mergeDecisions(receivedBy(cashIn, openCase, order, state, nowMs), decision)
      : decision
  },
}

/** What of the bank's an operator must name. */
function needsOf(cashIn: CashIn, openCase: DecidableCase, decision: DeskDecision): readonly EvidenceField[] {
  if (decision === 'book') return ['operationId']
  const isProof =
    decision === 'return'
      ? openCase.kind !== 'return_unattributed' && openCase.kind !== 'return_unexplained'
      : decision === 'write_off' && openCase.kind === 'return_unnamed'
  return isProof && suspendedArrival(cashIn, openCase.reference) + suspendedDeparture(cashIn, openCase.reference) > 0n
    ? ['returnId']
    : []
}

/**
 * Whether the return that an operator names is known already; that it has the id of its own case proves nothing either way.
 * @source rules#desk.15
 */
function isReturnKnown(
  cashIn: CashIn,
  { kind, reference }: DecidableCase,
  returnId: string | undefined,
  state: State,
): boolean {
  if (returnId === undefined || (kind === 'return_unattributed' && returnId === reference)) return false
  return isKnownReturn(cashIn, returnId) || state.movement({ direction: 'out', id: returnId }) !== undefined
}

function decideCase(
  cashIn: CashIn,
  openCase: DecidableCase,
  order: DeskOrder,
  state: State,
  nowMs: number,
): Decision<DeskOutcome<CashIn>> {
  const { returnId } = order.evidence
  const given = { cashIn, openCase, isKnown: isReturnKnown(cashIn, openCase, returnId, state), nowMs }
  const [arrived, left] = [suspendedArrival(cashIn, openCase.reference), suspendedDeparture(cashIn, openCase.reference)]
  const p = arrived > 0n ? arrived : left
  const decision = orderedBy(
    machine,
    cashIn,
    openCase,
    order,
    {
      holds: (guard) => holdsFor(given, guard),
      changes: (row) => changesByDecision(cashIn, openCase, order, row, nowMs),
      amounts: { p, r: p, f: min(cashIn.feeCents, p), d: min(state.balance('available'), p), h: 0n },
      reference: order.decision === 'return' && arrived > 0n && returnId !== undefined ? returnId : openCase.reference,
      notification: () => deskNotification(cashIn, 'PAID', openCase.reference, openCase.facts, nowMs),
    },
    nowMs,
  )
  const ending = (after: CashIn) => ({
    holds: (guard: Guard) => holdsFor({ ...given, cashIn: after, isKnown: false }, guard),
    changes: (row: Target<CashIn>) => changesByEnd(after, row, nowMs),
    notification: () => deskNotification(after, 'FAILED', null, {}, nowMs),
  })
  return endedBy(machine, openCase, decision, ending, nowMs)
}

/** The other charge is paid by what was in suspense here. @source rules#desk.6 */
function receivedBy(
  source: CashIn,
  openCase: DecidableCase,
  order: DeskOrder,
  state: State,
  nowMs: number,
): Decision<CashIn | undefined> {
  const target = state.operation(order.operationId ?? '')
  const received: Received = {
    endToEndId: openCase.reference,
    from: source.id,
    cents: suspendedArrival(source, openCase.reference),
    facts: openCase.facts,
  }
  if (!isCashIn(target) || target.id === source.id) throw notDecidable(order, openCase)
  const decision: Decision<CashIn | undefined> = follow(
    machine,
    target,
    {
      on: 'operator.received',
      holds: (guard) =>
        guard === 'amount differs'
          ? received.cents !== target.valueCents
          : guard === 'payment is a second one' && Object.keys(target.facts.payments ?? {}).length > 0,
      changes: (row) => changesByReceipt(target, received, row, nowMs),
      amounts: { v: target.valueCents, f: target.feeCents },
      reference: received.endToEndId,
      notification: () => deskNotification(target, 'PAID', received.endToEndId, received.facts, nowMs),
      outcome: (after, isApplied) => (isApplied ? after : undefined),
    },
    nowMs,
  )
  if (!decision.outcome) throw notDecidable(order, openCase)
  const evidence = { ...evidenceOfOrder(order), from: source.id }
  return { ...decision, moves: decision.moves?.map((move) => ({ ...move, evidence })) ?? [] }
}
