import assert from 'node:assert/strict'
import test from 'node:test'
import { nearestName } from '../../src/platform/variables.ts'

test('[config.7] the nearest name is the one with the fewest letters left out, added, changed or swapped', () => {
  const known = ['PIXGATE_MODE', 'PIXGATE_BANK', 'PIXGATE_PAYMENT_MAX_CENTS', 'PIXGATE_NEW_RECIPIENT_MAX_CENTS']
  const nearest = (name: string) => nearestName(name, known)
  assert.equal(nearest('PIXGATE_MODE'), 'PIXGATE_MODE')
  assert.equal(nearest('pixgate_moed'), 'PIXGATE_MODE')
  assert.equal(nearest('PIXGATE_BNKA'), 'PIXGATE_BANK')
  assert.equal(nearest('PIXGATE_PAYMENT-MAX-CENTS'), 'PIXGATE_PAYMENT_MAX_CENTS')
  assert.equal(nearest('PIXGATE_PAYMENT_MAXIMUM_CENTS'), 'PIXGATE_PAYMENT_MAX_CENTS')
  assert.equal(nearest('PIXGATE_NEW_RECIPENT_MAX_CENT'), 'PIXGATE_NEW_RECIPIENT_MAX_CENTS')
  assert.equal(nearest('PIXGATE_COLOUR'), undefined)
  assert.equal(nearestName('', known), undefined)
  assert.equal(nearestName('anything', []), undefined)
})

const FIELDS = ['value', 'externalId', 'description', 'expirationTime', 'generateQrCode', 'end_date']

test('[http.7] a name in another style or cut short is near the one that was meant, one like none is near none', () => {
  for (const wrong of ['', 'x', 'amount', 'callbackUrl', '__proto__', 'a'.repeat(64)]) {
    assert.equal(nearestName(wrong, FIELDS), undefined, wrong)
  }
  for (const [wrong, meant] of [
    ['external_id', 'externalId'],
    ['expiration', 'expirationTime'],
    ['endDate', 'end_date'],
  ] as const)
    assert.equal(nearestName(wrong, FIELDS), meant, wrong)
})
