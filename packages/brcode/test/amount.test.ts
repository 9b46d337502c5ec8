import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { formatAmount, parseAmount } from '../src/br-code.ts'

test('[brcode.amount] the forms of an amount, each exact', () => {
  assert.equal(parseAmount('10.50'), 1050n)
  assert.equal(parseAmount('10.5'), 1050n)
  assert.equal(parseAmount('10.'), 1000n)
  assert.equal(parseAmount('10'), 1000n)
  assert.equal(parseAmount('0.29'), 29n)
  assert.equal(parseAmount('007.00'), 700n)
  assert.equal(parseAmount('9999999999.99'), 999_999_999_999n)
})

test('[brcode.amount] anything else is no amount', () => {
  for (const text of [
    '',
    '.',
    '.50',
    '1.005',
    '10,50',
    '1,000.00',
    '-1.00',
    '+1',
    '1e2',
    ' 1',
    '10000000000.00',
    '٣',
  ]) {
    assert.equal(parseAmount(text), undefined, text)
  }
})

test('[brcode.amount] every amount that can be written reads back the same', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 999_999_999_999n }), (amountCents) => {
      assert.match(formatAmount(amountCents), /^\d{1,10}\.\d{2}$/)
      assert.equal(parseAmount(formatAmount(amountCents)), amountCents)
    }),
  )
})

test('[brcode.amount] zero, less, and more than ten digits of reais cannot be written', () => {
  assert.throws(() => formatAmount(0n), { reason: 'amount_zero', field: 'amountCents' })
  assert.throws(() => formatAmount(-1n), { reason: 'amount_malformed', field: 'amountCents' })
  assert.throws(() => formatAmount(-1_000n), { reason: 'amount_malformed' })
  assert.throws(() => formatAmount(1_000_000_000_000n), { reason: 'amount_malformed' })
})
