import assert from 'node:assert/strict'
import test from 'node:test'
import { bucketOf, firstBucket, freesAt } from '../../../src/operations/caps.ts'

const at = (text: string) => Date.parse(text)
const MINUTE = 60_000

test('[limits.2] an hour is counted by minutes and a day by quarters, and neither is ever shorter than it says', () => {
  for (const [span, windowMs] of [
    ['hour', 60 * MINUTE],
    ['day', 24 * 60 * MINUTE],
  ] as const) {
    for (const now of [at('2026-11-21T13:00:00.000Z'), at('2026-11-21T13:07:31.999Z')]) {
      const since = firstBucket(span, bucketOf(span, now) ?? Number.NaN)
      assert.ok((bucketOf(span, now - windowMs) ?? 0) >= since, 'what was exactly that long ago counts')
      assert.ok((bucketOf(span, now - windowMs - 15 * MINUTE) ?? since) < since)
    }
  }
})

test('[limits.3] a night is from 20:00 to 06:00 in São Paulo, and belongs to its evening', () => {
  const night = bucketOf('night', at('2026-11-21T23:00:00.000Z'))
  assert.equal(night, Math.floor(at('2026-11-21T00:00:00.000Z') / (24 * 60 * MINUTE)))
  assert.equal(bucketOf('night', at('2026-11-22T08:59:59.999Z')), night, 'one night, on both sides of midnight')
  assert.equal(bucketOf('night', at('2026-11-22T02:59:59.999Z')), night)
  for (const day of ['2026-11-21T22:59:59.999Z', '2026-11-22T09:00:00.000Z', '2026-11-22T15:00:00.000Z']) {
    assert.equal(bucketOf('night', at(day)), null, day)
  }
  assert.equal(bucketOf('night', at('2026-11-22T23:00:00.000Z')), (night ?? 0) + 1)
  assert.notEqual(bucketOf('night', at('2018-12-01T22:00:00.000Z')), null, 'an hour earlier while it had summer time')
})

test('[limits.8] it frees when enough of what was used drops out of the window', () => {
  const now = at('2026-11-21T13:30:30.000Z')
  const bucket = bucketOf('hour', now) ?? 0
  const bound = { since: firstBucket('hour', bucket), maxCents: 100n }
  const used = new Map([
    [bucket - 1, 30n],
    [bucket - 40, 50n],
    [bucket - 61, 1_000n],
  ])
  assert.equal(freesAt('hour', { used, bound, valueCents: 70n }), at('2026-11-21T13:51:00.000Z'))
  assert.equal(freesAt('hour', { used, bound, valueCents: 71n }), at('2026-11-21T14:30:00.000Z'))
  assert.equal(freesAt('hour', { used, bound, valueCents: 101n }), null, 'it never fits')
  const when = freesAt('hour', { used, bound, valueCents: 70n }) ?? 0
  assert.ok(firstBucket('hour', bucketOf('hour', when) ?? 0) > bucket - 40)
  assert.ok(firstBucket('hour', bucketOf('hour', when - 1) ?? 0) <= bucket - 40)
})

test('[limits.8] a night’s limit frees at its end', () => {
  const bucket = bucketOf('night', at('2026-11-22T05:00:00.000Z')) ?? 0
  const bound = { since: bucket, maxCents: 100n }
  const night = { used: new Map([[bucket, 90n]]), bound, valueCents: 20n }
  assert.equal(freesAt('night', night), at('2026-11-22T09:00:00.000Z'))
})
