import assert from 'node:assert/strict'
import {
  type DecisionGuard,
  type GuardOf,
  type JournalKind,
  refundIn as machine,
  min,
  nanosecondText,
  Refusal,
  rowFor,
} from '@pixgate/spec'
import { type RefundOfHeld, refunded } from '../cases/unexplained.ts'
import {
  bookedReturn,
  type CashIn,
  decideCashIn,
  inDoubtOf,
  isCashIn,
  ownReference,
  type RefundEvent,
  returnsAnswered,
} from '../cash-in/index.ts'
import { draftNotification, follow, type NotificationDraft, reasonOf } from '../engine/follow.ts'
import { type Decision, type Document, mergeDecisions, type State } from '../engine/operation.ts'
import { isAtRest, isTriedLongEnough, isUnclaimedTooLong, isUnsent } from '../operations/attempts.ts'
import { countedBy } from '../operations/caps.ts'
import {
  acceptanceIn,
  decideInTurn,
  endsOverdue,
  evidenceOfOrder,
  isBookedElsewhere,
  orderGuardsBy,
  type Result,
  type WorkInput,
} from '../operations/orders.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import { isEnabled } from '../operations/store.ts'
import { own } from '../platform/own.ts'
import { changesOf, newReference, restingDueAt } from './facts.ts'
import {
  fundsOf,
  type Holder,
  inSuspenseOf,
  isImplausible,
  isOfAnotherPayment,
  isToPayer,
  leftCents,
  movementOf,
  paymentOf,
  type RefundIn,
  type RefundInInput,
  type ReturnConfirmed,
  type Standing,
} from './refund-in.ts'

/**
 * Decides inputs by the machine's table in the spec. This file computes guards, amounts and facts, and the effects on
 * the operation that has the payment. Pure.
 */

/** Applies inputs in order, in one commit. */
export function decideRefundIn(
  refund: RefundIn,
  holder: Holder,
  inputs: readonly RefundInInput[],
  state: State,
  nowMs: number,
): Decision<Standing> {
  const before: Standing = { result: 'IGNORED', refund, holder }
  return decideInTurn(before, inputs, (now, input) => decideOne(now.refund, now.holder, input, state, nowMs))
}

/**
 * Decides and audits an operator's refusal.
 * @throws not_possible_in_state (409) claimed for sending, ended, or at the bank
 * @source rules#refund-in.refusal.2, rules#refund-in.refusal.3
 */
export function decideRefusal(
  refund: RefundIn,
  holder: Holder,
  input: OperatorRefusal,
  state: State,
  nowMs: number,
): Decision<Standing> {
  const decision = decideOne(refund, holder, input, state, nowMs)
  if (decision.outcome.result !== 'APPLIED') {
    throw new Refusal('not_possible_in_state', { message: 'the refund was sent or has ended' })
  }
  const { approver, reason } = input
  const facts = { valueCents: Number(refund.valueCents), reason }
  return { ...decision, audits: [{ ...approver, action: 'refund_in.refused', subject: refund.id, facts }] }
}

/** @source rules#refund-in.states */
function decideOne(
  refund: RefundIn,
  holder: Holder,
  event: RefundInInput,
  state: State,
  nowMs: number,
): Decision<Standing> {
  const input = recognise(refund, holder, event, nowMs)
  if (typeof input === 'string') return withAnswer({ outcome: { result: input, refund, holder } }, event, nowMs)
  const isEnabledNow = input.on === 'send.claimed' && isEnabled(state)
  const isAnothers =
    input.on === 'partner.confirmed' && isBookedElsewhere(refund, state.movement(movementOf(input.returned)))
  const movedCents = input.on === 'partner.confirmed' ? input.returned.valueCents : 0n
  const heldCents = isToPayer(refund) ? 0n : min(state.balance('available'), min(movedCents, refund.valueCents))
  const decision: Decision<Standing> = follow(
    machine,
    refund,
    {
      on: input.on,
      holds: (guard) => holdsFor({ refund, holder, input, nowMs, isEnabled: isEnabledNow, isAnothers }, guard),
      changes: (row) => changesOf(refund, holder, input, row, nowMs, heldCents),
      amounts: { ...fundsOf(refund), v: movedCents, p: movedCents, h: heldCents },
      reference: input.on === 'partner.confirmed' ? input.returned.returnId : '',
      ...(isCashIn(holder) && {
        notification: (to: RefundIn['status']) => refundEndNotification(refund, holder, input, to, nowMs),
      }),
      evidence: evidenceOf(input),
      outcome: (after, isApplied): Standing => ({
        result: isApplied ? applied(refund, input) : unmatched(refund, input),
        refund: after,
        holder,
      }),
    },
    nowMs,
  )
  const counted = { ...decision, allowances: countedBy(refund, decision, leftCents(refund.facts), nowMs) }
  const isOutcome = refund.status === 'PENDING' && decision.outcome.refund.status !== 'PENDING'
  return withAnswer(withHolder(refund, endsOverdue(refund, isOutcome, counted), input, nowMs), event, nowMs)
}

