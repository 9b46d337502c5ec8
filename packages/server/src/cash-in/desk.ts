import {
  type DeskDecision,
  deskTriggers,
  type EvidenceField,
  type GuardOf,
  cashIn as machine,
  min,
  type TriggerOf,
} from '@pixgate/spec'
import {
  assertNamed,
  assertOpen,
  evidenceOfOrder,
  isKeptInDoubt,
  notDecidable,
  optionsBy,
  withoutCase,
} from '../desk/by-table.ts'
import type { CaseDecider, DecidableCase, DeskOrder, DeskOutcome } from '../desk/decider.ts'
import { follow } from '../engine/follow.ts'
import { type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import { reasonOf } from '../engine/reason.ts'
import { type CashIn, isCashIn, isOver } from './cash-in.ts'
import { changesByDecision, changesByEnd, changesByReceipt } from './desk-facts.ts'
import { deskNotification } from './desk-notification.ts'
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
  'a payment is credited': ({ cashIn }) => cashIn.endToEndId !== null,
  'its failure is known': ({ cashIn: { facts } }) => facts.failureCode !== undefined,
  'its time is over': ({ cashIn, nowMs }) => isOver(cashIn, nowMs),
}

/** Decides the cases of cash-ins. */
export const cashInDecider: CaseDecider<CashIn> = {
  options: (cashIn, openCase, nowMs) => {
    const given = { cashIn, openCase, isKnown: false, nowMs }
    return optionsBy(
      machine,
      cashIn,
      openCase,
      (_, guard) => GUARDS[guard as Guard]?.(given) ?? false,
      (decision) => needsOf(cashIn, openCase, decision),
    )
  },
  looks: (cashIn, _, { evidence: { returnId }, attributeTo }) => ({
    reads: [cashIn.id, ...(attributeTo === undefined ? [] : [attributeTo])],
    movements: returnId === undefined ? [] : [{ direction: 'out', id: returnId }],
  }),
  decide: (cashIn, openCase, order, state, nowMs) => {
    assertOpen(cashIn, openCase)
    assertNamed(order, needsOf(cashIn, openCase, order.decision))
    const decision = decideCase(cashIn, openCase, order, state, nowMs)
    return order.decision === 'attribute'
      ? mergeDecisions(receivedBy(cashIn, openCase, order, state, nowMs), decision)
      : decision
  },
}

/** What of the bank's an operator must name. */
function needsOf(cashIn: CashIn, openCase: DecidableCase, decision: DeskDecision): readonly EvidenceField[] {
  if (decision === 'attribute') return ['attributeTo']
  const isProof =
    decision === 'return' && openCase.kind !== 'return_unattributed' && openCase.kind !== 'return_unexplained'
  return isProof && suspendedArrival(cashIn, openCase.reference) + suspendedDeparture(cashIn, openCase.reference) > 0n
    ? ['returnId']
    : []
}

function decideCase(
  cashIn: CashIn,
  openCase: DecidableCase,
  order: DeskOrder,
  state: State,
  nowMs: number,
): Decision<DeskOutcome<CashIn>> {
  const { returnId } = order.evidence
  const isKnown = returnId !== undefined && state.movement({ direction: 'out', id: returnId }) !== undefined
  const given = { cashIn, openCase, isKnown, nowMs }
  const [arrived, left] = [suspendedArrival(cashIn, openCase.reference), suspendedDeparture(cashIn, openCase.reference)]
  const p = arrived > 0n ? arrived : left
  const decision: Decision<CashIn | undefined> = follow(
    machine,
    cashIn,
    {
      on: deskTriggers[order.decision] as TriggerOf<typeof machine>,
      holds: (guard) => GUARDS[guard]?.(given) ?? false,
      changes: (row) => changesByDecision(cashIn, openCase, order, row, nowMs),
      amounts: { p, r: p, f: min(cashIn.feeCents, p), d: min(state.balance('available'), p), h: 0n },
      reference: order.decision === 'return' && arrived > 0n && returnId !== undefined ? returnId : openCase.reference,
      notification: () => deskNotification(cashIn, 'PAID', openCase.reference, openCase.facts, nowMs),
      evidence: evidenceOfOrder(order),
      decides: openCase,
      outcome: (after, isApplied) => (isApplied ? after : undefined),
    },
    nowMs,
  )
  const after = decision.outcome
  if (!after) throw notDecidable(order, openCase)
  const isExact = decision.journals?.some(({ kind }) => kind === 'return_debited')
  const exact = isExact ? { exact: ['available'] as const } : {}
  const decided = { ...decision, ...exact, outcome: { operation: after } }
  return decision.closes?.includes(openCase.id)
    ? ended(withoutCase(after, openCase.id), openCase, decided, nowMs)
    : decided
}

/** Where no other case keeps it in doubt the doubt ends, as the table says. @source rules#desk.5 */
function ended(
  cashIn: CashIn,
  openCase: DecidableCase,
  decided: Decision<DeskOutcome<CashIn>>,
  nowMs: number,
): Decision<DeskOutcome<CashIn>> {
  const outcome = { operation: cashIn }
  if (reasonOf(cashIn) === null) return { ...decided, outcome }
  const given = { cashIn, openCase, isKnown: false, nowMs }
  const decision: Decision<DeskOutcome<CashIn>> = follow(
    machine,
    cashIn,
    {
      on: 'doubt.decided',
      holds: (guard) => GUARDS[guard]?.(given) ?? false,
      changes: (row) => changesByEnd(cashIn, row, nowMs),
      reference: '',
      notification: () => deskNotification(cashIn, 'FAILED', null, {}, nowMs),
      outcome: (operation) => ({ operation }),
    },
    nowMs,
  )
  return mergeDecisions(decided, decision)
}

/** The other charge is paid by what was in suspense here. @source rules#desk.6 */
function receivedBy(
  source: CashIn,
  openCase: DecidableCase,
  order: DeskOrder,
  state: State,
  nowMs: number,
): Decision<CashIn | undefined> {
  const target = state.operation(order.attributeTo ?? '')
  const received: Received = {
    endToEndId: openCase.reference,
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
