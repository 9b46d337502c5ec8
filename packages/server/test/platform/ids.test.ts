import assert from 'node:assert/strict'
import test from 'node:test'
import { createIds, isUuid, uuidText, uuidV7 } from '../../src/platform/ids.ts'

test('[ids.1] an id is a UUIDv7: its instant, its version, its place, its variant, eight random bytes', () => {
  const ones = Buffer.alloc(8, 0xff)
  assert.equal(uuidV7(0x0198c0de7a11, 0, Buffer.alloc(8)), '0198c0de-7a11-7000-8000-000000000000')
  assert.equal(uuidV7(0x0198c0de7a11, 0xabc, ones), '0198c0de-7a11-7abc-bfff-ffffffffffff')
  assert.deepEqual(ones, Buffer.alloc(8, 0xff), 'the bytes that were given are not changed')
  assert.match(uuidText(Buffer.alloc(16), 8), /^00000000-0000-8000-8000-000000000000$/)
})

test('[ids.1] ids sort by creation, also within a millisecond, and none comes twice', () => {
  let at = Date.parse('2026-11-21T13:00:00Z')
  const ids = createIds({ now: () => at++ })
  const made = Array.from({ length: 5_000 }, () => ids.uuid())
  assert.deepEqual([...made].sort(), made)
  const still = createIds({ now: () => at })
  const many = Array.from({ length: 20_000 }, () => still.uuid())
  assert.equal(new Set(many).size, many.length)
  assert.deepEqual([...many].sort(), many)
  assert.ok(many.every(isUuid))
})

test('[cash-in.detail.2] what is no UUID in its canonical form is none', () => {
  const id = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
  assert.ok(isUuid(id))
  assert.ok(isUuid(id.toUpperCase()))
  for (const text of ['', ` ${id}`, `${id}\n`, `{${id}}`, id.replaceAll('-', ''), `${id}0`, id.replace('0', 'g')]) {
    assert.equal(isUuid(text), false, JSON.stringify(text))
  }
})
