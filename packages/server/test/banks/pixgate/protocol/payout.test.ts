import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { judgePayout, payoutTerms } from '../../../../src/banks/exchange.ts'
import { readPayout } from '../../../../src/banks/pixgate/protocol.ts'
import type { PayoutTerms } from '../../../../src/banks/port.ts'
import { payout } from '../../../cash-out/bank-answers.ts'
import { CONFIRMED, ID, PROCESSING, QR_CODE_REQUEST, REQUEST, RETURN } from '../payouts.ts'

const TERMS: PayoutTerms = { valueCents: 15_000n, pixKey: '52998224725' }
/** The bank's echo of the order. */
const OURS = { id: ID, transactionId: 'bank-1', valueCents: 15_000n }
const RETURNED = { ...CONFIRMED, status: 'RETURNED', returns: [RETURN] }

function judge(json: unknown, terms = TERMS) {
  return judgePayout(ID, terms, readPayout)({ kind: 'answered', httpStatus: 200, json })
}

test('[partner.3] a payout that is being made is accepted', () => {
  assert.deepEqual(judge(PROCESSING), { kind: 'ACCEPTED', payout: payout('PROCESSING', OURS) })
})

test('[partner.3] a confirmed payout is final, in integer centavos and instants, with its recipient', () => {
  assert.deepEqual(judge(CONFIRMED), {
    kind: 'FINAL',
    payout: payout('CONFIRMED', {
      ...OURS,
      feeCents: 0n,
      endToEndId: CONFIRMED.endToEndId,
      recipient: { ...CONFIRMED.recipient, pixKey: undefined },
      occurredAt: Date.parse(CONFIRMED.occurredAt),
    }),
  })
})

test('[partner.3] a failed payout is final and reports why', () => {
  const failed = judge({ ...PROCESSING, status: 'FAILED', errorCode: 'AC03', errorMessage: 'no such account' })
  assert.equal(failed.kind, 'FINAL')
  assert.deepEqual(failed.kind === 'FINAL' && [failed.payout.errorCode, failed.payout.errorMessage], [
    'AC03',
    'no such account',
  ])
})

test('[partner.3] a returned payout is final and reports each return', () => {
  const returned = judge(RETURNED)
  assert.equal(returned.kind, 'FINAL')
  assert.deepEqual(returned.kind === 'FINAL' && returned.payout.returns, [
    { returnId: 'D1', valueCents: 5_000n, occurredAt: Date.parse(RETURN.occurredAt) },
  ])
})

test('[partner.3] [P7] a return is reported under any status word', () => {
  for (const told of [PROCESSING, CONFIRMED, { ...PROCESSING, status: 'FAILED' }]) {
    const answer = judge({ ...told, returns: [RETURN] })
    assert.equal('payout' in answer && answer.payout.returns.length, 1, told.status)
  }
})

for (const [told, reason] of [
  [{ ...CONFIRMED, endToEndId: undefined }, 'CONFIRMED without an endToEndId'],
  [{ ...CONFIRMED, occurredAt: undefined }, 'CONFIRMED without an occurredAt'],
  [{ ...RETURNED, endToEndId: undefined }, 'RETURNED without an endToEndId'],
  [{ ...RETURNED, occurredAt: undefined }, 'RETURNED without an occurredAt'],
  [{ ...RETURNED, returns: [] }, 'RETURNED without a return'],
] as const) {
  test(`[partner.3] ${reason} decides nothing`, () => {
    assert.deepEqual(judge(told), { kind: 'UNKNOWN', reason, httpStatus: 200 })
  })
}

