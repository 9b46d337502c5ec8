import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { limits } from '../src/limits.ts'
import { centsToReais, feeCents, formatReais, reaisToCents } from '../src/money.ts'

const accepted: readonly (readonly [json: string, cents: bigint])[] = [
  ['0', 0n],
  ['-0', 0n],
  ['0.01', 1n],
  ['0.29', 29n],
  ['1', 100n],
  ['1.1', 110n],
  ['19.99', 1_999n],
  ['19.990', 1_999n],
  ['1e2', 10_000n],
  ['1.5e1', 1_500n],
  ['-3', -300n],
  ['9999999999.99', limits.valueMaxCents],
  ['10000000000000000.00', 1_000_000_000_000_000_000n],
  ['1e21', 100_000_000_000_000_000_000_000n],
  ['-1e21', -100_000_000_000_000_000_000_000n],
]

for (const [json, cents] of accepted) {
  test(`[money.1] ${json} reais are ${cents} centavos`, () => {
    assert.equal(reaisToCents(JSON.parse(json)), cents)
  })
}

for (const json of ['1.005', '0.001', '1e-3', '1e-7', '1e400', '-1e400', '0.1000000001']) {
  test(`[money.1] ${json} is no amount of reais`, () => {
    assert.equal(reaisToCents(JSON.parse(json)), null)
  })
}

const amount = fc.bigInt({ min: 0n, max: limits.valueMaxCents })

test('[money.1] [money.2] centavos survive the way to reais and back', () => {
  fc.assert(fc.property(amount, (cents) => assert.equal(reaisToCents(centsToReais(cents)), cents)))
})

test('[money.2] reais have at most two decimals in JSON', () => {
  fc.assert(fc.property(amount, (cents) => assert.match(JSON.stringify(centsToReais(cents)), /^\d+(\.\d{1,2})?$/)))
})

test('[money.2] a person reads centavos as reais', () => {
  assert.equal(formatReais(0n), 'R$ 0,00')
  assert.equal(formatReais(7n), 'R$ 0,07')
  assert.equal(formatReais(123_456n), 'R$ 1.234,56')
  assert.equal(formatReais(-100_000_000n), '-R$ 1.000.000,00')
})

test('[fees.1] a fee is its fixed part plus basis points, rounded half up', () => {
  const ofTenReais = (cents: bigint, basisPoints: bigint) => feeCents(1_000n, { cents, basisPoints })
  assert.equal(ofTenReais(0n, 0n), 0n)
  assert.equal(ofTenReais(35n, 0n), 35n)
  assert.equal(ofTenReais(0n, 99n), 10n)
  assert.equal(ofTenReais(35n, 99n), 45n)
  assert.equal(feeCents(50n, { cents: 0n, basisPoints: 99n }), 0n)
  assert.equal(feeCents(50n, { cents: 0n, basisPoints: 100n }), 1n)
  assert.equal(feeCents(149n, { cents: 0n, basisPoints: 100n }), 1n)
  assert.equal(feeCents(150n, { cents: 0n, basisPoints: 100n }), 2n)
})

test('[fees.1] rounding moves a fee by half a centavo at most', () => {
  fc.assert(
    fc.property(amount, fc.bigInt({ min: 0n, max: 10_000n }), (valueCents, basisPoints) => {
      const rounded = feeCents(valueCents, { cents: 0n, basisPoints }) * 10_000n
      const error = rounded - valueCents * basisPoints
      assert.ok(-5_000n < error && error <= 5_000n)
    }),
  )
})
