import assert from 'node:assert/strict'
import test from 'node:test'
import { haveFewPublicAddresses } from '../../src/platform/networks.ts'

const halves = ['0.0.0.0/1', '128.0.0.0/1']
const eighths = Array.from({ length: 256 }, (_, first) => `${first}.0.0.0/8`)

test('[production.3] networks that leave most of the Internet out are narrow, private ones also whole', () => {
  for (const networks of [
    [],
    ['203.0.113.7'],
    ['203.0.113.7/32', '::1', 'fe80::1%eth0'],
    ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', 'fc00::/7'],
    ['::ffff:10.0.0.0/104'],
    ['104.16.0.0/13', '172.64.0.0/13', '131.0.72.0/22', '2400:cb00::/32', '2a06:98c0::/29'],
    ['8.0.0.0/8'],
    ['8.0.0.0/8', '8.8.0.0/16', '8.8.8.8'],
    ['2000::/19'],
  ]) {
    assert.equal(haveFewPublicAddresses(networks), true, networks.join())
  }
})

test('[production.3] networks of everybody are not narrow, however they are spelt or cut into pieces', () => {
  for (const networks of [
    ['0.0.0.0/0'],
    ['9.9.9.9/0'],
    ['::/0'],
    ['::/1'],
    ['::/80'],
    ['::ffff:0:0/96'],
    ['::ffff:0.0.0.0/96'],
    ['0:0:0:0:0:FFFF:0:0/96'],
    ['::ffff:128.0.0.0/97'],
    halves,
    ['0.0.0.0/1', '::ffff:8000:0/97'],
    ['8.0.0.0/7'],
    ['8.0.0.0/8', '9.0.0.0'],
    eighths,
    eighths.flatMap((network) => [network.replace('.0.0.0/8', '.0.0.0/9'), network.replace('.0.0.0/8', '.128.0.0/9')]),
    ['2000::/3'],
    ['2000::/18'],
    ['2002::/16'],
    ['10.0.0.0/6'],
    ['fc00::/6'],
  ]) {
    assert.equal(haveFewPublicAddresses(networks), false, networks.join().slice(0, 80))
  }
})
