import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { publicAddressGate } from '../../src/platform/http-client/address-gate.ts'
import { capturedLog } from '../support/captured-log.ts'
import { answering, hanging, type Received, startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'

const LEASE_MS = 30_000

function signatureOf({ headers }: Received): Buffer {
  return Buffer.from(String(headers['digital-signature']), 'base64')
}

test('[webhooks.5] a notification arrives with its exact bytes and headers', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(`${receiver.url}hook?shop=1`)
  const body = '{"event_type":"pix_cash_in",  "event":{"payer_name":"João"}}'
  const id = await world.notify('pix_cash_in', body)
  world.clock.advance(1_500)
  await world.deliverDue()

  const [received] = receiver.received
  assert.ok(received)
  assert.equal(received.path, '/hook?shop=1')
  assert.equal(received.body.toString(), body)
  assert.partialDeepStrictEqual(received.headers, {
    'content-type': 'application/json',
    'user-agent': 'Pixgate',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(world.clock.now() / 1_000)),
    'digital-signature-key-id': world.keyring.signer().keyId,
  })
  assert.ok(verify('sha256', received.body, world.keyring.signer().publicPem, signatureOf(received)))
  assert.partialDeepStrictEqual(await world.deliveries(), [
    { state: 'DELIVERED', attempts: 1, nextAttemptAt: null, lastOutcome: 'delivered', finishedAt: world.clock.now() },
  ])
  assert.deepEqual(await world.attempts(), [{ attempt: 1, outcome: 'delivered', statusCode: 200 }])
})

test('[webhooks.8] openssl verifies a captured delivery, by the bytes that came and no others', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  await world.notify()
  await world.deliverDue()
  const [received] = receiver.received
  assert.ok(received)

  const { publicPem } = world.keyring.signer()
  for (const written of [
    JSON.stringify(JSON.parse(received.body.toString()), null, 1),
    ` ${received.body}`,
    `${received.body}\n`,
  ]) {
    const isVerified: boolean = verify('sha256', Buffer.from(written), publicPem, signatureOf(received))
    assert.equal(isVerified, false, 'what a receiver wrote anew is not what was signed')
  }

  const folder = mkdtempSync(join(tmpdir(), 'pixgate-signature-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [key, signature, body] = ['key.pem', 'signature', 'body'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(key, publicPem)
  writeFileSync(signature, signatureOf(received))
  writeFileSync(body, received.body)
  try {
    execFileSync('openssl', ['version'])
  } catch {
    return t.skip('openssl is not on this machine')
  }
  const verdict = execFileSync('openssl', ['dgst', '-sha256', '-verify', key, '-signature', signature, body])
  assert.equal(verdict.toString(), 'Verified OK\n')
})

test('[webhooks.6] [NO-5] a failing receiver is tried on schedule, with the same bytes, until it answers', async (t) => {
  const world = await webhookWorld(t)
  const statuses = [500, 401, 503, 204]
  const receiver = await startReceiver(t, (response) => response.writeHead(statuses.shift() ?? 500).end())
  await world.subscribe(receiver.url)
  await world.notify()
  for (const [index, delayMs] of [5_500, 30_500, 120_500].entries()) {
    await world.deliverDue()
    assert.partialDeepStrictEqual(await world.deliveries(), [
      { state: 'PENDING', attempts: index + 1, nextAttemptAt: world.clock.now() + delayMs, lastOutcome: 'refused' },
    ])
    world.clock.advance(delayMs - 1)
    await world.deliverDue()
    assert.equal(receiver.received.length, index + 1, 'not before it is due')
    world.clock.advance(1)
  }
  await world.deliverDue()
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'DELIVERED', attempts: 4 }])
  assert.deepEqual(
    (await world.attempts()).map(({ statusCode }) => statusCode),
    [500, 401, 503, 204],
  )
  for (const { body, headers } of receiver.received) {
    assert.deepEqual(
      [body, headers['webhook-id']],
      [receiver.received[0]?.body, receiver.received[0]?.headers['webhook-id']],
    )
  }
})

