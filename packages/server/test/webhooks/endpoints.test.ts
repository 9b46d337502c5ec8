import assert from 'node:assert/strict'
import test from 'node:test'
import { type EventType, eventTypes, limits, Refusal } from '@pixgate/spec'
import { DnsUnavailable } from '../../src/platform/http-client/agent.ts'
import type { LiveRequest } from '../../src/platform/live-request.ts'
import type { WebhookHandlers } from '../../src/webhooks/index.ts'
import { ALIVE, lapsing } from '../support/live-request.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'

const bare = { params: undefined, query: undefined, body: undefined, context: requestContext }

function create(handlers: WebhookHandlers, url: string, events: readonly EventType[] = eventTypes, live = ALIVE) {
  return handlers.createWebhook({ ...of(live), body: { url, events: [...events] } })
}

function remove(handlers: WebhookHandlers, webhookId: string, live = ALIVE) {
  return handlers.deleteWebhook({ ...of(live), params: { webhook_id: webhookId } })
}

function of(live: LiveRequest) {
  return { ...bare, context: { ...requestContext, live } }
}

function refusal(code: string, reason?: string) {
  return (error: unknown) =>
    error instanceof Refusal && error.code === code && (reason === undefined || error.fields[0]?.code === reason)
}

test('[webhooks.1] an endpoint is registered, its events in their own order', async (t) => {
  const { handlers } = await webhookWorld(t)
  const { status, body } = await create(handlers, 'http://127.0.0.1:9/hook', ['pix_cash_out', 'pix_cash_in'])
  assert.equal(status, 201)
  assert.deepEqual(body, {
    webhook_id: body.webhook_id,
    url: 'http://127.0.0.1:9/hook',
    events: ['pix_cash_in', 'pix_cash_out'],
    active: true,
    createdAt: '2026-11-21T13:00:00.000Z',
    secret: body.secret,
  })
})

test('[webhooks.1] [NO-12] the same url with the same events, however written, is a duplicate; with others it is not', async (t) => {
  const { handlers } = await webhookWorld(t)
  const first = await create(handlers, 'http://loja.example/', ['pix_cash_in', 'pix_cash_out'])
  await assert.rejects(
    create(handlers, 'http://LOJA.example:80', ['pix_cash_out', 'pix_cash_in']),
    refusal('duplicate_webhook'),
  )
  await create(handlers, 'http://loja.example/', ['pix_cash_in'])
  await remove(handlers, first.body.webhook_id)
  await create(handlers, 'http://loja.example/', ['pix_cash_in', 'pix_cash_out'])
})

test('[webhooks.1] at most 20 endpoints, also when they are registered at once by two processes', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const results = await Promise.allSettled(
    Array.from({ length: limits.webhookSubscriptionsMax + 5 }, (_, index) =>
      create((index % 2 ? other : world).handlers, `http://loja.example/${index}`),
    ),
  )
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 5)
  for (const { reason } of refused) assert.ok(refusal('too_many_webhooks')(reason))

  const { body } = await world.handlers.listWebhooks()
  assert.equal(body.data.length, limits.webhookSubscriptionsMax)
  await remove(world.handlers, body.data[0]?.webhook_id ?? '')
  await create(world.handlers, 'http://loja.example/one-more')
})

test('[webhooks.1] of the same registration made at once, one is taken', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const results = await Promise.allSettled(
    [world, other, world, other].map(({ handlers }) => create(handlers, 'http://loja.example/')),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('[http.14] [PL-5] a request that lapses while it waits for others registers nothing and removes nothing', async (t) => {
  const { handlers, url } = await webhookWorld(t)
  const { body } = await create(handlers, 'http://loja.example/there')
  const live = lapsing()
  const holder = await openHolder(url)
  await holder.hold('SELECT pg_advisory_xact_lock(7046741002)')
  const refused = assert.rejects(create(handlers, 'http://loja.example/', eventTypes, live), refusal('overloaded'))
  await holder.waiting(1)
  live.lapse()
  await holder.release()
  await refused
  await assert.rejects(remove(handlers, body.webhook_id, live), refusal('overloaded'))
  assert.deepEqual(
    (await handlers.listWebhooks()).body.data.map(({ url }) => url),
    ['http://loja.example/there'],
  )
})

test('[webhooks.1] in production all addresses of the name must be public', async (t) => {
  const world = await webhookWorld(t)
  const addresses: Record<string, string[]> = {
    'public.example': ['8.8.8.8', '2606:4700::1111'],
    'private.example': ['10.0.0.1'],
    'mixed.example': ['8.8.8.8', '127.0.0.1'],
  }
  const handlers = world.productionHandlers(async (hostname) => addresses[hostname] ?? [])
  assert.equal((await create(handlers, 'https://public.example/')).status, 201)
  for (const [host, reason] of [
    ['private.example', 'private_address'],
    ['mixed.example', 'private_address'],
    ['unknown.example', 'not_resolvable'],
    ['127.0.0.1', 'private_address'],
    ['public.example:843', 'port'],
  ] as const) {
    await assert.rejects(create(handlers, `https://${host}/`), refusal('webhook_url_not_allowed', reason), host)
  }
  await assert.rejects(create(handlers, 'public.example'), refusal('validation_error'))
})

test('[webhooks.11] a name that no name server tells about is 503, and accepted once one does', async (t) => {
  const world = await webhookWorld(t)
  let isSilent = true
  const handlers = world.productionHandlers(async () => {
    if (isSilent) throw new DnsUnavailable('ETIMEOUT')
    return ['8.8.8.8']
  })
  await assert.rejects(create(handlers, 'https://loja.example/'), refusal('overloaded', 'not_resolved_now'))
  isSilent = false
  assert.equal((await create(handlers, 'https://loja.example/')).status, 201)
})

test('[webhooks.2] the list shows the live ones, oldest first', async (t) => {
  const { handlers, clock } = await webhookWorld(t)
  const created: string[] = []
  for (const path of ['c', 'a', 'b']) {
    created.push((await create(handlers, `http://loja.example/${path}`)).body.webhook_id)
    clock.advance(1)
  }
  await remove(handlers, created[1] ?? '')
  const { body } = await handlers.listWebhooks()
  assert.deepEqual(
    body.data.map(({ webhook_id }) => webhook_id),
    [created[0], created[2]],
  )
})

test('[webhooks.3] removing answers 204 once, then 404, as for what never was', async (t) => {
  const { handlers } = await webhookWorld(t)
  const { body } = await create(handlers, 'http://loja.example/')
  assert.deepEqual(await remove(handlers, body.webhook_id), { status: 204 })
  for (const id of [body.webhook_id, '0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'webhook', '']) {
    await assert.rejects(remove(handlers, id), refusal('not_found'), id)
  }
})

test('[webhooks.3] [NO-8] removing cancels what is pending, and nothing else', async (t) => {
  const world = await webhookWorld(t)
  const removed = await world.register('http://127.0.0.1:9/removed')
  const kept = await world.register('http://127.0.0.1:9/kept')
  await world.notify()
  await world.fanOut.processNext()
  await remove(world.handlers, removed)
  const states = Object.fromEntries((await world.deliveries()).map(({ endpointId, state }) => [endpointId, state]))
  assert.deepEqual(states, { [removed]: 'CANCELLED', [kept]: 'PENDING' })
})
