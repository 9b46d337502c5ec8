import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { openGate, publicAddressGate } from '../../src/platform/http-client/agent.ts'
import { claimDue, Deliver } from '../../src/webhooks/deliver.ts'
import { backlogOf } from '../support/backlog.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, notingTexts, planOf } from '../support/database.ts'
import { until } from '../support/until.ts'
import { answering, hanging, type Received, startReceiver } from '../support/webhook-receiver.ts'
import { dispatchersOf, ofEndpoint, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const LEASE_MS = 30_000

function signatureOf({ headers }: Received): Buffer {
  return Buffer.from(String(headers['digital-signature']), 'base64')
}

test('[webhooks.5] a notification arrives with its exact bytes and headers', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(`${receiver.url}hook?shop=1`)
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
    { state: 'DELIVERED', attempts: 1, dueAt: null, lastOutcome: 'delivered', finishedAt: world.clock.now() },
  ])
  assert.deepEqual(await world.attempts(), [{ attempt: 1, outcome: 'delivered', statusCode: 200 }])
})

test('[webhooks.8] openssl verifies a captured delivery, by the bytes that came and no others', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
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

test('[webhooks.6] [NO-5] a failing endpoint is tried on schedule, with the same bytes, until it answers', async (t) => {
  const world = await webhookWorld(t)
  const statuses = [500, 401, 503, 204]
  const receiver = await startReceiver(t, (response) => response.writeHead(statuses.shift() ?? 500).end())
  await world.register(receiver.url)
  await world.notify()
  for (const [index, delayMs] of [5_500, 30_500, 120_500].entries()) {
    await world.deliverDue()
    assert.partialDeepStrictEqual(await world.deliveries(), [
      { state: 'PENDING', attempts: index + 1, dueAt: world.clock.now() + delayMs, lastOutcome: 'refused' },
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
  const refused = await world.notify('pix_cash_in', '{"refuse":true}')
  // It takes all others, so that its circuit breaker stays closed.
  const receiver = await startReceiver(t, (response, { headers }) =>
    response.writeHead(headers['webhook-id'] === refused ? 500 : 200).end(),
  )
  await administer(world.url, "UPDATE notification SET created_at = created_at + interval '1 ms'")
  await world.register(receiver.url)
  world.clock.advance(1)
  for (let attempt = 0; attempt < 20; attempt++) {
    await world.deliverDue()
    await world.notify()
    await world.deliverDue()
    world.clock.advance(25 * 3_600_000)
  }
  const attempts = receiver.received.filter(({ headers }) => headers['webhook-id'] === refused)
  assert.equal(attempts.length, limits.webhookRetryDelaysMs.length + 1)
  const [delivery] = (await world.deliveries()).filter(({ notificationId }) => notificationId === refused)
  assert.partialDeepStrictEqual(delivery, { state: 'FAILED', attempts: 14, dueAt: null, scheduleLeft: 0 })
})

test('[webhooks.7] [NO-4] a redirect is a failed attempt, never followed', async (t) => {
  const world = await webhookWorld(t)
  const target = await startReceiver(t)
  const receiver = await startReceiver(t, answering(308, { location: target.url }))
  await world.register(receiver.url)
  await world.notify()
  for (let attempt = 0; attempt < 6; attempt++) {
    await world.deliverDue()
    world.clock.advance(3_600_000)
  }
  assert.equal(receiver.received.length, limits.webhookShortScheduleAttempts)
  assert.equal(target.received.length, 0)
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'FAILED', lastOutcome: 'refused' }])
})

test('[NO-1] [NO-2] [events.4] [webhooks.8] [webhooks.10] a crash after the claim, the request or the finish loses nothing and uses no attempt', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  await world.notify()
  await world.fanOut.processNext()
  const { keyring, sealer, database, clock } = world
  const now = clock.now()
  const bounds = {
    signer: keyring.signer(),
    openablePrefixes: sealer.headers,
    freeSlots: [],
    now,
    leasedUntil: now + LEASE_MS,
  }
  assert.equal((await claimDue(database, bounds)).claims.length, 1)
  assert.equal((await claimDue(database, bounds)).claims.length, 0, 'it is leased')
  assert.partialDeepStrictEqual(await world.deliveries(), [
    { state: 'PENDING', attempts: 0, scheduleLeft: 14, leasedUntil: now + LEASE_MS, dueAt: now },
  ])

  clock.advance(LEASE_MS)
  await (await world.anotherProcess({ failing: 'webhooks.finish' })).deliverDue()
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'PENDING', attempts: 0, scheduleLeft: 14 }])
  assert.equal(receiver.received.length, 1)

  const log = capturedLog()
  const another = await world.anotherProcess({ failing: 'webhooks.lockCircuits', logger: log.logger })
  clock.advance(LEASE_MS - 1)
  await another.deliverDue()
  assert.equal(receiver.received.length, 1, 'the lease still holds')
  clock.advance(1)
  await another.deliverDue()
  assert.partialDeepStrictEqual(await world.deliveries(), [{ state: 'DELIVERED', attempts: 1, dueAt: null }])
  clock.advance(LEASE_MS)
  await world.deliverDue()
  const [first, second, ...more] = receiver.received
  assert.ok(first && second && more.length === 0)
  assert.deepEqual([second.body, second.headers['webhook-id']], [first.body, first.headers['webhook-id']])
  assert.notDeepEqual(signatureOf(second), signatureOf(first), 'signed anew')
  assert.ok(verify('sha256', second.body, keyring.signer().publicPem, signatureOf(second)))
})

