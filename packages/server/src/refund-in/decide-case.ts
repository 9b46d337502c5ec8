import { type CaseDecision, type EvidenceField, type GuardOf, refundIn as machine, min } from '@pixgate/spec'
import { deciderBy, endedBy, isKeptInDoubt, movementsNamed, occurredAtOf, orderedBy } from '../cases/by-table.ts'
import type { DecidableCase, DecisionInput } from '../cases/case.ts'
import { bookedReturn, type RefundEvent } from '../cash-in/index.ts'
import type { Changes, Target } from '../engine/follow.ts'
import { type Decision, type Journal, mergeDecisions, type State } from '../engine/operation.ts'
import { mayStillArrive, OUTCOME_KNOWN } from '../operations/attempts.ts'
import { countedBy } from '../operations/caps.ts'
import { changesByMove, failureFacts } from '../operations/orders.ts'
import { own } from '../platform/own.ts'
import { holderIn } from './commands.ts'
import { planOf, restingDueAt } from './facts.ts'
import {
  fundsOf,
  type Holder,
  hasSuspended,
  heldAgainCents,
  heldCents,
  holderIdOf,
  inSuspenseOf,
  isToPayer,
  LEFT_AFTER_RELEASE,
  leftCents,
  paymentOf,
  type RefundIn,
  type RefundInFacts,
  suspendedDeparture,
} from './refund-in.ts'
import { holderDecision, refundNotification } from './rules.ts'

/** Applies operator decisions to cases of refunds. Pure; the decisions are lines of the spec's table. */

type Guard = GuardOf<typeof machine>

interface Given {
  readonly refund: RefundIn
  /** `undefined` when only the options are computed. */
  readonly holder?: Holder | undefined
  readonly openCase: DecidableCase
  readonly isKnown: boolean
  readonly nowMs: number
}

/** Rule of confirmations by a return that is booked otherwise. */
const BOOKED_BEFORE = 'refund-in.doubt.3'

const GUARDS: Partial<Readonly<Record<Guard, (given: Given) => boolean>>> = {
  'another case is open': ({ refund, openCase }) => isKeptInDoubt(machine, refund, openCase.id),
  'money that left is in suspense': ({ refund, openCase }) => suspendedDeparture(refund, openCase.reference) > 0n,
  'no answer settles it': ({ openCase }) => openCase.rule === BOOKED_BEFORE,
  'its movement is known': ({ isKnown }) => isKnown,
  'money of it is in suspense': ({ refund }) => hasSuspended(refund),
  'an attempt may still arrive': ({ refund: { facts }, nowMs }) => mayStillArrive(facts, nowMs),
  'the statement shows it': ({ refund: { facts } }) => facts.isShown === true,
  'the bank has it': ({ refund: { facts } }) => facts.isAccepted === true,
  'it was never claimed': ({ refund: { facts } }) => (facts.attempts ?? 0) === 0,
  'its payment is not in suspense any more': ({ refund, holder, openCase }) => {
    if (holder === undefined || !isToPayer(refund)) return false
    const left = suspendedDeparture(refund, openCase.reference)
    return inSuspenseFor(refund, holder) < (left > 0n ? left : refund.valueCents)
  },
}

/** Suspense of its payment minus other refunds in flight, centavos. */
function inSuspenseFor(refund: RefundIn, holder: Holder): bigint {
  const { payment } = paymentOf(refund)
  if (payment === undefined) return 0n
  const listed = own(holder.facts.openRefunds, refund.id)
  const itself = listed && !('hasFailed' in listed && listed.hasFailed) ? refund.valueCents : 0n
  const { left, returning } = inSuspenseOf(holder, payment)
  return left - (returning - itself)
}

function holdsFor(given: Given, guard: Guard): boolean {
  return GUARDS[guard]?.(given) ?? false
}

/** Ids named for a refund are debits. */
const OUT = { endToEndId: 'out', returnId: 'out' } as const

export const refundInDecider = deciderBy<RefundIn, Guard>({
  machine,
  holds: (refund, openCase, guard, nowMs) => holdsFor({ refund, openCase, isKnown: false, nowMs }, guard),
  needsOf,
  readsFor: (refund, _, order) => ({
    reads: [refund.id, holderIdOf(refund)],
    movements: movementsNamed(order, OUT),
  }),
  decide: decideCase,
})

/** Evidence that the decision requires. Money in suspense has its id already. */
function needsOf(refund: RefundIn, { reference }: DecidableCase, decision: CaseDecision): readonly EvidenceField[] {
  return decision === 'executed' && suspendedDeparture(refund, reference) === 0n ? ['returnId'] : []
}

