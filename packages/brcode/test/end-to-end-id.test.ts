import assert from 'node:assert/strict'
import test from 'node:test'
import { formatEndToEndId, formatReturnId, isEndToEndId, isReturnId } from '../src/end-to-end-id.ts'

const parts = { ispb: '12345678', at: new Date('2026-01-01T02:03:59.999Z'), suffix: 'abcDEF12345' }

test('[brcode.end-to-end-id] the minute is written in UTC, month and day from 01', () => {
  assert.equal(formatEndToEndId(parts), 'E12345678202601010203abcDEF12345')
  assert.equal(formatReturnId(parts), 'D12345678202601010203abcDEF12345')
  assert.equal(
    formatEndToEndId({ ...parts, at: new Date('2025-12-31T23:30:00-03:00') }),
    'E12345678202601010230abcDEF12345',
  )
})

test('[brcode.end-to-end-id] what was written is recognised, each kind as itself', () => {
  assert(isEndToEndId(formatEndToEndId(parts)))
  assert(isReturnId(formatReturnId(parts)))
  assert(!isEndToEndId(formatReturnId(parts)))
  assert(!isReturnId(formatEndToEndId(parts)))
  assert(isReturnId('D12345678202009091000abcde123456'))
})

test('[brcode.end-to-end-id] an ISPB may have letters', () => {
  assert(isEndToEndId(formatEndToEndId({ ...parts, ispb: '12ABC345' })))
})

test('[brcode.end-to-end-id] other forms are not recognised', () => {
  const id = formatEndToEndId(parts)
  for (const text of ['', id.slice(0, -1), `${id}0`, `${id}\n`, id.toLowerCase(), id.replace('2026', '20x6')]) {
    assert(!isEndToEndId(text), text)
  }
})

test('[brcode.end-to-end-id] parts that do not fit are refused by name', () => {
  for (const [field, changes] of [
    ['ispb', { ispb: '1234567' }],
    ['ispb', { ispb: '1234567a' }],
    ['suffix', { suffix: 'abc' }],
    ['suffix', { suffix: 'abcDEF1234-' }],
    ['at', { at: new Date(Number.NaN) }],
    ['at', { at: new Date('-000001-01-01T00:00:00Z') }],
    ['at', { at: new Date('+010000-01-01T00:00:00Z') }],
  ] as const) {
    const make = () => formatEndToEndId({ ...parts, ...changes })
    assert.throws(make, { name: 'BrCodeError', reason: 'field_malformed', field })
  }
})
