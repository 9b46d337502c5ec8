import assert from 'node:assert/strict'
import test from 'node:test'
import { pauseLane } from '../../src/webhooks/lanes/store.ts'
import { positionsIn } from '../support/feed.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'

test('[webhooks.9] [NO-9] a notification goes to the receivers of its type that were there before it', async (t) => {
  const world = await webhookWorld(t)
  const before = await world.subscribe('http://127.0.0.1:9/before', ['pix_cash_in', 'pix_cash_out'])
  await world.subscribe('http://127.0.0.1:9/other-type', ['pix_cash_out'])
  const notificationId = await world.notify('pix_cash_in')
  world.clock.advance(1)
  await world.subscribe('http://127.0.0.1:9/after')
  await world.fanOut.processNext()
  const deliveries = await world.deliveries()
  assert.partialDeepStrictEqual(deliveries, [{ subscriptionId: before, notificationId, state: 'PENDING', attempts: 0 }])
  assert.equal(deliveries.length, 1)
})

test('[webhooks.9] [NO-11] fanning out twice, or by two processes at once, makes each delivery once', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  await world.subscribe('http://127.0.0.1:9/one')
  await world.subscribe('http://127.0.0.1:9/two')
  for (let count = 0; count < 30; count++) await world.notify()
  await Promise.all([world, other, world, other].map(({ fanOut }) => fanOut.processNext()))
  await world.fanOut.processNext()
  assert.equal((await world.deliveries()).length, 60)
})

test('[webhooks.9] a notification without subscriptions is fanned out to none, once', async (t) => {
  const world = await webhookWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  await world.subscribe('http://127.0.0.1:9/')
  await world.fanOut.processNext()
  assert.deepEqual(await world.deliveries(), [])
})

test('[webhooks.3] [NO-8] a receiver removed while its notifications are fanned out keeps nothing pending', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const id = await world.subscribe('http://127.0.0.1:9/')
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
  const pending = (await world.deliveries()).filter(({ state }) => state === 'PENDING')
  assert.deepEqual(pending, [])
})

test('[webhooks.9] [webhooks.10] what a lane has room for is sent as it is fanned out, the oldest first; the rest waits', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  const ids: string[] = []
  for (let count = 0; count < 6; count++) {
    ids.push(await world.notify())
    world.clock.advance(1)
  }
  await world.sendNew.processNext()
  await world.delivery.settled()
  assert.deepEqual(receiver.received.map(({ headers }) => headers['webhook-id']).sort(), ids.slice(0, 4))
  const states = (await world.deliveries()).map(({ state, attempts }) => `${state} ${attempts}`)
  assert.deepEqual(states.sort(), [...Array(4).fill('DELIVERED 1'), ...Array(2).fill('PENDING 0')])
  await world.delivery.processNext()
  await world.delivery.settled()
  assert.equal(receiver.received.length, 6)
})

test('[webhooks.10] what waits in a lane goes first: nothing is sent past it', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  await world.notify()
  await world.fanOut.processNext()
  await world.notify()
  await world.sendNew.processNext()
  await world.delivery.settled()
  assert.deepEqual(receiver.received, [])
  await world.delivery.processNext()
  await world.delivery.settled()
  assert.equal(receiver.received.length, 2)
})

test('[webhooks.14] what is fanned out to a lane that is paused, or asked for time, waits', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const paused = await world.subscribe(receiver.url)
  await pauseLane(world.database, paused, world.clock.now())
  await world.notify()
  await world.sendNew.processNext()
  await world.delivery.settled()
  assert.deepEqual(receiver.received, [])
  assert.deepEqual(
    (await world.deliveries()).map(({ state, attempts }) => [state, attempts]),
    [['PENDING', 0]],
  )
})

test('[webhooks.9] what no other process holds is fanned out, claimed and sent by one statement', async (t) => {
  const world = await webhookWorld(t)
  const alone = await world.anotherProcess({ failing: 'webhooks.fanOutInTurn' })
  const receiver = await startReceiver(t)
  await alone.subscribe(receiver.url)
  const id = await world.notify()
  await alone.sendNew.processNext()
  await alone.delivery.settled()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [id],
  )
  assert.deepEqual(await positionsIn(world.database), [1])
})

