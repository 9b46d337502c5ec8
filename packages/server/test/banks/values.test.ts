import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import { isCob, isDevolucao, isPage, isPix } from '../../src/banks/api-pix/protocol.ts'
import {
  AMOUNT,
  amountOf,
  bodyTest,
  centsOf,
  instantOf,
  isReais,
  itemsOf,
  storageFault,
  withoutNulls,
} from '../../src/banks/values.ts'

test('[api-pix.18] null is absent, at any depth', () => {
  const json = { a: null, b: [null, { c: null, d: 0 }], e: { f: null }, g: '' }
  assert.deepEqual(withoutNulls(json), { b: [{ d: 0 }], e: {}, g: '' })
  assert.equal(withoutNulls(undefined), undefined)
})

test('[api-pix.18] no nesting is too deep', () => {
  const deep = JSON.parse('['.repeat(30_000) + ']'.repeat(30_000))
  assert.ok(Array.isArray(withoutNulls(deep)))
})

test('[api-pix.18] a list may be absent, and an item may stand without a list', () => {
  assert.deepEqual([undefined, [], [1], { a: 1 }].map(itemsOf), [[], [], [1], [{ a: 1 }]])
})

const amounts: [written: string | number, cents: bigint][] = [
  ['15', 1_500n],
  ['15.0', 1_500n],
  ['15.5', 1_550n],
  ['0.07', 7n],
  ['0000000001.10', 110n],
  ['9999999999.99', 999_999_999_999n],
  [9_999_999_999.99, 999_999_999_999n],
]
for (const [written, cents] of amounts)
  test(`[api-pix.18] the amount ${JSON.stringify(written)} is ${cents} centavos`, () => {
    assert.ok(typeof written === 'number' ? isReais(written) : new RegExp(AMOUNT).test(written))
    assert.equal(centsOf(written), cents)
  })

for (const written of ['', '15.', '.5', '15,00', '1.000', '1.005', '+1', '-1', ' 1', '1e3', '1 000', 'NaN', '١٥'])
  test(`[api-pix.18] ${JSON.stringify(written)} is no amount`, () => {
    assert.equal(new RegExp(AMOUNT).test(written), false)
  })

for (const written of [0.1 + 0.2, 1.005, 1e21, 1e-7, 1e13, Number.NaN, Number.POSITIVE_INFINITY])
  test(`[api-pix.18] the number ${written} is no amount`, () => assert.equal(isReais(written), false))

test('[api-pix.18] every amount that a payment can have is exact both ways, as text and as a number', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 999_999_999_999n), (cents) => {
      const text = amountOf(cents)
      assert.equal(centsOf(text), cents)
      assert.ok(isReais(Number(text)))
      assert.equal(centsOf(Number(text)), cents)
    }),
  )
})

const NOON = Date.UTC(2026, 10, 22, 12)
const instants: [written: string, epochMs: number][] = [
  ['2026-11-22T12:00:00Z', NOON],
  ['2026-11-22t12:00:00z', NOON],
  ['2026-11-22 12:00:00Z', NOON],
  ['2026-11-22T12:00:00.5Z', NOON + 500],
  ['2026-11-22T12:00:00.123456789Z', NOON + 123],
  ['2026-11-22T12:00:00+00:00', NOON],
  ['2026-11-22T12:00:00-00:00', NOON],
  ['2026-11-22T09:00:00-03:00', NOON],
  ['2026-11-22T09:00:00-0300', NOON],
  ['2026-11-22T12:00:00+0000', NOON],
  ['2026-11-22T09:00:00-03', NOON],
  ['2026-11-22T17:45:00+05:45', NOON],
  ['2026-11-22T11:59:60Z', NOON],
  ['2026-11-22T23:59:60Z', Date.UTC(2026, 10, 23)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
]
for (const [written, epochMs] of instants)
  test(`[api-pix.18] ${written} is ${new Date(epochMs).toISOString()}`, () => assert.equal(instantOf(written), epochMs))

for (const written of [
  ...['2026-11-22T12:00:00', '2026-11-22', '2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z'],
  ...['0000-01-01T00:00:00Z', '2026-11-22T24:00:00Z', '2026-11-22T12:60:00Z', '2026-11-22T12:00:61Z'],
  ...['2026-11-22T12:00:00+24:00', '2026-11-22T12:00:00 -03:00', '22/11/2026 12:00:00', '1795348800', 'ontem'],
])
  test(`[api-pix.18] ${written} names no instant`, () => assert.ok(Number.isNaN(instantOf(written))))

test('[DB-45] text that no database can store is found, as a key and as a value', () => {
  for (const written of [
    '\\u0000',
    'a\\u0000b',
    '\\ud800',
    '\\udc00\\ud800',
    '\\uD83d',
    'x\\\\\\ud800',
    '\\"\\ud800',
  ]) {
    assert.match(storageFault(`{"a":"${written}"}`) ?? '', /a character that cannot be kept/, written)
    assert.match(storageFault(`{"b":1,"${written}":1}`) ?? '', /a character that cannot be kept/, written)
  }
  for (const written of ['\\ud83d\\ude00', '\\\\u0000', '\\\\ud800', 'u0000', '\\u00e9']) {
    assert.equal(storageFault(`{"${written}":"${written}"}`), undefined, written)
  }
})

test('[DB-45] a number that is no double, or is written out at length, is found', () => {
  for (const number of ['1e400', '-1E+400', '1e-4000', '0.1e00400', `1${'0'.repeat(100)}`, `0.${'1'.repeat(100)}`]) {
    assert.match(storageFault(`{"a":[${number}]}`) ?? '', /a number that cannot be kept/, number)
  }
  for (const text of ['{"a":-12.50e3}', '{"a":0,"b":1e-9}', '{"a":"1e400"}', '[1e308]', '{"1e400":"\\"1e400"}']) {
    assert.equal(storageFault(text), undefined, text)
  }
})

test('a shape is compiled by the first body: one that is no shape fails then, and every shape of the standard is one', () => {
  const isAmount = bodyTest(Type.Object({ cents: Type.Integer() }))
  assert.deepEqual(
    [{ cents: 1 }, { cents: 0.5 }, 1].map((json) => isAmount(json)),
    [true, false, false],
  )
  assert.throws(() => bodyTest({ type: 'a thing' })({}), /type must be/)
  for (const isBody of [isCob, isPix, isDevolucao, isPage]) assert.equal(isBody('no body'), false)
})
