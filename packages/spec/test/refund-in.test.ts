import assert from 'node:assert/strict'
import test from 'node:test'
import { journals, type Posting } from '../src/ledger.ts'
import { createRefundIn, listRefundIns, refundIn } from '../src/refund-in/index.ts'
import { ajv } from './support/ajv.ts'
import { assertDecision, isDecision, rowsOf } from './support/rows.ts'

for (const { row, title } of rowsOf(refundIn)) {
  test(`${title}: reservation, notification and case agree`, () => {
    if (isDecision(row)) return assertDecision(row)
    assert.equal(row.posts === 'left_after_release' ? 0 : reservedBy(row.posts), heldBy(row))
    assert.equal(row.emits, row.from !== row.to && row.to !== 'PENDING' ? 'pix_cash_in_reversal' : undefined)

    const isMoneyInDoubt = row.posts === 'left_unattributed' || row.posts === 'left_after_release'
    if (isMoneyInDoubt) assert.ok(row.opens, 'money that left in doubt always has a case')
    if (row.from === row.to) assert.ok(row.posts === undefined || isMoneyInDoubt, 'nothing settles without an end')
    if (row.opens) assert.equal(row.from, row.to, 'a doubt is no state of its own')
  })
}

test('[refund-in.unknown.1] a missing answer never releases money', () => {
  const doubtful = ['send.unknown', 'send.contradicted', 'clock.overdue']
  for (const row of refundIn.rows) if (doubtful.includes(row.on)) assert.equal(row.posts, undefined)
})

type AnyRow = (typeof refundIn.rows)[number]

/** What a move does to the hold, told from its states. */
function heldBy({ from, to }: AnyRow): number {
  if (from === null) return to === 'PENDING' ? 1 : 0
  return from === 'PENDING' && to !== 'PENDING' ? -1 : 0
}

/** What a journal does to the hold, told from its postings. */
function reservedBy(journal: keyof typeof journals | undefined): number {
  const postings: readonly Posting[] = journal === undefined ? [] : journals[journal].postings
  return postings.find(({ account }) => account === 'reserved')?.amount.r ?? 0
}

const isCreate = ajv.compile(createRefundIn.body)

test('[refund-in.create.1] a value is enough; an unknown field is too much', () => {
  assert.ok(isCreate({ refundValue: 50 }))
  assert.ok(isCreate(createRefundIn.example))
  for (const absent of [null, '']) assert.ok(isCreate({ refundValue: 50, reason: absent, externalId: absent }))
  const wrong = [
    {},
    { reason: 'x' },
    { refundValue: '50' },
    { refundValue: null },
    { refundValue: 50, valueCents: 5_000 },
    { refundValue: 50, reason: 'a\nb' },
    { refundValue: 50, reason: 'x'.repeat(141) },
    { refundValue: 50, reason: 'a\u0000b' },
    { refundValue: 50, externalId: ' a' },
    { refundValue: 50, externalId: 7 },
  ]
  for (const body of wrong) assert.equal(isCreate(body), false, JSON.stringify(body))
})

test('[refund-in.list.1] the list can be narrowed to what exists', () => {
  const isQuery = ajv.compile(listRefundIns.query)
  for (const status of refundIn.states) assert.ok(isQuery({ status }))
  assert.ok(isQuery({ cash_in_id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09', external_id: 'r-1', end_to_end_id: 'E1' }))
  for (const query of [{ status: 'PAID' }, { cash_in_id: 'order-1' }, { external_id: '' }, { cashInId: 'x' }]) {
    assert.equal(isQuery(query), false, JSON.stringify(query))
  }
})