function decideCase(
  refund: RefundIn,
  openCase: DecidableCase,
  order: DecisionInput,
  state: State,
  nowMs: number,
): Decision<RefundIn> {
  const holder = holderIn(state, refund)
  // A return that was reported without its id is known by the id that an operator named.
  const isKnown = movementsNamed(order, OUT).some(
    (it) => state.movement(it) !== undefined || (holder && bookedReturn(holder, it.id) !== undefined),
  )
  const given = { refund, holder, openCase, isKnown, nowMs }
  const left = suspendedDeparture(refund, openCase.reference)
  const h = order.decision === 'executed' ? heldCents(refund) : heldAgainCents(refund, openCase.rule)
  const decision = orderedBy(
    machine,
    refund,
    openCase,
    order,
    {
      holds: (guard) => holdsFor(given, guard),
      changes: (row) =>
        changesOfDecision(refund, { facts: factsAfterDecision(refund, openCase, order, row, nowMs) }, row, nowMs),
      amounts: amountsOf(refund, left, h, state),
      reference: referenceOf(openCase, order, left > 0n),
      ...(refund.detail.cashInId !== null && {
        notification: (to: RefundIn['status']) =>
          refundNotification(refund, refund.transactionId, occurredAtOf(openCase.facts, nowMs), to),
      }),
    },
    nowMs,
  )
  const allowances = countedBy(refund, decision, leftCents(refund.facts), nowMs)
  const ending = (after: RefundIn) => ({
    holds: (guard: Guard) => holdsFor({ ...given, refund: after, isKnown: false }, guard),
    changes: (row: Target<RefundIn>) => changesOfDecision(after, row.asks ? {} : { facts: OUTCOME_KNOWN }, row, nowMs),
  })
  return endedBy(machine, openCase, withHolder(refund, { ...decision, allowances }, state, nowMs), ending, nowMs)
}

/** Money in suspense is not the merchant's, so the merchant is not debited. */
function amountsOf(refund: RefundIn, left: bigint, h: bigint, state: State) {
  const funds = fundsOf(refund)
  if (isToPayer(refund)) return { r: 0n, s: left > 0n ? left : funds.s, p: left, h: 0n, d: 0n }
  return { ...funds, p: left, h, d: min(state.balance('available') + h, left) }
}

/** Reference of journal and movement: the case's, or the id named by the operator. */
function referenceOf(
  { reference }: DecidableCase,
  { decision, evidence }: DecisionInput,
  isSuspended: boolean,
): string {
  if (decision === 'executed' && !isSuspended) return evidence.returnId ?? reference
  return decision === 'not_executed' ? '' : reference
}

/** Applies the decision to the operation that has the payment. @source rules#cases.12 */
function withHolder(refund: RefundIn, decision: Decision<RefundIn>, state: State, nowMs: number): Decision<RefundIn> {
  const [journal] = decision.journals ?? []
  const event = journal && eventOf(journal, refund)
  const holder = event && holderIn(state, refund)
  if (!event || !holder) return decision
  return mergeDecisions(holderDecision(holder, event, nowMs), decision)
}

/** Money in suspense already counts as returned; only the reservation and the suspense elsewhere end. */
function eventOf({ kind, reference, amounts }: Journal, refund: RefundIn): RefundEvent | undefined {
  const { id, status, valueCents } = refund
  const of = { refundId: id, ...paymentOf(refund) }
  if (kind === 'refund_in_confirmed') return { on: 'refund.confirmed', ...of, returnId: reference, valueCents }
  if (kind === 'refund_left_in_suspense' && isToPayer(refund)) {
    return { on: 'refund.confirmed', ...of, returnId: reference, valueCents: amounts.p ?? 0n }
  }
  const isFreed = kind === 'refund_in_released' || (kind === 'refund_left_in_suspense' && status === 'PENDING')
  return isFreed ? { on: 'refund.released', ...of, valueCents } : undefined
}

function changesOfDecision(refund: RefundIn, known: Changes, row: Target<RefundIn>, nowMs: number): Changes {
  return changesByMove(refund, { on: 'operator' }, row, known, { restingDueAt, planOf }, nowMs)
}

function factsAfterDecision(
  refund: RefundIn,
  openCase: DecidableCase,
  { evidence: { returnId = '' } }: DecisionInput,
  { posts }: Target<RefundIn>,
  nowMs: number,
): RefundInFacts {
  const { facts } = refund
  const { reference, rule } = openCase
  switch (posts) {
    case 'refund_in_confirmed': {
      const returns = { ...facts.returns, [returnId]: Number(refund.valueCents) }
      return { returns, returnId, confirmedAt: nowMs, ...OUTCOME_KNOWN }
    }
    case 'refund_in_released':
      return failureFacts({ errorCode: 'decided_by_operator', errorMessage: null })
    case 'refund_left_in_suspense': {
      return {
        returnId: reference,
        confirmedAt: occurredAtOf(openCase.facts, nowMs),
        ...givenBack(refund),
        ...OUTCOME_KNOWN,
      }
    }
    case 'left_written_off': {
      const cents = Number(suspendedDeparture(refund, reference))
      const decidedReturns = { ...facts.decidedReturns, [reference]: cents }
      return {
        decidedReturns,
        ...(rule === LEFT_AFTER_RELEASE ? givenBack(refund) : {}),
        // A debit proves that the bank has it: it is not sent again.
        ...(refund.status === 'PENDING' ? { isAccepted: true, isShown: false } : {}),
      }
    }
    default:
      return {}
  }
}

function givenBack({ facts }: RefundIn): RefundInFacts {
  return facts.heldAgainCents === undefined ? {} : { heldAgainCents: 0 }
}
