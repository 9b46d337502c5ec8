import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, sandboxEndpoints, serviceEndpoints } from '@pixgate/spec'
import { WELL_BEHAVED } from '../../../bank-simulator/test/support/bank.ts'
import { closedPort } from '../../../server/test/banks/pixgate/scripted-bank.ts'
import { world } from '../../../server/test/support/world.ts'

const PATH = '/sandbox/behavior'

test('[sandbox.6] omitted fields keep their value, and the response is the complete behaviour', async (t) => {
  const pix = await world(t)
  const behavior = async (change?: unknown) => {
    const { status, body } = await pix.call(change === undefined ? 'GET' : 'PUT', PATH, change)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  assert.deepEqual(await behavior(), WELL_BEHAVED)
  const late = { ...WELL_BEHAVED, cashOut: 'manual', eventDelayMs: 50 }
  assert.deepEqual(await behavior({ cashOut: 'manual', eventDelayMs: 50 }), late)
  assert.deepEqual(await behavior({}), late)
  assert.deepEqual(await behavior({ cashOut: 'auto' }), { ...late, cashOut: 'auto' })
  assert.deepEqual(await behavior(WELL_BEHAVED), WELL_BEHAVED)
  assert.deepEqual(await behavior(), WELL_BEHAVED)
})

test('[sandbox.6] an unknown field or value gets 400, is named and changes nothing', async (t) => {
  const pix = await world(t)
  for (const [change, field] of [
    [{ cashin: 'reject' }, 'cashin'],
    [{ cashIn: 'manual' }, 'cashIn'],
    [{ cashOut: 'answer' }, 'cashOut'],
    [{ refundIn: true }, 'refundIn'],
    [{ latencyMs: '5' }, 'latencyMs'],
    [{ latencyMs: -1 }, 'latencyMs'],
    [{ eventDelayMs: 1.5 }, 'eventDelayMs'],
    [{ eventCopies: 0 }, 'eventCopies'],
    [{ eventCopies: 6 }, 'eventCopies'],
    [{ eventsShuffled: 1 }, 'eventsShuffled'],
    [{ cashIn: 'reject', id: 1 }, 'id'],
    [[], ''],
  ] as const) {
    const { status, body } = await pix.call('PUT', PATH, change)
    assert.deepEqual([status, body.code], [400, 'validation_error'], JSON.stringify(change))
    assert.equal(body.errors[0].field, field)
  }
  assert.deepEqual((await pix.call('GET', PATH)).body, WELL_BEHAVED)
})

test('[sandbox.6] a request without an API key gets 401', async (t) => {
  const pix = await world(t)
  for (const method of ['GET', 'PUT']) {
    assert.equal((await pix.call(method, PATH, undefined, { authorization: 'Bearer none' })).status, 401)
  }
})

test('[sandbox.6] a bank that does not respond causes 503 partner_unavailable', async (t) => {
  const pix = await world(t, {}, { bankUrl: await closedPort() })
  for (const method of ['GET', 'PUT']) {
    const { status, body } = await pix.call(method, PATH)
    assert.deepEqual([status, body.code], [503, 'partner_unavailable'])
  }
})

test('[sandbox.1] the sandbox’s endpoints are under /sandbox/, and no other endpoint is', () => {
  for (const { path } of Object.values<Endpoint>(sandboxEndpoints)) assert.ok(path.startsWith('/sandbox/'), path)
  for (const { path } of Object.values<Endpoint>(serviceEndpoints)) assert.ok(!path.startsWith('/sandbox/'), path)
})

test('[sandbox.5] a bank configured to refuse charges refuses them until it is reconfigured', async (t) => {
  const pix = await world(t)
  await pix.call('PUT', PATH, { cashIn: 'reject' })
  const transaction = { value: 10, externalId: 'order-refused' }
  const refused = await pix.call('POST', '/api/pix/cash-in', { transaction })
  assert.deepEqual([refused.status, refused.body.code], [422, 'partner_refused'])
  await pix.call('PUT', PATH, { cashIn: 'answer' })
  assert.ok((await pix.charge('10.00')).pixCode)
})

test('[sandbox.5] a payment that the bank reports five times in shuffled order is booked once', async (t) => {
  const pix = await world(t)
  await pix.call('PUT', PATH, { eventCopies: 5, eventsShuffled: true })
  const { id } = await pix.charge('10.00')
  await pix.call('POST', `/sandbox/cash-in/${id}/pay`)
  await pix.becomes(id, 'PAID')
  for (let pending = 1; pending > 0; ) pending = (await pix.bank('GET', '/control/book')).body.events.pending.length
  const { body: balance } = await pix.call('GET', '/organization/balance')
  assert.equal(balance[0].amount, 10)
  await pix.assertBooksAgree()
})

for (const cashIn of ['timeout', 'lost-response']) {
  test(`[sandbox.5] a bank configured as ${cashIn} still responds to controls, and the charge has no code yet`, async (t) => {
    const pix = await world(t, { PIXGATE_PARTNER_TIMEOUT_MS: '100', PIXGATE_PARTNER_CREATE_BUDGET_MS: '100' })
    await pix.call('PUT', PATH, { cashIn })
    assert.equal((await pix.charge('10.00')).pixCode, undefined)
    assert.equal((await pix.call('GET', PATH)).body.cashIn, cashIn)
  })
}
