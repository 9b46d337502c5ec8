import assert from 'node:assert/strict'
import test from 'node:test'
import { headerFaults } from '../fuzz/header-faults.ts'
import { declaredHeaders } from '../support/declared-headers.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

const OF_EVERY_ANSWER = ['Cache-Control', 'Strict-Transport-Security', 'X-Content-Type-Options', 'X-Correlation-ID']

test('[reference.8] what the service sends is declared where it sends it', async (t) => {
  const pix = await world(t)
  const order = { transaction: { value: 1, externalId: 'order-1' } }
  const twice = { 'idempotency-key': 'once' }
  const topUp = { valueCents: 100, reason: 'Opening balance' }
  const asAdmin = { ...twice, authorization: `Bearer ${ADMIN_TOKEN}` }
  const etag = (await pix.call('GET', '/public-key')).headers.get('etag') ?? ''
  await pix.call('POST', '/api/pix/cash-in', order, twice)
  await pix.call('POST', '/operator/adjustments', topUp, asAdmin)
  for (const [method, path, body, headers, status, own] of [
    ['POST', '/api/pix/cash-in', order, twice, 201, ['Idempotent-Replayed', 'Location']],
    ['POST', '/operator/adjustments', topUp, asAdmin, 201, ['Idempotent-Replayed']],
    ['GET', '/public-key', undefined, {}, 200, ['ETag']],
    ['GET', '/public-key', undefined, { 'if-none-match': etag }, 304, ['ETag']],
    ['GET', '/api/pix/cash-in', undefined, { authorization: 'none' }, 401, ['WWW-Authenticate']],
    ['DELETE', '/organization/balance', undefined, {}, 405, ['Allow']],
    ['GET', '/healthz', undefined, {}, 200, []],
  ] as const) {
    const answer = await pix.call(method, path, body, headers)
    assert.equal(answer.status, status, path)
    for (const name of own) assert.ok(answer.headers.has(name), `${path}: ${name}`)
    const declared = Object.keys(declaredHeaders(method, path, status) ?? {})
    assert.deepEqual(declared.toSorted(), [...OF_EVERY_ANSWER, ...own].toSorted(), path)
  }
})

test('[reference.8] [http.9] a status that asks to come again declares when', () => {
  for (const status of [429, 503])
    assert.ok('Retry-After' in (declaredHeaders('GET', '/organization/balance', status) ?? {}))
})

test('[reference.8] a header that nobody declared is found, and one that is lacking', () => {
  const declared = { ETag: { required: true }, 'Retry-After': {} }
  assert.deepEqual(headerFaults(declared, ['date', 'content-type', 'etag']), [])
  assert.deepEqual(headerFaults(declared, ['ETag', 'X-Debug', 'retry-after']), [
    'a header that is not documented: x-debug',
  ])
  assert.deepEqual(headerFaults(declared, []), ['a header that is documented and missing: ETag'])
})
