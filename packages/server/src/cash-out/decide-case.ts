import { type CaseDecision, type EvidenceField, type GuardOf, cashOut as machine, Refusal } from '@pixgate/spec'
import { deciderBy, endedBy, isKeptInDoubt, movementsNamed, occurredAtOf, orderedBy } from '../cases/by-table.ts'
import type { DecidableCase, DecisionInput } from '../cases/case.ts'
import type { Changes, Target } from '../engine/follow.ts'
import type { Decision, State } from '../engine/operation.ts'
import { mayStillArrive, OUTCOME_KNOWN } from '../operations/attempts.ts'
import { countedBy } from '../operations/caps.ts'
import { changesByMove, failureFacts } from '../operations/orders.ts'
import {
  type CashOut,
  type CashOutFacts,
  cashOutNotification,
  exceedsPayout,
  hasLoss,
  hasSuspended,
  heldAgainCents,
  heldCents,
  LEFT_AFTER_RELEASE,
  leftCents,
  reversedCents,
  suspendedArrival,
  suspendedDeparture,
  takenNow,
} from './cash-out.ts'
import { planOf, RETURN_MAY_BE_KNOWN, restingDueAt } from './facts.ts'

/** Applies operator decisions to cases of cash-outs. Pure; the decisions are lines of the spec's table. */

type Guard = GuardOf<typeof machine>

interface Given {
  readonly cashOut: CashOut
  readonly openCase: DecidableCase
  readonly isKnown: boolean
  readonly nowMs: number
}

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

export const cashOutDecider = deciderBy<CashOut, Guard>({
  machine,
  holds: (cashOut, openCase, guard, nowMs) => holdsFor({ cashOut, openCase, isKnown: false, nowMs }, guard),
  needsOf,
  readsFor: (cashOut, _, order) => ({
    reads: [cashOut.id],
    movements: movementsNamed(order, { endToEndId: 'out', returnId: 'in' }),
  }),
  decide: (cashOut, openCase, order, state, nowMs) => {
    assertOfPayout(cashOut, order)
    return decideCase(cashOut, openCase, order, state, nowMs)
  },
})

/** Evidence that the decision requires. Money in suspense has its id already. */
function needsOf(cashOut: CashOut, { reference }: DecidableCase, decision: CaseDecision): readonly EvidenceField[] {
  if (decision === 'book') return mayBeOfAnother(cashOut) ? ['endToEndId'] : []
  return decision === 'executed' && suspendedDeparture(cashOut, reference) === 0n ? ['endToEndId'] : []
}

/** A return of the confirmed payout may belong to another payment of it. */
function mayBeOfAnother(cashOut: CashOut): boolean {
  return cashOut.endToEndId !== null && (hasLoss(cashOut) || hasSuspended(cashOut))
}

/**
 * Credits a return that may belong to another payment only if the operator names the payout's.
 * @throws validation_error (400)
 * @source rules#cases.18
 */
function assertOfPayout(cashOut: CashOut, { decision, evidence: { endToEndId } }: DecisionInput): void {
  if (decision !== 'book' || !mayBeOfAnother(cashOut) || endToEndId === cashOut.endToEndId) return
  const field = 'evidence.endToEndId'
  const message = `${field} must be the payout’s end-to-end id: a return of another payment is written off`
  throw new Refusal('validation_error', { fields: [{ field, code: 'out_of_range', message }] })
}

function decideCase(
  cashOut: CashOut,
  openCase: DecidableCase,
  order: DecisionInput,
  state: State,
  nowMs: number,
): Decision<CashOut> {
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
      changes: (row) =>
        changesOfDecision(cashOut, factsAfterDecision(cashOut, openCase, order, row, nowMs), row, nowMs),
      amounts: {
        v: cashOut.valueCents,
        f: cashOut.feeCents,
        p: left > 0n ? left : arrived,
        w: arrived,
        h,
        ...takenNow(cashOut, left, state.balance('available')),
      },
      reference: booked,
      notification: () =>
        cashOutNotification(cashOut, order.decision === 'executed', {
          occurredAt: occurredAtOf(openCase.facts, nowMs),
          endToEndId: order.decision === 'executed' ? booked : undefined,
          returned: order.decision === 'book' ? { returnId: booked, valueCents: arrived } : undefined,
        }),
    },
    nowMs,
  )
  const allowances = countedBy(cashOut, decision, leftCents(cashOut.facts), nowMs)
  const ending = (after: CashOut) => ({
    holds: (guard: Guard) => holdsFor({ ...given, cashOut: after, isKnown: false }, guard),
    changes: (row: Target<CashOut>) => changesOfDecision(after, row.asks ? {} : { facts: OUTCOME_KNOWN }, row, nowMs),
  })
  return endedBy(machine, openCase, { ...decision, allowances }, ending, nowMs)
}

