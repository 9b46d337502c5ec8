import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn, createCashIn } from '../src/cash-in/index.ts'
import { ajv } from './support/ajv.ts'
import { assertDecision, isDecision, rowsOf } from './support/rows.ts'

const NOTIFIED = ['PAID', 'FAILED']
const BOOKS_NOTHING = ['payment restated', 'payment is to be verified', 'movement belongs to another operation']

/** What the bank gave back by itself and is not debited: any other is booked with its refund. */
const SUSPENDED = new Set(['return has no id', 'payment is in suspense', 'payment cannot be identified'])

/** Nothing is in suspense anew. */
const SETTLES = new Set(['cash_in_paid', 'return_known', 'arrival_returned'])

for (const { row, title } of rowsOf(cashIn)) {
  test(`${title}: money, notification and case agree`, () => {
    if (isDecision(row)) return assertDecision(row)
    const isPayment = row.on === 'partner.confirmed' && !row.when.some((guard) => BOOKS_NOTHING.includes(guard))
    // What is there of a return that nobody explains is held, and let go once it is known.
    const isHeldAnew = row.on === 'return.unexplained' && !row.when.includes('it was held before')
    const holds = isHeldAnew || row.when.includes('money of it is held')
    const isSuspended =
      row.on === 'return.told' && row.when.length === 1 && row.when.some((guard) => SUSPENDED.has(guard))
    const enters = row.from !== row.to

    assert.equal(
      row.posts !== undefined,
      isPayment || isSuspended || holds,
      'money that arrived is booked, and what cannot be a refund',
    )
    assert.equal(row.posts === 'cash_in_paid', enters && row.to === 'PAID', 'the merchant is credited once, by PAID')
    assert.equal(row.emits, enters && NOTIFIED.includes(row.to) ? 'pix_cash_in' : undefined)
    if (row.posts !== undefined && !SETTLES.has(row.posts)) assert.ok(row.opens, 'money in suspense always has a case')
    if (enters && row.to === 'RECONCILIATION_REQUIRED') assert.ok(row.opens, 'a doubt always has a case')
  })
}

test('[cash-in.paid.5] [cash-in.cases.16] a paid charge is taken back by an operator alone', () => {
  const left = cashIn.rows.filter(({ from, on }) => from === 'PAID' && on !== 'operator.reversed').map(({ to }) => to)
  assert.deepEqual(new Set(left), new Set(['PAID', 'RECONCILIATION_REQUIRED']))
})

const isCreate = ajv.compile(createCashIn.body)
const transaction = { value: 150, externalId: 'order-1001' }

test('[cash-in.create.1] a value and an external id are enough; an unknown field is too much', () => {
  assert.ok(isCreate({ transaction }))
  assert.ok(isCreate(createCashIn.example))
  const wrong = [
    {},
    { transaction: { value: 150 } },
    { transaction: { externalId: 'order-1001' } },
    { transaction, status: 'PAID' },
    { transaction: { ...transaction, valueCents: 1 } },
    { transaction, payer: { fullName: 'Maria da Silva' } },
    { transaction: { ...transaction, description: 'x'.repeat(141) } },
    { transaction: { ...transaction, description: 'a\u0000b' } },
    { transaction: { ...transaction, description: 'a\ud800b' } },
  ]
  for (const body of wrong) assert.equal(isCreate(body), false, JSON.stringify(body))
})

test('[money.1] a value is a number and nothing that could be made one', () => {
  for (const value of ['10', true, null, [10], {}])
    assert.equal(isCreate({ transaction: { ...transaction, value } }), false)
})

test('[cash-in.create.3] a charge lives from one second to thirty days', () => {
  const isAccepted = (expirationTime: unknown) => isCreate({ transaction: { ...transaction, expirationTime } })
  for (const seconds of [1, 3_600, 2_592_000]) assert.ok(isAccepted(seconds))
  for (const seconds of [0, -1, 1.5, 2_592_001, '3600', true]) assert.equal(isAccepted(seconds), false)
})
