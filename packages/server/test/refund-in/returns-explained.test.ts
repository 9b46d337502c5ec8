import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import { type ReturnInDoubt, returnInDoubt, returnStep } from '../../src/cash-in/returns.ts'
import { decideCashIn } from '../../src/cash-in/rules.ts'
import { statusQueryFact } from '../../src/operations/attempts.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { IN_DOUBT, NOW } from '../cash-in/situations.ts'
import { withOpenCases } from '../support/open-cases.ts'
import { cashInOf, paidCashIn, REFUND_ID, refundAs, SENT, stateOf, TAKEN } from './situations.ts'

/** Which refunds explain a return, and what the bank's answers about them say of it. */

const SINCE_A_MINUTE: ReturnInDoubt = { ...IN_DOUBT, since: NOW - 60_000 }

const OPEN = { [REFUND_ID]: { valueCents: 30_00, transactionId: null } }

test('[RF-8] [cash-in.returns.8] a refund that was confirmed meanwhile, or that is of another payment, explains no return', () => {
  const another = refundAs('FAILED', { detail: { cashInId: REFUND_ID, reason: null, origin: 'MERCHANT' } })
  const returned = { returnId: 'D9', valueCents: 30_00n, occurredAt: NOW - 1_000, transactionId: 'tx-b' }
  for (const refund of [refundAs('CONFIRMED'), another]) {
    const state = stateOf(1_000_00n, refund)
    const identity = { id: REFUND_ID, bodyHash: sha256('D9') }
    const { outcome, creates } = decideReturn(paidCashIn(), returned, identity, state, NOW, [REFUND_ID])
    assert.deepEqual([outcome.cashIn?.facts.returns?.D9?.state, creates?.length], ['booked', 1], refund.status)
  }
})

test('[RF-12] [cash-in.returns.2] a refund of another amount that has the return’s reference is not confirmed by it', () => {
  const named = (valueCents: number) =>
    paidCashIn({ openRefunds: { ...OPEN, 'refund-2': { valueCents, transactionId: 'tx-b' } } })
  assert.equal(returnStep(named(30_00), SINCE_A_MINUTE, NOW), 'confirm')
  assert.equal(returnStep(named(29_99), SINCE_A_MINUTE, NOW), 'wait')
})

/** A refund that the bank has, and the cash-in with a return that it may be. */
function accepted(given: Partial<ReturnInDoubt> = {}) {
  const refund = refundAs('PENDING', { facts: { ...SENT, isAccepted: true, ...statusQueryFact('in_flight') } })
  const cashIn = cashInOf('PENDING', { openRefunds: OPEN, returns: { D1: { ...SINCE_A_MINUTE, ...given } } })
  return (input: { readonly on: 'work.done'; readonly isUnanswered?: boolean }) => {
    const { outcome, moves = [] } = decideRefundIn(refund, cashIn, [input], stateOf(), NOW)
    const moved = moves.filter(({ operationId }) => operationId === cashIn.id).map(({ trigger }) => trigger)
    return { moved, answered: returnInDoubt(outcome.holder, 'D1')?.answered }
  }
}

test('[RF-13] [cash-in.returns.3] a missing answer about a refund that the bank has proves nothing about a return', () => {
  const asked = accepted()
  assert.deepEqual(asked({ on: 'work.done', isUnanswered: true }), { moved: [], answered: [] })
  assert.deepEqual(asked({ on: 'work.done' }), { moved: ['refund.answered'], answered: [REFUND_ID] })
})

test('[cash-in.returns.3] an answer counts once, and only of returns that the refund may be', () => {
  const again = accepted({ answered: [REFUND_ID] })
  assert.deepEqual(again({ on: 'work.done' }), { moved: [], answered: [REFUND_ID] })
  const other = accepted({ cents: 29_99 })
  assert.deepEqual(other({ on: 'work.done' }), { moved: [], answered: [] })
})

test('[RF-15] [cash-in.returns.5] the case of held returns closes with the last of them', () => {
  const since = NOW - limits.unknownResultEscalationMs
  const held = { ...SINCE_A_MINUTE, since, heldCents: 10_00 }
  const charge = paidCashIn({ returns: { D1: held, D2: held, D3: { ...SINCE_A_MINUTE, since } } })
  const before = withOpenCases(charge, 'return_unexplained', 'payment_in_suspense')
  const known = (cashIn: CashIn, returnId: string) => {
    const { outcome, closes } = decideCashIn(cashIn, { on: 'return.known', returnId }, NOW)
    return { after: outcome.cashIn, closes }
  }
  const first = known(before, 'D1')
  assert.deepEqual(first.closes, [])
  assert.deepEqual(known(first.after, 'D3').closes, [], 'of this one nothing is held')
  assert.deepEqual(known(first.after, 'D2').closes, ['return_unexplained'])
})

test('[cash-in.refunds.11] [CO-47] a return that was booked on another operation while it was in doubt is a case, and not booked here', () => {
  const cashIn = paidCashIn({ openRefunds: {}, returns: { D1: SINCE_A_MINUTE } })
  const identities = new Map([['D1', { id: REFUND_ID, bodyHash: sha256('D1') }]])
  const { outcome, journals = [], cases = [], creates = [] } = decideInDoubt(cashIn, identities, TAKEN, NOW)
  assert.deepEqual([journals, creates], [[], []])
  assert.deepEqual(
    cases.map(({ kind }) => kind),
    ['movement_elsewhere'],
  )
  assert.deepEqual(outcome.facts.returns, { D1: { state: 'elsewhere', cents: 30_00 } })
})
