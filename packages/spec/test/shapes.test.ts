import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints } from '../src/index.ts'
import { listLedgerEntries } from '../src/ledger.ts'
import { limits } from '../src/limits.ts'
import { publishedPatterns } from '../src/patterns.ts'
import { EXTERNAL_ID, externalId, text } from '../src/shapes.ts'
import { ajv } from './support/ajv.ts'

test('[external-id.1] an external id is short and printable, without a space at either end', () => {
  const isExternalId = ajv.compile(externalId)
  const printable = ['a', 'order-1001', 'A.b_c:d-9', 'pedido nº 7/2026', 'ação #1', '注文-1', '👩‍👩‍👧', 'طلب', '"\\$']
  for (const text of [...printable, 'x'.repeat(128), '😀'.repeat(128)]) assert.ok(isExternalId(text), text)
  const spaced = [' a', 'a ', ' ', '\u00a0a', 'a\u3000', 'a\u2009']
  const unseen =
    'a\n|\ta|a\u0000b|a\u007fb|a\u0085b|a\u2028b|a\u2029b|a\u202eb|a\u2066b|a\u200fb|a\u061cb|a\u200bb|a\ufeff|a\uffff'
  for (const text of ['', 'x'.repeat(129), ...spaced, ...unseen.split('|'), 'a\ud83d', '\ude00', 7, null]) {
    assert.equal(isExternalId(text), false, JSON.stringify(text))
  }
})

test('[external-id.1] what nobody sees is no part of an external id, but for what joins letters and emoji', () => {
  const isExternalId = ajv.compile(externalId)
  for (const joined of ['می\u200cخواهم', 'क्\u200dष', '👩\u200d👩\u200d👧']) assert.ok(isExternalId(joined), joined)
  const softHyphenAndFormat = [0xad, 0x180e, 0xe0001, 0xe0041, 0x1d173]
  const fillers = [0x115f, 0x1160, 0x3164, 0xffa0]
  const unassigned = [0x378, 0x1fffe, 0x10ffff]
  for (const code of [...softHyphenAndFormat, ...fillers, ...unassigned]) {
    const character = String.fromCodePoint(code)
    for (const text of [character, `a${character}b`, `a${character}`]) {
      assert.equal(isExternalId(text), false, `U+${code.toString(16)}`)
    }
  }
})

test('[external-id.1] [reference.4] what documents say of an external id refuses nothing that is accepted', () => {
  const accepted = new RegExp(EXTERNAL_ID, 'u')
  const published = new RegExp(publishedPatterns[EXTERNAL_ID] ?? '', 'u')
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code)
    for (const text of [character, `a${character}b`]) {
      if (accepted.test(text)) assert.ok(published.test(text), `U+${code.toString(16)}`)
    }
  }
  for (const text of ['\u00ad', '\u200b', '\u3164', ' a', 'a ']) assert.equal(published.test(text), false, text)
})

test('[http.16] whatever may be left out of a body may be null', () => {
  const optionals = Object.values(endpoints).flatMap(({ auth, body }: Endpoint) =>
    auth === 'partner' ? [] : optionalsIn(body as ObjectSchema | undefined),
  )
  assert.ok(optionals.length > 15)
  for (const schema of optionals) assert.ok(ajv.compile(schema)(null), JSON.stringify(schema))
})

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ObjectSchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly ObjectSchema[]
}

function optionalsIn({ properties = {}, required = [], anyOf = [] }: ObjectSchema = {}): ObjectSchema[] {
  const own = Object.entries(properties).flatMap(([name, schema]) => (required.includes(name) ? [] : [schema]))
  return [...own, ...[...Object.values(properties), ...anyOf].flatMap((schema) => optionalsIn(schema))]
}

test('[text.1] free text is bounded in characters and holds nothing that cannot be shown', () => {
  for (const limit of [limits.descriptionMaxLength, limits.nameMaxLength]) {
    const isText = ajv.compile(text(limit))
    for (const good of ['a', 'João & Cia. <3 😀', ' ', 'x'.repeat(limit), '😀'.repeat(limit)])
      assert.ok(isText(good), good)
    const unseen = [
      'a\u0000',
      'a\nb',
      '\u007f',
      '\u0085',
      'a\u2028',
      '\u2029',
      '\u202ea',
      'a\u2067',
      '\ud83d',
      '\ude00b',
    ]
    for (const wrong of ['', 'x'.repeat(limit + 1), ...unseen, 7, null]) {
      assert.equal(isText(wrong), false, JSON.stringify(wrong))
    }
  }
  assert.deepEqual([limits.descriptionMaxLength, limits.nameMaxLength], [140, 200])
})

test('[lists.1] a page has one to a hundred items', () => {
  const isQuery = ajv.compile(listLedgerEntries.query)
  for (const limit of [1, 20, 100]) assert.ok(isQuery({ limit }))
  for (const limit of [0, -1, 101, 1.5, '20']) assert.equal(isQuery({ limit }), false)
  assert.equal(isQuery({ page: 1 }), false)
})
