import assert from 'node:assert/strict'
import test from 'node:test'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

/** Calls the API with another bearer token than the merchant's key. */
function callAs(pix: World, token: string, headers: Record<string, string> = {}) {
  return (method: string, path: string) =>
    pix.call(method, path, undefined, { ...headers, authorization: `Bearer ${token}` })
}

test('[api-keys.5] [api-keys.6] [PL-4] the operator finds a key and deactivates it; its bearer is 401 from then on', async (t) => {
  const pix = await world(t)
  const admin = callAs(pix, ADMIN_TOKEN)
  const listed = await admin('GET', '/api-key')
  assert.equal(listed.status, 200)
  assert.equal(listed.body.data.length, 1)
  const [key] = listed.body.data
  assert.deepEqual(
    [key.name, key.scopes, key.caps.dayCents],
    [null, ['read', 'charge', 'payout', 'refund', 'webhook'], null],
  )
  assert.equal(key.display, pix.apiKey.slice(9, 17))
  assert.equal(key.deactivatedAt, null)

  const deleted = await admin('DELETE', `/api-key/${key.id}`)
  assert.deepEqual([deleted.status, deleted.body], [204, ''])
  assert.equal((await pix.call('GET', '/organization/balance')).status, 401)
  assert.notEqual((await admin('GET', '/api-key')).body.data[0].deactivatedAt, null)

  for (const id of [key.id, '0198c0de-3f00-7000-8000-1a2b3c4d5e6f', 'no-uuid']) {
    const { status, body } = await admin('DELETE', `/api-key/${id}`)
    assert.deepEqual([status, body.code], [404, 'not_found'], id)
  }
})

test('[api-keys.5] [http.6] an API key neither lists keys nor deactivates one', async (t) => {
  const pix = await world(t)
  const [key] = (await callAs(pix, ADMIN_TOKEN)('GET', '/api-key')).body.data
  assert.equal((await pix.call('GET', '/api-key')).status, 401)
  assert.equal((await pix.call('DELETE', `/api-key/${key.id}`)).status, 401)
  assert.equal((await pix.call('GET', '/organization/balance')).status, 200)
})

test('[api-keys.5] [lists.1] a limit over 100, a cursor that is none and an unknown parameter are 400', async (t) => {
  const pix = await world(t)
  for (const [query, field] of [
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['cursor=next', 'cursor'],
    ['page=1', 'page'],
  ]) {
    const { status, body } = await callAs(pix, ADMIN_TOKEN)('GET', `/api-key?${query}`)
    assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_error', field])
  }
})

test('[http.12] one request too many is 429 with Retry-After; it changes nothing', async (t) => {
  // One at once: it was spent on the world's webhook.
  const pix = await world(t, { PIXGATE_RATE_LIMIT_PER_MINUTE: '1' })
  const transaction = { value: 10, externalId: 'order-1' }
  const refused = await pix.call('POST', '/api/pix/cash-in', { transaction })
  assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited'])
  const retryAfter = refused.headers.get('retry-after') ?? ''
  assert.match(retryAfter, /^[1-9]\d?$/)
  assert.equal((await pix.call('POST', '/api/pix/cash-in', '{')).status, 429, 'before the body is judged')

  pix.clock.advance(Number(retryAfter) * 1_000)
  assert.equal((await pix.call('POST', '/api/pix/cash-in', { transaction })).status, 201)
  assert.equal((await pix.call('GET', '/organization/balance')).status, 429)
})

test('[http.12] who needs no API key is not limited', async (t) => {
  const pix = await world(t, { PIXGATE_RATE_LIMIT_PER_MINUTE: '1' })
  assert.equal((await pix.call('GET', '/organization/balance')).status, 429)
  for (const [method, path, body, status] of [
    ['GET', '/healthz', undefined, 200],
    ['GET', '/readyz', undefined, 200],
    ['GET', '/public-key', undefined, 200],
    ['POST', '/api/webhooks/pix/cash-in', {}, 401],
  ] as const) {
    for (let time = 0; time < 3; time++) assert.equal((await pix.call(method, path, body)).status, status, path)
  }
})

test('[http.12] 600 requests a minute and 100 at once where nothing is configured', async (t) => {
  const pix = await world(t, { PIXGATE_RATE_LIMIT_PER_MINUTE: '' })
  const answers = await Promise.all(Array.from({ length: 250 }, () => pix.call('GET', '/organization/balance')))
  const served = answers.filter(({ status }) => status === 200).length
  assert.ok(served >= 99 && served < 250, `${served} were served`)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 429])
})

test('[api-keys.7] an address that guesses is 429, whatever it says of itself; the right token passes', async (t) => {
  const pix = await world(t)
  const guess = (index: number) =>
    callAs(pix, `guess-${index}`, { 'x-forwarded-for': `203.0.113.${index}` })('POST', '/api-key/generate')
  for (let index = 1; index <= 5; index++) assert.equal((await guess(index)).status, 401)
  const { status, body, headers } = await guess(6)
  assert.deepEqual([status, body.code], [429, 'rate_limited'])
  assert.match(headers.get('retry-after') ?? '', /^(?:[1-9]|1[0-2])$/)
  for (const path of ['/api-key', '/operator/cash-out-switch', '/metrics']) {
    assert.equal((await callAs(pix, ADMIN_TOKEN)('GET', path)).status, 200, path)
  }
  assert.equal((await pix.call('GET', '/organization/balance')).status, 200, 'API keys go on')
  pix.clock.advance(12_000)
  assert.equal((await guess(7)).status, 401)
})

test('[api-keys.7] behind a trusted proxy it is the address that the proxy reports', async (t) => {
  const pix = await world(t, { PIXGATE_TRUST_PROXY: '127.0.0.1' })
  const guessing = callAs(pix, 'guess', { 'x-forwarded-for': '203.0.113.1' })
  for (let guess = 1; guess <= 5; guess++) assert.equal((await guessing('GET', '/api-key')).status, 401)
  assert.equal((await guessing('GET', '/api-key')).status, 429)
  const another = callAs(pix, 'guess', { 'x-forwarded-for': '203.0.113.2' })
  assert.equal((await another('GET', '/api-key')).status, 401)
})
