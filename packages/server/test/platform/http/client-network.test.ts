import assert from 'node:assert/strict'
import test from 'node:test'
import { clientNetwork, networkTest } from '../../../src/platform/http/client-network.ts'

test('[strangers.1] a network is an IPv4 address, however it is written, or the first 64 bits of one of IPv6', () => {
  for (const [address, network] of [
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:203.0.113.9', '2001:db8:1:2::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ] as const) {
    assert.equal(clientNetwork(address), network)
  }
})

test('[strangers.2] a proxy is known by its address, alone or in a network', () => {
  const isProxy = networkTest(['10.1.0.0/16', '203.0.113.9', '2001:db8::/32'])
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '203.0.113.9', '2001:db8::1'])
    assert.ok(isProxy(address), address)
  for (const address of ['10.2.0.1', '203.0.113.8', '::1', '', 'unknown']) assert.ok(!isProxy(address), address)
  assert.ok(!networkTest([])('127.0.0.1'))
})
