import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import type { Answer } from '../../src/platform/http-client/post.ts'
import { type Attempted, heldUntil, nextStep, SCHEDULE_ATTEMPTS } from '../../src/webhooks/schedule.ts'

const ENDED_AT = Date.parse('2026-11-21T13:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE

function status(statusCode: number, retryAfter?: string): Answer {
  return { statusCode, retryAfter }
}

const FRESH: Attempted = { scheduleLeft: SCHEDULE_ATTEMPTS, resendLeft: 0, isProbe: false, failedProbes: 0 }

/** A delivery before this attempt of its schedule. */
function before(attempt: number, more: Partial<Attempted> = {}): Attempted {
  return { ...FRESH, scheduleLeft: SCHEDULE_ATTEMPTS + 1 - attempt, ...more }
}

/** The wait after this attempt, without the jitter, or the result. */
function waitAfter(answer: Answer, attempt: number): number | string {
  const { result, dueAt } = nextStep(answer, before(attempt), ENDED_AT, 0)
  return dueAt === null ? result : dueAt - ENDED_AT - 500
}

/** Attempts of an endpoint that always answers so. */
function attemptsOf(answer: Answer, first: Attempted = FRESH): number {
  let attempted = first
  for (let attempt = 1; ; attempt++) {
    const { result, scheduleLeft, resendLeft } = nextStep(answer, attempted, ENDED_AT, 0)
    if (result === 'given_up') return attempt
    attempted = { ...attempted, scheduleLeft, resendLeft }
  }
}

test('[webhooks.6] [NO-4] any 2xx delivers, on any attempt', () => {
  for (const code of [200, 201, 202, 204, 299]) {
    for (const attempted of [before(1), before(14), before(15, { resendLeft: 1 }), before(3, { isProbe: true })]) {
      const next = nextStep(status(code), attempted, ENDED_AT, 0.5)
      assert.deepEqual(next, { result: 'delivered', dueAt: null, scheduleLeft: 0, resendLeft: 0 })
    }
  }
})

test('[webhooks.6] [NO-5] [NO-6] [NO-17] 14 attempts over about 76 hours where a retry may help', () => {
  const answers = [
    ...[500, 502, 503, 504, 599, 410, 401, 403, 404, 408, 409, 425, 429].map((code) => status(code)),
    ...(['timeout', 'dns', 'connect', 'tls', 'broken', 'address_not_allowed'] as const).map((failure) => ({
      failure,
      code: undefined,
    })),
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

test('[webhooks.21] a resend has four attempts with the first waits, whatever is left of the schedule and whatever the answer', () => {
  for (const answer of [status(500), status(400)]) {
    assert.equal(attemptsOf(answer, before(15, { resendLeft: 4 })), 4)
  }
  const waits: (number | null)[] = []
  let attempted = before(15, { resendLeft: 4 })
  for (let attempt = 1; attempt <= 4; attempt++) {
    const { dueAt, scheduleLeft, resendLeft } = nextStep(status(500), attempted, ENDED_AT, 0)
    waits.push(dueAt === null ? null : dueAt - ENDED_AT - 500)
    attempted = { ...attempted, scheduleLeft, resendLeft }
  }
  assert.deepEqual(waits, [...limits.webhookRetryDelaysMs.slice(0, 3), null])
})

test('[webhooks.21] after a resend of a pending delivery its schedule goes on where it was', () => {
  const next = nextStep(status(500), before(6, { resendLeft: 1 }), ENDED_AT, 0)
  assert.partialDeepStrictEqual(next, { result: 'retry', scheduleLeft: 9, resendLeft: 0 })
  assert.equal((next.dueAt ?? 0) - ENDED_AT - 500, limits.webhookRetryDelaysMs[4])
  assert.equal(attemptsOf(status(500), before(6, { resendLeft: 4 })), 4 + 9)
})

test('[webhooks.13] a failed probe uses no attempt, and is due again with the next probe', () => {
  for (const [failedProbes, delayMs] of [5_000, 15_000, 30_000, 60_000, 60_000].entries()) {
    if (failedProbes === 0) continue
    const probe = before(14, { isProbe: true, failedProbes: failedProbes - 1 })
    const next = nextStep(status(500), probe, ENDED_AT, 0)
    assert.deepEqual(next, { result: 'retry', dueAt: ENDED_AT + delayMs, scheduleLeft: 1, resendLeft: 0 })
  }
})

test('[webhooks.12] an endpoint that asks for time by Retry-After of 429 or 503 is held, for a minute at most', () => {
  const held = (answer: Answer) => heldUntil(answer, ENDED_AT)
  assert.equal(held(status(429, '30')), ENDED_AT + 30_000)
  assert.equal(held(status(503, '3600')), ENDED_AT + 60_000)
  for (const answer of [status(500, '30'), status(503), status(429, 'soon'), status(503, '0')]) {
    assert.equal(held(answer), null)
  }
})

test('[webhooks.6] [NO-6] Retry-After of 429 and 503 lengthens the wait, within bounds', () => {
  const waits: [Answer, number, number][] = [
    [status(503, '1'), 1, 5_000],
    [status(503, '20'), 1, 20_000],
    [status(429, '61'), 1, MINUTE],
    [status(429, ' 45 '), 1, 45_000],
    [status(503, '999999'), 4, 10 * MINUTE],
    [status(503, '999999'), 9, 6 * HOUR],
    [status(503, '999999'), 13, 24 * HOUR],
    [status(503, 'Sat, 21 Nov 2026 13:00:30 GMT'), 1, 30_000],
    [status(503, 'Sat, 21 Nov 2026 12:00:00 GMT'), 1, 5_000],
    [status(503, 'soon'), 1, 5_000],
    [status(503, '-10'), 1, 5_000],
    [status(500, '30'), 1, 5_000],
  ]
  for (const [answer, attempt, expected] of waits) {
    assert.equal(waitAfter(answer, attempt), expected, JSON.stringify([answer, attempt]))
  }
})

test('[webhooks.6] [NO-15] jitter only adds: up to a tenth, at least half a second, at most ten minutes', () => {
  const jitterAfter = (attempt: number, random: number) => {
    const { result, dueAt } = nextStep(status(500), before(attempt), ENDED_AT, random)
    assert.equal(result, 'retry')
    const base = limits.webhookRetryDelaysMs[attempt - 1] ?? Number.NaN
    return (dueAt ?? Number.NaN) - ENDED_AT - base
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
