import assert from 'node:assert/strict'
import test from 'node:test'
import { until } from '../support/until.ts'
import { world } from '../support/world.ts'

const body = (value: number, externalId: string) => ({ transaction: { value, externalId } })

test('[idempotency.1] keys may be quoted or bare; others are refused by name and change nothing', async (t) => {
  const pix = await world(t)
  const create = (key: string) => pix.call('POST', '/api/pix/cash-in', body(1, 'a'), { 'idempotency-key': key })
  for (const key of ['', '"', '"a', 'a b', 'a, b', 'a"b', 'x'.repeat(256)]) {
    const { status, body } = await create(key)
    assert.equal(status, 400, key)
    assert.deepEqual(body.errors[0].field, 'Idempotency-Key')
  }
  assert.equal((await pix.call('GET', '/api/pix/cash-in')).body.pagination.total, 0)
  assert.equal((await create('"order a, first try"')).status, 201)
  assert.equal((await create('"order a, first try"')).headers.get('idempotent-replayed'), 'true')
})

test('[idempotency.2] the same key and body get the first 201 again, also after payment, for 24 hours', async (t) => {
  const pix = await world(t)
  const create = () => pix.call('POST', '/api/pix/cash-in', body(1, 'a'), { 'idempotency-key': 'k1' })
  const first = await create()
  assert.equal(first.status, 201)
  assert.equal(first.headers.get('idempotent-replayed'), null)
  await pix.call('POST', `/sandbox/cash-in/${first.body.id}/pay`)
  await pix.becomes(first.body.id, 'PAID')
  const again = await create()
  assert.equal(again.status, 201)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  pix.clock.advance(24 * 60 * 60 * 1_000)
  const nextDay = await create()
  assert.equal(nextDay.body.code, 'duplicate_external_id')
})

test('[idempotency.2] only a 201 is replayed: a refusal is reported as the operation it left', async (t) => {
  const pix = await world(t)
  await pix.bank('PUT', '/control/behavior', { cashIn: 'reject' })
  const create = () => pix.call('POST', '/api/pix/cash-in', body(1, 'a'), { 'idempotency-key': 'k1' })
  assert.equal((await create()).body.code, 'partner_refused')
  const { status, body: problem } = await create()
  assert.equal(status, 409)
  assert.equal(problem.existing.status, 'FAILED')
})

test('[idempotency.2] a request during the first one gets request_in_progress', async (t) => {
  const pix = await world(t)
  await pix.bank('PUT', '/control/behavior', { cashIn: 'timeout' })
  const create = () => pix.call('POST', '/api/pix/cash-in', body(1, 'a'), { 'idempotency-key': 'k1' })
  const first = create()
  await until(async () => (await pix.call('GET', '/api/pix/cash-in')).body.data.length > 0)
  const meanwhile = await create()
  assert.equal(meanwhile.status, 409)
  assert.equal(meanwhile.body.code, 'request_in_progress')
  assert.equal((await first).status, 201)
  // The first was answered without a code; so is the repetition.
  const again = await create()
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
})

test('[idempotency.3] the same key with another body is refused before its external id is checked', async (t) => {
  const pix = await world(t)
  const create = (value: number, externalId: string, key: string) =>
    pix.call('POST', '/api/pix/cash-in', body(value, externalId), { 'idempotency-key': key })
  await create(1, 'a', 'k1')
  for (const [value, externalId] of [
    [2, 'a'],
    [1, 'b'],
    [0, 'a'],
  ] as const) {
    const { status, body } = await create(value, externalId, 'k1')
    assert.equal(status, 422)
    assert.equal(body.code, 'idempotency_key_reused')
  }
  assert.equal((await create(1, 'a', 'k2')).body.code, 'duplicate_external_id')
})
