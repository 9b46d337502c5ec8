import assert from 'node:assert/strict'
import type { JournalKind } from '@pixgate/spec'
import { type Decision, together } from '../../engine/operation.ts'
import { type CashIn, decideCashIn, type RefundEvent } from '../cash-in/index.ts'
import type { RefundIn, RefundInInput, Standing } from './refund-in.ts'

/**
 * Whatever changes what may still be refunded moves the cash-in too, so that two decisions about it cannot both hold.
 * Pure.
 */

/** What a journal of a refund means for what may still be refunded. */
export function withCashIn(decision: Decision<Standing>, input: RefundInInput, now: number): Decision<Standing> {
  const { journals: [journal] = [], outcome } = decision
  const event = journal && eventOf(journal.kind, outcome.refund, input)
  if (!event) return decision
  const { outcome: cashIn, ...counted } = cashInDecision(outcome.cashIn, event, now)
  const exact = journal.kind === 'left_after_release' ? { exact: ['available'] as const } : {}
  return together(counted, { ...decision, ...exact, outcome: { ...outcome, cashIn } })
}

function eventOf(posted: JournalKind, { valueCents }: RefundIn, input: RefundInInput): RefundEvent | undefined {
  if (posted === 'refund_in_released') return { on: 'refund.released', valueCents }
  if (input.on !== 'partner.confirmed') return undefined
  const { returnId, valueCents: leftCents } = input.returned
  return { on: posted === 'refund_in_confirmed' ? 'refund.confirmed' : 'refund.taken', returnId, valueCents: leftCents }
}

/** A refund is never without a cash-in that counts it. */
export function cashInDecision(cashIn: CashIn, event: RefundEvent, now: number): Decision<CashIn> {
  const { outcome, ...decision } = decideCashIn(cashIn, event, now)
  assert.equal(outcome.result, 'APPLIED', `cash-in ${cashIn.id} does not take ${event.on}`)
  return { ...decision, outcome: outcome.cashIn }
}
