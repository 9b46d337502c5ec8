import assert from 'node:assert/strict'
import test from 'node:test'
import { followRequest, refuseLapsed } from '../../src/platform/live-request.ts'
import type { EventLoop } from '../../src/platform/runtime.ts'
import { AWAKE } from '../support/live-request.ts'

test('[http.14] [PL-5] a request lapses 5 s after its last byte, not after its first', () => {
  let now = 0
  const request = followRequest({ ...AWAKE, now: () => now }, () => false)
  now = 4_000
  request.markArrived()
  now = 8_999
  assert.equal(request.hasLapsed(), false)
  now = 9_000
  assert.equal(request.hasLapsed(), true)
})

test('[http.14] [PL-6] a request lapses with its client', () => {
  let isGone = false
  const request = followRequest(AWAKE, () => isGone)
  assert.equal(request.hasLapsed(), false)
  refuseLapsed(request)
  isGone = true
  assert.equal(request.hasLapsed(), true)
  assert.throws(() => refuseLapsed(request), { code: 'overloaded', retryAfterSeconds: 1 })
})

test('[http.14] [PL-5] a request that was read, or that arrived, before the process slept has lapsed', () => {
  let gaps = 0
  const loop: EventLoop = {
    ...AWAKE,
    mark: () => ({ gaps, isWaking: false }),
    hasStoodStillSince: (mark) => mark.gaps !== gaps,
  }
  const [before, arriving] = [followRequest(loop, () => false), followRequest(loop, () => false)]
  gaps = 1
  arriving.markArrived()
  const after = followRequest(loop, () => false)
  assert.deepEqual(
    [before, arriving, after].map((request) => request.hasLapsed()),
    [true, true, false],
  )
})
