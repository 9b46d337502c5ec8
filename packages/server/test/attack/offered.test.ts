import assert from 'node:assert/strict'
import test from 'node:test'
import { refundInDecider } from '../../src/refund-in/desk.ts'
import { cashInAs, NOW } from '../cash-in/situations.ts'
import { refundAs } from '../refund-in/situations.ts'
import { done, ordered, seeing } from '../support/desk.ts'

/** F3: what may be decided is not offered: the options look at no charge, so nothing seems to be in suspense for the refund. */
test('ATTACK a decision that can be made is offered', () => {
  const charge = cashInAs('RECONCILIATION_REQUIRED', {
    facts: { payments: { E1: 150_00 }, returns: { D1: { state: 'at_refund', cents: 30_00 } } },
  })
  const refund = refundAs('FAILED', {
    detail: { cashInId: charge.id, reason: null, origin: 'OPERATOR', from: charge.id },
    facts: {
      attempts: 1,
      firstAttemptAt: NOW - 360_000,
      lastAttemptAt: NOW - 360_000,
      returns: { D1: 30_00 },
      heldAgainCents: 0,
      failureCode: 'x',
      failureReason: null,
    },
  })
  const { openCase, order } = ordered('executed', 'debit_in_suspense refund-in.ended.6', 'D1')
  const standing = { ...refund, openCases: [openCase] }
  const decided = refundInDecider.decide(standing, openCase, order, seeing({ operations: [standing, charge] }), NOW)
  assert.ok(
    done(decided).some((line) => line.startsWith('refund_left_in_suspense')),
    done(decided).join('\n'),
  )
  const option = refundInDecider.options(standing, openCase, NOW).find(({ decision }) => decision === 'executed')
  assert.equal(option?.isOffered, true, option?.because.join())
})
