import assert from 'node:assert/strict'
import test from 'node:test'
import { RequestTimes } from '../../../src/platform/http-client/post.ts'

test('[webhooks.17] each part of a new connection has its own time, and the total all of them', () => {
  let now = 1_000
  const times = new RequestTimes(() => now)
  times.connecting()
  for (const [part, ms] of [
    ['dns', 3],
    ['connect', 5],
    ['tls', 7],
    ['wait', 11],
  ] as const) {
    times.enter(part)
    now += ms
  }
  assert.deepEqual(times.split(), { dnsMs: 3, connectMs: 5, tlsMs: 7, waitMs: 11, totalMs: 26 })
})
