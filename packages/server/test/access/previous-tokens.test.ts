import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints, limits, Refusal } from '@pixgate/spec'
import type { ConfiguredTokens } from '../../src/access/authenticate.ts'
import {
  ADMIN_TOKEN,
  databaseWith,
  METRICS_TOKEN,
  operatorAuthenticator,
  type TestOperator,
} from './operator-fixture.ts'

const PREVIOUS = {
  adminTokenPrevious: 'the-administrative-token-before',
  metricsTokenPrevious: 'the-token-of-the-metrics-before',
} as const

/** Who is let in with a token, and which previous secrets were used. */
function operatorDoor(previous: Partial<ConfiguredTokens> = PREVIOUS, operators: readonly TestOperator[] = []) {
  const used: string[] = []
  const { database } = databaseWith(...operators)
  const authenticate = operatorAuthenticator(
    { now: () => 0 },
    { database, tokens: previous, onPreviousSecretUsed: (variable) => used.push(variable) },
  )
  const outcome = async (token: string, endpoint: Endpoint = endpoints.getCashOutSwitch) =>
    authenticate({ headers: { authorization: `Bearer ${token}` }, remoteAddress: '192.0.2.1', endpoint }).then(
      ({ id }) => id,
      (error) => (error instanceof Refusal ? error.code : assert.fail(error)),
    )
  return { outcome, used }
}

test('[rotation.1] while a token is replaced both are accepted, each for what it opens', async () => {
  const { outcome } = operatorDoor()
  for (const token of [ADMIN_TOKEN, PREVIOUS.adminTokenPrevious]) assert.equal(await outcome(token), 'admin')
  for (const token of [METRICS_TOKEN, PREVIOUS.metricsTokenPrevious]) {
    assert.equal(await outcome(token, endpoints.getMetrics), 'metrics')
    assert.equal(await outcome(token), 'unauthorized')
  }
})

test('[rotation.1] a token that was replaced opens nothing, and counts as a wrong one', async () => {
  const { outcome } = operatorDoor({})
  for (let guess = 0; guess < limits.adminFailuresPerMinuteAndAddress; guess++) {
    assert.equal(await outcome(PREVIOUS.adminTokenPrevious), 'unauthorized')
  }
  assert.equal(await outcome(PREVIOUS.adminTokenPrevious), 'rate_limited')
})

test('[rotation.1] [operators.6] once there is a named admin, the token before opens what the administrative token still does, and no more', async () => {
  const ana: TestOperator = { id: 'ana', name: 'Ana', role: 'admin', hash: Buffer.alloc(32) }
  const { outcome, used } = operatorDoor(PREVIOUS, [ana])
  assert.equal(await outcome(PREVIOUS.adminTokenPrevious, endpoints.getCashOutSwitch), 'unauthorized')
  assert.deepEqual(used, [], 'what is refused is no use')
  assert.equal(await outcome(PREVIOUS.adminTokenPrevious, endpoints.generateApiKey), 'admin')
  assert.deepEqual(used, ['PIXGATE_ADMIN_TOKEN_PREVIOUS'])
})

test('[rotation.2] only the use of a previous token is told, by its variable', async () => {
  const { outcome, used } = operatorDoor()
  await outcome(ADMIN_TOKEN)
  await outcome(METRICS_TOKEN, endpoints.getMetrics)
  await outcome('a-wrong-one')
  assert.deepEqual(used, [])
  await outcome(PREVIOUS.adminTokenPrevious)
  await outcome(PREVIOUS.metricsTokenPrevious, endpoints.getMetrics)
  assert.deepEqual(used, ['PIXGATE_ADMIN_TOKEN_PREVIOUS', 'PIXGATE_METRICS_TOKEN_PREVIOUS'])
})
