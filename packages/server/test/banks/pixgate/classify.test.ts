import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { answerOf, judgeCharge, queryAnswer } from '../../../src/banks/exchange.ts'
import type { Outcome } from '../../../src/banks/link.ts'
import { cancelAnswer, PROTOCOL, readCharge } from '../../../src/banks/pixgate/protocol.ts'
import { CHARGE, ID, PAYMENT, REQUEST } from './charges.ts'

const judge = judgeCharge(ID, REQUEST, readCharge)
const answered = (httpStatus: number, json: unknown): Outcome => ({ kind: 'answered', httpStatus, json })
const create = (outcome: Outcome) => answerOf(outcome, judge, (answered) => PROTOCOL.ofOrder(answered)?.rejected)
const query = (outcome: Outcome) => queryAnswer(outcome, judge, PROTOCOL.isAbsence)
const error = { errorCode: 'invalid_key', errorMessage: 'the key is unknown' }

/** Meaning of one outcome for a PUT, a GET and a DELETE. */
const table: [name: string, outcome: Outcome, put: string, get: string, del: string][] = [
  ['nothing sent', { kind: 'not sent', reason: 'ECONNREFUSED' }, 'NOT_SENT', 'NOT_SENT', 'NOT_SENT'],
  ['answer lost', { kind: 'lost', reason: 'timeout' }, 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['200, the charge', answered(200, CHARGE), 'ACCEPTED', 'ACCEPTED', 'UNKNOWN'],
  ['201, the charge', answered(201, CHARGE), 'ACCEPTED', 'ACCEPTED', 'UNKNOWN'],
  ['200, cancelled', answered(200, { status: 'CANCELLED' }), 'UNKNOWN', 'UNKNOWN', 'CANCELLED'],
  ['200, no JSON', answered(200, undefined), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['200, null', answered(200, null), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['200, an error', answered(200, error), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['204', answered(204, undefined), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['302, the charge', answered(302, CHARGE), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['400 with errorCode', answered(400, error), 'REJECTED', 'UNKNOWN', 'UNKNOWN'],
  ['401 with errorCode', answered(401, error), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['403 with errorCode', answered(403, error), 'REJECTED', 'UNKNOWN', 'UNKNOWN'],
  ['404 with errorCode', answered(404, error), 'REJECTED', 'NOT_FOUND', 'NOT_FOUND'],
  ['408 with errorCode', answered(408, error), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ['409 conflict', answered(409, { errorCode: 'conflict' }), 'REJECTED', 'UNKNOWN', 'REJECTED'],
  ['409 of another kind', answered(409, { errorCode: 'already_paid' }), 'UNKNOWN', 'UNKNOWN', 'REJECTED'],
  ['422 with errorCode', answered(422, error), 'REJECTED', 'UNKNOWN', 'UNKNOWN'],
  ['429 with errorCode', answered(429, error), 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ...[500, 502, 503, 504].map((status): (typeof table)[number] => [
    `${status}`,
    answered(status, error),
    'UNKNOWN',
    'UNKNOWN',
    'UNKNOWN',
  ]),
  ...[400, 403, 404, 409, 422].map((status): (typeof table)[number] => [
    `${status} of a proxy`,
    answered(status, undefined),
    'UNKNOWN',
    'UNKNOWN',
    'UNKNOWN',
  ]),
]

for (const [name, outcome, put, get, del] of table) {
  test(`[partner.3] ${name}: PUT ${put}, GET ${get}, DELETE ${del}`, () => {
    assert.deepEqual(
      [create(outcome), query(outcome), cancelAnswer(outcome)].map(({ kind }) => kind),
      [put, get, del],
    )
  })
}

test('[partner.3] an accepted charge has integer centavos and instants', () => {
  assert.deepEqual(create(answered(201, CHARGE)), {
    kind: 'ACCEPTED',
    charge: {
      id: ID,
      transactionId: 'bank-1',
      status: 'ACTIVE',
      valueCents: 15_000n,
      pixCode: '00020101021226',
      expiresAt: REQUEST.expiresAt,
      payments: [],
    },
  })
})

test('[partner.3] the same instant may be written in another way', () => {
  for (const expiresAt of ['2026-11-22T13:00:00.123000Z', '2026-11-22T10:00:00.123-03:00']) {
    assert.equal(create(answered(200, { ...CHARGE, expiresAt })).kind, 'ACCEPTED', expiresAt)
  }
})

for (const status of ['CANCELLED', 'EXPIRED', 'FAILED']) {
  test(`[partner.3] a charge that is ${status} is final, with or without late payments`, () => {
    for (const payments of [[], [PAYMENT]]) {
      const final = query(answered(200, { ...CHARGE, status, payments }))
      assert.equal(final.kind === 'FINAL' && final.charge.payments.length, payments.length)
    }
  })
}

test('[partner.3] [cash-in.returns.6] a paid charge is final and reports its payments and their returns', () => {
  const bare = { endToEndId: 'E2', valueCents: 1, occurredAt: '2026-11-21T13:16:00Z' }
  const returned = { returnId: 'D1', transactionId: 'tx-r', valueCents: 4_000, origin: 'BANK' } as const
  const told = { ...PAYMENT, returns: [{ ...returned, occurredAt: '2026-11-21T13:17:00Z' }] }
  const final = query(answered(200, { ...CHARGE, status: 'PAID', payments: [told, bare] }))
  assert.equal(final.kind, 'FINAL')
  assert.deepEqual(final.kind === 'FINAL' && final.charge.payments, [
    {
      ...PAYMENT,
      valueCents: 15_000n,
      occurredAt: Date.parse(PAYMENT.occurredAt),
      returns: [{ ...returned, valueCents: 4_000n, occurredAt: Date.parse('2026-11-21T13:17:00Z') }],
    },
    {
      endToEndId: 'E2',
      valueCents: 1n,
      occurredAt: Date.parse(bare.occurredAt),
      payer: { name: undefined, document: undefined, ispb: undefined },
    },
  ])
})

test('[partner.3] PAID without a payment decides nothing', () => {
  for (const judge of [create, query]) {
    const unknown = judge(answered(200, { ...CHARGE, status: 'PAID' }))
    assert.deepEqual(unknown, { kind: 'UNKNOWN', reason: 'PAID without a payment', httpStatus: 200 })
  }
})

test('[partner.3] [P7] a payment is reported even where the status word is behind', () => {
  const accepted = query(answered(200, { ...CHARGE, payments: [PAYMENT] }))
  assert.equal(accepted.kind === 'ACCEPTED' && accepted.charge.payments.length, 1)
})

for (const [field, echo, reason] of [
  ['id', { id: 'another' }, 'other id'],
  ['amount', { valueCents: 15_001 }, 'other valueCents'],
  ['everything', { id: 'b', valueCents: 1, expiresAt: '2026-11-22T13:00:00Z' }, 'other id, valueCents'],
] as const) {
  test(`[partner.3] [CI-10] the echo differs in ${field}: contradicted, with the evidence`, () => {
    for (const judge of [create, query]) {
      const contradicted = judge(answered(200, { ...CHARGE, ...echo, status: 'PAID', payments: [PAYMENT] }))
      assert.equal(contradicted.kind, 'CONTRADICTED')
      assert.equal(contradicted.kind === 'CONTRADICTED' && contradicted.reason, reason)
      assert.equal(contradicted.kind === 'CONTRADICTED' && contradicted.charge.payments.length, 1)
    }
  })
}

for (const [name, fault] of [
  ['half a centavo', { valueCents: 15_000.5 }],
  ['an amount as text', { valueCents: '15000' }],
  ['no amount', { valueCents: undefined }],
  ['an amount beyond every limit', { valueCents: 1e15 }],
  ['a status nobody knows', { status: 'SETTLED' }],
  ['a day that does not exist', { expiresAt: '2026-02-30T00:00:00Z' }],
  ['a time without offset', { expiresAt: '2026-11-22T13:00:00.123' }],
  ['control characters', { transactionId: 'bank\u0000' }],
  ['a code that is too long', { pixCode: '0'.repeat(513) }],
  ['half a payment', { status: 'PAID', payments: [{ endToEndId: 'E1' }] }],
] as const) {
  test(`[partner.3] a 200 with ${name} does not parse: unknown`, () => {
    const unknown = query(answered(200, { ...CHARGE, ...fault }))
    assert.deepEqual(unknown, { kind: 'UNKNOWN', reason: 'unreadable body', httpStatus: 200 })
  })
}

test('[partner.3] a refusal reports why, in characters that can be kept', () => {
  const errorMessage = `no\u0000way\n\ud800${'x'.repeat(500)}`
  const refusal = create(answered(422, { errorCode: 'limit', errorMessage }))
  assert.deepEqual(refusal, { kind: 'REJECTED', errorCode: 'limit', errorMessage: `no way \ufffd${'x'.repeat(192)}` })
  assert.deepEqual(create(answered(422, { errorCode: 'limit' })), {
    kind: 'REJECTED',
    errorCode: 'limit',
    errorMessage: undefined,
  })
})

test('[partner.3] an unknown result reports the status that came, if any', () => {
  assert.deepEqual(create(answered(429, {})), { kind: 'UNKNOWN', reason: 'HTTP 429', httpStatus: 429 })
  assert.deepEqual(create({ kind: 'lost', reason: 'timeout' }), {
    kind: 'UNKNOWN',
    reason: 'timeout',
    httpStatus: undefined,
  })
})

test('[partner.3] any answer of a bank is accepted only as requested and rejected only as documented', () => {
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      id: fc.constantFrom(ID, 'other'),
      transactionId: fc.string(),
      status: fc.constantFrom('ACTIVE', 'PAID', 'EXPIRED', '', null),
      valueCents: fc.constantFrom(15_000, 15_000.5, 1, -1, '15000'),
      pixCode: fc.string(),
      expiresAt: fc.constantFrom(CHARGE.expiresAt, '', '2026-11-22T13:00:00Z'),
      payments: fc.oneof(fc.constant([PAYMENT]), fc.constant([]), fc.jsonValue()),
    }),
    fc.record({ errorCode: fc.oneof(fc.string(), fc.constant('conflict')), errorMessage: fc.jsonValue() }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), body, (httpStatus, json) => {
      for (const judge of [create, query]) {
        const verdict = judge(answered(httpStatus, json))
        if (verdict.kind === 'ACCEPTED' || verdict.kind === 'FINAL') {
          assert.ok(httpStatus >= 200 && httpStatus < 300)
          const { id, valueCents } = verdict.charge
          assert.deepEqual([id, valueCents], [ID, REQUEST.valueCents])
        }
        if (verdict.kind === 'REJECTED') assert.ok([400, 403, 404, 409, 422].includes(httpStatus))
        assert.notEqual(verdict.kind, 'NOT_SENT')
      }
    }),
    { numRuns: 2_000 },
  )
})
