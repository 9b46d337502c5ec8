import assert from 'node:assert/strict'
import test from 'node:test'
import { positionsIn } from '../support/feed.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'

test('[webhooks.9] [NO-9] a notification goes to the endpoints of its type that were registered before it', async (t) => {
  const world = await webhookWorld(t)
  const before = await world.register('http://127.0.0.1:9/before', ['pix_cash_in', 'pix_cash_out'])
  await world.register('http://127.0.0.1:9/other-type', ['pix_cash_out'])
  const notificationId = await world.notify('pix_cash_in')
  world.clock.advance(1)
  await world.register('http://127.0.0.1:9/after')
  await world.fanOut.processNext()
  const deliveries = await world.deliveries()
  assert.partialDeepStrictEqual(deliveries, [{ endpointId: before, notificationId, state: 'PENDING', attempts: 0 }])
  assert.equal(deliveries.length, 1)
})

test('[webhooks.9] [NO-11] fanning out twice, or by two processes at once, makes each delivery once', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  await world.register('http://127.0.0.1:9/one')
  await world.register('http://127.0.0.1:9/two')
  for (let count = 0; count < 30; count++) await world.notify()
  await Promise.all([world, other, world, other].map(({ fanOut }) => fanOut.processNext()))
  await world.fanOut.processNext()
  assert.equal((await world.deliveries()).length, 60)
})

test('[webhooks.9] a notification without subscriptions is fanned out to none, once', async (t) => {
  const world = await webhookWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  await world.register('http://127.0.0.1:9/')
  await world.fanOut.processNext()
  assert.deepEqual(await world.deliveries(), [])
})

test('[webhooks.3] [NO-8] an endpoint removed while its notifications are fanned out keeps nothing pending', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const id = await world.register('http://127.0.0.1:9/')
  for (let count = 0; count < 50; count++) await world.notify()
  await Promise.all([
    other.fanOut.processNext(),
    world.handlers.deleteWebhook({
      params: { webhook_id: id },
      query: undefined,
      body: undefined,
      context: requestContext,
    }),
  ])
  await world.fanOut.processNext()
  await world.housekeeping.processNext()
  const pending = (await world.deliveries()).filter(({ state }) => state === 'PENDING')
  assert.deepEqual(pending, [])
})

for (const held of [
  'SELECT FROM notification WHERE fanned_out_at IS NULL ORDER BY created_at LIMIT 1 FOR UPDATE',
  'SELECT FROM feed FOR UPDATE',
]) {
  test(`[webhooks.9] [feed.1] while another process holds a part of it nothing is fanned out, and then all of it: ${held}`, async (t) => {
    const world = await webhookWorld(t)
    for (const path of ['one', 'two']) await world.register(`http://127.0.0.1:9/${path}`)
    for (let count = 0; count < 3; count++) {
      await world.notify()
      world.clock.advance(1)
    }
    const holder = await openHolder(world.url)
    await holder.hold(held)
    const fanningOut = world.fanOut.processNext()
    await holder.waiting(1)
    assert.deepEqual(await positionsIn(world.database), [])
    await holder.release()
    await fanningOut
    assert.equal((await world.deliveries()).length, 6)
    assert.deepEqual(await positionsIn(world.database), [1, 2, 3])
  })
}
