import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createTokenBuckets, type TokenBucketOptions } from '../../src/platform/token-bucket.ts'

/** Buckets on a clock that the test moves. */
function buckets(options: Partial<TokenBucketOptions> = {}) {
  let time = 1_763_730_000_000
  const made = createTokenBuckets({ now: () => time }, { perMinute: 600, capacity: 100, bucketsMax: 10, ...options })
  return {
    ...made,
    advance: (ms: number) => {
      time += ms
    },
    takes: (name: string, count: number) => Array.from({ length: count }, () => made.take(name)),
  }
}

test('[http.12] a full bucket gives all it has at once, then one at a time', () => {
  const { take, takes, advance } = buckets()
  assert.deepEqual(takes('a', 100), Array(100).fill(0))
  assert.equal(take('a'), 100)
  advance(99)
  assert.equal(take('a'), 1)
  advance(1)
  assert.equal(take('a'), 0)
  assert.equal(take('a'), 100)
})

test('[http.12] a bucket left alone fills up to the brim and no further', () => {
  const { take, takes, advance } = buckets()
  takes('a', 100)
  advance(24 * 60 * 60 * 1_000)
  assert.deepEqual(takes('a', 100), Array(100).fill(0))
  assert.equal(take('a'), 100)
})

test('[http.12] peeking consumes no token', () => {
  const { take, waitMs } = buckets({ perMinute: 5, capacity: 1 })
  assert.equal(waitMs('a'), 0)
  assert.equal(waitMs('a'), 0)
  assert.equal(take('a'), 0)
  assert.equal(waitMs('a'), 12_000)
})

test('[http.12] the number of buckets is bounded; the one used longest ago is forgotten', () => {
  const { take, waitMs } = buckets({ capacity: 2, bucketsMax: 2 })
  take('a')
  take('a')
  take('b')
  take('b')
  take('c')
  take('c')
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => waitMs(name)),
    [0, 100, 100],
  )
})

test('[http.12] no span of time sees more than a full bucket and what flowed in; a wait is exact', () => {
  const perMinute = fc.integer({ min: 1, max: 10_000 })
  const capacity = fc.integer({ min: 1, max: 20 })
  const pauses = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(perMinute, capacity, pauses, (perMinute, capacity, pauses) => {
      const { take, waitMs, advance } = buckets({ perMinute, capacity })
      const takenAt: number[] = []
      let now = 0
      for (const pause of pauses) {
        advance(pause)
        now += pause
        const wait = take('a')
        if (wait === 0) takenAt.push(now)
        else {
          advance(wait - 1)
          assert.equal(waitMs('a'), 1)
          advance(1)
          assert.equal(waitMs('a'), 0)
          now += wait
        }
      }
      takenAt.forEach((from, first) => {
        takenAt.slice(first).forEach((to, more) => {
          assert.ok(more + 1 <= capacity + ((to - from) * perMinute) / 60_000 + 1e-9)
        })
      })
    }),
  )
})
