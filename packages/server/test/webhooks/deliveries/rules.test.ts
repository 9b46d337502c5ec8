import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import type { Answer } from '../../../src/platform/http-client/post.ts'
import { nextAttempt } from '../../../src/webhooks/deliveries/rules.ts'

const ENDED_AT = Date.parse('2026-11-21T13:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE

function status(statusCode: number, retryAfter?: string): Answer {
  return { statusCode, retryAfter }
}

/** The wait after this attempt, without the jitter, or the final state. */
function waitAfter(answer: Answer, attempt: number): number | string {
  const next = nextAttempt(answer, attempt, ENDED_AT, 0)
  return next.state === 'PENDING' ? next.nextAttemptAt - ENDED_AT - 500 : next.state
}

/** How many attempts a receiver that always answers so gets. */
function attemptsOf(answer: Answer): number {
  for (let attempt = 1; ; attempt++) if (waitAfter(answer, attempt) === 'FAILED') return attempt
}

test('[webhooks.6] [NO-4] any 2xx delivers, on any attempt', () => {
  for (const code of [200, 201, 202, 204, 299]) {
    for (const attempt of [1, 14, 20]) {
      assert.deepEqual(nextAttempt(status(code), attempt, ENDED_AT, 0.5), { state: 'DELIVERED' })
    }
  }
})

test('[webhooks.6] [NO-5] [NO-6] 14 attempts over about 76 hours where a retry may help', () => {
  const answers = [
    ...[500, 502, 503, 504, 599, 410, 401, 403, 404, 408, 409, 425, 429].map((code) => status(code)),
    ...(['timeout', 'dns', 'connect', 'tls', 'broken'] as const).map((failure) => ({ failure, code: undefined })),
  ]
  for (const answer of answers) {
    const waits = limits.webhookRetryDelaysMs.map((_, index) => waitAfter(answer, index + 1))
    assert.deepEqual(waits, [...limits.webhookRetryDelaysMs], JSON.stringify(answer))
    assert.equal(attemptsOf(answer), 14)
  }
  const total = limits.webhookRetryDelaysMs.reduce((sum, delay) => sum + delay, 0)
  assert.equal(total, 75 * HOUR + 52 * MINUTE + 35_000)
})

test('[webhooks.7] [NO-4] [NO-6] four attempts where it hardly can: other 4xx, and redirects', () => {
  for (const code of [300, 301, 302, 304, 307, 308, 400, 402, 405, 406, 413, 418, 422, 451, 499]) {
    assert.equal(attemptsOf(status(code)), 4, String(code))
  }
})

test('[webhooks.6] [NO-17] the whole schedule where the address is not allowed: it may be a wrong answer of the moment', () => {
  assert.equal(attemptsOf({ failure: 'address_not_allowed', code: undefined }), 14)
})

test('[webhooks.6] an attempt beyond the schedule, after leases that ran out, is the last', () => {
  assert.deepEqual(nextAttempt(status(500), 15, ENDED_AT, 0), { state: 'FAILED' })
})

test('[webhooks.6] [NO-6] Retry-After of 429 and 503 lengthens the wait, within bounds', () => {
  const waits: [Answer, number, number][] = [
    [status(503, '1'), 1, 5_000],
    [status(503, '20'), 1, 20_000],
    [status(429, '60'), 1, MINUTE],
    [status(429, '61'), 1, MINUTE],
    [status(429, ' 45 '), 1, 45_000],
    [status(503, '31'), 2, 31_000],
    [status(503, '999999'), 4, 10 * MINUTE],
    [status(503, '999999'), 9, 6 * HOUR],
    [status(503, '999999'), 13, 24 * HOUR],
    [status(503, 'Sat, 21 Nov 2026 13:00:30 GMT'), 1, 30_000],
    [status(503, 'Sat, 21 Nov 2026 12:00:00 GMT'), 1, 5_000],
    [status(503, 'soon'), 1, 5_000],
    [status(503, '-10'), 1, 5_000],
    [status(503, ''), 1, 5_000],
    [status(500, '30'), 1, 5_000],
    [status(404, '30'), 1, 5_000],
  ]
  for (const [answer, attempt, expected] of waits) {
    assert.equal(waitAfter(answer, attempt), expected, JSON.stringify([answer, attempt]))
  }
})

test('[webhooks.6] [NO-15] jitter only adds: up to a tenth, at least half a second, at most ten minutes', () => {
  const jitterAfter = (attempt: number, random: number) => {
    const next = nextAttempt(status(500), attempt, ENDED_AT, random)
    assert.equal(next.state, 'PENDING')
    const base = limits.webhookRetryDelaysMs[attempt - 1] ?? Number.NaN
    return 'nextAttemptAt' in next ? next.nextAttemptAt - ENDED_AT - base : Number.NaN
  }
  assert.equal(jitterAfter(1, 0.99), 500)
  assert.equal(jitterAfter(3, 0), 500)
  assert.equal(jitterAfter(3, 0.5), 6_000)
  assert.equal(jitterAfter(13, 0.99), 600_000)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 13 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, random) => {
        const jitter = jitterAfter(attempt, random)
        const base = limits.webhookRetryDelaysMs[attempt - 1] ?? Number.NaN
        assert.ok(jitter >= 500 && jitter <= Math.min(base / 10, 600_000), `${jitter} ms after attempt ${attempt}`)
      },
    ),
  )
})
