import assert from 'node:assert/strict'
import test from 'node:test'
import { createSealer, NotOpened, type Place } from '../../src/platform/sealing.ts'

const KEY = 'the configured encryption key'
const OTHER = 'the encryption key of another year'
const PLACE: Place = { table: 'signing_key', row: 'brBF9ATMQOcuvXdP', column: 'private_key' }
const PLAIN = Buffer.from('a private key')

const sealer = createSealer({ current: KEY, previous: undefined })

/** What the values of this format are made of. */
const REGIONS = { format: [0, 4], 'key id': [4, 12], nonce: [12, 24], ciphertext: [24, 37], tag: [37, 53] } as const

function notOpened(reason: NotOpened['reason']) {
  return (error: unknown) => error instanceof NotOpened && error.reason === reason
}

test('[encryption.1] what was sealed opens with the same key, at its place', () => {
  const sealed = sealer.seal(PLAIN, PLACE)
  assert.deepEqual(sealer.open(sealed, PLACE), { plain: PLAIN, by: 'current' })
  assert.ok(!sealed.includes(PLAIN))
  assert.equal(sealed.length, REGIONS.tag[1])
  assert.deepEqual(sealer.open(sealer.seal(Buffer.alloc(0), PLACE), PLACE).plain, Buffer.alloc(0))
})

test('[encryption.1] the same thing sealed twice looks different, but for the id of its key, which is no secret', () => {
  const [one, two] = [sealer.seal(PLAIN, PLACE), sealer.seal(PLAIN, PLACE)]
  assert.deepEqual(one.subarray(0, 12), two.subarray(0, 12))
  assert.notDeepEqual(one.subarray(12, 24), two.subarray(12, 24))
  assert.notDeepEqual(one.subarray(24), two.subarray(24))
  const ofOther = createSealer({ current: OTHER, previous: undefined }).seal(PLAIN, PLACE)
  assert.notDeepEqual(one.subarray(4, 12), ofOther.subarray(4, 12))
})

for (const [region, [from, to]] of Object.entries(REGIONS)) {
  test(`[encryption.1] a bit that was changed in the ${region} keeps it closed`, () => {
    const sealed = sealer.seal(PLAIN, PLACE)
    // The first 12 bytes name the key.
    const reason = to <= 12 ? 'another_key' : 'changed'
    for (let bit = from * 8; bit < to * 8; bit++) {
      const forged = Buffer.from(sealed)
      forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7))
      assert.throws(() => sealer.open(forged, PLACE), notOpened(reason), `bit ${bit}`)
    }
  })
}

test('[encryption.1] cut off or made longer anywhere, it does not open', () => {
  const sealed = sealer.seal(PLAIN, PLACE)
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => sealer.open(sealed.subarray(0, length), PLACE), NotOpened, `${length} bytes`)
  }
  assert.throws(() => sealer.open(Buffer.concat([sealed, Buffer.alloc(1)]), PLACE), notOpened('changed'))
  const nothing = sealer.seal(Buffer.alloc(0), PLACE)
  assert.throws(() => sealer.open(nothing.subarray(0, -4), PLACE), NotOpened, 'a part of the tag is no tag')
})

test('[encryption.1] moved to another table, row or column, it does not open', () => {
  const sealed = sealer.seal(PLAIN, PLACE)
  const places: Place[] = [
    { ...PLACE, table: 'signing_keys' },
    { ...PLACE, row: 'another-key-id__' },
    { ...PLACE, column: 'public_pem' },
    { table: 'signing_key","brBF9ATMQOcuvXdP', row: 'private_key', column: '' },
  ]
  for (const place of places) assert.throws(() => sealer.open(sealed, place), notOpened('changed'), place.table)
})

test('[encryption.2] the previous key opens what it sealed, and seals nothing', () => {
  const before = createSealer({ current: OTHER, previous: undefined })
  const both = createSealer({ current: KEY, previous: OTHER })
  assert.deepEqual(both.open(before.seal(PLAIN, PLACE), PLACE), { plain: PLAIN, by: 'previous' })
  assert.equal(sealer.open(both.seal(PLAIN, PLACE), PLACE).by, 'current')
  assert.throws(() => before.open(both.seal(PLAIN, PLACE), PLACE), notOpened('another_key'))
  assert.throws(() => sealer.open(before.seal(PLAIN, PLACE), PLACE), notOpened('another_key'))
})
