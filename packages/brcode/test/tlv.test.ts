import assert from 'node:assert/strict'
import test from 'node:test'
import { BrCodeError, formatTlv, parseTlv } from '../src/br-code.ts'

test('[brcode.tlv] objects come by id, in their order, with their place', () => {
  assert.deepEqual(
    [...parseTlv('5802BR5903Ana', 'characters')],
    [
      ['58', { path: '58', value: 'BR', position: 4 }],
      ['59', { path: '59', value: 'Ana', position: 10 }],
    ],
  )
})

test('[brcode.tlv] objects of a template know their path and their place in the whole code', () => {
  const template = { path: '62', value: '0503***', position: 40 }
  assert.deepEqual(parseTlv(template.value, 'characters', template).get('05'), {
    path: '62-05',
    value: '***',
    position: 44,
  })
})

test('[brcode.tlv] a length counts code points, UTF-16 units or UTF-8 bytes, as asked', () => {
  assert.equal(parseTlv('5904José', 'characters').get('59')?.value, 'José')
  assert.equal(parseTlv('5905José', 'bytes').get('59')?.value, 'José')
  assert.equal(parseTlv('5902☕☕', 'characters').get('59')?.value, '☕☕')
  assert.equal(parseTlv('5901😀', 'characters').get('59')?.value, '😀')
  assert.equal(parseTlv('5902😀', 'UTF-16 units').get('59')?.value, '😀')
  assert.throws(() => parseTlv('5901😀', 'UTF-16 units'), { reason: 'length_overrun' })
  assert.throws(() => parseTlv('5904José', 'bytes'), { reason: 'length_overrun' })
})

test('[brcode.tlv] no objects in no text', () => {
  assert.equal(parseTlv('', 'characters').size, 0)
})

for (const [text, reason, field, position] of [
  ['5', 'malformed_tlv', undefined, 0],
  ['5802BR59', 'malformed_tlv', undefined, 6],
  ['5802BRAB02xy', 'malformed_tlv', undefined, 6],
  ['58-2BR', 'malformed_tlv', undefined, 0],
  ['5802BR5900', 'malformed_tlv', '59', 6],
  ['5802BR5904Ana', 'length_overrun', '59', 6],
  ['5802BR5802BR', 'duplicate_field', '58', 6],
] as const) {
  test(`[brcode.tlv] ${text}: ${reason} at ${position}`, () => {
    assert.throws(
      () => parseTlv(text, 'characters'),
      (error) => {
        assert(error instanceof BrCodeError)
        assert.deepEqual([error.reason, error.field, error.position], [reason, field, position])
        return true
      },
    )
  })
}

test('[brcode.tlv] an object is written with two digits of length, an absent one not at all', () => {
  assert.equal(formatTlv('59', 'Ana'), '5903Ana')
  assert.equal(formatTlv('59', 'A'.repeat(99)), `5999${'A'.repeat(99)}`)
  assert.equal(formatTlv('59', undefined), '')
})

test('[brcode.tlv] what has no unambiguous length is not written', () => {
  for (const value of ['', 'A'.repeat(100), 'José', 'two\nlines']) {
    assert.throws(() => formatTlv('59', value), { reason: 'field_malformed', field: '59' })
  }
})
