import { type CaseDecision, type EvidenceField, type GuardOf, cashIn as machine, min, Refusal } from '@pixgate/spec'
import {
  deciderBy,
  endedBy,
  evidenceOfOrder,
  exceedsSuspense,
  isKeptInDoubt,
  notDecidable,
  occurredAtOf,
  orderedBy,
} from '../cases/by-table.ts'
import type { DecidableCase, DecisionInput } from '../cases/case.ts'
import { type Changes, follow, reasonOf, type Target } from '../engine/follow.ts'
import { type Decision, type Document, mergeDecisions, type State } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import { type CashIn, type CashInFacts, cashInNotification, isCashIn, isOver } from './cash-in.ts'
import { changesOfDecision, emptiedCaseIds } from './facts.ts'
import { reportedPaymentsFact } from './reported.ts'
import {
  creditedPayment,
  explanationsOf,
  factsOfReturnOrder,
  hasGoneBack,
  isKnownReturn,
  type KnownReturn,
  paidCents,
  type Received,
  refundableCents,
  returnableArrival,
  returningCents,
  sharesOf,
  suspendedArrival,
  suspendedCents,
  suspendedDeparture,
  UNNAMED,
  withReturn,
} from './returns.ts'

/** Applies operator decisions to cases of cash-ins. Pure; the decisions are lines of the spec's table. */

type Guard = GuardOf<typeof machine>

interface Given {
  readonly cashIn: CashIn
  readonly openCase: DecidableCase
  readonly isKnown: boolean
  readonly isAccepting?: boolean | undefined
  readonly nowMs: number
}

/** Rule of returns whose payment is unclear. */
const UNATTRIBUTED = 'cash-in.refunds.9'

const MISSING = 'cash-in.unknown.7'

/** Rules whose cases no further answer of the bank can settle. */
const SETTLED: ReadonlySet<string> = new Set(['cash-in.failed.1', 'cash-in.paid.2', 'cash-in.refunds.5', UNNAMED])

const GUARDS: Partial<Readonly<Record<Guard, (given: Given) => boolean>>> = {
  'another case is open': ({ cashIn, openCase, isAccepting }) => isDoubtKept(cashIn, openCase.id, isAccepting),
  'money that arrived is in suspense': ({ cashIn, openCase }) => suspendedArrival(cashIn, openCase.reference) > 0n,
  'money that left is in suspense': ({ cashIn, openCase }) => suspendedDeparture(cashIn, openCase.reference) > 0n,
  'its movement is known': ({ isKnown }) => isKnown,
  'the merchant has a payment of it': ({ cashIn }) => creditedPayment(cashIn) !== null,
  'all of the payment is in suspense': ({ cashIn, openCase: { reference } }) =>
    suspendedArrival(cashIn, reference) > 0n &&
    suspendedArrival(cashIn, reference) === BigInt(cashIn.facts.payments?.[reference] ?? 0),
  // A return in suspense may be of the credited payment.
  'a return of it is under way': ({ cashIn, openCase: { reference } }) =>
    [reference, suspendedDeparture(cashIn, reference) > 0n ? creditedPayment(cashIn) : null].some(
      (payment) => payment !== null && returningCents(cashIn, payment) > 0n,
    ),
  'its payment went back': ({ cashIn }) => hasGoneBack(cashIn),
  'no answer settles it': ({ openCase }) => SETTLED.has(openCase.rule),
  'its answer is missing': ({ openCase }) => openCase.rule === MISSING,
  'a payment is credited': ({ cashIn }) => creditedPayment(cashIn) !== null,
  'a payment was credited': ({ cashIn }) => cashIn.endToEndId !== null,
  'part of it went back, or may': ({ cashIn }) => isPartGone(cashIn),
  'its failure is known': ({ cashIn: { facts } }) => facts.failureCode !== undefined,
  'its time is over': ({ cashIn, nowMs }) => isOver(cashIn, nowMs),
}

/** Part of a payment is in suspense, was returned, or is being returned. */
function isPartGone(cashIn: CashIn): boolean {
  const { facts } = cashIn
  const [endToEndId, credited] = [creditedPayment(cashIn), paidCents(cashIn)]
  const isWhole = endToEndId !== null && facts.payments?.[endToEndId] === Number(credited)
  const isAnySuspended = Object.keys(facts.payments ?? {}).some((payment) => suspendedCents(cashIn, payment) > 0n)
  return !isWhole || isAnySuspended || refundableCents(cashIn) !== credited
}

