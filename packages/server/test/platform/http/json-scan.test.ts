import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { faultWithoutText, jsonFault } from '../../../src/platform/http/request.ts'

test('[http.11] a key twice in one object is found, however it is written', () => {
  for (const text of [
    '{"value":1,"value":100}',
    '{"value":1,"v\\u0061lue":100}',
    '{"\\u00e9":1,"é":2}',
    '{"a":{"b":[{"value":1,"x":{},"value":2}]}}',
    '{"a\\"":1,"a\\"":2}',
    '{"a" :1, "a" :2}',
  ]) {
    assert.match(jsonFault(text) ?? '', /twice in one object/, text)
  }
})

test('[http.11] the same key in different objects is no fault, nor is a value equal to a key', () => {
  for (const text of [
    '{"a":{"a":{"a":1}},"b":{"a":2}}',
    '[{"a":1},{"a":2}]',
    '{"a":"b","b":"a"}',
    '{"a":["a","a"],"b":"a"}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":1,"A":2,"a ":3}',
  ]) {
    assert.equal(jsonFault(text), undefined, text)
  }
})

test('[http.11] sixteen levels pass, seventeen do not, brackets in strings do not count', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`
  assert.equal(jsonFault(nested(16)), undefined)
  assert.match(jsonFault(`[${nested(16)}]`) ?? '', /deeper than 16 levels/)
  assert.equal(jsonFault(`["${'['.repeat(100)}"]`), undefined)
  assert.equal(jsonFault('[],'.repeat(100)), undefined)
})

test('[http.11] a thousand and one values pass, one more does not, commas in strings do not count', () => {
  const values = (count: number) => `[${Array(count).fill('1').join(',')}]`
  assert.equal(jsonFault(values(1_001)), undefined)
  assert.match(jsonFault(values(1_002)) ?? '', /more than 1,?000 values/)
  assert.equal(jsonFault(`["${','.repeat(2_000)}"]`), undefined)
})

test('[http.11] __proto__ as a key is refused, as a value it is text', () => {
  assert.match(jsonFault('{"a":{"__proto__":{}}}') ?? '', /__proto__/)
  assert.match(jsonFault('{"\\u005f_proto__":{}}') ?? '', /__proto__/)
  assert.equal(jsonFault('{"a":"__proto__"}'), undefined)
})

test('[http.11] a fault repeats at most 64 characters of the key', () => {
  const key = 'k'.repeat(1_000)
  assert.ok((jsonFault(`{"${key}":1,"${key}":2}`) ?? '').length < 200)
})

test('[http.11] what JSON.stringify writes of unique keys is never faulted', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      fc.pre(!text.includes('__proto__') && text.split(',').length <= 1_000)
      assert.equal(jsonFault(text), undefined)
    }),
  )
})

test('[http.11] a repeated key is found at any place between other members', () => {
  const member = fc.tuple(fc.string(), fc.jsonValue({ maxDepth: 3 }))
  fc.assert(
    fc.property(fc.array(member, { maxLength: 10 }), fc.string(), fc.nat(), fc.nat(), (members, key, one, other) => {
      const written = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      written.splice(one % (written.length + 1), 0, `${JSON.stringify(key)}:1`)
      written.splice(other % (written.length + 1), 0, `${escaped(key)}:2`)
      assert.notEqual(jsonFault(`{${written.join(',')}}`), undefined)
    }),
  )
})

test('[http.11] text that is no JSON is left to JSON.parse: no exception', () => {
  const fragment = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '\\u12', 'a', '1', ' ', '\u0000')
  fc.assert(fc.property(fc.array(fragment, { maxLength: 60 }), (parts) => void jsonFault(parts.join(''))))
})

/** Writes every character of a key as an escape. */
function escaped(key: string): string {
  return `"${[...Array(key.length).keys()].map((at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
}

test('[logs.1] what the log gets of a fault has no text of whoever wrote it', () => {
  const faults = ['{"CANARY":1,"CANARY":2}', '{"a \\" twice in one object":1,"a \\" twice in one object":2}'].map(
    jsonFault,
  )
  for (const fault of faults)
    assert.equal(faultWithoutText(fault ?? ''), 'the request body has a key twice in one object')
  assert.equal(faultWithoutText(jsonFault('{"__proto__":1}') ?? ''), 'the request body has the key "__proto__"')
})
