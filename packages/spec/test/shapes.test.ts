import assert from 'node:assert/strict'
import test from 'node:test'
import { listLedgerEntries } from '../src/ledger.ts'
import { limits } from '../src/limits.ts'
import { externalId, text } from '../src/shapes.ts'
import { ajv } from './support/ajv.ts'

test('[external-id.1] an external id is short and plain', () => {
  const isExternalId = ajv.compile(externalId)
  for (const text of ['a', 'order-1001', 'A.b_c:d-9', 'x'.repeat(128)]) assert.ok(isExternalId(text), text)
  for (const text of ['', 'x'.repeat(129), 'a b', 'a/b', 'ação', 'a\n', 7, null])
    assert.equal(isExternalId(text), false)
})

test('[text.1] free text is bounded in characters and holds nothing that cannot be shown', () => {
  for (const limit of [limits.descriptionMaxLength, limits.nameMaxLength]) {
    const isText = ajv.compile(text(limit))
    for (const good of ['a', 'João & Cia. <3 😀', ' ', 'x'.repeat(limit), '😀'.repeat(limit)])
      assert.ok(isText(good), good)
    for (const wrong of ['', 'x'.repeat(limit + 1), 'a\u0000', 'a\nb', '\u007f', '\ud83d', '\ude00b', 7, null]) {
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
