import assert from 'node:assert/strict'
import type { JournalKind } from '@pixgate/spec'
import { type RefundOfHeld, refunded } from '../cases/unexplained.ts'
import {
  type CashIn,
  decideCashIn,
  isCashIn,
  ownReference,
  type RefundEvent,
  returnsAnswered,
} from '../cash-in/index.ts'
import { type Decision, mergeDecisions } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import { type Holder, paymentOf, type RefundIn, type RefundInInput, type Standing } from './refund-in.ts'

/**
 * Whatever changes what may still be refunded, or what a return may be, moves what has the payment too, so that two decisions
 * about it cannot both hold. Pure.
 */

/**
 * What a change of a refund means for what has its payment.
 * @param before the refund before it
 */
export function withHolder<Kind extends Holder>(
  before: RefundIn,
  decision: Decision<Standing<Kind>>,
  input: RefundInInput,
  now: number,
): Decision<Standing<Kind>> {
  const { journals: [journal] = [], outcome } = decision
  const event = journal && eventOf(journal.kind, outcome.refund, input)
  const exact = journal?.kind === 'left_after_release' ? { exact: ['available'] as const } : {}
  const counted = event ? counting({ ...decision, ...exact }, event, now) : decision
  const name = nameLearned(before, counted.outcome)
  return name === undefined ? counted : counting(counted, name, now)
}

/**
 * The bank was asked about a refund: what it told of no return says that those it was asked after are not this refund.
 * @source rules#cash-in.returns.3
 */
export function withAnswer<Kind extends Holder>(
  decision: Decision<Standing<Kind>>,
  input: RefundInInput,
  now: number,
): Decision<Standing<Kind>> {
  const { refund, holder } = decision.outcome
  const hasEnded = refund.status !== 'PENDING'
  if (input.on !== 'work.done' || input.isUnanswered || !isCashIn(holder) || !(hasEnded || refund.facts.isAccepted))
    return decision
  const returnIds = returnsAnswered(holder, refund.id, hasEnded, now)
  // One that had failed is listed only while it may be a return: listed any longer, money in suspense would stay on its way for ever.
  const isListed = hasEnded && own(holder.facts.openRefunds, refund.id) !== undefined
  return returnIds.length === 0 && !isListed
    ? decision
    : counting(decision, { on: 'refund.answered', refundId: refund.id, returnIds, hasEnded }, now)
}

/** A decision that what has the payment counts too. */
function counting<Kind extends Holder>(
  decision: Decision<Standing<Kind>>,
  event: RefundEvent,
  now: number,
): Decision<Standing<Kind>> {
  const { outcome: holder, ...counted } = holderDecision(decision.outcome.holder, event, now)
  return mergeDecisions(counted, { ...decision, outcome: { ...decision.outcome, holder } })
}

/** What a journal of a refund means for what may still be refunded. */
function eventOf(posted: JournalKind, refund: RefundIn, input: RefundInInput): RefundEvent | undefined {
  const { id, valueCents } = refund
  const of = { refundId: id, ...paymentOf(refund) }
  if (posted === 'refund_in_released') return { on: 'refund.released', ...of, valueCents }
  if (input.on !== 'partner.confirmed') return undefined
  const { returnId, valueCents: leftCents } = input.returned
  const on = posted === 'refund_in_confirmed' ? 'refund.confirmed' : 'refund.taken'
  return { on, ...of, returnId, valueCents: leftCents }
}

/** The bank's reference of a refund that a return may be, where it just became known. @source rules#cash-in.refunds.8 */
function nameLearned(before: RefundIn, { refund, holder }: Standing): RefundEvent | undefined {
  const { transactionId } = refund
  const isListed = refund.status === 'PENDING' || own(holder.facts.openRefunds, refund.id) !== undefined
  const isNew = before.transactionId === null && transactionId !== null && isListed
  if (!isNew || ownReference(transactionId, holder) === null) return undefined
  return { on: 'refund.named', refundId: refund.id, transactionId, valueCents: refund.valueCents, ...paymentOf(refund) }
}

/** What has the payment counts what becomes of its refunds. */
export function holderDecision<Kind extends Holder>(holder: Kind, event: RefundEvent, now: number): Decision<Kind> {
  const of: Holder = holder
  // Each gives back what it was given.
  if (isCashIn(of)) return cashInDecision(of, event, now) as Decision<Kind>
  return isOfHeld(event) ? (refunded(of, event, now) as Decision<Kind>) : { outcome: holder }
}

function isOfHeld(event: RefundEvent): event is RefundEvent & RefundOfHeld {
  return event.on === 'refund.confirmed' || event.on === 'refund.released' || event.on === 'refund.named'
}

/** A refund is never without a cash-in that counts it. */
export function cashInDecision(cashIn: CashIn, event: RefundEvent, now: number): Decision<CashIn> {
  const { outcome, ...decision } = decideCashIn(cashIn, event, now)
  assert.equal(outcome.result, 'APPLIED', `cash-in ${cashIn.id} does not take ${event.on}`)
  return { ...decision, outcome: outcome.cashIn }
}