function holdsFor(given: Given, guard: Guard): boolean {
  return GUARDS[guard]?.(given) ?? false
}

/** Money in suspense beside a credited payment does not keep the charge in doubt. */
function isDoubtKept(cashIn: CashIn, decided: string, isAccepting = creditedPayment(cashIn) !== null): boolean {
  const casting = cashIn.openCases?.filter(({ reference }) => !(isAccepting && suspendedCents(cashIn, reference) > 0n))
  return isKeptInDoubt(machine, { ...cashIn, openCases: casting ?? [] }, decided)
}

export const cashInDecider = deciderBy<CashIn, Guard>({
  machine,
  holds: (cashIn, openCase, guard, nowMs) => holdsFor({ cashIn, openCase, isKnown: false, nowMs }, guard),
  needsOf,
  maxCents: (cashIn, { reference }) => returnableArrival(cashIn, reference),
  readsFor: (cashIn, _, { evidence: { returnId }, operationId }) => ({
    reads: [cashIn.id, ...(operationId === undefined ? [] : [operationId])],
    movements: returnId === undefined ? [] : [{ direction: 'out', id: returnId }],
  }),
  decide: (cashIn, openCase, order, state, nowMs) => {
    const decision = decideCase(cashIn, openCase, order, state, nowMs)
    return order.decision === 'book' && order.operationId !== undefined
      ? mergeDecisions(receivedBy(cashIn, openCase, order, state, nowMs), decision)
      : decision
  },
})

function needsOf(cashIn: CashIn, openCase: DecidableCase, decision: CaseDecision): readonly EvidenceField[] {
  if (decision === 'accept' || decision === 'return_to_payer') return ['amountCents']
  if (decision === 'book') return openCase.kind === 'return_unexplained' ? [] : ['operationId']
  const isProof = (decision === 'debit' || decision === 'write_off') && openCase.rule === UNNAMED
  return isProof && suspendedDeparture(cashIn, openCase.reference) > 0n ? ['returnId'] : []
}

/** The named return is already booked. The case's own id proves nothing either way. @source rules#cases.15 */
function isReturnKnown(
  cashIn: CashIn,
  { rule, reference }: DecidableCase,
  returnId: string | undefined,
  state: State,
): boolean {
  if (returnId === undefined || (rule === UNATTRIBUTED && returnId === reference)) return false
  return isKnownReturn(cashIn, returnId) || state.movement({ direction: 'out', id: returnId }) !== undefined
}

function decideCase(
  cashIn: CashIn,
  openCase: DecidableCase,
  order: DecisionInput,
  state: State,
  nowMs: number,
): Decision<CashIn> {
  const { returnId } = order.evidence
  const isAccepting = order.decision === 'accept' || undefined
  const given = { cashIn, openCase, isKnown: isReturnKnown(cashIn, openCase, returnId, state), isAccepting, nowMs }
  const [arrived, left] = [suspendedArrival(cashIn, openCase.reference), suspendedDeparture(cashIn, openCase.reference)]
  const p = order.amountCents ?? (arrived > 0n ? arrived : left)
  const most = order.decision === 'return_to_payer' ? returnableArrival(cashIn, openCase.reference) : arrived
  if (arrived > 0n && p > most) throw exceedsSuspense(most)
  const { s, l } = sharesOfReturn(cashIn, openCase)
  const decision = orderedBy(
    machine,
    cashIn,
    openCase,
    order,
    {
      holds: (guard) => holdsFor(given, guard),
      changes: (row) => changesOfDecision(cashIn, factsAfterDecision(cashIn, openCase, order, row, nowMs), row, nowMs),
      amounts: { p, s, l, f: min(cashIn.feeCents, p), d: min(state.balance('available'), p - s - l), h: 0n },
      reference: openCase.reference,
      notification: () =>
        cashInNotification(withAmount(cashIn, order), 'PAID', {
          endToEndId: openCase.reference,
          occurredAt: occurredAtOf(openCase.facts, nowMs),
        }),
      isLeftOpen:
        order.decision === 'return_to_payer' ||
        (order.decision === 'accept' && p < suspendedCents(cashIn, openCase.reference)),
    },
    nowMs,
  )
  return endedBy(machine, openCase, decision, (after) => ending(after, openCase, nowMs), nowMs)
}

function sharesOfReturn(cashIn: CashIn, { reference, facts: { endToEndId } }: DecidableCase) {
  return sharesOf(
    cashIn,
    suspendedDeparture(cashIn, reference),
    typeof endToEndId === 'string' ? endToEndId : undefined,
  )
}