/** A confirmation reported for another payment only triggers a query. */
function applied(refund: RefundIn, input: RefundInInput): Result {
  return isOfAnotherPayment(refund, input) ? 'DISPUTED' : 'APPLIED'
}

/** A failure before sending cannot be true. @source rules#refund-in.doubt.2 */
function unmatched(refund: RefundIn, { on }: RefundInInput): Result {
  const isUnsent = refund.status === 'PENDING' && !refund.facts.attempts && reasonOf(refund) === null
  return on === 'partner.failed' && isUnsent ? 'UNEXPECTED' : 'IGNORED'
}

/** Filters inputs before the table: known facts are ignored, timestamps in the future are implausible. */
function recognise(
  refund: RefundIn,
  holder: Holder,
  input: RefundInInput,
  nowMs: number,
): RefundInInput | 'IGNORED' | 'IMPLAUSIBLE' {
  switch (input.on) {
    case 'partner.confirmed':
      if (isImplausible(input.returned, nowMs)) return 'IMPLAUSIBLE'
      if (!isReturnKnown(refund, holder, input)) return input
      return isDecided(refund, input) && isAwaited(refund) ? acceptanceIn(input, refund.facts) : 'IGNORED'
    case 'send.accepted':
      return isAcceptanceKnown(refund, holder, input.transactionId) ? 'IGNORED' : input
    case 'work.requested':
      if (input.isShown === false && !refund.facts.isShown) return 'IGNORED'
      // After the end, a debit on the statement is already booked, or of the bank's own making.
      return input.isShown && refund.status !== 'PENDING' ? { on: 'work.requested' } : input
    case 'work.done':
      return isAtRest(refund, restingDueAt(refund, nowMs), nowMs) ? 'IGNORED' : input
    default:
      return input
  }
}

function isAcceptanceKnown({ transactionId, facts }: RefundIn, holder: Holder, reported: string): boolean {
  return facts.isAccepted === true && facts.unknownSince == null && transactionId === ownReference(reported, holder)
}

/** Awaits its outcome without a case. */
function isAwaited(refund: RefundIn): boolean {
  return refund.status === 'PENDING' && reasonOf(refund) === null
}

/** The return was decided by an operator, or is booked elsewhere. */
function isDecided({ facts }: RefundIn, { returned }: ReturnConfirmed): boolean {
  const { decidedReturns, elsewhere } = facts
  return (own(decidedReturns, returned.returnId) ?? own(elsewhere, returned.returnId)) !== undefined
}

function isReturnKnown(refund: RefundIn, holder: Holder, { returned }: ReturnConfirmed): boolean {
  const { returnId, valueCents } = returned
  if (own(refund.facts.elsewhere, returnId) === Number(valueCents)) return true
  const booked = own(refund.facts.returns, returnId)
  if (booked !== undefined && (BigInt(booked) === valueCents || refund.status !== 'CONFIRMED')) return true
  const isInCase = reasonOf(refund) === 'conflict' && bookedReturn(holder, returnId) !== undefined
  return isInCase && (refund.status !== 'CONFIRMED' || booked === undefined)
}

export interface Given {
  readonly refund: RefundIn
  /** The operation that has its payment; a placeholder in {@link rowsForWork}. */
  readonly holder: Holder
  readonly input: RefundInInput
  readonly nowMs: number
  readonly isEnabled: boolean
  readonly isAnothers: boolean
}

/** Without the guards that only operator decisions use. */
type Guard = Exclude<
  GuardOf<typeof machine>,
  DecisionGuard | 'money of it is in suspense' | 'an attempt may still arrive'
>

