import { min } from '@pixgate/spec'
import {
  bookedReturn,
  type CashIn,
  countedReturn,
  decideCashIn,
  decidedPaymentOf,
  explanationsOf,
  isCashIn,
  isKnownReturn,
  isToBeVerified,
  namedRefund,
  type OpenRefund,
  ownReference,
  type ReturnInDoubt,
  reportedPayments,
  returnedPayment,
  returnInDoubt,
  returnStep,
  returnsInDoubt,
} from '../cash-in/index.ts'
import { notificationOf } from '../engine/follow.ts'
import { type Create, created, type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import { entriesOf } from '../engine/postings.ts'
import type { Result } from '../operations/orders.ts'
import { ownOrderId } from '../platform/ids.ts'
import { own } from '../platform/own.ts'
import { operationOf } from './commands.ts'
import { type BankReturn, isImplausible, isRefundIn, movementOf, paymentOf, type RefundIn } from './refund-in.ts'
import { cashInDecision, decideRefundIn, refundNotification } from './rules.ts'

/**
 * Returns of a payment that name no refund of ours: one of ours all the same, or the bank's own. Pure.
 * @source rules#cash-in.returns
 */

/** Identity of the refund created for a return of the bank's own. */
export interface ReturnIdentity {
  readonly id: string
  readonly bodyHash: Buffer
}

export interface ReturnOutcome {
  readonly result: Result
  readonly cashIn: CashIn | undefined
}

/**
 * Applies a return that names no refund of ours. While a refund may explain it, nothing is booked and the refund is
 * queried at once; otherwise it is the bank's own.
 * @param found candidates from the store, as the cash-in does not list failed refunds
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
  const event = {
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
  if (isToBeVerified(cashIn, event)) return { outcome: { result: 'EARLY', cashIn } }
  const { outcome, ...counted } = decideCashIn(cashIn, event, now)
  const { cashIn: after, result } = outcome
  if (countedReturn(cashIn, returnId) === undefined && countedReturn(after, returnId) !== undefined) {
    return mergeDecisions(counted, applied(decideBooking(after, returned, identity, stateAfter(state, counted), now)))
  }
  const inDoubt = returnInDoubt(after, returnId)
  const isNew = returnInDoubt(cashIn, returnId) === undefined
  const asked = inDoubt && isNew ? asking(after, inDoubt, state, now) : {}
  // A return reported by an event waits for the bank's answer.
  const isWaiting = event.isUnverified && inDoubt !== undefined
  return mergeDecisions(counted, { ...asked, outcome: { result: isWaiting ? 'EARLY' : result, cashIn: after } })
}

/**
 * The charge that the return belongs to. An attributed payment belongs to the charge that received it, which can be
 * refunded.
 * @param holders charges that may have the payment, from the store
 * @source rules#cash-in.refunds.9, rules#cases.6
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
 * A return that names no payment may belong to an unconfirmed one, and waits for its verification.
 * @source rules#cash-in.refunds.9
 */
function mayBeOfReportedPayment(cashIn: CashIn, { returnId, endToEndId = null }: BankReturn): boolean {
  const isNew = !isKnownReturn(cashIn, returnId)
  return endToEndId === null && isNew && Object.keys(reportedPayments(cashIn.facts)).length > 0
}

function isBookedElsewhere(cashIn: CashIn, returned: Pick<BankReturn, 'returnId'>, state: State): boolean {
  return bookedReturn(cashIn, returned.returnId) === undefined && state.movement(movementOf(returned)) !== undefined
}

function applied(decision: Decision<CashIn>): Decision<ReturnOutcome> {
  return { ...decision, outcome: { result: 'APPLIED', cashIn: decision.outcome } }
}

/** Candidate refunds missing from the cash-in's facts. @source rules#cash-in.returns.8 */
function unlistedIn(state: State, { id, facts }: CashIn, refundIds: readonly string[]): Record<string, OpenRefund> {
  const refunds = refundIds.map((refundId) => state.operation(refundId)).filter(isRefundIn)
  const unlisted = refunds.filter(
    (refund) =>
      refund.status !== 'CONFIRMED' && refund.detail.cashInId === id && own(facts.openRefunds, refund.id) === undefined,
  )
  return Object.fromEntries(
    unlisted.map((refund) => [
      refund.id,
      {
        valueCents: Number(refund.valueCents),
        transactionId: refund.transactionId,
        ...paymentOf(refund),
        ...(refund.status === 'FAILED' ? { hasFailed: true } : {}),
      },
    ]),
  )
}

/** Requests a status query for every refund that may explain the return. @source rules#cash-in.returns.1 */
function asking(cashIn: CashIn, inDoubt: ReturnInDoubt, state: State, now: number): Omit<Decision<unknown>, 'outcome'> {
  let decision: Omit<Decision<unknown>, 'outcome'> = {}
  for (const id of explanationsOf(cashIn, inDoubt)) {
    const refund = state.operation(id)
    if (!isRefundIn(refund)) continue
    const { outcome: _, ...asked } = decideRefundIn(refund, cashIn, [{ on: 'work.requested' }], state, now)
    decision = mergeDecisions(decision, { ...asked, outcome: undefined })
  }
  return decision
}

/**
 * Performs the due steps of a cash-in's returns in doubt.
 * @param identities by return id, for returns of the bank's own; a return without one waits
 * @source rules#cash-in.returns.2, rules#cash-in.returns.4
 */
export function decideInDoubt(
  cashIn: CashIn,
  identities: ReadonlyMap<string, ReturnIdentity>,
  state: State,
  now: number,
): Decision<CashIn> {
  let decision: Decision<CashIn> = { outcome: cashIn }
  for (const [returnId, inDoubt] of returnsInDoubt(cashIn)) {
    const identity = identities.get(returnId)
    if (!identity) continue
    const next = decideOne(decision.outcome, { returnId, ...inDoubt }, identity, stateAfter(state, decision), now)
    decision = mergeDecisions(decision, next)
  }
  return decision
}

type InDoubt = ReturnInDoubt & { readonly returnId: string }

function decideOne(
  cashIn: CashIn,
  inDoubt: InDoubt,
  identity: ReturnIdentity,
  state: State,
  now: number,
): Decision<CashIn> {
  switch (returnStep(cashIn, inDoubt, now)) {
    case 'confirm':
      return decideOurs(cashIn, inDoubt, state, now)
    case 'book':
      return decideBanks(cashIn, inDoubt, identity, state, now)
    case 'hold':
      return decideHold(cashIn, inDoubt, state, now)
    case 'wait':
      return { outcome: cashIn }
  }
}

/** The return confirms the refund whose reference it carries. */
function decideOurs(cashIn: CashIn, inDoubt: InDoubt, state: State, now: number): Decision<CashIn> {
  const refund = state.operation(namedRefund(cashIn, inDoubt) ?? '')
  if (!isRefundIn(refund)) return { outcome: cashIn }
  const { transactionId } = inDoubt
  const confirmed = { on: 'partner.confirmed', returned: returnOf(inDoubt), transactionId, isVerified: false } as const
  const { outcome, ...decision } = decideRefundIn(refund, cashIn, [confirmed], state, now)
  return { ...decision, outcome: outcome.holder as CashIn }
}

/** No refund explains it: releases the hold, and books the bank's own return. */
function decideBanks(
  cashIn: CashIn,
  inDoubt: InDoubt,
  identity: ReturnIdentity,
  state: State,
  now: number,
): Decision<CashIn> {
  const { transactionId, occurredAt, returnId } = inDoubt
  // Reported by an event only: dropped. If it is true, the bank's answer or statement reports it again.
  if (inDoubt.isUnverified) return cashInDecision(cashIn, { on: 'return.known', returnId }, now)
  const returned: BankReturn = { ...returnOf(inDoubt), transactionId }
  const isAnothers = isBookedElsewhere(cashIn, returned, state)
  const event = {
    on: 'return.told',
    ...returned,
    occurredAt,
    at: now,
    isBookedElsewhere: isAnothers,
    alsoOpen: {},
    ...(inDoubt.payment === undefined ? {} : { endToEndId: inDoubt.payment }),
  } as const
  const counted = cashInDecision(cashIn, event, now)
  // Booked elsewhere, or taken from suspense: the merchant bears nothing.
  if (countedReturn(counted.outcome, returnId) === undefined) return counted
  return mergeDecisions(counted, decideBooking(counted.outcome, returned, identity, stateAfter(state, counted), now))
}

/** Timed out: books the return in suspense, and holds the available part. */
function decideHold(cashIn: CashIn, inDoubt: InDoubt, state: State, now: number): Decision<CashIn> {
  const refundIds = explanationsOf(cashIn, inDoubt)
  const isToPayer = refundIds.every((id) => own(cashIn.facts.openRefunds, id)?.payment !== undefined)
  const heldCents = isToPayer ? 0n : min(state.balance('available'), BigInt(inDoubt.cents))
  const unexplained = { on: 'return.unexplained', returnId: inDoubt.returnId, heldCents, refundIds } as const
  return { ...cashInDecision(cashIn, unexplained, now), exact: ['available'] }
}

function returnOf({ returnId, cents, occurredAt }: InDoubt) {
  return { returnId, valueCents: BigInt(cents), occurredAt }
}

/**
 * Books a return made by the bank itself as a confirmed refund. Debits the balance; the shortfall becomes a debt. Never
 * refused, even beyond the refundable amount.
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
  const confirmed = refundNotification(refund, refund.transactionId, occurredAt, 'CONFIRMED')
  const amounts = { r: valueCents, d: min(state.balance('available'), valueCents) }
  return {
    creates: [create],
    journals: [{ operationId: id, kind: 'taken_by_bank', reference: returnId, amounts }],
    notifications: [notificationOf(id, confirmed, refund.facts)],
    exact: ['available', 'receivable'],
    outcome: cashIn,
  }
}

/** The state with the journals of an earlier decision applied to its balances. */
function stateAfter(state: State, { journals = [] }: Pick<Decision<unknown>, 'journals'>): State {
  const entries = journals.flatMap(entriesOf)
  return {
    operation: (id) => state.operation(id),
    openCase: (id) => state.openCase(id),
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
