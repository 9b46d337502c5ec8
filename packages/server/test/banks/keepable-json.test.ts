import assert from 'node:assert/strict'
import test from 'node:test'
import { keepingFault } from '../../src/banks/keepable-json.ts'

test('[DB-45] text that no database could keep is found, as a key and as a value', () => {
  for (const written of [
    '\\u0000',
    'a\\u0000b',
    '\\ud800',
    '\\udc00\\ud800',
    '\\uD83d',
    'x\\\\\\ud800',
    '\\"\\ud800',
  ]) {
    assert.match(keepingFault(`{"a":"${written}"}`) ?? '', /a character that cannot be kept/, written)
    assert.match(keepingFault(`{"b":1,"${written}":1}`) ?? '', /a character that cannot be kept/, written)
  }
  for (const written of ['\\ud83d\\ude00', '\\\\u0000', '\\\\ud800', 'u0000', '\\u00e9']) {
    assert.equal(keepingFault(`{"${written}":"${written}"}`), undefined, written)
  }
})

test('[DB-45] a number that is no double, or is written out at length, is found', () => {
  for (const number of ['1e400', '-1E+400', '1e-4000', '0.1e00400', `1${'0'.repeat(100)}`, `0.${'1'.repeat(100)}`]) {
    assert.match(keepingFault(`{"a":[${number}]}`) ?? '', /a number that cannot be kept/, number)
  }
  for (const text of ['{"a":-12.50e3}', '{"a":0,"b":1e-9}', '{"a":"1e400"}', '[1e308]', '{"1e400":"\\"1e400"}']) {
    assert.equal(keepingFault(text), undefined, text)
  }
})