test('[webhooks.6] [NO-5] after the last attempt the delivery has failed', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answering(500))
  await world.subscribe(receiver.url)
  await world.notify()
  for (let attempt = 0; attempt < 20; attempt++) {
    await world.deliverDue()
    world.clock.advance(25 * 3_600_000)
  }
  assert.equal(receiver.received.length, limits.webhookRetryDelaysMs.length + 1)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'FAILED', attempts: 14, nextAttemptAt: null }])
})

test('[webhooks.7] [NO-4] a redirect is a failed attempt, never followed', async (t) => {
  const world = await webhookWorld(t)
  const target = await startReceiver(t)
  const receiver = await startReceiver(t, answering(308, { location: target.url }))
  await world.subscribe(receiver.url)
  await world.notify()
  for (let attempt = 0; attempt < 6; attempt++) {
    await world.deliverDue()
    world.clock.advance(3_600_000)
  }
  assert.equal(receiver.received.length, limits.webhookShortScheduleAttempts)
  assert.equal(target.received.length, 0)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'FAILED', lastOutcome: 'refused' }])
})

test('[webhooks.6] [NO-5] a receiver that cannot be reached is tried again', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await receiver.close()
  await world.subscribe(receiver.url)
  await world.notify()
  await world.deliverDue()
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'PENDING', lastOutcome: 'connect' }])
  assert.deepEqual(await world.attempts(), [{ attempt: 1, outcome: 'connect', statusCode: null }])
})

test('[events.4] [webhooks.8] [NO-2] a process that dies after the POST: another sends the same bytes again, freshly signed', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  await world.notify()
  const dying = await world.anotherProcess({ failing: 'webhooks.recordAttempts' })
  await dying.deliverDue()
  assert.equal(receiver.received.length, 1)

  world.clock.advance(LEASE_MS - 1)
  await world.deliverDue()
  assert.equal(receiver.received.length, 1, 'the lease still holds')
  world.clock.advance(1)
  await world.deliverDue()

  const [first, second] = receiver.received
  assert.ok(first && second)
  assert.deepEqual(second.body, first.body)
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id'])
  assert.ok(verify('sha256', second.body, world.keyring.signer().publicPem, signatureOf(second)))
  assert.notDeepEqual(signatureOf(second), signatureOf(first))
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'DELIVERED', attempts: 2 }])
})

test('[logs.3] attempts that cannot be recorded are a line at first, and one a minute', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  for (let count = 0; count < 3; count++) await world.notify()
  const log = capturedLog()
  const dying = await world.anotherProcess({ failing: 'webhooks.recordAttempts', logger: log.logger })
  await dying.deliverDue()
  assert.equal(receiver.received.length, 3)
  assert.deepEqual(
    log.lines.map(({ msg, reason }) => [msg, reason]),
    [['an attempt was not recorded; it is made again when its lease ends', 'Error: webhooks.recordAttempts fails']],
  )
})

test('[webhooks.6] [NO-17] an address that is not allowed is not reached, and tried again: the name server may be wrong', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  await world.notify()
  const guarded = await world.anotherProcess({ gate: publicAddressGate() })
  await guarded.deliverDue()
  assert.equal(receiver.received.length, 0)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'PENDING', lastOutcome: 'address_not_allowed' }])
  world.clock.advance(6_000)
  await world.deliverDue()
  assert.equal(receiver.received.length, 1)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'DELIVERED', attempts: 2 }])
})

