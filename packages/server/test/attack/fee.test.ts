import assert from 'node:assert/strict'
import test from 'node:test'
import { cashInDecider } from '../../src/cash-in/desk.ts'
import { reasonFact } from '../../src/engine/reason.ts'
import { cashInAs, NOW } from '../cash-in/situations.ts'
import { done, ordered, seeing } from '../support/desk.ts'

/** F6: the fee that is told is not the fee that is booked, where less than the fee is accepted. */
test('ATTACK the notification tells the fee that was taken', () => {
  const { openCase, order } = ordered('accept', 'payment_in_suspense cash-in.states.8', 'E9', { amountCents: 50n })
  const charge = cashInAs('RECONCILIATION_REQUIRED', {
    facts: { ...reasonFact('conflict'), payments: { E9: 50 } },
    openCases: [openCase],
  })
  const decided = cashInDecider.decide(charge, openCase, order, seeing({ operations: [charge] }), NOW)
  const [notification] = decided.notifications ?? []
  const fee = decided.journals?.[0]?.amounts.f
  assert.ok(fee === 50n, done(decided).join('\n'))
  const body = JSON.parse(String((notification as unknown as { body: unknown }).body))
  assert.equal(body.fee_amount_cents ?? body.data?.fee_amount_cents, Number(fee), JSON.stringify(body))
})
