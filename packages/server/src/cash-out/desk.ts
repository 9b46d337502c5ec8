import { type DeskDecision, type EvidenceField, type GuardOf, cashOut as machine, Refusal } from '@pixgate/spec'
import {
  assertNamed,
  assertOpen,
  endedBy,
  isKeptInDoubt,
  movementsNamed,
  optionsBy,
  orderedBy,
} from '../desk/by-table.ts'
import type { CaseDecider, DecidableCase, DeskOrder, DeskOutcome } from '../desk/decider.ts'
import type { Target } from '../engine/follow.ts'
import type { Decision, State } from '../engine/operation.ts'
import { mayStillArrive } from '../operations/attempts.ts'
import { countedBy } from '../operations/limits/limits.ts'
import { type CashOut, leftCents, reversedCents } from './cash-out.ts'
import { changesByDecision, changesByEnd } from './desk-facts.ts'
import { deskNotification } from './desk-notification.ts'
import { RETURN_MAY_BE_KNOWN } from './facts.ts'
import {
  exceedsPayout,
  hasLoss,
  hasSuspended,
  heldAgainCents,
  heldCents,
  suspendedArrival,
  suspendedDeparture,
  takenNow,
} from './suspense.ts'

/** What an operator's decision on a case of a cash-out does. Pure: the table in the spec says which there are. */

type Guard = GuardOf<typeof machine>

interface Given {
  readonly cashOut: CashOut
  readonly openCase: DecidableCase
  /** A movement that the operator names is booked somewhere. */
  readonly isKnown: boolean
  readonly nowMs: number
}

/** What the conditions of decisions mean. */
const GUARDS: Partial<Readonly<Record<Guard, (given: Given) => boolean>>> = {
  'another case is open': ({ cashOut, openCase }) => isKeptInDoubt(machine, cashOut, openCase.id),
  'money that arrived is in suspense': ({ cashOut, openCase }) => suspendedArrival(cashOut, openCase.reference) > 0n,
  'money that left is in suspense': ({ cashOut, openCase }) => suspendedDeparture(cashOut, openCase.reference) > 0n,
  'no answer settles it': ({ openCase }) => openCase.rule === RETURN_MAY_BE_KNOWN,
  'its movement is known': ({ isKnown }) => isKnown,
  'money of it is in suspense': ({ cashOut }) => hasSuspended(cashOut),
  'an attempt may still arrive': ({ cashOut: { facts }, nowMs }) => mayStillArrive(facts, nowMs),
  'the statement shows it': ({ cashOut: { facts } }) => facts.isShown === true,
  'the bank has it': ({ cashOut: { facts } }) => facts.isAccepted === true,
  'it was never claimed': ({ cashOut: { facts } }) => (facts.attempts ?? 0) === 0,
  'the reservation was given back': ({ cashOut: { facts } }) => facts.isReleased === true,
  'it is confirmed': ({ cashOut: { endToEndId } }) => endToEndId !== null,
  'it came back': ({ cashOut: { facts } }) => reversedCents(facts) > 0n,
  'returns exceed the payout': ({ cashOut, openCase }) =>
    exceedsPayout(cashOut, suspendedArrival(cashOut, openCase.reference)),
}

function holdsFor(given: Given, guard: Guard): boolean {
  return GUARDS[guard]?.(given) ?? false
}

/** Decides the cases of cash-outs. */
export const cashOutDecider: CaseDecider<CashOut> = {
  options: (cashOut, openCase, nowMs) => {
    const given = { cashOut, openCase, isKnown: false, nowMs }
    return optionsBy(
      machine,
      cashOut,
      openCase,
      (_, guard) => holdsFor(given, guard as Guard),
      (decision) => needsOf(cashOut, openCase, decision),
    )
  },
  looks: (cashOut, _, order) => ({
    reads: [cashOut.id],
    movements: movementsNamed(order, { endToEndId: 'out', returnId: 'in' }),
  }),
  decide: (cashOut, openCase, order, state, nowMs) => {
    assertOpen(cashOut, openCase)
    assertNamed(order, needsOf(cashOut, openCase, order.decision))
    assertOfPayout(cashOut, order)
    return decideCase(cashOut, openCase, order, state, nowMs)
  },
}

/** What of the bank's an operator must name: money in suspense has its id already. */
function needsOf(cashOut: CashOut, { reference }: DecidableCase, decision: DeskDecision): readonly EvidenceField[] {
  if (decision === 'book') return mayBeOfAnother(cashOut) ? ['endToEndId'] : []
  return decision === 'executed' && suspendedDeparture(cashOut, reference) === 0n ? ['endToEndId'] : []
}

/** Whether what came back of a payout that is confirmed may be of another payment that left for it. */
function mayBeOfAnother(cashOut: CashOut): boolean {
  return cashOut.endToEndId !== null && (hasLoss(cashOut) || hasSuspended(cashOut))
}

/**
 * What may be of another payment is credited only as what the payout was confirmed by.
 * @throws validation_error (400)
 * @source rules#desk.18
 */
function assertOfPayout(cashOut: CashOut, { decision, evidence: { endToEndId } }: DeskOrder): void {
  if (decision !== 'book' || !mayBeOfAnother(cashOut) || endToEndId === cashOut.endToEndId) return
  const field = 'evidence.endToEndId'
  const message = `${field} must be the payout’s: a return of another payment is written off`
  throw new Refusal('validation_error', { fields: [{ field, code: 'out_of_range', message }] })
}

function decideCase(
  cashOut: CashOut,
  openCase: DecidableCase,
  order: DeskOrder,
  state: State,
  nowMs: number,
): Decision<DeskOutcome<CashOut>> {
  const { reference, rule } = openCase
  const movements = movementsNamed(order, { endToEndId: 'out', returnId: 'in' })
  const given = { cashOut, openCase, isKnown: movements.some((it) => state.movement(it) !== undefined), nowMs }
  const [left, arrived] = [suspendedDeparture(cashOut, reference), suspendedArrival(cashOut, reference)]
  const booked = referenceOf(openCase, order, left > 0n)
  const h = order.decision === 'executed' ? heldCents(cashOut) : heldAgainCents(cashOut, rule)
  const decision = orderedBy(
    machine,
    cashOut,
    openCase,
    order,
    {
      holds: (guard) => holdsFor(given, guard),
      changes: (row) => changesByDecision(cashOut, openCase, order, row, nowMs),
      amounts: {
        v: cashOut.valueCents,
        f: cashOut.feeCents,
        p: left > 0n ? left : arrived,
        w: arrived,
        h,
        ...takenNow(cashOut, left, state.balance('available')),
      },
      reference: booked,
      notification: () => deskNotification(cashOut, { ...openCase, reference: booked }, order.decision, arrived, nowMs),
    },
    nowMs,
  )
  const allowances = countedBy(cashOut, decision, leftCents(cashOut.facts), nowMs)
  const ending = (after: CashOut) => ({
    holds: (guard: Guard) => holdsFor({ ...given, cashOut: after, isKnown: false }, guard),
    changes: (row: Target<CashOut>) => changesByEnd(after, row, nowMs),
  })
  return endedBy(machine, openCase, { ...decision, allowances }, ending, nowMs)
}

/** What journal and movement are known by: the case's, or what the operator names. */
function referenceOf({ reference }: DecidableCase, { decision, evidence }: DeskOrder, isSuspended: boolean): string {
  return decision === 'executed' && !isSuspended ? (evidence.endToEndId ?? reference) : reference
}
