import assert from 'node:assert/strict'
import test from 'node:test'
import { ofEndpoint, webhookWorld } from '../support/webhook-world.ts'

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

test('[webhooks.3] [NO-8] an endpoint removed while its notifications are fanned out keeps nothing pending', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const id = await world.register('http://127.0.0.1:9/')
  for (let count = 0; count < 50; count++) await world.notify()
  await Promise.all([other.fanOut.processNext(), world.handlers.deleteWebhook(ofEndpoint(id))])
  await world.fanOut.processNext()
  await world.housekeeping.processNext()
  const pending = (await world.deliveries()).filter(({ state }) => state === 'PENDING')
  assert.deepEqual(pending, [])
})
