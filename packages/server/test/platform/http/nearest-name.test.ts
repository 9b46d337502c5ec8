import assert from 'node:assert/strict'
import test from 'node:test'
import { nearestName } from '../../../src/platform/http/nearest-name.ts'

const KNOWN = ['value', 'externalId', 'description', 'expirationTime', 'generateQrCode', 'end_date']

test('[http.7] a mistyped name is near the one that was meant', () => {
  for (const [wrong, meant] of [
    ['valeu', 'value'],
    ['valu', 'value'],
    ['Value', 'value'],
    ['external_id', 'externalId'],
    ['externalID', 'externalId'],
    ['exteralId', 'externalId'],
    ['descriptoin', 'description'],
    ['generateQRcode', 'generateQrCode'],
    ['expiration', 'expirationTime'],
    ['endDate', 'end_date'],
  ] as const) {
    assert.equal(nearestName(wrong, KNOWN), meant, wrong)
  }
})

test('[http.7] a name that is like none is near none', () => {
  for (const wrong of ['', 'x', 'amount', 'callbackUrl', '__proto__', 'a'.repeat(64)]) {
    assert.equal(nearestName(wrong, KNOWN), undefined, wrong)
  }
  assert.equal(nearestName('value', []), undefined)
})
