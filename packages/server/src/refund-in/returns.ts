import { min } from '@pixgate/spec'
import {
  type AwaitedReturn,
  bookedReturn,
  type CashIn,
  decideCashIn,
  decidedPaymentOf,
  explanationsOf,
  isCashIn,
  namedRefund,
  type OpenRefund,
  ownReference,
  type ReportedReturn,
  reportedPayments,
  returnedPayment,
  returnStep,
  unnamedLike,
} from '../cash-in/index.ts'
import { type Create, created, type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import { entriesOf } from '../engine/postings.ts'
import type { Result } from '../operations/inputs.ts'
import { ownOrderId } from '../platform/order-id.ts'
import { own } from '../platform/own.ts'
import { operationOf } from './create.ts'
import { refundNotification } from './notification.ts'
import { type BankReturn, isImplausible, isRefundIn, movementOf, type RefundIn } from './refund-in.ts'
import { decideRefundIn } from './rules.ts'
import { isToBeVerified } from './unverified-returns.ts'
import { cashInDecision } from './with-cash-in.ts'

/**
 * Money of a payment that went back without naming a refund of ours: it is one of ours all the same, or the bank's own.
 * Pure.
 * @source rules#cash-in.returns
 */

/** What a return of the bank's own gets that is not the bank's word. */
export interface ReturnIdentity {
  readonly id: string
  readonly bodyHash: Buffer
}

/** What became of a return, with the cash-in as it is then. */
export interface ReturnOutcome {
  readonly result: Result
  readonly cashIn: CashIn | undefined
}

/**
 * Decides a return that names no refund of ours. While one of ours may be it, nothing is booked and those are asked about
 * at once; else the bank made it by itself.
 * @param found refunds that it may be, as a store found them; the cash-in does not know those that failed
 * @source rules#cash-in.returns.1, rules#refund-in.returns.3, failure-modes#RF-12
 */
export function decideReturn(
  cashIn: CashIn,
  returned: BankReturn,
  identity: ReturnIdentity,
  state: State,
  now: number,
  found: readonly string[] = [],
): Decision<ReturnOutcome> {
  const { returnId, valueCents, occurredAt, transactionId, endToEndId = null, isUnnamed = false } = returned
  if (isImplausible(returned, now)) return { outcome: { result: 'IMPLAUSIBLE', cashIn } }
  if (returnedPayment(cashIn, endToEndId) === undefined) {
    return { outcome: { result: cashIn.facts.payments === undefined ? 'EARLY' : 'DISPUTED', cashIn } }
  }
  if (mayBeOfReportedPayment(cashIn, returned)) return { outcome: { result: 'EARLY', cashIn } }
  const told = {
    on: 'return.told',
    returnId,
    valueCents,
    occurredAt,
    transactionId,
    at: now,
    endToEndId,
    isUnnamed,
    isBookedElsewhere: isBookedElsewhere(cashIn, returned, state),
    alsoOpen: unlistedIn(state, cashIn, found),
    isUnverified: returned.isVerified === false,
  } as const
  if (isToBeVerified(cashIn, told)) return { outcome: { result: 'EARLY', cashIn } }
  const { outcome, ...counted } = decideCashIn(cashIn, told, now)
  const known = decideKnown(cashIn, outcome.cashIn, told, identity, now)
  const decision = mergeDecisions(counted, known)
  const after = known.outcome
  const isBooked = own(cashIn.facts.returns, returnId) === undefined && own(after.facts.returns, returnId)
  if (isBooked) {
    return mergeDecisions(decision, applied(decideBooking(after, returned, identity, stateAfter(state, known), now)))
  }
  const isNew = own(cashIn.facts.awaitedReturns, returnId) === undefined
  const awaited = isNew ? own(after.facts.awaitedReturns, returnId) : undefined
  const asked = awaited ? asking(after, awaited, state, now) : {}
  // Told by an event it waits for what the bank answers, whosever it is.
  const isWaiting = told.isUnverified && own(after.facts.awaitedReturns, returnId) !== undefined
  const result = isWaiting ? 'EARLY' : outcome.result
  return mergeDecisions(decision, { ...asked, outcome: { result, cashIn: after } })
}

/**
 * Whose return it is that the bank tells of a charge: of a payment that an operator attributed it is the other charge's, which has
 * the money and may be refunded.
 * @param holders charges that may have the payment, as a store found them
 * @source rules#cash-in.refunds.9, rules#desk.6
 */
export function subjectOf(
  cashIn: CashIn,
  returned: BankReturn,
  holders: readonly string[],
  state: Pick<State, 'operation'>,
): [cashIn: CashIn, returned: BankReturn] {
  const payment = decidedPaymentOf(cashIn, returned)
  if (payment === undefined) return [cashIn, returned]
  const having = holders
    .map((id) => state.operation(id))
    .filter(isCashIn)
    .filter(({ facts }) => own(facts.payments, payment) !== undefined)
  const holder = having.find(({ endToEndId }) => endToEndId === payment) ?? having[0]
  return holder ? [holder, { ...returned, endToEndId: payment }] : [cashIn, returned]
}

/**
 * Whether a return that names no payment may be of one that only an event told: whose it is shows when that is verified.
 * @source rules#cash-in.refunds.9
 */
function mayBeOfReportedPayment(cashIn: CashIn, { returnId, endToEndId = null }: BankReturn): boolean {
  const isKnown =
    bookedReturn(cashIn, returnId) !== undefined || own(cashIn.facts.awaitedReturns, returnId) !== undefined
  return endToEndId === null && !isKnown && Object.keys(reportedPayments(cashIn.facts)).length > 0
}

/**
 * What a return that is booked now settles: that it was awaited, where it was told again, and the suspense of one that was
 * told without its id.
 * @source rules#cash-in.returns.5, rules#cash-in.refunds.10
 */
function decideKnown(
  before: CashIn,
  after: CashIn,
  { returnId, valueCents, endToEndId = null, isUnnamed, isBookedElsewhere }: ReportedReturn,
  { id: refundId }: ReturnIdentity,
  now: number,
): Decision<CashIn> {
  if (bookedReturn(after, returnId) === undefined) return { outcome: after }
  const isAwaited = own(after.facts.awaitedReturns, returnId) !== undefined
  const known: Decision<CashIn> = isAwaited
    ? cashInDecision(after, { on: 'return.known', returnId, refundId }, now)
    : { outcome: after }
  const isNew = bookedReturn(before, returnId) === undefined && !isUnnamed && !isBookedElsewhere
  const unnamed = isNew ? unnamedLike(known.outcome, endToEndId, valueCents) : undefined
  if (unnamed === undefined) return known
  return mergeDecisions(known, cashInDecision(known.outcome, { on: 'return.known', returnId: unnamed, refundId }, now))
}

/** Whether a return that was not booked here was booked on another operation. */
function isBookedElsewhere(cashIn: CashIn, returned: Pick<BankReturn, 'returnId'>, state: State): boolean {
  return bookedReturn(cashIn, returned.returnId) === undefined && state.movement(movementOf(returned)) !== undefined
}

function applied(decision: Decision<CashIn>): Decision<ReturnOutcome> {
  return { ...decision, outcome: { result: 'APPLIED', cashIn: decision.outcome } }
}

/**
 * Refunds that a return may be although the cash-in does not list them.
 * @source rules#cash-in.returns.8
 */
function unlistedIn(state: State, { id, facts }: CashIn, refundIds: readonly string[]): Record<string, OpenRefund> {
  const refunds = refundIds.map((refundId) => state.operation(refundId)).filter(isRefundIn)
  const unlisted = refunds.filter(
    (refund) =>
      refund.status !== 'CONFIRMED' && refund.detail.cashInId === id && own(facts.openRefunds, refund.id) === undefined,
  )
  return Object.fromEntries(
    unlisted.map(({ id, valueCents, transactionId }) => [id, { valueCents: Number(valueCents), transactionId }]),
  )
}

/** Wants the bank asked at once about every refund that a return may be. @source rules#cash-in.returns.1 */
function asking(cashIn: CashIn, awaited: AwaitedReturn, state: State, now: number): Omit<Decision<unknown>, 'outcome'> {
  let decision: Omit<Decision<unknown>, 'outcome'> = {}
  for (const id of explanationsOf(cashIn, awaited)) {
    const refund = state.operation(id)
    if (!isRefundIn(refund)) continue
    const { outcome: _, ...asked } = decideRefundIn(refund, cashIn, [{ on: 'work.requested' }], state, now)
    decision = mergeDecisions(decision, { ...asked, outcome: undefined })
  }
  return decision
}

/**
 * Does what is due about the returns that a cash-in awaits.
 * @param identities by return id, what a return becomes known by that turns out to be the bank's own; one without waits
 * @source rules#cash-in.returns.2, rules#cash-in.returns.4
 */
export function decideAwaited(
  cashIn: CashIn,
  identities: ReadonlyMap<string, ReturnIdentity>,
  state: State,
  now: number,
): Decision<CashIn> {
  let decision: Decision<CashIn> = { outcome: cashIn }
  for (const [returnId, awaited] of Object.entries(cashIn.facts.awaitedReturns ?? {})) {
    const identity = identities.get(returnId)
    if (!identity) continue
    const next = decideOne(decision.outcome, { returnId, ...awaited }, identity, stateAfter(state, decision), now)
    decision = mergeDecisions(decision, next)
  }
  return decision
}

type Awaiting = AwaitedReturn & { readonly returnId: string }

function decideOne(
  cashIn: CashIn,
  awaited: Awaiting,
  identity: ReturnIdentity,
  state: State,
  now: number,
): Decision<CashIn> {
  switch (returnStep(cashIn, awaited, now)) {
    case 'confirm':
      return decideOurs(cashIn, awaited, state, now)
    case 'book':
      return decideBanks(cashIn, awaited, identity, state, now)
    case 'hold':
      return decideHold(cashIn, awaited, state, now)
    case 'wait':
      return { outcome: cashIn }
  }
}

/** The refund that the bank named since is what the return told of. */
function decideOurs(cashIn: CashIn, awaited: Awaiting, state: State, now: number): Decision<CashIn> {
  const refund = state.operation(namedRefund(cashIn, awaited) ?? '')
  if (!isRefundIn(refund)) return { outcome: cashIn }
  const { transactionId } = awaited
  const confirmed = { on: 'partner.confirmed', returned: returnOf(awaited), transactionId, isVerified: false } as const
  const { outcome, ...decision } = decideRefundIn(refund, cashIn, [confirmed], state, now)
  return { ...decision, outcome: outcome.cashIn }
}

/** Nothing of ours can be it: what was held is let go, and the bank's own return is booked. */
function decideBanks(
  cashIn: CashIn,
  awaited: Awaiting,
  identity: ReturnIdentity,
  state: State,
  now: number,
): Decision<CashIn> {
  const { transactionId, occurredAt, returnId } = awaited
  // Only an event told it: it is forgotten, and told anew by the bank's answer or statement if it is true.
  if (awaited.isUnverified) return cashInDecision(cashIn, { on: 'return.known', returnId, refundId: identity.id }, now)
  const returned: BankReturn = { ...returnOf(awaited), transactionId }
  const isAnothers = isBookedElsewhere(cashIn, returned, state)
  const told = {
    on: 'return.told',
    ...returned,
    occurredAt,
    at: now,
    isBookedElsewhere: isAnothers,
    alsoOpen: {},
  } as const
  const counted = cashInDecision(cashIn, told, now)
  const ofCredited = { ...told, endToEndId: cashIn.endToEndId }
  const known = mergeDecisions(counted, decideKnown(cashIn, counted.outcome, ofCredited, identity, now))
  if (isAnothers) return known
  return mergeDecisions(known, decideBooking(known.outcome, returned, identity, stateAfter(state, known), now))
}

/** For too long nobody has said whose it is: what left is in suspense, and what is there of it is held. */
function decideHold(cashIn: CashIn, awaited: Awaiting, state: State, now: number): Decision<CashIn> {
  const heldCents = min(state.balance('available'), BigInt(awaited.valueCents))
  const refundIds = explanationsOf(cashIn, awaited)
  const unexplained = { on: 'return.unexplained', returnId: awaited.returnId, heldCents, refundIds } as const
  return { ...cashInDecision(cashIn, unexplained, now), exact: ['available'] }
}

function returnOf({ returnId, valueCents, occurredAt }: Awaiting) {
  return { returnId, valueCents: BigInt(valueCents), occurredAt }
}

/**
 * Books a return that the bank made by itself: a refund that is there and confirmed at once. It is debited as far as the
 * balance goes, the rest is owed; it is never refused for want of money or of anything left to refund.
 * @source rules#refund-in.returns.1, rules#refund-in.returns.2, failure-modes#EV-27
 */
function decideBooking(
  cashIn: CashIn,
  returned: BankReturn,
  { id, bodyHash }: ReturnIdentity,
  state: State,
  now: number,
): Decision<CashIn> {
  const { returnId, valueCents, occurredAt } = returned
  const create: Create<RefundIn> = {
    operation: {
      ...operationOf(cashIn),
      id,
      externalId: id,
      orderId: ownOrderId(id),
      status: 'CONFIRMED',
      valueCents,
      correlationId: cashIn.correlationId,
      bodyHash,
      idempotencyKey: null,
      dueAt: null,
      transactionId: ownReference(returned.transactionId, cashIn),
      detail: { cashInId: cashIn.id, reason: null, origin: 'PARTNER' },
      facts: { returns: { [returnId]: Number(valueCents) }, returnId, confirmedAt: occurredAt },
    },
  }
  const refund = created(create, now)
  const told = refundNotification(refund, refund.transactionId, occurredAt, 'CONFIRMED')
  const amounts = { r: valueCents, d: min(state.balance('available'), valueCents) }
  return {
    creates: [create],
    journals: [{ operationId: id, kind: 'taken_by_bank', reference: returnId, amounts }],
    notifications: [{ operationId: id, ...told }],
    exact: ['available', 'receivable'],
    outcome: cashIn,
  }
}

/** What decisions look at once what was decided already is done: balances, as operations are passed on. */
function stateAfter(state: State, { journals = [] }: Pick<Decision<unknown>, 'journals'>): State {
  const entries = journals.flatMap(entriesOf)
  return {
    operation: (id) => state.operation(id),
    control: (name) => state.control(name),
    versionOf: (name) => state.versionOf(name),
    movement: (movement) => state.movement(movement),
    used: (name) => state.used(name),
    usedSince: (name, since) => state.usedSince(name, since),
    recipient: (pixKey) => state.recipient(pixKey),
    repaidBy: (posted) => state.repaidBy([...journals, ...posted]),
    balance: (code) =>
      entries.reduce(
        (sum, { account, amountCents }) => (account === code ? sum + amountCents : sum),
        state.balance(code),
      ),
  }
}