function withAmount(cashIn: CashIn, { amountCents }: DecisionInput): CashIn {
  return amountCents === undefined
    ? cashIn
    : { ...cashIn, facts: { ...cashIn.facts, acceptedCents: Number(amountCents) } }
}

function ending(cashIn: CashIn, openCase: DecidableCase, nowMs: number) {
  return {
    holds: (guard: Guard) => holdsFor({ cashIn, openCase, isKnown: false, nowMs }, guard),
    changes: (row: Target<CashIn>) => changesByEnd(cashIn, row, nowMs),
    notification: () => cashInNotification(cashIn, 'FAILED', { occurredAt: nowMs }),
  }
}

/** Ends the doubt after cases closed because their suspense is empty. @source rules#cash-in.cases.15 */
export function endOfDoubt(cashIn: CashIn, closed: readonly string[], nowMs: number): Decision<CashIn> {
  const openCases = cashIn.openCases?.filter(({ id }) => !closed.includes(id)) ?? []
  const after = { ...cashIn, openCases }
  if (reasonOf(after) === null) return { outcome: after }
  const ended = { id: '', kind: '', reference: '', rule: '', facts: {} }
  const step = { on: 'doubt.decided', reference: '', outcome: (one: CashIn) => one } as const
  return follow(machine, after, { ...ending(after, ended, nowMs), ...step }, nowMs)
}

/** Stored as the evidence of the move. */
export interface ReversalOrder {
  readonly endToEndId: string
  readonly caseId: string
  readonly operator: string
  readonly reason: string
}

/**
 * Reverses a credit that the bank's statement lacks.
 * @throws case_changed (409) another payment is credited by now · not_possible_in_state (409) the credit is not whole
 * @source rules#cash-in.cases.16
 */
export function decideReversal(cashIn: CashIn, order: ReversalOrder, state: State, nowMs: number): Decision<CashIn> {
  const { endToEndId } = cashIn
  // Another payment was credited since.
  if (endToEndId !== null && endToEndId !== order.endToEndId) throw new Refusal('case_changed')
  const cents = paidCents(cashIn)
  const f = min(cashIn.feeCents, cents)
  const isPart = isPartGone(cashIn)
  const ended = {
    failureCode: 'reversed_by_operator',
    failureReason: null,
    reversed: { ...cashIn.facts.reversed, [endToEndId ?? '']: Number(cents) },
  }
  const decision: Decision<CashIn | undefined> = follow(
    machine,
    cashIn,
    {
      on: 'operator.reversed',
      holds: (guard) => guard === 'part of it went back, or may' && isPart,
      changes: (row) => changesOfDecision(cashIn, { facts: ended }, row, nowMs),
      amounts: { v: cents, f, d: min(state.balance('available'), cents - f) },
      reference: endToEndId ?? '',
      // A charge that failed before it was paid was notified as `FAILED` already.
      notification: () => ({
        ...cashInNotification(cashIn, 'FAILED', { occurredAt: nowMs }),
        reference: endToEndId ?? '',
      }),
      outcome: (after, isApplied) => (isApplied ? after : undefined),
    },
    nowMs,
  )
  if (!decision.outcome) {
    const message = isPart ? machine.guards['part of it went back, or may'] : 'No credit of it can be reversed now.'
    throw new Refusal('not_possible_in_state', {
      message,
      fields: [{ field: 'decision', code: 'not_possible', message }],
    })
  }
  const moves = decision.moves?.map((move) => ({ ...move, evidence: { ...order } })) ?? []
  return { ...decision, outcome: decision.outcome, moves, exact: ['available', 'receivable'] }
}

/** Pays the other charge from this charge's suspense. @source rules#cases.6 */
function receivedBy(
  source: CashIn,
  openCase: DecidableCase,
  order: DecisionInput,
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
      notification: () =>
        cashInNotification(target, 'PAID', {
          endToEndId: received.endToEndId,
          occurredAt: occurredAtOf(received.facts, nowMs),
        }),
      outcome: (after, isApplied) => (isApplied ? after : undefined),
    },
    nowMs,
  )
  if (!decision.outcome) throw notDecidable(order, openCase)
  const evidence = { ...evidenceOfOrder(order), from: source.id }
  return { ...decision, moves: decision.moves?.map((move) => ({ ...move, evidence })) ?? [] }
}

