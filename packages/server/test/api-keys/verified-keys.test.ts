import assert from 'node:assert/strict'
import test from 'node:test'
import { createVerifiedKeys, type VerifiedKeys } from '../../src/api-keys/authenticate.ts'
import { everything } from './fixture.ts'

function clockAt(start: number) {
  let time = start
  return { now: () => time, advance: (ms: number) => (time += ms) }
}

const hash = (n: number) => Buffer.alloc(32, n).toString('hex')

/** The key with this hash, and whether it is fresh; `undefined` where there is none. */
function known(verified: VerifiedKeys, n: number): string | undefined {
  const found = verified.get(hash(n))
  return found && `${found.key.id}${found.isFresh ? '' : ', to be asked about'}`
}

test('[api-keys.4] a verified key is remembered for less than 5 s from the question on, however often it is used, until it is verified again', () => {
  const clock = clockAt(10_000)
  const verified = createVerifiedKeys(clock, 10)
  verified.put(hash(1), everything('key 1'), 9_000)
  clock.advance(3_999)
  assert.equal(known(verified, 1), 'key 1')
  clock.advance(1)
  assert.equal(known(verified, 1), 'key 1, to be asked about')
  verified.put(hash(1), everything('key 1'), 14_000)
  assert.equal(known(verified, 1), 'key 1')
})

test('[api-keys.4] their number is bounded; the one unused longest goes', () => {
  const verified = createVerifiedKeys(clockAt(0), 2)
  verified.put(hash(1), everything('key 1'), 0)
  verified.put(hash(2), everything('key 2'), 0)
  verified.get(hash(1))
  verified.put(hash(3), everything('key 3'), 0)
  assert.deepEqual(
    [1, 2, 3].map((n) => known(verified, n)),
    ['key 1', undefined, 'key 3'],
  )
})

test('[api-keys.6] cleared, they are forgotten, those too that were asked about before and are answered later', () => {
  const clock = clockAt(1_000)
  const verified = createVerifiedKeys(clock, 10)
  verified.put(hash(1), everything('key 1'), 1_000)
  clock.advance(10)
  verified.clear()
  assert.equal(known(verified, 1), undefined)
  for (const askedAt of [1_009, 1_010]) {
    verified.put(hash(1), everything('key 1'), askedAt)
    assert.equal(known(verified, 1), undefined)
  }
  clock.advance(1)
  verified.put(hash(1), everything('key 1'), 1_011)
  assert.equal(known(verified, 1), 'key 1')
})
