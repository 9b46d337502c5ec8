import assert from 'node:assert/strict'
import test from 'node:test'
import type { ChargeEvent, PayoutEvent, RefundEvent } from '../../src/banks/inbound.ts'
import {
  bankReturnOf,
  cashInInput,
  cashOutInput,
  dedupeKeyOf,
  movementOf,
  refundInInput,
  saysMoneyMoved,
} from '../../src/inbox/rules.ts'

const ABOUT = {
  references: { transactionId: 'tx', externalId: null, endToEndId: null },
  key: ['event', 'tx'],
  content: 'content',
  evidence: {},
}
const AT = Date.parse('2026-11-21T13:15:00.500Z')
const MOVED = { endToEndId: 'E1', valueCents: 1000n, occurredAt: AT }
const NOBODY = { name: undefined, document: undefined, ispb: undefined }
const RETURNED = { returned: { returnId: 'D1', valueCents: 1000n, occurredAt: AT }, endToEndId: 'E1', isUnnamed: false }
const FAILURE = { errorCode: 'gone', errorMessage: null, occurredAt: AT }

const charge = { ...ABOUT, subject: 'charge' } as const
const payout = { ...ABOUT, subject: 'payout' } as const
const refund = { ...ABOUT, subject: 'refund' } as const

const PAID: ChargeEvent = { ...charge, kind: 'payment_received', payment: { ...MOVED, payer: NOBODY } }
const SETTLED: PayoutEvent = {
  ...payout,
  kind: 'payout_settled',
  movement: { ...MOVED, feeCents: 5n, recipient: NOBODY },
}
const CAME_BACK = { ...payout, kind: 'payout_returned', ...RETURNED } as const satisfies PayoutEvent
const WENT_BACK = { ...refund, kind: 'payment_returned', ...RETURNED } as const satisfies RefundEvent

test('[partner-inbox.6] a movement is confirmed with the fields of its event', () => {
  const confirmed = { on: 'partner.confirmed', transactionId: 'tx' }
  assert.deepEqual(cashInInput(PAID, true), { ...confirmed, payment: { ...MOVED, payer: NOBODY } })
  for (const canAsk of [true, false]) {
    const isVerified = !canAsk
    assert.deepEqual(cashOutInput(SETTLED, canAsk), {
      ...confirmed,
      movement: { ...MOVED, feeCents: 5n, recipient: NOBODY },
      isVerified,
    })
    assert.deepEqual(refundInInput(WENT_BACK, canAsk), { ...confirmed, ...RETURNED, isVerified })
    assert.deepEqual(cashOutInput(CAME_BACK, canAsk), { on: 'partner.returned', ...RETURNED, isVerified })
  }
  assert.deepEqual(bankReturnOf(WENT_BACK), {
    ...RETURNED.returned,
    endToEndId: 'E1',
    isUnnamed: false,
    transactionId: 'tx',
    isVerified: false,
  })
})

test('[partner-inbox.6] a status of progress changes nothing, and an unknown status leads to a status query', () => {
  const progress = { kind: 'in_progress' } as const
  const unclear = { kind: 'changed', saysMoneyMoved: false } as const
  for (const canAsk of [true, false]) {
    assert.equal(cashInInput({ ...charge, ...progress }, canAsk), undefined)
    assert.equal(cashOutInput({ ...payout, ...progress }, canAsk), undefined)
    assert.equal(refundInInput({ ...refund, ...progress }, canAsk), undefined)
    const asked = { on: 'work.requested' }
    assert.deepEqual(cashInInput({ ...charge, ...unclear }, canAsk), asked)
    assert.deepEqual(cashOutInput({ ...payout, ...unclear }, canAsk), asked)
    assert.deepEqual(refundInInput({ ...refund, ...unclear }, canAsk), asked)
  }
})

test('[partner-inbox.9] [EV-37] money reported incompletely leads to a status query; at a bank without that query it is a case, or gets an id from its content', () => {
  const least = { kind: 'changed', saysMoneyMoved: true } as const
  for (const [canAsk, input] of [
    [true, { on: 'work.requested' }],
    [false, 'INCOMPLETE'],
  ] as const) {
    assert.deepEqual(cashInInput({ ...charge, ...least }, canAsk), input)
    assert.deepEqual(cashOutInput({ ...payout, ...least }, canAsk), input)
    assert.deepEqual(refundInInput({ ...refund, ...least }, canAsk), input)
  }
  assert.deepEqual(cashOutInput({ ...CAME_BACK, isUnnamed: true }, true), { on: 'work.requested' })
  assert.deepEqual(refundInInput({ ...WENT_BACK, isUnnamed: true }, true), { on: 'work.requested' })
  const unnamed = { isUnnamed: true, isVerified: true }
  assert.partialDeepStrictEqual(cashOutInput({ ...CAME_BACK, isUnnamed: true }, false), unnamed)
  assert.partialDeepStrictEqual(refundInInput({ ...WENT_BACK, isUnnamed: true }, false), unnamed)
})

test('[partner-inbox.12] money is recognised by the bank’s id alone', () => {
  const moved = { endToEndId: 'E1', valueCents: 1000n }
  assert.partialDeepStrictEqual(movementOf(PAID), { ...moved, returnId: null })
  assert.partialDeepStrictEqual(movementOf(SETTLED), { ...moved, returnId: null })
  for (const event of [CAME_BACK, WENT_BACK]) {
    assert.partialDeepStrictEqual(movementOf(event), { ...moved, returnId: 'D1' })
    assert.equal(movementOf({ ...event, isUnnamed: true }), undefined)
    assert.equal(saysMoneyMoved(event), true)
  }
  assert.equal(movementOf({ ...charge, kind: 'changed', saysMoneyMoved: true }), undefined)
  assert.equal(saysMoneyMoved({ ...charge, kind: 'changed', saysMoneyMoved: true }), true)
  assert.equal(saysMoneyMoved({ ...charge, kind: 'failed', failure: FAILURE }), false)
})

test('[partner-inbox.3] a key is a list whose items cannot run into each other', () => {
  const taken = { endpoint: 'route', isProven: true }
  const key = (...items: string[]) => dedupeKeyOf(taken, { ...PAID, key: items })
  assert.equal(key('a', 'b'), '["route","a","b"]')
  assert.notEqual(key('a","b', 'c'), key('a', 'b","c'))
})
