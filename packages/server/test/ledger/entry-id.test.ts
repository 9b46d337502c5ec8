import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { entryId, entryVersion } from '../../src/ledger/ledger.ts'
import { isUuid } from '../../src/platform/ids.ts'

const ACCOUNT = '6f0f9f6e-5a0e-4c59-9d5c-6a8a0d0f1b2c'
const OTHER_ACCOUNT = '6f0f9f6e-5a0e-4c59-9d5c-6a8a0d0f1b2d'

const version = fc.bigInt({ min: 1n, max: (1n << 62n) - 1n })

test('[ledger.get] an id is a UUID that leads back to its entry, in either case', () => {
  fc.assert(
    fc.property(version, (version) => {
      const id = entryId(ACCOUNT, version)
      assert.ok(isUuid(id))
      assert.equal(entryVersion(ACCOUNT, id), version)
      assert.equal(entryVersion(ACCOUNT, id.toUpperCase()), version)
    }),
  )
})

test('[ledger.get] an id of another account, or with one digit changed, is not found', () => {
  const digit = fc.record({ place: fc.nat(31), by: fc.integer({ min: 1, max: 15 }) })
  fc.assert(
    fc.property(version, digit, (version, { place, by }) => {
      assert.equal(entryVersion(ACCOUNT, entryId(OTHER_ACCOUNT, version)), undefined)
      const digits = [...entryId(ACCOUNT, version).replaceAll('-', '')]
      digits[place] = ((Number.parseInt(digits[place] ?? '', 16) + by) % 16).toString(16)
      const forged = digits.join('').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
      assert.equal(entryVersion(ACCOUNT, forged), undefined)
    }),
  )
})

test('[ledger.get] what is no UUID is nobody’s id', () => {
  for (const text of ['', '1', entryId(ACCOUNT, 1n).replaceAll('-', ''), `${entryId(ACCOUNT, 1n)} `]) {
    assert.equal(entryVersion(ACCOUNT, text), undefined, text)
  }
})