test('[webhooks.14] what is so many that fanning it out takes a while is sent by what is so afterwards', async (t) => {
  const world = await webhookWorld(t)
  const quick = await world.anotherProcess({ failing: 'webhooks.selectOpen' })
  await world.subscribe('http://127.0.0.1:9/')
  await world.notifyMany(32)
  await quick.fanOut.processNext()
  assert.equal((await world.deliveries()).length, 32)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  world.clock.advance(1)
  await world.notifyMany(33)
  await assert.rejects(quick.sendNew.processNext(), /selectOpen/)
  await quick.delivery.settled()
  assert.deepEqual(receiver.received, [])
})

for (const held of [
  'SELECT FROM notification WHERE fanned_out_at IS NULL ORDER BY created_at LIMIT 1 FOR UPDATE',
  'SELECT FROM feed FOR UPDATE',
  'SELECT FROM subscription ORDER BY created_at LIMIT 1 FOR NO KEY UPDATE',
]) {
  test(`[webhooks.9] [feed.1] while another process holds a part of it nothing is fanned out, and then all of it: ${held}`, async (t) => {
    const world = await webhookWorld(t)
    for (const path of ['one', 'two']) await world.subscribe(`http://127.0.0.1:9/${path}`)
    for (let count = 0; count < 3; count++) {
      await world.notify()
      world.clock.advance(1)
    }
    const atOnce = await world.anotherProcess({ failing: 'webhooks.fanOutInTurn' })
    const holder = await openHolder(world.url)
    await holder.hold(held)
    await assert.rejects(
      atOnce.fanOut.processNext(),
      /fanOutInTurn/,
      'it waited for nobody, and has to wait for its turn',
    )
    assert.deepEqual(await world.deliveries(), [])
    assert.deepEqual(await positionsIn(world.database), [])
    const fanningOut = Promise.allSettled([world.fanOut.processNext()])
    await holder.waiting(1)
    await holder.release()
    await fanningOut
    assert.equal((await world.deliveries()).length, 6)
    assert.deepEqual(await positionsIn(world.database), [1, 2, 3])
  })
}

const LOCKED = 'SELECT FROM subscription FOR NO KEY UPDATE'

/** What was changed while a fan-out waited for whoever changed it: what it saw before is no longer so when it goes on. */
const CHANGED_MEANWHILE = {
  'a secret that leaked': 'UPDATE webhook_secret SET expires_at = created_at, erased_at = created_at',
  'a lane that was paused': "UPDATE lane SET state = 'paused', reason = 'requested', version = version + 1",
  'a lane that asked for time': "UPDATE lane SET held_until = '2026-11-21T13:01:00Z'",
  'the signing key': `UPDATE signing_key SET state = 'previous' WHERE state = 'current';
    UPDATE signing_key SET state = 'current' WHERE state = 'next'`,
}

for (const [what, change] of Object.entries(CHANGED_MEANWHILE)) {
  test(`[webhook-secrets.3] [webhooks.14] [signing-keys.5] fan-out that waited sends nothing by what was so before: ${what}`, async (t) => {
    const world = await webhookWorld(t)
    const receiver = await startReceiver(t)
    const bare = { params: undefined, query: undefined, context: requestContext }
    await world.handlers.createWebhook({ ...bare, body: { url: receiver.url, events: ['pix_cash_in'] } })
    await world.handlers.createSigningKey({ ...bare, body: { reason: 'the tests' } })
    const { keyId } = world.keyring.signer()
    await world.notify('pix_cash_in')
    const holder = await openHolder(world.url)
    await holder.hold(`${LOCKED}; ${change}`)
    const sending = world.sendNew.processNext()
    await holder.waiting(1)
    await holder.release()
    await sending
    await world.delivery.settled()
    const [sent] = receiver.received
    if (what === 'a secret that leaked') return assert.equal(sent?.headers['webhook-signature'], undefined)
    assert.equal(sent, undefined)
    assert.deepEqual(
      (await world.deliveries()).map(({ state, attempts }) => [state, attempts]),
      [['PENDING', 0]],
      'it waits, and no attempt counts',
    )
    if (what !== 'the signing key') return
    await world.delivery.processNext()
    await world.delivery.settled()
    assert.notEqual(receiver.received[0]?.headers['digital-signature-key-id'], keyId)
  })
}