/** @source rules#refund-in.states */
const GUARDS: Readonly<Record<Guard, (given: Given) => boolean>> = {
  ...orderGuardsBy(({ refund, input, nowMs }: Given) => ({ order: refund, input, nowMs })),
  'payouts and refunds are enabled': ({ isEnabled }) => isEnabled,
  'the bank made it by itself': ({ refund: { detail } }) => detail.origin === 'PARTNER',
  'its payment may be back already': ({ refund, holder }) => {
    const { payment } = paymentOf(refund)
    if (payment === undefined) return false
    const { left, returning } = inSuspenseOf(holder, payment)
    return left - (isCashIn(holder) ? inDoubtOf(holder, payment) : 0n) < returning
  },
  'its payment is not in suspense any more': ({ refund, holder }) => {
    const { payment } = paymentOf(refund)
    if (payment === undefined) return false
    const { left, returning } = inSuspenseOf(holder, payment)
    return left < returning
  },
  'it was never claimed': ({ refund }) => isNeverClaimed(refund),
  'the time to send it is over': ({ refund, nowMs }) =>
    isUnclaimedTooLong(refund, nowMs) || isTriedLongEnough(refund.facts, nowMs),
  'nothing of it left': ({ refund }) => isNeverClaimed(refund) || isUnsent(refund.facts),
  // Another return of the same payment is booked, or in suspense, on that payment's operation.
  'movement belongs to another operation': ({ holder, input, isAnothers }) =>
    input.on === 'partner.confirmed' && isAnothers && bookedReturn(holder, input.returned.returnId) === undefined,
  'another payment went back': ({ refund, input }) => isOfAnotherPayment(refund, input),
  'amount differs': ({ refund: { valueCents }, input }) =>
    input.on === 'partner.confirmed' && input.returned.valueCents !== valueCents,
  'return has no id': ({ input }) => input.on === 'partner.confirmed' && input.isUnnamed === true,
  'return was booked before': ({ refund, holder, input }) =>
    input.on === 'partner.confirmed' &&
    (bookedReturn(holder, input.returned.returnId) !== undefined || isReportedWithoutId(refund, input)),
  'return restated': ({ refund: { facts }, input }) =>
    input.on === 'partner.confirmed' && own(facts.returns, input.returned.returnId) !== undefined,
  'reference differs': ({ refund: { transactionId }, holder, input }) => {
    const reported = input.on === 'send.accepted' ? ownReference(input.transactionId, holder) : null
    return transactionId !== null && reported !== null && reported !== transactionId
  },
  'money is held again': ({ refund: { facts } }) => facts.heldAgainCents !== undefined,
}

function holdsFor(given: Given, guard: GuardOf<typeof machine>): boolean {
  return guard in GUARDS && GUARDS[guard as Guard](given)
}

function isNeverClaimed({ facts }: RefundIn): boolean {
  return (facts.attempts ?? 0) === 0
}

/**
 * A return without an id may equal a booked one, and one with an id may equal one booked without.
 * @source rules#refund-in.doubt.8
 */
function isReportedWithoutId({ facts }: RefundIn, { returned, isUnnamed }: ReturnConfirmed): boolean {
  const { returns = {}, unnamedReturnId } = facts
  const booked = isUnnamed ? Object.values(returns) : [own(returns, unnamedReturnId ?? '')]
  return booked.includes(Number(returned.valueCents))
}

const NO_HOLDER = {
  kind: 'cash_in',
  facts: {},
  transactionId: null,
  endToEndId: null,
  valueCents: 0n,
} as unknown as Holder

/** Evaluates the table for a worker, as if refunds were enabled and work were due. */
export function rowsForWork(refund: RefundIn, nowMs: number): (input: WorkInput) => boolean {
  const due = { ...refund, dueAt: nowMs }
  const standing = { status: refund.status, reason: reasonOf(refund) }
  return (input) => {
    const given = { refund: due, holder: NO_HOLDER, input, nowMs, isEnabled: true, isAnothers: false }
    return rowFor(machine, standing, input.on, (guard) => holdsFor(given, guard)) !== undefined
  }
}

/**
 * Every change of the refundable amount, or of a return's explanations, also moves the operation that has the payment,
 * so that concurrent decisions about it conflict. Pure.
 */

/**
 * Applies a refund's change to the operation that has its payment.
 * @param before the refund before the change
 */
function withHolder(
  before: RefundIn,
  decision: Decision<Standing>,
  input: RefundInInput,
  now: number,
): Decision<Standing> {
  const { journals: [journal] = [], outcome } = decision
  const event = journal && eventOf(journal.kind, outcome.refund, input)
  const exact = journal?.kind === 'left_after_release' ? { exact: ['available'] as const } : {}
  const counted = event ? counting({ ...decision, ...exact }, event, now) : decision
  const name = newReferenceEvent(before, counted.outcome)
  return name === undefined ? counted : counting(counted, name, now)
}

/**
 * The bank's answer about a refund excludes it as explanation of returns that the answer does not mention.
 * @source rules#cash-in.returns.3
 */