/** Reference of journal and movement: the case's, or the id named by the operator. */
function referenceOf(
  { reference }: DecidableCase,
  { decision, evidence }: DecisionInput,
  isSuspended: boolean,
): string {
  return decision === 'executed' && !isSuspended ? (evidence.endToEndId ?? reference) : reference
}

function changesOfDecision(cashOut: CashOut, known: Changes, row: Target<CashOut>, nowMs: number): Changes {
  return changesByMove(cashOut, { on: 'operator' }, row, known, { restingDueAt, planOf }, nowMs)
}

function factsAfterDecision(
  cashOut: CashOut,
  openCase: DecidableCase,
  { evidence }: DecisionInput,
  { posts }: Target<CashOut>,
  nowMs: number,
): Changes {
  const { facts } = cashOut
  const { reference, rule } = openCase
  switch (posts) {
    case 'cash_out_confirmed': {
      const { endToEndId = '' } = evidence
      const movements = { ...facts.movements, [endToEndId]: Number(cashOut.valueCents) }
      return { endToEndId, facts: { movements, ...confirmedFacts(nowMs) } }
    }
    case 'cash_out_released':
      return {
        facts: { ...failureFacts({ errorCode: 'decided_by_operator', errorMessage: null }), isReleased: true },
        givesUpExclusiveKey: true,
      }
    case 'payout_left_in_suspense': {
      // A later report with another amount or recipient is then a duplicate.
      const decidedMovements = {
        ...facts.decidedMovements,
        [reference]: Number(suspendedDeparture(cashOut, reference)),
      }
      return {
        endToEndId: reference,
        facts: { decidedMovements, ...confirmedFacts(occurredAtOf(openCase.facts, nowMs)) },
      }
    }
    case 'left_written_off':
      return {
        facts: {
          ...leftForIt(cashOut),
          ...departureDecided(cashOut, reference, rule),
          ...lossAfter(cashOut, suspendedDeparture(cashOut, reference)),
        },
      }
    case 'payout_return_credited': {
      const returns = { ...facts.returns, [reference]: Number(suspendedArrival(cashOut, reference)) }
      return { facts: { returns, ...arrivalDecided(cashOut, reference) } }
    }
    case 'arrival_written_off':
      return {
        facts: { ...arrivalDecided(cashOut, reference), ...lossAfter(cashOut, -suspendedArrival(cashOut, reference)) },
      }
    default:
      return {}
  }
}

function confirmedFacts(confirmedAt: number): CashOutFacts {
  const unknownRecipient = { recipientName: null, recipientDocument: null, recipientIspb: null }
  return { confirmedAt, partnerFeeCents: null, isReleased: false, ...unknownRecipient, ...OUTCOME_KNOWN }
}

/** Releases the amount held again for it. */
function departureDecided(cashOut: CashOut, reference: string, rule: string): CashOutFacts {
  const cents = Number(suspendedDeparture(cashOut, reference))
  const decidedMovements = { ...cashOut.facts.decidedMovements, [reference]: cents }
  return { decidedMovements, ...(rule === LEFT_AFTER_RELEASE ? { isReleased: true } : {}) }
}

/** @param cents written off; negative: returned @source rules#cases.9 */
function lossAfter({ facts: { lossCents = 0 } }: CashOut, cents: bigint): CashOutFacts {
  return { lossCents: lossCents + Number(cents) }
}

/** A debit for this payout proves that the bank has it: it is not sent again. @source rules#cases.14 */
function leftForIt({ endToEndId, facts }: CashOut): CashOutFacts {
  return endToEndId === null && !facts.isReleased ? { isAccepted: true, isShown: false } : {}
}

function arrivalDecided(cashOut: CashOut, reference: string): CashOutFacts {
  const cents = Number(suspendedArrival(cashOut, reference))
  return { decidedReturns: { ...cashOut.facts.decidedReturns, [reference]: cents } }
}
