import assert from 'node:assert/strict'
import test from 'node:test'
import { addressList } from '../../src/platform/address-list.ts'

test('[production.7] an address is in a list however it is spelt, and no other text is', () => {
  const has = addressList(['203.0.113.7', '198.51.100.0/24', '2001:db8::/32', '::1'])
  for (const address of [
    ...['203.0.113.7', '::ffff:203.0.113.7', '::FFFF:cb00:7107', '198.51.100.0', '198.51.100.255', '::1'],
    ...['2001:db8::1', '2001:0DB8:0:0:0:0:0:1', '0:0:0:0:0:0:0:1'],
  ]) {
    assert.equal(has(address), true, address)
  }
  for (const address of ['203.0.113.8', '198.51.101.0', '2001:db9::1', '::2', '', 'unknown', '203.0.113.7, 8.8.8.8']) {
    assert.equal(has(address), false, address)
  }
  assert.equal(addressList([])('127.0.0.1'), false)
})