test('[webhooks.10] a worker that slept over its lease changes nothing, whether or not another has attempted it', async (t) => {
  const world = await webhookWorld(t)
  const statuses = [500, 500, 200]
  const receiver = await startReceiver(t, (response) => response.writeHead(statuses.shift() ?? 200).end())
  await world.register(receiver.url)
  await world.notify()
  const { promise: awake, resolve: wakeUp } = Promise.withResolvers<void>()
  const sleeper = await world.anotherProcess({ recordsAfter: awake })
  await sleeper.fanOut.processNext()
  await sleeper.delivery.processNext()
  await receiver.arrived(1)
  world.clock.advance(60_000)
  await world.deliverDue()
  const [before] = await world.deliveries()
  assert.partialDeepStrictEqual(before, { state: 'PENDING', attempts: 1, scheduleLeft: 13 })
  const endpoints = await world.endpoints()
  wakeUp()
  await sleeper.delivery.settled()
  assert.deepEqual(await world.deliveries(), [before])
  assert.equal((await world.attempts()).length, 1)
  assert.deepEqual(await world.endpoints(), endpoints)
})

test('[logs.3] attempts that cannot be recorded are a line at first, and one a minute', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  for (let count = 0; count < 3; count++) await world.notify()
  const log = capturedLog()
  const dying = await world.anotherProcess({ failing: 'webhooks.finish', logger: log.logger })
  await dying.deliverDue()
  assert.equal(receiver.received.length, 3)
  assert.deepEqual(
    log.lines.map(({ event, reason }) => [event, reason]),
    [['delivery.not_recorded', 'Error: webhooks.finish fails']],
  )
})

test('[webhooks.6] [NO-17] an address that is not allowed is not reached, and tried again: the name server may be wrong', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
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

for (const [status, ends] of [
  [200, { state: 'DELIVERED', lastOutcome: 'delivered' }],
  [500, { state: 'CANCELLED', lastOutcome: 'refused' }],
] as const) {
  test(`[webhooks.3] [NO-8] an attempt under way when its endpoint is removed ends as ${ends.state} with ${status}, and is recorded`, async (t) => {
    const world = await webhookWorld(t)
    const answers: (() => void)[] = []
    const receiver = await startReceiver(t, (response) => answers.push(() => response.writeHead(status).end()))
    const id = await world.register(receiver.url)
    await world.notify()
    await world.fanOut.processNext()
    await world.delivery.processNext()
    await receiver.arrived(1)
    await world.handlers.deleteWebhook(ofEndpoint(id))
    for (const answer of answers) answer()
    await world.delivery.settled()
    await world.housekeeping.processNext()
    assert.partialDeepStrictEqual(await world.deliveries(), [{ ...ends, dueAt: null, attempts: 1 }])
    assert.partialDeepStrictEqual(await world.attempts(), [{ attempt: 1, statusCode: status }])
    world.clock.advance(LEASE_MS)
    await world.deliverDue()
    assert.equal(receiver.received.length, 1)
  })
}

test('[webhooks.10] [NO-13] [NO-15] of a backlog the oldest are sent first, so many at once and no more', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, hanging)
  await world.register(receiver.url)
  const ids: string[] = []
  for (let count = 0; count < limits.webhookInFlight + 8; count++) {
    ids.push(await world.notify())
    world.clock.advance(1)
  }
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await receiver.arrived(limits.webhookInFlight)
  await world.delivery.processNext()
  await receiver.close()
  await world.delivery.settled()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).sort(),
    ids.slice(0, limits.webhookInFlight).sort(),
  )
})

test('[webhooks.10] [NO-13] an attempt that waits for its record holds up no other; each is recorded', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  const count = 2 * limits.webhookInFlight
  for (let one = 0; one < count; one++) await world.notify()
  const { promise: mayRecord, resolve: letRecord } = Promise.withResolvers<void>()
  const slow = await world.anotherProcess({ recordsAfter: mayRecord })
  await slow.fanOut.processNext()
  while (receiver.received.length < count) await slow.delivery.processNext()
  assert.deepEqual(await world.attempts(), [])
  letRecord()
  await slow.delivery.settled()
  assert.deepEqual(new Set((await world.deliveries()).map(({ state }) => state)), new Set(['DELIVERED']))
  assert.equal((await world.attempts()).length, count)
  assert.equal(receiver.received.length, count)
})

