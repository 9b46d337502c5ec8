import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import type { CashInFacts } from '../../src/cash-in/cash-in.ts'
import { returnInDoubt, returnsDueAt } from '../../src/cash-in/returns.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { IN_DOUBT, NOW, wentBack } from '../cash-in/situations.ts'
import { cashInOf, confirmed, paidCashIn, REFUND_ID, refundAs, stateOf } from './situations.ts'

const IDENTITY = { id: REFUND_ID, bodyHash: sha256('D1') }

/** In doubt for 15 minutes, without a reference of its own. */
const ON_PAYMENT = { ...IN_DOUBT, transactionId: null, since: NOW - 900_000 }

for (const heldCents of [undefined, 30_00])
  test(`[RF-20] [cash-in.returns.5] a return that nothing explains any more is booked once, reported again before that was done${heldCents ? ' and held' : ''}`, () => {
    const D1 = { ...IN_DOUBT, since: NOW - 900_000, ...(heldCents === undefined ? {} : { heldCents }) }
    const facts: CashInFacts = { returns: { D1 }, openRefunds: {} }
    const returned = { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, transactionId: 'tx-b' }
    const { outcome, journals = [] } = decideReturn(paidCashIn(facts), returned, IDENTITY, stateOf(), NOW)
    assert.deepEqual(
      journals.map(({ kind }) => kind),
      [...(heldCents ? ['return_known'] : []), 'taken_by_bank'],
    )
    assert.ok(outcome.cashIn)
    assert.deepEqual(outcome.cashIn.facts.returns, wentBack({ D1: 30_00 }))
    assert.deepEqual(decideInDoubt(outcome.cashIn, new Map([['D1', IDENTITY]]), stateOf(), NOW).journals ?? [], [])
  })

for (const order of ['without its id, then with it', 'with its id, then without it'])
  test(`[RF-20] [refund-in.doubt.8] where the bank cannot be asked a refund’s return that is reported ${order} left once`, () => {
    const unnamed = { ...confirmed({ returnId: 'unnamed 1' }), isUnnamed: true }
    const told = order.startsWith('without') ? [unnamed, confirmed()] : [confirmed(), unnamed]
    const { journals = [], cases = [] } = decideRefundIn(refundAs('PENDING'), cashInOf('PENDING'), told, stateOf(), NOW)
    assert.equal(journals.length, 1)
    assert.ok(cases.some(({ kind }) => kind === 'bank_contradicts'))
  })

for (const heldCents of [undefined, 30_00])
  test(`[RF-20] [cash-in.refunds.12] a return in doubt that turns out to be of a payment in suspense is debited from there${heldCents ? ', held or not' : ''}`, () => {
    const D1 = { ...ON_PAYMENT, ...(heldCents === undefined ? {} : { heldCents }) }
    const cashIn = cashInOf('PENDING', { payments: { E1: 100_00, E2: 30_00 }, returns: { D1 } })
    const told = { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, transactionId: null, endToEndId: 'E2' }
    const { outcome, journals = [] } = decideReturn(cashIn, told, IDENTITY, stateOf(0n, cashIn), NOW)
    assert.deepEqual(
      journals.map(({ kind }) => kind),
      ['arrival_returned', ...(heldCents ? ['return_known'] : [])],
    )
    assert.deepEqual(outcome.cashIn?.facts.returns, { D1: { state: 'from_suspense', cents: 30_00, endToEndId: 'E2' } })
    assert.deepEqual(outcome.cashIn?.facts.openRefunds, cashIn.facts.openRefunds)
  })

test('[RF-20] [cash-in.returns.4] a return that was held on an event’s word, let go, and then told by the bank, is not held a second time', () => {
  const onEvent = { ...ON_PAYMENT, isUnverified: true, heldCents: 30_00, answered: [REFUND_ID] }
  const identities = new Map([['D1', IDENTITY]])
  const held = cashInOf('PENDING', { returns: { D1: onEvent } })
  const released = decideInDoubt(held, identities, stateOf(0n, held), NOW)
  assert.deepEqual(
    released.journals?.map(({ kind }) => kind),
    ['return_known'],
  )

  const returned = {
    returnId: 'D1',
    valueCents: 30_00n,
    occurredAt: NOW - 1_000,
    transactionId: null,
    isVerified: true,
  }
  const after = decideReturn(released.outcome, returned, IDENTITY, stateOf(0n, released.outcome), NOW).outcome.cashIn
  assert.ok(after && returnInDoubt(after, 'D1'), 'a refund may be it, and is asked about')
  const late = NOW + limits.unknownResultEscalationMs
  const again = decideInDoubt(after, identities, stateOf(0n, after), late)
  assert.deepEqual(again.journals ?? [], [])
  assert.deepEqual(
    again.cases?.map(({ kind }) => kind),
    ['return_unexplained'],
    'it is a case once more',
  )
  assert.equal(returnsDueAt(again.outcome, late), null)
})