function withAnswer(decision: Decision<Standing>, input: RefundInInput, now: number): Decision<Standing> {
  const { refund, holder } = decision.outcome
  const hasEnded = refund.status !== 'PENDING'
  if (input.on !== 'work.done' || input.isUnanswered || !isCashIn(holder) || !(hasEnded || refund.facts.isAccepted))
    return decision
  const returnIds = returnsAnswered(holder, refund.id, hasEnded, now)
  // A failed refund stays listed only while it may explain a return; otherwise money in suspense would count as in
  // flight for ever.
  const isListed = hasEnded && own(holder.facts.openRefunds, refund.id) !== undefined
  return returnIds.length === 0 && !isListed
    ? decision
    : counting(decision, { on: 'refund.answered', refundId: refund.id, returnIds, hasEnded }, now)
}

function counting(decision: Decision<Standing>, event: RefundEvent, now: number): Decision<Standing> {
  const { outcome: holder, ...counted } = holderDecision(decision.outcome.holder, event, now)
  return mergeDecisions(counted, { ...decision, outcome: { ...decision.outcome, holder } })
}

function eventOf(posted: JournalKind, refund: RefundIn, input: RefundInInput): RefundEvent | undefined {
  const { id, valueCents } = refund
  const of = { refundId: id, ...paymentOf(refund) }
  if (posted === 'refund_in_released') return { on: 'refund.released', ...of, valueCents }
  if (input.on !== 'partner.confirmed') return undefined
  const { returnId, valueCents: leftCents } = input.returned
  const on = posted === 'refund_in_confirmed' ? 'refund.confirmed' : 'refund.taken'
  return { on, ...of, returnId, valueCents: leftCents }
}

/** The refund's reference just became known, and returns may carry it. @source rules#cash-in.refunds.8 */
function newReferenceEvent(before: RefundIn, { refund, holder }: Standing): RefundEvent | undefined {
  const { transactionId } = refund
  const isListed = refund.status === 'PENDING' || own(holder.facts.openRefunds, refund.id) !== undefined
  const isNew = before.transactionId === null && transactionId !== null && isListed
  if (!isNew || ownReference(transactionId, holder) === null) return undefined
  return { on: 'refund.named', refundId: refund.id, transactionId, valueCents: refund.valueCents, ...paymentOf(refund) }
}

export function holderDecision(holder: Holder, event: RefundEvent, now: number): Decision<Holder> {
  if (isCashIn(holder)) return cashInDecision(holder, event, now)
  return isOfHeld(event) ? refunded(holder, event, now) : { outcome: holder }
}

function isOfHeld(event: RefundEvent): event is RefundEvent & RefundOfHeld {
  return event.on === 'refund.confirmed' || event.on === 'refund.released' || event.on === 'refund.named'
}

/** @throws if the cash-in ignores the event: every refund must be counted */
export function cashInDecision(cashIn: CashIn, event: RefundEvent, now: number): Decision<CashIn> {
  const { outcome, ...decision } = decideCashIn(cashIn, event, now)
  assert.equal(outcome.result, 'APPLIED', `${event.on} was not applied to cash-in ${cashIn.id}`)
  return { ...decision, outcome: outcome.cashIn }
}

/**
 * Notification for the merchant at the end of a refund. `id` is the cash-in's; `transaction_id` identifies the return,
 * so receivers can distinguish refunds of one payment.
 * @source rules#refund-in.told.1
 */
export function refundNotification(
  refund: RefundIn,
  transactionId: string | null,
  occurredAt: number,
  to: RefundIn['status'],
): NotificationDraft {
  return draftNotification('pix_cash_in_reversal', {
    id: refund.detail.cashInId ?? '',
    correlation_id: refund.correlationId,
    external_id: refund.externalId,
    transaction_id: transactionId ?? refund.id,
    status: to === 'CONFIRMED' ? 'CONFIRMED' : 'FAILED',
    value_cents: Number(refund.valueCents),
    end_to_end_id: refund.endToEndId,
    fee_amount_cents: 0,
    confirmed_at: nanosecondText(occurredAt),
    created_at: nanosecondText(refund.createdAt),
  })
}

/** Falls back to the time of the input if the bank gave none. @source rules#events.5 */
function refundEndNotification(
  refund: RefundIn,
  cashIn: CashIn,
  input: RefundInInput,
  to: RefundIn['status'],
  nowMs: number,
): NotificationDraft {
  const { transactionId = refund.transactionId } = newReference(refund, cashIn, input)
  const confirmedAt = input.on === 'partner.confirmed' ? input.returned.occurredAt : null
  const occurredAt = input.on === 'partner.failed' ? input.occurredAt : confirmedAt
  return refundNotification(refund, transactionId, occurredAt ?? nowMs, to)
}

function evidenceOf(input: RefundInInput): Document {
  if (input.on === 'operator.refused' || input.on === 'send.postponed') return {}
  if (input.on !== 'partner.confirmed') return evidenceOfOrder(input)
  const { returnId, valueCents, occurredAt } = input.returned
  return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
}
