import assert from 'node:assert/strict'
import test from 'node:test'
import { createHistoryHandlers } from '../../src/webhooks/history.ts'
import { administer, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { answering, startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookProcess, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const bare = { params: undefined, query: {}, body: undefined, context: requestContext }

type Handlers = WebhookProcess['handlers']
type Query = Parameters<Handlers['listWebhookDeliveries']>[0]['query']

async function listed({ handlers }: WebhookProcess, query: Query = {}) {
  return (await handlers.listWebhookDeliveries({ ...bare, query })).body
}

async function read({ handlers }: WebhookProcess, id: string) {
  return (await handlers.getWebhookDelivery({ ...bare, query: undefined, params: { id } })).body
}

async function notifyTimes(world: WebhookWorld, times: number): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < times; count++) {
    ids.push(await world.notify())
    await world.fanOut.processNext()
    world.clock.advance(1)
  }
  return ids
}

test('[webhooks.17] an attempt is kept with its times, its status and how the answer began', async (t) => {
  const world = await webhookWorld(t)
  const statuses = [500, 200]
  const receiver = await startReceiver(t, (response) =>
    response.writeHead(statuses.shift() ?? 200).end('<b>order\n unknown</b>'),
  )
  await world.register(receiver.url)
  await world.notify()
  await world.deliverDue()
  world.clock.advance(6_000)
  await world.deliverDue()

  const [delivery] = (await listed(world)).data
  assert.ok(delivery)
  const { attempts } = await read(world, delivery.id)
  assert.partialDeepStrictEqual(attempts, [
    { attempt: 2, outcome: 'delivered', statusCode: 200, explanation: 'Your server took it: it answered 200.' },
    {
      attempt: 1,
      outcome: 'refused',
      statusCode: 500,
      explanation: 'Your server answered 500.',
      answer: '<b>order unknown</b>',
      startedAt: '2026-11-21T13:00:00.000Z',
    },
  ])
  const [, first] = attempts
  assert.ok(first && first.times.connectMs !== null && first.times.waitMs !== null)
  assert.deepEqual([first.times.dnsMs, first.times.tlsMs], [null, null], 'an address of a plain server')
  assert.ok((first.times.totalMs ?? -1) >= first.times.waitMs)
})

test('[webhooks.17] why there was no answer is kept in a word and told in a sentence', async (t) => {
  const world = await webhookWorld(t)
  const cutting = await startReceiver(t, (response) => response.destroy())
  const closed = await startReceiver(t)
  await closed.close()
  await world.register(cutting.url)
  await world.register(closed.url)
  await world.notify()
  await world.deliverDue()
  const told = new Map<string, string>()
  for (const { id } of (await listed(world)).data) {
    for (const { outcome, explanation, statusCode, answer } of (await read(world, id)).attempts) {
      assert.deepEqual([statusCode, answer], [null, null])
      told.set(outcome, explanation)
    }
  }
  assert.deepEqual(
    told,
    new Map([
      ['broken', 'Your server closed the connection before answering.'],
      ['connect', 'Your server refuses connections.'],
    ]),
  )
})

test('[webhooks.18] deliveries are listed newest first, each once, whatever is added meanwhile', async (t) => {
  const world = await webhookWorld(t)
  for (const path of ['a', 'b']) await world.register(`http://127.0.0.1:9/${path}`)
  const notifications = await notifyTimes(world, 5)
  const seen: string[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await listed(world, { limit: 3, ...(cursor !== undefined && { cursor }) })
    assert.equal(page.pagination.hasMore, page.pagination.nextCursor !== null)
    seen.push(...page.data.map(({ notificationId }) => notificationId))
    cursor = page.pagination.nextCursor
    await notifyTimes(world, 1)
  }
  assert.deepEqual(
    seen,
    notifications.toReversed().flatMap((id) => [id, id]),
  )
})

test('[webhooks.18] the list is narrowed by endpoint, state, event, operation and time', async (t) => {
  const world = await webhookWorld(t)
  const good = await startReceiver(t)
  const bad = await startReceiver(t, answering(400))
  const [goodId, badId] = [await world.register(good.url), await world.register(bad.url)]
  await world.notify('pix_cash_in')
  await world.deliverDue()
  world.clock.advance(1_000)
  await world.notify('pix_cash_out')
  await world.deliverDue()

  const all = (await listed(world)).data
  assert.equal(all.length, 4)
  const of = async (query: Query) => (await listed(world, query)).data
  const operation = all[0]?.operationId ?? ''
  for (const [query, holds] of [
    [{ webhook_id: goodId }, (one) => one.webhookId === goodId],
    [{ webhook_id: badId, state: 'PENDING' }, (one) => one.webhookId === badId],
    [{ state: 'DELIVERED' }, (one) => one.state === 'DELIVERED'],
    [{ event_type: 'pix_cash_out' }, (one) => one.eventType === 'pix_cash_out'],
    [{ operation_id: operation }, (one) => one.operationId === operation],
    [{ from: '2026-11-21T10:00:01-03:00' }, (one) => one.createdAt === '2026-11-21T13:00:01.000Z'],
    [{ until: '2026-11-21T13:00:01Z' }, (one) => one.createdAt === '2026-11-21T13:00:00.000Z'],
  ] as [Query, (delivery: (typeof all)[number]) => boolean][]) {
    assert.deepEqual(await of(query), all.filter(holds), JSON.stringify(query))
    assert.equal(all.filter(holds).length, 2, JSON.stringify(query))
  }
  assert.deepEqual(await of({ operation_id: operation, webhook_id: goodId, state: 'PENDING' }), [])
  assert.deepEqual(await of({ correlation_id: 'nobody' }), [])
})

