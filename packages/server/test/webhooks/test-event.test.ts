import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { lapsing } from '../support/live-request.ts'
import { answering, hanging, startReceiver } from '../support/webhook-receiver.ts'
import { exchangeKey, ofEndpoint, requestContext, type WebhookProcess, webhookWorld } from '../support/webhook-world.ts'

function sendTest({ handlers }: WebhookProcess, id: string, live = requestContext.live) {
  const context = { ...requestContext, live }
  return handlers.testWebhook({ ...ofEndpoint(id), context })
}

test('[webhooks.20] a test event arrives signed and marked, and the answer tells what came of it', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, (response) => response.end('thanks'))
  const { body } = await sendTest(world, await world.register(receiver.url))
  const [received] = receiver.received
  assert.ok(received)
  assert.partialDeepStrictEqual(received.headers, {
    'webhook-test': 'true',
    'webhook-id': body.notificationId,
    'digital-signature-key-id': world.keyring.signer().keyId,
  })
  const signature = Buffer.from(String(received.headers['digital-signature']), 'base64')
  assert.ok(verify('sha256', received.body, world.keyring.signer().publicPem, signature))
  assert.deepEqual(JSON.parse(received.body.toString()), {
    event_type: 'webhook_test',
    event: { id: body.notificationId, created_at: '2026-11-21T13:00:00.000Z' },
  })
  const { notificationId: _, times, ...result } = body
  assert.deepEqual(result, {
    startedAt: '2026-11-21T13:00:00.000Z',
    outcome: 'delivered',
    explanation: 'Your server took it: it answered 200.',
    statusCode: 200,
    answer: 'thanks',
  })
  assert.ok(times.totalMs !== null && times.waitMs !== null)
})

test('[webhooks.20] it is sent in every state, and changes none; nothing of it is kept', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answering(410))
  const id = await world.register(receiver.url)
  const before = await world.endpoints()
  assert.partialDeepStrictEqual((await sendTest(world, id)).body, { outcome: 'refused', statusCode: 410 })
  assert.deepEqual(await world.endpoints(), before, 'a 410 would pause a receiver')
  await world.handlers.pauseWebhook(ofEndpoint(id))
  await sendTest(world, id)
  assert.equal(receiver.received.length, 2)
  assert.deepEqual([await world.deliveries(), await world.attempts()], [[], []])
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'paused', failures: 0 }])
})

test('[webhooks.20] it is signed with the key that is current, also where another process made it so', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const receiver = await startReceiver(t)
  const id = await world.register(receiver.url)
  const key = await exchangeKey(other)
  await sendTest(world, id)
  assert.equal(receiver.received[0]?.headers['digital-signature-key-id'], key)
})

test('[webhooks.20] at most eight are under way; who has lapsed, or names no endpoint, has none sent', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, hanging)
  const id = await world.register(receiver.url)
  const sent = Array.from({ length: limits.webhookTestsAtOnce }, () => sendTest(world, id))
  await receiver.arrived(limits.webhookTestsAtOnce)
  await assert.rejects(sendTest(world, id), { code: 'overloaded' })
  await receiver.close()
  for (const { body } of await Promise.all(sent)) assert.equal(body.outcome, 'broken')

  const live = lapsing()
  live.lapse()
  await assert.rejects(sendTest(world, id, live), { code: 'overloaded' })
  await assert.rejects(sendTest(world, '0198c0de-5b00-7000-8000-0a1b2c3d4e5f'), { code: 'not_found' })
  await assert.rejects(sendTest(world, 'webhook'), { code: 'not_found' })
})
