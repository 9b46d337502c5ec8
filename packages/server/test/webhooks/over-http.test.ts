import assert from 'node:assert/strict'
import test from 'node:test'
import { statement } from '../../src/platform/db/database.ts'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

test('[webhooks.18] [webhooks.21] a merchant finds what a request led to by its correlation id, and has it sent again', async (t) => {
  const pix = await world(t)
  const transaction = { value: 10, externalId: 'order-1' }
  const created = await pix.call('POST', '/api/pix/cash-in', { transaction }, { 'x-correlation-id': 'checkout 77' })
  await pix.paid('5', { externalId: 'order-2' })
  await pix.bankAction(`charges/${created.body.id}/pay`)
  const path = '/webhook-delivery?correlation_id=checkout%2077'
  const { data } = await pix.until(path, ({ data }) => data[0]?.state === 'DELIVERED')
  assert.equal(data.length, 1)
  const [delivery] = data
  assert.partialDeepStrictEqual(delivery, {
    ...{ operationId: created.body.id, externalId: 'order-1', correlationId: 'checkout 77' },
  })
  assert.deepEqual((await pix.get(`/webhook-delivery?operation_id=${created.body.id}`)).data, data)
  assert.deepEqual((await pix.get(`${path}&from=2999-01-01T00:00:00Z`)).data, [])

  const resent = await pix.call('POST', `/webhook-delivery/${delivery.id}/resend`)
  assert.deepEqual([resent.status, resent.body.state, resent.body.finishedAt], [202, 'DELIVERED', delivery.finishedAt])
  const detail = await pix.until(`/webhook-delivery/${delivery.id}`, ({ attempts }) => attempts.length === 2)
  assert.equal(detail.state, 'DELIVERED')
  const copies = pix.receiver.received.filter(({ headers }) => headers['webhook-id'] === delivery.notificationId)
  assert.equal(copies.length, 2)
  assert.deepEqual(copies[0]?.body, copies[1]?.body)
  await pix.assertBooksAgree()
})

test('[webhooks.18] [api-keys.8] a key without the scope reads nothing of it and sends nothing', async (t) => {
  const pix = await world(t)
  const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const made = await pix.call('POST', '/api-key/generate', { name: 'reads', scopes: ['read'] }, asAdmin)
  const asReader = { authorization: `Bearer ${made.body.apiKey}` }
  const { webhook_id } = (await pix.get('/webhook')).data[0]
  const since = '2026-11-21T13:00:00Z'
  for (const [method, path, body] of [
    ['GET', '/webhook-delivery', undefined],
    ['POST', `/webhook/${webhook_id}/test`, undefined],
    ['POST', `/webhook/${webhook_id}/recover`, { since }],
    ['POST', `/webhook/${webhook_id}/send-missed`, { since }],
  ] as const) {
    assert.equal((await pix.call(method, path, body, asReader)).body.code, 'insufficient_scope', path)
  }
})

const selectRegistrations = statement<[], { actorName: string; reach: string }>(
  'test.registrations_inside',
  `SELECT actor_name AS "actorName", facts ->> 'reach' AS reach FROM audit
    WHERE action = 'webhook.created' AND facts ? 'reach'`,
)

test('[webhooks.26] [operators.7] only an admin registers endpoints inside, under their name, and no field of a request does', async (t) => {
  const pix = await world(t)
  const order = { url: 'https://erp.loja.example:8443/pix', events: ['pix_cash_in'] }
  const as = (token: string) => pix.call('POST', '/operator/webhooks', order, { authorization: `Bearer ${token}` })
  const [operator, admin] = [await makeOperator(pix, 'operator'), await makeOperator(pix, 'admin', 'Ana Souza')]
  assert.equal((await as(pix.apiKey)).status, 401)
  assert.equal((await as(operator)).body.code, 'insufficient_role')
  assert.equal((await pix.call('POST', '/webhook', { ...order, reach: 'inside' })).status, 400)
  assert.deepEqual(await pix.database.rows(selectRegistrations, []), [])

  const { status, body } = await as(admin)
  assert.deepEqual([status, body.url], [201, order.url])
  assert.deepEqual(await pix.database.rows(selectRegistrations, []), [{ actorName: 'Ana Souza', reach: 'inside' }])
  assert.equal((await pix.get('/webhook')).data.at(-1).webhook_id, body.webhook_id)
})
