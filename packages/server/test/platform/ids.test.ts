import assert from 'node:assert/strict'
import test from 'node:test'
import { createIds, isUuid, uuidText, uuidV7 } from '../../src/platform/ids.ts'

test('[ids.1] an id is a UUIDv7: its instant, its version, its place, its variant, eight random bytes', () => {
  assert.equal(uuidV7(0x0198c0de7a11, 0, '0'.repeat(16)), '0198c0de-7a11-7000-8000-000000000000')
  assert.equal(uuidV7(0x0198c0de7a11, 0xabc, 'f'.repeat(16)), '0198c0de-7a11-7abc-bfff-ffffffffffff')
  for (const random of ['0123456789abcdef', '4123456789abcdef', '8123456789abcdef', 'c123456789abcdef']) {
    assert.equal(uuidV7(1, 0xfff, random), '00000000-0001-7fff-8123-456789abcdef', 'two bits tell the variant')
  }
  const variants = Array.from({ length: 16 }, (_, digit) => uuidV7(0, 0, digit.toString(16).padEnd(16, '0'))[19])
  assert.equal(variants.join(''), '89ab89ab89ab89ab')
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
