import assert from 'node:assert/strict'
import type { JournalKind } from '@pixgate/spec'
import { type CashIn, decideCashIn, ownReference, type RefundEvent, returnsAnswered } from '../cash-in/index.ts'
import { type Decision, mergeDecisions } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import { paymentOf, type RefundIn, type RefundInInput, type Standing } from './refund-in.ts'

/**
 * Whatever changes what may still be refunded, or what a return may be, moves the cash-in too, so that two decisions about
 * it cannot both hold. Pure.
 */

/**
 * What a change of a refund means for its cash-in.
 * @param before the refund before it
 */
export function withCashIn(
  before: RefundIn,
  decision: Decision<Standing>,
  input: RefundInInput,
  now: number,
): Decision<Standing> {
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
export function withAnswer(decision: Decision<Standing>, input: RefundInInput, now: number): Decision<Standing> {
  const { refund, cashIn } = decision.outcome
  const hasEnded = refund.status !== 'PENDING'
  if (input.on !== 'work.done' || input.isUnanswered || !(hasEnded || refund.facts.isAccepted)) return decision
  const returnIds = returnsAnswered(cashIn, refund.id, hasEnded, now)
  // One that had failed is listed only while it may be a return: listed any longer, money in suspense would stay on its way for ever.
  const isListed = hasEnded && own(cashIn.facts.openRefunds, refund.id) !== undefined
  return returnIds.length === 0 && !isListed
    ? decision
    : counting(decision, { on: 'refund.answered', refundId: refund.id, returnIds, hasEnded }, now)
}

/** A decision that the cash-in counts too. */
function counting(decision: Decision<Standing>, event: RefundEvent, now: number): Decision<Standing> {
  const { outcome: cashIn, ...counted } = cashInDecision(decision.outcome.cashIn, event, now)
  return mergeDecisions(counted, { ...decision, outcome: { ...decision.outcome, cashIn } })
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
function nameLearned(before: RefundIn, { refund, cashIn }: Standing): RefundEvent | undefined {
  const { transactionId } = refund
  const isListed = refund.status === 'PENDING' || own(cashIn.facts.openRefunds, refund.id) !== undefined
  const isNew = before.transactionId === null && transactionId !== null && isListed
  if (!isNew || ownReference(transactionId, cashIn) === null) return undefined
  return { on: 'refund.named', refundId: refund.id, transactionId, valueCents: refund.valueCents, ...paymentOf(refund) }
}

/** A refund is never without a cash-in that counts it. */
export function cashInDecision(cashIn: CashIn, event: RefundEvent, now: number): Decision<CashIn> {
  const { outcome, ...decision } = decideCashIn(cashIn, event, now)
  assert.equal(outcome.result, 'APPLIED', `cash-in ${cashIn.id} does not take ${event.on}`)
  return { ...decision, outcome: outcome.cashIn }
}
