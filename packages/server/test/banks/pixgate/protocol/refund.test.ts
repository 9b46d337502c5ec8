import assert from 'node:assert/strict'
import test from 'node:test'
import { judgeRefund } from '../../../../src/banks/exchange.ts'
import { readRefund } from '../../../../src/banks/pixgate/protocol.ts'
import { CONFIRMED, ID, PROCESSING, REQUEST } from '../refunds.ts'

function judge(json: unknown) {
  return judgeRefund(ID, REQUEST, readRefund)({ kind: 'answered', httpStatus: 200, json })
}

test('[partner.3] a refund that is being made is accepted', () => {
  assert.deepEqual(judge(PROCESSING), {
    kind: 'ACCEPTED',
    refund: {
      id: ID,
      transactionId: 'bank-2',
      status: 'PROCESSING',
      valueCents: 5_000n,
      returnId: undefined,
      errorCode: undefined,
      errorMessage: undefined,
      occurredAt: undefined,
    },
  })
})

test('[partner.3] a confirmed refund is final and has its return id and instant', () => {
  const confirmed = judge(CONFIRMED)
  assert.equal(confirmed.kind, 'FINAL')
  assert.deepEqual(confirmed.kind === 'FINAL' && [confirmed.refund.returnId, confirmed.refund.occurredAt], [
    CONFIRMED.returnId,
    Date.parse(CONFIRMED.occurredAt),
  ])
})

test('[partner.3] a failed refund is final and reports why', () => {
  const failed = judge({ ...PROCESSING, status: 'FAILED', errorCode: 'AM04' })
  assert.equal(failed.kind === 'FINAL' && failed.refund.errorCode, 'AM04')
})

for (const [told, reason] of [
  [{ ...CONFIRMED, returnId: undefined }, 'CONFIRMED without a returnId'],
  [{ ...CONFIRMED, occurredAt: undefined }, 'CONFIRMED without an occurredAt'],
] as const) {
  test(`[partner.3] a refund ${reason} decides nothing`, () => {
    assert.deepEqual(judge(told), { kind: 'UNKNOWN', reason, httpStatus: 200 })
  })
}

for (const [echo, reason] of [
  [{ id: 'another' }, 'other id'],
  [{ valueCents: 4_999 }, 'other valueCents'],
] as const) {
  test(`[partner.3] a refund with ${reason} is contradicted, with the evidence`, () => {
    const contradicted = judge({ ...CONFIRMED, ...echo })
    assert.equal(contradicted.kind, 'CONTRADICTED')
    assert.equal(contradicted.kind === 'CONTRADICTED' && contradicted.reason, reason)
    assert.equal(contradicted.kind === 'CONTRADICTED' && contradicted.refund.returnId, CONFIRMED.returnId)
  })
}

for (const [name, fault] of [
  ['no amount', { valueCents: undefined }],
  ['a status of payouts', { status: 'RETURNED' }],
  ['a time without offset', { occurredAt: '2026-11-21T15:00:00' }],
] as const) {
  test(`[partner.3] a refund with ${name} does not parse: unknown`, () => {
    assert.deepEqual(judge({ ...CONFIRMED, ...fault }), { kind: 'UNKNOWN', reason: 'unreadable body', httpStatus: 200 })
  })
}
