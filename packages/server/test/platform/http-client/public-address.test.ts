import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isPublicAddress } from '../../../src/platform/http-client/public-address.ts'

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '168.63.129.15',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00::1',
]

const NOT_PUBLIC = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::7f00:1',
  '100::1',
  '1fff::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '',
  'localhost',
  '0x7f.1',
  '1.1.1',
  '[::1]',
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