for (const [echo, reason] of [
  [{ id: 'another' }, 'other id'],
  [{ valueCents: 15_001 }, 'other valueCents'],
  [{ recipient: { pixKey: '11144477735' } }, 'other pixKey'],
  [{ id: 'another', valueCents: 1, recipient: { pixKey: 'a@b.com' } }, 'other id, valueCents, pixKey'],
] as const) {
  for (const status of ['PROCESSING', 'CONFIRMED', 'FAILED']) {
    test(`[partner.3] [CO-15] a ${status} payout with ${reason} is contradicted, with the evidence`, () => {
      const answer = judge({ ...CONFIRMED, status, ...echo })
      assert.equal(answer.kind, 'CONTRADICTED')
      assert.equal(answer.kind === 'CONTRADICTED' && answer.reason, reason)
      assert.equal(answer.kind === 'CONTRADICTED' && answer.payout.endToEndId, CONFIRMED.endToEndId)
    })
  }
}

test('[partner.3] [P7] the amount sent is reported where it differs from the order', () => {
  const answer = judge({ ...CONFIRMED, valueCents: 14_999 })
  assert.deepEqual(answer.kind === 'CONTRADICTED' && [answer.payout.status, answer.payout.valueCents], [
    'CONFIRMED',
    14_999n,
  ])
})

test('[partner.3] keys are compared where both sides name one', () => {
  const told = { ...CONFIRMED, recipient: { ...CONFIRMED.recipient, pixKey: '52998224725' } }
  assert.equal(judge(told).kind, 'FINAL')
  assert.equal(judge(told, { valueCents: 15_000n }).kind, 'FINAL')
})

test('[partner.3] a payout to a key must echo it, one for a QR code names no key', () => {
  assert.deepEqual(payoutTerms(REQUEST), TERMS)
  assert.deepEqual(payoutTerms(QR_CODE_REQUEST), { valueCents: 15_000n })
})

for (const [name, fault] of [
  ['half a centavo', { valueCents: 15_000.5 }],
  ['no amount', { valueCents: undefined }],
  ['a fee below zero', { feeCents: -1 }],
  ['a status nobody knows', { status: 'SETTLED' }],
  ['a time without offset', { occurredAt: '2026-11-21T13:15:00' }],
  ['control characters', { endToEndId: 'E\u0000' }],
  ['a key that is no text', { recipient: { pixKey: 52998224725 } }],
  ['half a return', { returns: [{ returnId: 'D1' }] }],
] as const) {
  test(`[partner.3] a payout with ${name} does not parse: unknown`, () => {
    assert.deepEqual(judge({ ...CONFIRMED, ...fault }), { kind: 'UNKNOWN', reason: 'unreadable body', httpStatus: 200 })
  })
}

test('[partner.3] of any answer only a correct echo with its proof is accepted as done', () => {
  const body = fc.record(
    {
      id: fc.constantFrom(ID, 'another'),
      transactionId: fc.constant('bank-1'),
      status: fc.constantFrom('PROCESSING', 'CONFIRMED', 'FAILED', 'RETURNED', 'DONE'),
      valueCents: fc.constantFrom(15_000, 15_001, 0, null),
      endToEndId: fc.constantFrom('E1', '', null),
      recipient: fc.constantFrom({}, { pixKey: '52998224725' }, { pixKey: 'another' }, null),
      returns: fc.constantFrom([], [RETURN], [{}]),
      occurredAt: fc.constantFrom(CONFIRMED.occurredAt, 'today', null),
    },
    { requiredKeys: ['id', 'transactionId', 'status', 'valueCents'] },
  )
  fc.assert(
    fc.property(body, (json) => {
      const answer = judge(json)
      if (answer.kind !== 'ACCEPTED' && answer.kind !== 'FINAL') return
      const { status, id, valueCents, endToEndId, occurredAt, returns, recipient } = answer.payout
      assert.deepEqual([id, valueCents, recipient?.pixKey ?? TERMS.pixKey], [ID, 15_000n, TERMS.pixKey])
      assert.equal(answer.kind === 'ACCEPTED', status === 'PROCESSING')
      if (status === 'PROCESSING' || status === 'FAILED') return
      assert.deepEqual([endToEndId, occurredAt], ['E1', Date.parse(CONFIRMED.occurredAt)])
      if (status === 'RETURNED') assert.equal(returns.length, 1)
    }),
    { numRuns: 1_000 },
  )
})
