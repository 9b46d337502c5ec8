import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { addressesIn, DnsUnavailable } from '../../../src/platform/http-client/agent.ts'
import { isPublicAddress } from '../../../src/platform/networks.ts'

const PUBLIC = ['8.8.8.8', '168.63.129.15', '2001:200::1', '2606:4700:4700::1111']

/** Those that attackers try, and what is no address; the other special networks are compared with another library below. */
const NOT_PUBLIC = [
  ...['0.0.0.0', '10.0.0.1', '100.100.100.200', '127.0.0.1', '168.63.129.16', '169.254.169.254', '192.168.1.1'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::', 'fd00:ec2::254'],
  ...['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'fe80::1', 'fe80::1%eth0', '', 'localhost', '0x7f.1', '1.1.1', '[::1]'],
]

test('[webhooks.1] addresses that anybody can reach are public', () => {
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address)
})

test('[webhooks.1] special addresses, and what is no address, are not public', () => {
  for (const address of NOT_PUBLIC) assert.equal(isPublicAddress(address), false, address)
})

test('[webhooks.1] an IPv4 address is never public inside an IPv6 address', () => {
  const hextet = fc.nat(0xffff).map((value) => value.toString(16))
  fc.assert(
    fc.property(hextet, hextet, (high, low) => {
      for (const prefix of ['::', '::ffff:', '64:ff9b::', '2001:0:4136:e378:8000:0:']) {
        assert.equal(isPublicAddress(`${prefix}${high}:${low}`), false)
      }
      assert.equal(isPublicAddress(`2002:${high}:${low}::1`), false)
    }),
  )
})

test('[webhooks.1] no spelling of a private IPv4 address becomes a public one in a URL', () => {
  const privateAddress = fc
    .tuple(fc.constantFrom([127, 0], [10, 0], [192, 168], [169, 254], [172, 16]), fc.nat(255), fc.nat(255))
    .map(([network, third, fourth]) => [...network, third, fourth] as [number, number, number, number])
  fc.assert(
    fc.property(privateAddress, (octets) => {
      for (const spelling of spellings(octets)) {
        const { hostname } = new URL(`http://${spelling}/`)
        assert.equal(hostname, octets.join('.'), spelling)
        assert.equal(isPublicAddress(hostname), false, spelling)
      }
    }),
  )
})

/** All of IPv6 that nobody has been given, and the address of Azure's host. */
const ONLY_OURS_REFUSES = ['::/3', '4000::/2', '8000::/1', '168.63.129.16/32']

/** AS112 and multicast relays: special, and reachable by anybody (IANA's registries of special-purpose addresses). */
const ONLY_OURS_ALLOWS = ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '2620:4f:8000::/48']

/** Every network that either of the two treats specially, and one of each family that neither does. */
const NETWORKS = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32', '8.0.0.0/7'],
  ...['::/128', '::1/128', '::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64'],
  ...['2000::/3', '2001::/32', '2001:2::/48', '2001:3::/32', '2001:4:112::/48', '2001:10::/28', '2001:20::/28'],
  ...['2001:30::/28', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10'],
  ...['fec0::/10', 'ff00::/8', '2a00::/16'],
  ...ONLY_OURS_REFUSES,
  ...ONLY_OURS_ALLOWS,
]

test('[webhooks.1] another library finds the same addresses public, but for those that are named here', () => {
  fc.assert(
    fc.property(fc.oneof(...NETWORKS.map(addressesAround)), (address) => {
      const isUnicast = address.range() === 'unicast'
      const isExpected = (isUnicast && !isInside(address, ONLY_OURS_REFUSES)) || isInside(address, ONLY_OURS_ALLOWS)
      assert.equal(isPublicAddress(address.toString()), isExpected, `${address} is ${address.range()}`)
    }),
    { numRuns: 10_000 },
  )
})

type Address = ipaddr.IPv4 | ipaddr.IPv6

function isInside(address: Address, networks: readonly string[]): boolean {
  return networks
    .map((network) => ipaddr.parseCIDR(network))
    .some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}

/** Addresses of a network, of the one before it and the one after it; the first and the last of each more often. */
function addressesAround(cidr: string): fc.Arbitrary<Address> {
  const [network, bits] = ipaddr.parseCIDR(cidr)
  const bytes = network.toByteArray()
  const size = 1n << BigInt(8 * bytes.length - bits)
  const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const all = 1n << BigInt(8 * bytes.length)
  const offset = fc.oneof(fc.constantFrom(0n, size - 1n), fc.bigInt({ min: 0n, max: size - 1n }))
  return fc.tuple(fc.constantFrom(-1n, 0n, 1n), offset).map(([neighbour, within]) => {
    const value = (first + neighbour * size + within + all) % all
    return ipaddr.fromByteArray([...Buffer.from(value.toString(16).padStart(2 * bytes.length, '0'), 'hex')])
  })
}

function spellings(octets: readonly [number, number, number, number]): string[] {
  const [first, second, third, fourth] = octets
  const whole = octets.reduce((value, octet) => value * 256 + octet, 0)
  return [
    octets.join('.'),
    `${octets.join('.')}.`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0${whole.toString(8)}`,
    octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    `${first}.${second}.${third * 256 + fourth}`,
    `${first}.${(second * 256 + third) * 256 + fourth}`,
    octets.join('.').replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    octets.join('%2e'),
    octets.join('。'),
  ]
}

const found = (...addresses: string[]) => ({ status: 'fulfilled', value: addresses }) as const
const none = (code: string) => ({ status: 'rejected', reason: Object.assign(new Error(code), { code }) }) as const

test('[webhooks.11] what a name server says of a name is told from its silence', () => {
  assert.deepEqual(addressesIn([found('8.8.8.8'), none('ENODATA')]), ['8.8.8.8'])
  assert.deepEqual(addressesIn([found('8.8.8.8'), none('ETIMEOUT')]), ['8.8.8.8'])
  assert.deepEqual(addressesIn([none('ENOTFOUND'), none('ENODATA')]), [])
  for (const code of ['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED', 'EREFUSED']) {
    assert.throws(() => addressesIn([none('ENODATA'), none(code)]), DnsUnavailable, code)
  }
})