test('[webhooks.3] [NO-8] removing a receiver cancels its retries; an attempt under way may arrive and is kept', async (t) => {
  const world = await webhookWorld(t)
  const answers: (() => void)[] = []
  const receiver = await startReceiver(t, (response) => answers.push(() => response.end()))
  const id = await world.subscribe(receiver.url)
  await world.notify()
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await receiver.arrived(1)
  await world.handlers.deleteWebhook({
    params: { webhook_id: id },
    query: undefined,
    body: undefined,
    context: requestContext,
  })
  for (const answer of answers) answer()
  await world.delivery.settled()
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'CANCELLED', nextAttemptAt: null }])
  assert.deepEqual(await world.attempts(), [{ attempt: 1, outcome: 'delivered', statusCode: 200 }])

  world.clock.advance(LEASE_MS)
  await world.deliverDue()
  assert.equal(receiver.received.length, 1)
})

test('[webhooks.10] [NO-13] [NO-15] a receiver with a backlog gets the oldest first, a few at a time', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, hanging)
  await world.subscribe(receiver.url)
  const ids: string[] = []
  for (let count = 0; count < 40; count++) {
    ids.push(await world.notify())
    world.clock.advance(1)
  }
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await receiver.arrived(limits.webhookLaneStart)
  await world.delivery.processNext()
  await receiver.close()
  await world.delivery.settled()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).sort(),
    ids.slice(0, limits.webhookLaneStart).sort(),
  )
})

test('[webhooks.10] [NO-13] an attempt that waits for its record holds up no other; each is recorded', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.subscribe(receiver.url)
  for (let count = 0; count < 64; count++) await world.notify()
  const { promise: mayRecord, resolve: letRecord } = Promise.withResolvers<void>()
  const slow = await world.anotherProcess({ recordsAfter: mayRecord })
  await slow.fanOut.processNext()
  while (receiver.received.length < 64) await slow.delivery.processNext()
  assert.deepEqual(await world.attempts(), [])
  letRecord()
  await slow.delivery.settled()
  assert.deepEqual(new Set((await world.deliveries()).map(({ state }) => state)), new Set(['DELIVERED']))
  assert.equal((await world.attempts()).length, 64)
  assert.equal(receiver.received.length, 64)
})

test('[webhooks.9] two processes at once send each notification once', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
  for (const { url } of receivers) await world.subscribe(url)
  for (let count = 0; count < 40; count++) await world.notify()
  for (let round = 0; round < 6; round++) await Promise.all([world.deliverDue(), other.deliverDue()])
  for (const { received } of receivers) {
    assert.equal(received.length, 40)
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 40)
  }
})

test('[webhooks.10] [NO-10] with 20 receivers of which most hang, each holds four attempts', async (t) => {
  const world = await webhookWorld(t)
  const receivers = await Promise.all(
    Array.from({ length: limits.webhookSubscriptionsMax }, () => startReceiver(t, hanging)),
  )
  for (const { url } of receivers) await world.subscribe(url)
  for (let count = 0; count < 20; count++) await world.notify()
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await Promise.all(receivers.map(({ arrived }) => arrived(limits.webhookLaneStart)))
  await world.delivery.processNext()
  assert.equal(
    (await world.deliveries()).reduce((sum, { attempts }) => sum + attempts, 0),
    limits.webhookLaneStart * limits.webhookSubscriptionsMax,
  )
  await Promise.all(receivers.map(({ close }) => close()))
  await world.delivery.settled()
})

test('[NO-14] what changes while its notification is tried again is another one; the first keeps its bytes', async (t) => {
  const world = await webhookWorld(t)
  let isWell = false
  const receiver = await startReceiver(t, (response) => response.writeHead(isWell ? 200 : 500).end())
  await world.subscribe(receiver.url)
  const confirmed = '{"event_type":"pix_cash_out","event":{"status":"CONFIRMED"}}'
  const reversed = '{"event_type":"pix_cash_out_reversal","event":{"status":"REVERSED"}}'
  await world.notify('pix_cash_out', confirmed)
  await world.deliverDue()
  isWell = true
  await world.notify('pix_cash_out_reversal', reversed)
  await world.deliverDue()
  world.clock.advance(60_000)
  await world.deliverDue()
  assert.deepEqual(
    receiver.received.map(({ body }) => body.toString()),
    [confirmed, reversed, confirmed],
  )
})
