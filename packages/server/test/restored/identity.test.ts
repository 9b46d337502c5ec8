import assert from 'node:assert/strict'
import test from 'node:test'
import { changeOf, type Identity, isKnown, knownAfter } from '../../src/restored/watch.ts'

const SEEN: Identity = { cluster: '7380012345678901234', tables: '16384 16402', timeline: '00000001' }
const NOTHING: Identity = { cluster: null, tables: null, timeline: null }

test('[restored.1] a database of another cluster, or with other tables, was restored', () => {
  assert.equal(changeOf(SEEN, { ...SEEN, cluster: '7380098765432109876' }), 'RESTORED')
  assert.equal(changeOf(SEEN, { ...SEEN, tables: '16999 16402' }), 'RESTORED')
  assert.equal(changeOf(SEEN, { ...SEEN, tables: '16384 17001', timeline: '00000002' }), 'RESTORED')
})

test('[restored.1] one with another timeline was promoted, or recovered to an instant', () => {
  assert.equal(changeOf(SEEN, { ...SEEN, timeline: '00000002' }), 'PROMOTED')
})

test('[restored.1] what is not known says nothing', () => {
  assert.equal(changeOf(NOTHING, SEEN), 'SAME')
  assert.equal(changeOf(SEEN, NOTHING), 'SAME')
  assert.equal(changeOf(SEEN, SEEN), 'SAME')
})

test('[restored.1] what becomes known is noted, and what is not told is not forgotten', () => {
  assert.equal(isKnown(SEEN, SEEN), true)
  assert.equal(isKnown(SEEN, NOTHING), true)
  assert.equal(isKnown(NOTHING, SEEN), false)
  assert.deepEqual(knownAfter(SEEN, { ...NOTHING, timeline: '00000002' }), { ...SEEN, timeline: '00000002' })
})