function changesByEnd(cashIn: CashIn, row: Target<CashIn>, nowMs: number): Changes {
  const isNewFailure = row.to === 'FAILED' && cashIn.facts.failureCode === undefined
  const failureCode = hasGoneBack(cashIn) ? 'returned_to_payer' : 'decided_by_operator'
  const failure = isNewFailure ? { failureCode, failureReason: null } : {}
  const expiry = row.to === 'EXPIRED' ? { expiredAt: nowMs } : {}
  return changesOfDecision(cashIn, { facts: { ...failure, ...expiry, unknownSince: null } }, row, nowMs)
}

/** Facts of the charge that receives an attributed payment. */
function changesByReceipt(
  cashIn: CashIn,
  { endToEndId, cents, from, facts }: Received,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const payments = { ...cashIn.facts.payments, [endToEndId]: Number(cents) }
  const paid = { payments, receivedFrom: from, ...paidFacts(facts, nowMs) }
  return changesOfDecision(cashIn, { endToEndId, facts: paid }, row, nowMs)
}

function factsAfterDecision(
  cashIn: CashIn,
  openCase: DecidableCase,
  { evidence, decision, amountCents, newId }: DecisionInput,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const { reference, kind, facts: caseFacts } = openCase
  if (decision === 'return_to_payer') {
    return { facts: factsOfReturnOrder(cashIn, reference, newId, amountCents ?? 0n) }
  }
  switch (row.posts) {
    case 'suspense_credited': {
      const accepted = amountCents === cashIn.valueCents ? {} : { acceptedCents: Number(amountCents) }
      return { endToEndId: reference, facts: { ...paidFacts(caseFacts, nowMs), ...accepted } }
    }
    case 'arrival_handed_over':
    case 'arrival_written_off':
      return { facts: arrivalDecided(cashIn, reference) }
    case 'left_written_off':
      return { facts: departureDecided(cashIn, openCase, evidence.returnId, { isDebited: false }) }
    case 'return_debited': {
      const { s, l } = sharesOfReturn(cashIn, openCase)
      const borne = { ...(s > 0n && { suspendedCents: Number(s) }), ...(l > 0n && { gainCents: Number(l) }) }
      const facts = departureDecided(cashIn, openCase, evidence.returnId, { isDebited: true, ...borne })
      return { facts, ...(s > 0n && { closes: emptiedCaseIds(cashIn, { facts }, cashIn.endToEndId ?? '') }) }
    }
    default:
      return { facts: factsWithoutJournal(cashIn, { kind, reference }, decision, row, nowMs) }
  }
}

/** Facts after a decision that posts no journal. */
function factsWithoutJournal(
  cashIn: CashIn,
  { kind, reference }: Pick<DecidableCase, 'kind' | 'reference'>,
  decision: DecisionInput['decision'],
  row: Target<CashIn>,
  nowMs: number,
): CashInFacts {
  const known = own(cashIn.facts.returns, reference)
  if (decision === 'book' && known?.state === 'in_doubt') {
    const answered = [...known.answered, ...explanationsOf(cashIn, known)]
    return withReturn(cashIn, reference, { ...known, answered })
  }
  if (row.asks) return row.to === 'PENDING' ? { unknownSince: null } : {}
  if (kind === 'payment_unconfirmed') return reportedPaymentsFact({})
  return row.to === 'EXPIRED' ? { expiredAt: nowMs, unknownSince: null } : {}
}

function paidFacts(facts: Document, nowMs: number): CashInFacts {
  return {
    paidAt: occurredAtOf(facts, nowMs),
    payerName: null,
    payerDocument: null,
    payerIspb: null,
    unknownSince: null,
  }
}

function arrivalDecided(cashIn: CashIn, reference: string): CashInFacts {
  const cents = Number(suspendedArrival(cashIn, reference))
  return { decidedPayments: { ...cashIn.facts.decidedPayments, [reference]: cents } }
}

/** Stores the id named by the operator as an alias of a return reported without one. */
function departureDecided(
  cashIn: CashIn,
  { reference, rule }: DecidableCase,
  returnId: string | undefined,
  decided: Pick<Extract<KnownReturn, { state: 'decided' }>, 'isDebited' | 'suspendedCents' | 'gainCents'>,
): CashInFacts {
  const cents = Number(suspendedDeparture(cashIn, reference))
  const isNewName = rule === UNNAMED && returnId !== undefined && !isKnownReturn(cashIn, returnId)
  return {
    returns: {
      ...cashIn.facts.returns,
      [reference]: { state: 'decided', cents, ...decided },
      ...(isNewName ? { [returnId]: { state: 'alias', cents } } : {}),
    },
  }
}