test('[webhooks.18] what a removed endpoint had is still there, what it had not is cancelled', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const id = await world.register(receiver.url)
  await world.notify()
  await world.deliverDue()
  await notifyTimes(world, 1)
  await world.handlers.deleteWebhook({ ...bare, query: undefined, params: { webhook_id: id } })
  const { data } = await listed(world, { webhook_id: id })
  assert.deepEqual(
    data.map(({ state, nextAttemptAt }) => [state, nextAttemptAt]),
    [
      ['CANCELLED', null],
      ['DELIVERED', null],
    ],
  )
})

test('[webhooks.18] an unknown delivery is 404; a cursor that is none, and times in the wrong order, are 400', async (t) => {
  const world = await webhookWorld(t)
  for (const id of ['0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'delivery', '']) {
    await assert.rejects(read(world, id), { code: 'not_found' }, id)
  }
  await assert.rejects(listed(world, { cursor: 'djE6NDI' }), { code: 'validation_error' })
  const upsideDown = { from: '2026-11-21T13:00:01Z', until: '2026-11-21T13:00:00Z' }
  await assert.rejects(listed(world, upsideDown), { code: 'validation_error' })
})

test('[webhooks.19] an endpoint’s last attempts are counted and timed; those of a day ago are not', async (t) => {
  const world = await webhookWorld(t)
  const answer = { status: 500 }
  const receiver = await startReceiver(t, (response) => response.writeHead(answer.status).end())
  const other = await world.register('http://127.0.0.1:9/other', ['pix_cash_out'])
  const id = await world.register(receiver.url)
  const recent = async (webhookId: string) => {
    const { body } = await world.handlers.getWebhook({ ...bare, query: undefined, params: { webhook_id: webhookId } })
    return body.delivery.recent
  }
  await world.notify()
  await world.deliverDue()
  world.clock.advance(25 * 3_600_000)
  answer.status = 200
  await world.deliverDue()
  for (let count = 0; count < 2; count++) await world.notify()
  await world.deliverDue()
  answer.status = 503
  await world.notify()
  await world.deliverDue()
  const { p50Ms, p95Ms, ...counted } = await recent(id)
  assert.deepEqual(counted, { attempts: 4, succeeded: 3, successRate: 0.75 })
  assert.ok(p50Ms !== null && p95Ms !== null && p50Ms <= p95Ms)
  assert.deepEqual(await recent(other), { attempts: 0, succeeded: 0, successRate: null, p50Ms: null, p95Ms: null })
})

test('[webhooks.18] [webhooks.22] instants beyond the years that a database writes narrow as the last of them does', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const webhookId = await world.register(receiver.url)
  await notifyTimes(world, 1)
  await world.deliverDue()
  const [first, last] = ['0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00']
  assert.equal((await listed(world, { from: first, until: last })).data.length, 1)
  assert.equal((await listed(world, { from: last })).data.length, 0)
  const params = { webhook_id: webhookId }
  const { body } = await world.handlers.recoverWebhook({ ...bare, query: undefined, params, body: { since: first } })
  assert.partialDeepStrictEqual(body, { deliveries: 0, hasMore: false })
})

test('[webhooks.18] failed and waiting deliveries are found among many delivered ones by an index of their state', async (t) => {
  const { url, database } = await testDatabase(t)
  await administer(
    url,
    `SET session_replication_role = replica;
     INSERT INTO endpoint (id, url, events, created_at, since) VALUES (gen_random_uuid(), 'https://loja.example', '{}', now(), now());
     INSERT INTO delivery (id, notification_id, endpoint_id, state, due_at, delivered_at, created_at)
     SELECT gen_random_uuid(), gen_random_uuid(), (SELECT id FROM endpoint), CASE n WHEN 1 THEN 'FAILED' WHEN 2 THEN 'PENDING' ELSE 'DELIVERED' END,
            CASE n WHEN 2 THEN now() END, CASE WHEN n > 2 THEN now() END, now() - n * interval '1 minute'
       FROM generate_series(1, 20000) n;
     ANALYZE`,
  )
  const { texts, noting } = notingTexts(database)
  const { listWebhookDeliveries } = createHistoryHandlers(noting)
  for (const [state, index] of [
    ['FAILED', /Scan.* using delivery_failed|Bitmap Index Scan on delivery_failed/],
    ['PENDING', /Scan.* using delivery_due|Bitmap Index Scan on delivery_due/],
  ] as const) {
    await listWebhookDeliveries({ ...bare, query: { state } })
    assert.match(await planOf(url, texts.pop() ?? ''), index)
  }
})