test('[webhooks.9] [NO-11] two processes at once fan out and send each notification once', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
  for (const { url } of receivers) await world.register(url)
  for (let count = 0; count < 40; count++) await world.notify()
  for (let round = 0; round < 6; round++) await Promise.all([world.deliverDue(), other.deliverDue()])
  for (const { received } of receivers) {
    assert.equal(received.length, 40)
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 40)
  }
})

test('[webhooks.10] [NO-10] where all endpoints hang each holds its own places, and none of another', async (t) => {
  const world = await webhookWorld(t)
  const receivers = await Promise.all(
    Array.from({ length: limits.webhookSubscriptionsMax }, () => startReceiver(t, hanging)),
  )
  for (const { url } of receivers) await world.register(url)
  for (let count = 0; count < limits.webhookInFlight + 1; count++) await world.notify()
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await Promise.all(receivers.map(({ arrived }) => arrived(limits.webhookInFlight)))
  await world.delivery.processNext()
  const leased = Map.groupBy(
    (await world.deliveries()).filter(({ leasedUntil }) => leasedUntil !== null),
    ({ endpointId }) => endpointId,
  )
  assert.deepEqual(
    [...leased.values()].map(({ length }) => length),
    receivers.map(() => limits.webhookInFlight),
  )
  await Promise.all(receivers.map(({ close }) => close()))
  await world.delivery.settled()
})

test('[webhooks.10] [NO-10] a claim reads the queue of each endpoint by its index, however long it is', async (t) => {
  const world = await webhookWorld(t)
  const { texts, noting } = notingTexts(world.database)
  await backlogOf(world.url, await world.register('http://127.0.0.1:9/'), 20_000)
  const { clock, keyring, sealer } = world
  const bounds = {
    signer: keyring.signer(),
    openablePrefixes: sealer.headers,
    freeSlots: [],
    now: clock.now(),
    leasedUntil: 0,
  }
  await assert.rejects(claimDue(noting, bounds))
  const plan = await planOf(world.url, texts[0] ?? '')
  assert.match(plan, /Index Scan (using|on) delivery_due/)
  assert.doesNotMatch(plan, /Seq Scan on (delivery|notification)/)
  await administer(
    world.url,
    `DELETE FROM pg_statistic WHERE starelid IN ('delivery'::regclass, 'notification'::regclass);
     UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relname IN ('delivery', 'notification')`,
  )
  const unknown = await planOf(world.url, texts[0] ?? '')
  assert.match(
    unknown,
    /Subquery Scan on candidate.*\n +-> +Limit.*\n +-> +Nested Loop/,
    'in order until there are enough',
  )
  assert.match(unknown, /Index Scan using delivery_once/)
})

/** A worker of a world whose signatures are counted, and fail for one body. */
function deliveryWith(t: TestContext, world: WebhookWorld, unsignable = '') {
  const signed: string[] = []
  const { keyId, publicPem, sign } = world.keyring.signer()
  const counting = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString()
    if (text === unsignable) throw new Error('no signature')
    signed.push(text)
    return sign(bytes)
  }
  const keyring = { signer: () => ({ keyId, publicPem, sign: counting }), refresh: world.keyring.refresh }
  const needs = {
    ...world,
    keyring,
    dispatchers: dispatchersOf(t, openGate()),
    logger: capturedLog().logger,
    random: () => 0,
    onSlotFree: () => undefined,
  }
  return { delivery: new Deliver(needs), signed }
}

test('[webhooks.8] a notification is signed once for all endpoints at which it is claimed', async (t) => {
  const world = await webhookWorld(t)
  const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
  for (const { url } of receivers) await world.register(url)
  await world.notify('pix_cash_in', 'one')
  await world.notify('pix_cash_in', 'two')
  await world.fanOut.processNext()
  const { delivery, signed } = deliveryWith(t, world)
  await delivery.processNext()
  await delivery.settled()
  assert.deepEqual(signed.toSorted(), ['one', 'two'])
  for (const { received } of receivers) assert.equal(received.length, 2)
})

test('[webhooks.8] a notification that cannot be signed fails the step, and holds up none that was claimed with it', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  for (const body of ['unsignable', 'well']) await world.notify('pix_cash_in', body)
  await world.fanOut.processNext()
  const { delivery } = deliveryWith(t, world, 'unsignable')
  await assert.rejects(delivery.processNext(), /cannot be signed/)
  await delivery.settled()
  assert.deepEqual(
    receiver.received.map(({ body }) => body.toString()),
    ['well'],
  )
})

