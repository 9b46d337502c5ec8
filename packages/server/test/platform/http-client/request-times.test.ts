import assert from 'node:assert/strict'
import test from 'node:test'
import { RequestTimes } from '../../../src/platform/http-client/post.ts'

function clocked() {
  let now = 1_000
  const times = new RequestTimes(() => now)
  return {
    times,
    spend: (ms: number) => {
      now += ms
    },
  }
}

test('[webhooks.17] on a connection that was kept there is nothing but the wait', () => {
  const { times, spend } = clocked()
  spend(12.4)
  assert.deepEqual(times.split(), { dnsMs: null, connectMs: null, tlsMs: null, waitMs: 12, totalMs: 12 })
})

test('[webhooks.17] each part of a new connection has its own time, and the total all of them', () => {
  const { times, spend } = clocked()
  times.connecting()
  for (const [part, ms] of [
    ['dns', 3],
    ['connect', 5],
    ['tls', 7],
    ['wait', 11],
  ] as const) {
    times.enter(part)
    spend(ms)
  }
  assert.deepEqual(times.split(), { dnsMs: 3, connectMs: 5, tlsMs: 7, waitMs: 11, totalMs: 26 })
})

test('[webhooks.17] what it did not come to has no time: what it hung in has', () => {
  const { times, spend } = clocked()
  times.connecting()
  times.enter('dns')
  spend(2_000)
  assert.deepEqual(times.split(), { dnsMs: 2_000, connectMs: null, tlsMs: null, waitMs: null, totalMs: 2_000 })
})
