import assert from 'node:assert/strict'
import test from 'node:test'
import { clientNetworkOf, isNetwork, networkList, plainAddress } from '../../src/platform/networks.ts'

test('[api-keys.9] an address has one spelling, and a mapped one is its IPv4 address', () => {
  const spellings: [given: string, plain: string | undefined][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:CB00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::203.0.113.7', '::cb00:7107'],
    ['203.0.113.07', undefined],
    ['203.0.113', undefined],
    ['unknown', undefined],
    ['', undefined],
  ]
  for (const [given, plain] of spellings) assert.equal(plainAddress(given), plain, given)
})

test('[api-keys.12] [strangers.1] the network of an address: IPv4 itself, IPv6 its /64, anything else one of its own', () => {
  for (const [address, network] of [
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:203.0.113.9', '2001:db8:1:2::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', 'no address'],
    ['junk', 'no address'],
    ['x'.repeat(10_000), 'no address'],
  ] as const) {
    assert.equal(clientNetworkOf(address), network)
  }
})

test('[api-keys.9] [production.7] [strangers.2] a network includes its addresses in every spelling', () => {
  const cases: [network: string, address: string, isIncluded: boolean][] = [
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.9/24', '203.0.113.1', true],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::ffff:203.0.113.0/120', '203.0.113.77', true],
    ['::ffff:203.0.113.0/120', '203.0.114.1', false],
    ['203.0.113.0/24', '::ffff:203.0.113.77', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::1', '2001:db8:0::1', true],
    ['::1', '0:0:0:0:0:0:0:1', true],
    ['2001:db8::/32', 'unknown', false],
    ['203.0.113.7', '203.0.113.7, 8.8.8.8', false],
    ['203.0.113.7', '', false],
  ]
  for (const [network, address, isIncluded] of cases) {
    assert.equal(networkList([network]).include(address), isIncluded, `${network} ${address}`)
  }
  assert.equal(networkList(['203.0.113.7', '2001:db8::/32']).include('2001:db8::9'), true)
  assert.equal(networkList([]).include('127.0.0.1'), false)
})

test('[api-keys.9] what is no network', () => {
  for (const text of [
    '',
    '203.0.113.0/33',
    '203.0.113.0/',
    '203.0.113.0/-1',
    '203.0.113.0/24/8',
    '2001:db8::/129',
    'a/8',
  ]) {
    assert.equal(isNetwork(text), false, text)
  }
  for (const text of ['203.0.113.0/0', '203.0.113.7', '2001:db8::/128', '::']) assert.ok(isNetwork(text), text)
})