test('[webhooks.13] successes between failures keep the circuit breaker closed, also where all were claimed at once', async (t) => {
  const world = await webhookWorld(t)
  const answers: (() => void)[] = []
  const receiver = await startReceiver(t, (response) => {
    const status = answers.length % 2 === 0 ? 500 : 200
    answers.push(() => response.writeHead(status).end())
  })
  await world.register(receiver.url)
  for (let count = 0; count < 12; count++) await world.notify()
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await receiver.arrived(12)
  const ended = async () => (await world.deliveries()).filter(({ attempts }) => attempts > 0).length
  for (const [index, answer] of answers.entries()) {
    answer()
    await until(async () => (await ended()) > index)
  }
  await world.delivery.settled()
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'active', failures: 0 }])
})

test('[webhooks.25] of two notifications of an operation the later waits for the earlier one, a minute at most', async (t) => {
  const world = await webhookWorld(t)
  let isWell = false
  const receiver = await startReceiver(t, (response) => response.writeHead(isWell ? 200 : 500).end())
  await world.register(receiver.url)
  const [one, another] = [randomUUID(), randomUUID()]
  const [first, second] = [await world.notifyOf(one), await world.notifyOf(one)]
  const other = await world.notifyOf(another)
  await world.deliverDue()
  const arrived = () => receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(arrived().sort(), [first, other].sort())
  await world.deliverDue()
  assert.equal(receiver.received.length, 2, 'the second one waits')
  isWell = true
  world.clock.advance(6_000)
  await world.deliverDue()
  await world.deliverDue()
  assert.deepEqual(arrived().slice(2).toSorted(), [first, second, other].toSorted())
  assert.ok(arrived().lastIndexOf(first) < arrived().indexOf(second))
})

test('[webhooks.25] notifications that wait for earlier ones hold up no other, however many they are', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  const operations = Array.from({ length: 3 * limits.webhookInFlight }, () => randomUUID())
  for (const operation of operations) await world.notifyOf(operation)
  await world.fanOut.processNext()
  await administer(world.url, "UPDATE delivery SET due_at = due_at + interval '1 hour'")
  for (const operation of operations) await world.notifyOf(operation)
  world.clock.advance(1)
  const other = await world.notify()
  await world.deliverDue()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [other],
  )
})

test('[webhooks.25] the later notification waits also while another process has the earlier one in flight', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  const operation = randomUUID()
  const [first, second] = [await world.notifyOf(operation), await world.notifyOf(operation)]
  const { promise: mayRecord, resolve: record } = Promise.withResolvers<void>()
  const other = await world.anotherProcess({ recordsAfter: mayRecord })
  await other.fanOut.processNext()
  await other.delivery.processNext()
  await receiver.arrived(1)
  await world.deliverDue()
  assert.equal(receiver.received.length, 1)
  record()
  await other.delivery.settled()
  await world.deliverDue()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [first, second],
  )
})

test('[webhooks.25] after a minute the later notification is sent past the earlier one', async (t) => {
  const world = await webhookWorld(t)
  const operation = randomUUID()
  const first = await world.notifyOf(operation)
  const receiver = await startReceiver(t, (response, { headers }) =>
    response.writeHead(headers['webhook-id'] === first ? 500 : 200).end(),
  )
  await administer(world.url, "UPDATE notification SET created_at = created_at + interval '1 ms'")
  await world.register(receiver.url)
  world.clock.advance(1)
  const second = await world.notifyOf(operation)
  const sent = () => receiver.received.filter(({ headers }) => headers['webhook-id'] === second).length
  await world.deliverDue()
  const fannedOutAt = world.clock.now()
  while (world.clock.now() < fannedOutAt + limits.webhookOrderMs) {
    assert.equal(sent(), 0)
    world.clock.advance(5_000)
    await world.deliverDue()
  }
  assert.equal(sent(), 1)
})

test('[NO-14] what changes while its notification is tried again is another one; the first keeps its bytes', async (t) => {
  const world = await webhookWorld(t)
  let isWell = false
  const receiver = await startReceiver(t, (response) => response.writeHead(isWell ? 200 : 500).end())
  await world.register(receiver.url)
  const confirmed = '{"event_type":"pix_cash_out","event":{"status":"CONFIRMED"}}'
  const reversed = '{"event_type":"pix_cash_out_reversal","event":{"status":"REVERSED"}}'
  await world.notify('pix_cash_out', confirmed)
  await world.deliverDue()
  isWell = true
  await world.notify('pix_cash_out_reversal', reversed)
  await world.deliverDue()
  world.clock.advance(6_000)
  await world.deliverDue()
  assert.deepEqual(
    receiver.received.map(({ body }) => body.toString()),
    [confirmed, reversed, confirmed],
  )
})
