import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints, limits, Refusal } from '@pixgate/spec'
import { createAdminAuthenticator } from '../../src/api-keys/authenticate.ts'

const TOKENS = {
  adminToken: 'the-administrative-token',
  adminTokenPrevious: 'the-administrative-token-before',
  metricsToken: 'the-token-of-the-metrics',
  metricsTokenPrevious: 'the-token-of-the-metrics-before',
} as const

/** Who is let in with a token, and which previous secrets were used. */
function operator(tokens: Partial<typeof TOKENS> = TOKENS) {
  const used: string[] = []
  const authenticate = createAdminAuthenticator({
    adminToken: TOKENS.adminToken,
    ...tokens,
    clock: { now: () => 0 },
    onPreviousSecret: (variable) => used.push(variable),
  })
  const outcome = async (token: string, endpoint: Endpoint = endpoints.getCashOutSwitch) =>
    authenticate({ headers: { authorization: `Bearer ${token}` }, remoteAddress: '192.0.2.1', endpoint }).then(
      ({ id }) => id,
      (error) => (error instanceof Refusal ? error.code : assert.fail(error)),
    )
  return { outcome, used }
}

test('[rotation.1] while a token is replaced both are accepted, each for what it opens', async () => {
  const { outcome } = operator()
  for (const token of [TOKENS.adminToken, TOKENS.adminTokenPrevious]) assert.equal(await outcome(token), 'admin')
  for (const token of [TOKENS.metricsToken, TOKENS.metricsTokenPrevious]) {
    assert.equal(await outcome(token, endpoints.getMetrics), 'metrics')
    assert.equal(await outcome(token), 'unauthorized')
  }
})

test('[rotation.1] a token that was replaced opens nothing, and counts as a wrong one', async () => {
  const { outcome } = operator({})
  for (let guess = 0; guess < limits.adminFailuresPerMinuteAndAddress; guess++) {
    assert.equal(await outcome(TOKENS.adminTokenPrevious), 'unauthorized')
  }
  assert.equal(await outcome(TOKENS.adminTokenPrevious), 'rate_limited')
})

test('[rotation.2] only the use of a previous token is told, by its variable', async () => {
  const { outcome, used } = operator()
  await outcome(TOKENS.adminToken)
  await outcome(TOKENS.metricsToken, endpoints.getMetrics)
  await outcome('a-wrong-one')
  assert.deepEqual(used, [])
  await outcome(TOKENS.adminTokenPrevious)
  await outcome(TOKENS.metricsTokenPrevious, endpoints.getMetrics)
  assert.deepEqual(used, ['PIXGATE_ADMIN_TOKEN_PREVIOUS', 'PIXGATE_METRICS_TOKEN_PREVIOUS'])
})
