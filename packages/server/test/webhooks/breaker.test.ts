import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import type { Answer } from '../../src/platform/http-client/post.ts'
import { type Circuit, circuitAfter, KEYS_KNOWN_AFTER_MS } from '../../src/webhooks/breaker.ts'

const T0 = Date.parse('2026-11-21T13:00:00Z')
const HOUR = 3_600_000
const OLD_KEY = T0 - HOUR

const CLOSED: Circuit = {
  state: 'active',
  reason: null,
  since: T0 - HOUR,
  failures: 0,
  failingSince: null,
  failedProbes: 0,
  probeAt: null,
  heldUntil: null,
}

const OPEN: Circuit = { ...CLOSED, state: 'degraded', reason: 'failing', failures: 5, failingSince: T0, probeAt: T0 }

const status = (statusCode: number, retryAfter?: string): Answer => ({ statusCode, retryAfter })
const TIMEOUT: Answer = { failure: 'timeout', code: undefined }

/** The circuit after attempts that end one second after the other. */
function after(circuit: Circuit, answers: readonly Answer[], isProbe = false, keySignsFrom = OLD_KEY): Circuit {
  return answers.reduce<Circuit>(
    (before, answer, index) => circuitAfter(before, { answer, isProbe, endedAt: T0 + index * 1_000, keySignsFrom }),
    circuit,
  )
}

const times = (count: number, answer: Answer) => Array.from({ length: count }, () => answer)

test('[webhooks.13] five failures in a row without an answer, or with a 5xx, open the circuit breaker', () => {
  for (const [answer, reason] of [
    [TIMEOUT, 'unanswered'],
    [status(500), 'failing'],
  ] as const) {
    assert.equal(after(CLOSED, times(4, answer)).state, 'active')
    const opened = after(CLOSED, times(5, answer))
    assert.partialDeepStrictEqual(opened, { state: 'degraded', reason, failures: 5, probeAt: T0 + 4_000 + 5_000 })
  }
})

test('[webhooks.13] refusals open it after ten, and a success in between begins the count anew', () => {
  assert.equal(after(CLOSED, times(9, status(404))).state, 'active')
  assert.equal(after(CLOSED, times(10, status(404))).state, 'degraded')
  const mixed = [...times(4, TIMEOUT), status(204), ...times(4, TIMEOUT)]
  assert.partialDeepStrictEqual(after(CLOSED, mixed), { state: 'active', failures: 4, failingSince: T0 + 5_000 })
})

test('[webhooks.13] [NO-17] an address that is not allowed opens it at once', () => {
  const opened = after(CLOSED, [{ failure: 'address_not_allowed', code: undefined }])
  assert.partialDeepStrictEqual(opened, { state: 'degraded', reason: 'address_not_allowed' })
})

test('[webhooks.13] failed probes come 5, 15, 30 and 60 s apart and then every minute; a late failure moves none', () => {
  const waits: number[] = []
  let circuit = after(CLOSED, times(5, TIMEOUT))
  for (let probe = 0; probe < 5; probe++) {
    const endedAt = circuit.probeAt ?? Number.NaN
    circuit = circuitAfter(circuit, { answer: TIMEOUT, isProbe: true, endedAt, keySignsFrom: OLD_KEY })
    waits.push((circuit.probeAt ?? Number.NaN) - endedAt)
  }
  assert.deepEqual(waits, [15_000, 30_000, 60_000, 60_000, 60_000])
  const late = circuitAfter(OPEN, { answer: TIMEOUT, isProbe: false, endedAt: T0 + 1, keySignsFrom: OLD_KEY })
  assert.partialDeepStrictEqual(late, { failures: 6, failedProbes: 0, probeAt: OPEN.probeAt })
})

test('[webhooks.13] a probe that is taken closes it; a late success of another attempt does not', () => {
  const closed = after(OPEN, [status(200)], true)
  assert.partialDeepStrictEqual(closed, {
    state: 'active',
    reason: null,
    failures: 0,
    failingSince: null,
    probeAt: null,
  })
  assert.partialDeepStrictEqual(after(OPEN, [status(200)]), { state: 'degraded', failures: 0 })
})

test('[webhooks.14] a 410 pauses at once, and a paused endpoint stays so whatever ends', () => {
  const paused = after(CLOSED, [status(410)])
  assert.partialDeepStrictEqual(paused, { state: 'paused', reason: 'gone', probeAt: null })
  for (const answer of [status(200), TIMEOUT, status(410)]) assert.equal(after(paused, [answer]).state, 'paused')
})

test('[webhooks.14] twenty failures over three days without a success pause; fewer, or sooner, do not', () => {
  const ends = (endedAt: number, failures: number) =>
    circuitAfter({ ...OPEN, failures }, { answer: TIMEOUT, isProbe: true, endedAt, keySignsFrom: OLD_KEY })
  const threeDays = T0 + limits.webhookPauseAfterMs
  assert.partialDeepStrictEqual(ends(threeDays, 19), { state: 'paused', reason: 'failing_for_days' })
  assert.equal(ends(threeDays - 1, 19).state, 'degraded')
  assert.equal(ends(threeDays, 18).state, 'degraded')
})

test('[signing-keys.2] [webhooks.13] a 401 while receivers may not know the new key yet opens nothing, and closes nothing', () => {
  const promotedAt = T0
  assert.deepEqual(after(CLOSED, times(200, status(401)), false, promotedAt), CLOSED)
  const before = { answer: status(401), isProbe: false, keySignsFrom: promotedAt } as const
  const [known, unknown] = [promotedAt + KEYS_KNOWN_AFTER_MS, promotedAt + KEYS_KNOWN_AFTER_MS - 1]
  assert.equal(circuitAfter(CLOSED, { ...before, endedAt: known }).failures, 1)
  assert.equal(circuitAfter(CLOSED, { ...before, endedAt: unknown }).failures, 0)
  const probed = circuitAfter(OPEN, { ...before, isProbe: true, endedAt: unknown })
  assert.partialDeepStrictEqual(probed, { state: 'degraded', failures: 5, probeAt: unknown + 5_000 })
})

test('[webhooks.12] an endpoint that asks for time is held for the longest of what it asks', () => {
  assert.equal(after(CLOSED, [status(503, '30'), status(503, '10')]).heldUntil, T0 + 30_000)
})
