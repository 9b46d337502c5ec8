import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import test from 'node:test'
import { type Received, startReceiver } from '../support/webhook-receiver.ts'
import {
  ENCRYPTION_KEYS,
  exchangeKey,
  requestContext,
  type WebhookProcess,
  webhookWorld,
} from '../support/webhook-world.ts'

const why = { reason: 'the tests', force: true }
const bare = { params: undefined, query: undefined, context: requestContext }

/** Delivers until nothing more is due right away: a process that sees another key opens it and looks again. */
async function deliverAll({ fanOut, delivery }: WebhookProcess): Promise<void> {
  await fanOut.processNext()
  while (await delivery.processNext());
  await delivery.settled()
}

const keyIdOf = ({ headers }: Received) => headers['digital-signature-key-id']

test('[signing-keys.5] every process signs with the key that is current when it claims, from the first claim on', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  const ids = [world.keyring.signer().keyId]
  for (const [process, rotating] of [
    [other, world],
    [world, other],
  ] as const) {
    ids.push(await exchangeKey(rotating))
    await world.notify()
    assert.equal(await process.delivery.processNext(), true, 'it signs nothing with the key that it had')
    await deliverAll(process)
    const last = receiver.received.at(-1) ?? assert.fail()
    assert.equal(keyIdOf(last), ids.at(-1))
    const signature = Buffer.from(String(last.headers['digital-signature']), 'base64')
    assert.ok(verify('sha256', last.body, process.keyring.signer().publicPem, signature))
  }
  assert.equal(receiver.received.length, 2)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ attempts: 1 }, { attempts: 1 }])
})

test('[signing-keys.5] a process that cannot open the current key claims nothing, so that another delivers', async (t) => {
  const world = await webhookWorld(t)
  const changed = { current: 'another encryption key', previous: ENCRYPTION_KEYS.current }
  const ahead = await world.anotherProcess({ encryptionKeys: changed })
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  await world.notify()
  const id = await exchangeKey(ahead)
  await world.fanOut.processNext()
  for (let step = 0; step < 20; step++) {
    await assert.rejects(world.delivery.processNext(), { name: 'Unreadable' })
  }
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'PENDING', attempts: 0 }])
  await deliverAll(ahead)
  assert.deepEqual(receiver.received.map(keyIdOf), [id])
})

test('[signing-keys.2] [webhooks.8] [NO-7] a notification that a revoked key signed is refused, and its bytes are delivered with the key that replaced it', async (t) => {
  const world = await webhookWorld(t)
  const revoked = world.keyring.signer().keyId
  const accepted: unknown[] = []
  const receiver = await startReceiver(t, async (response, received) => {
    if (keyIdOf(received) === revoked) {
      await exchangeKey(world)
      await world.handlers.retireSigningKey({ ...bare, params: { key_id: revoked }, body: why })
      world.clock.advance(1_000)
    }
    const answer = await world.handlers.listPublicKeys({ ...bare, body: undefined })
    const isKnown = answer.status === 200 && answer.body.data.some(({ id }) => id === keyIdOf(received))
    if (isKnown) accepted.push(received.headers['webhook-id'])
    response.writeHead(isKnown ? 204 : 401).end()
  })
  await world.register(receiver.url)
  const id = await world.notify()
  await deliverAll(world)
  assert.deepEqual(accepted, [])
  world.clock.advance(6_000)
  await deliverAll(world)
  assert.deepEqual(accepted, [id])
  const [first, second] = receiver.received
  assert.deepEqual(second?.body, first?.body)
  assert.notEqual(second?.headers['digital-signature-key-id'], revoked)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'DELIVERED', attempts: 2 }])
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'active', failures: 0 }])
})
