import assert from 'node:assert/strict'
import test from 'node:test'
import { neighbourOf } from '../support/neighbour.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

const EMERGENCY = '/api-key/deactivate-all'
const REASON = { reason: 'Incident 42' }

function asAdmin(pix: World) {
  return (method: string, path: string, body?: object) =>
    pix.call(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}` })
}

async function emergencies({ database }: World) {
  return database.rows<[], { actor: string; address: string; facts: { reason: string; keys: string[] } }>(
    {
      name: 'test.emergencies',
      text: "SELECT actor, address, facts FROM audit WHERE action = 'api_key.all_deactivated' ORDER BY id",
    },
    [],
  )
}

test('[api-keys.14] [PL-4] every key stops here at once and elsewhere within 5 s, with one row that says who, why and which', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const admin = asAdmin(pix)
  const keys = [pix.apiKey]
  for (let made = 0; made < 2; made++) keys.push((await admin('POST', '/api-key/generate')).body.apiKey)
  const elsewhere = await neighbourOf(t, pix)
  const here = async (apiKey: string) =>
    (await pix.call('GET', '/organization/balance', undefined, { authorization: `Bearer ${apiKey}` })).status
  const there = async (apiKey: string) =>
    (await fetch(`${elsewhere}/organization/balance`, { headers: { authorization: `Bearer ${apiKey}` } })).status
  for (const key of keys) assert.deepEqual([await here(key), await there(key)], [200, 200])

  const { status, body } = await admin('POST', EMERGENCY, REASON)
  assert.deepEqual([status, body], [200, { deactivatedCount: 3 }])
  for (const key of keys) assert.equal(await here(key), 401)
  pix.clock.advance(5_000)
  for (const key of keys) assert.equal(await there(key), 401)

  const { data } = (await admin('GET', '/api-key')).body
  assert.ok(data.every(({ deactivatedAt }: { deactivatedAt: string | null }) => deactivatedAt !== null))
  const ids = data.map(({ id }: { id: string }) => id)
  const [row] = await emergencies(pix)
  assert.deepEqual([row?.actor, row?.address, row?.facts.reason], ['admin', '127.0.0.1', 'Incident 42'])
  assert.deepEqual(new Set(row?.facts.keys), new Set(ids))

  const fresh = (await admin('POST', '/api-key/generate')).body.apiKey
  assert.deepEqual([await here(fresh), await there(fresh)], [200, 200])
})

test('[api-keys.14] sent again, also at the same time, it changes nothing and answers 0', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const admin = asAdmin(pix)
  for (let made = 0; made < 20; made++) await admin('POST', '/api-key/generate')
  const answers = await Promise.all(Array.from({ length: 5 }, () => admin('POST', EMERGENCY, REASON)))
  const counts = answers.map(({ status, body }) => (status === 200 ? body.deactivatedCount : status))
  assert.deepEqual(counts.toSorted(), [0, 0, 0, 0, 21])
  const before = (await admin('GET', '/api-key')).body
  pix.clock.advance(1_000)
  assert.deepEqual((await admin('POST', EMERGENCY, REASON)).body, { deactivatedCount: 0 })
  assert.deepEqual((await admin('GET', '/api-key')).body, before)
  assert.equal((await emergencies(pix)).length, 6)
})

test('[api-keys.14] it goes on while keys are being used', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const uses = Array.from({ length: 50 }, () => pix.call('GET', '/organization/balance'))
  const [answer] = await Promise.all([asAdmin(pix)('POST', EMERGENCY, REASON), pix.work(), ...uses])
  assert.deepEqual([answer.status, answer.body.deactivatedCount], [200, 1])
  assert.equal((await pix.call('GET', '/organization/balance')).status, 401)
})

test('[api-keys.14] without a reason it is 400, and every key stays', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  for (const body of [undefined, {}, { reason: '' }]) {
    const { status, body: problem } = await asAdmin(pix)('POST', EMERGENCY, body)
    assert.deepEqual([status, problem.code], [400, 'validation_error'])
  }
  assert.equal((await pix.call('GET', '/organization/balance')).status, 200)
})
