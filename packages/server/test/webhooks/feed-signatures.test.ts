import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import test from 'node:test'
import { feedOf } from '../support/feed.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { exchangeKey, webhookWorld } from '../support/webhook-world.ts'

test('[feed.7] an event of the feed has the bytes of the webhook, its id, and a signature that the same key verifies', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  await world.notify('pix_cash_in', '{"event_type":"pix_cash_in","event":{"payer_name":"João  \\u00e7 \\"\\n🎉"}}')
  await world.deliverDue()
  const [delivered] = receiver.received
  assert.ok(delivered)
  const [event] = (await feedOf(world, world).read()).data
  assert.ok(event)
  assert.deepEqual(Buffer.from(event.body), delivered.body)
  assert.deepEqual(
    [event.id, event.signatureKeyId],
    [delivered.headers['webhook-id'], delivered.headers['digital-signature-key-id']],
  )
  const key = createPublicKey(world.keyring.signer().publicPem)
  for (const signature of [event.signature, String(delivered.headers['digital-signature'])]) {
    assert.ok(verify('sha256', delivered.body, key, Buffer.from(signature, 'base64')))
  }
})

test('[feed.7] a process that only answers requests signs with the key that is current, also when another one exchanged it', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  await world.notify()
  await world.fanOut.processNext()
  const id = await exchangeKey(other)
  const [event] = (await feedOf(world, world).read()).data
  assert.equal(event?.signatureKeyId, id)
  const key = createPublicKey(world.keyring.signer().publicPem)
  assert.ok(event && verify('sha256', Buffer.from(event.body), key, Buffer.from(event.signature, 'base64')))
})

test('[feed.7] what nobody was registered for is in the feed', async (t) => {
  const world = await webhookWorld(t)
  const id = await world.notify()
  await world.fanOut.processNext()
  assert.deepEqual(await world.deliveries(), [])
  assert.equal((await feedOf(world, world).read()).data[0]?.id, id)
})
