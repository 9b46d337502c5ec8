import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { endpointReasons, limits, Refusal } from '@pixgate/spec'
import { publicAddressGate } from '../../src/platform/http-client/agent.ts'
import type { WebhookHandlers } from '../../src/webhooks/index.ts'
import { capturedLog } from '../support/captured-log.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

const input = { query: undefined, body: undefined, context: requestContext }

/** A world with a receiver that answers what the test last said. */
async function worldWithReceiver(t: TestContext) {
  const world = await webhookWorld(t)
  const answer = { status: 200, headers: {} as Record<string, string> }
  const receiver = await startReceiver(t, (response) => response.writeHead(answer.status, answer.headers).end())
  const id = await world.register(receiver.url)
  return { world, receiver, answer, id }
}

function asked(handlers: WebhookHandlers, id: string) {
  const of = { ...input, params: { webhook_id: id } }
  return {
    read: async () => (await handlers.getWebhook(of)).body,
    pause: async () => (await handlers.pauseWebhook(of)).body,
    resume: async () => (await handlers.resumeWebhook(of)).body,
    remove: () => handlers.deleteWebhook(of),
  }
}

async function notifyTimes(world: WebhookWorld, times: number): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < times; count++) {
    ids.push(await world.notify())
    world.clock.advance(1)
  }
  return ids
}

/** Sends until nothing is sent any more at this instant. @returns how many attempts were made */
async function sendAll(world: Pick<WebhookWorld, 'deliverDue'>, receiver: Receiver): Promise<number> {
  const before = receiver.received.length
  for (let sent = -1; sent !== receiver.received.length; ) {
    sent = receiver.received.length
    await world.deliverDue()
  }
  return receiver.received.length - before
}

/** Lets time pass, a second at a time, and sends what is due. @returns how many attempts were made in each */
async function secondsOf(world: WebhookWorld, receiver: Receiver, seconds: number): Promise<number[]> {
  const sent: number[] = []
  for (let second = 0; second < seconds; second++) {
    world.clock.advance(SECOND)
    sent.push(await sendAll(world, receiver))
  }
  return sent
}

test('[webhooks.12] [webhooks.13] [NO-10] an endpoint that fails gets one probe at a time, and no delivery loses an attempt by it', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  answer.status = 500
  const ids = await notifyTimes(world, 100)
  await sendAll(world, receiver)
  const tried = receiver.received.length
  assert.equal(tried, limits.webhookInFlight)
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'degraded', reason: 'failing' }])
  const left = async () => (await world.deliveries()).map(({ scheduleLeft }) => scheduleLeft)
  const leftBefore = await left()

  assert.equal(await sendAll(world, receiver), 0, 'not before the probe is due')
  const sent = await secondsOf(world, receiver, 120)
  const probes = sent.flatMap((count, second) => (count === 0 ? [] : [second + 1]))
  assert.deepEqual(probes, [5, 20, 50, 110])
  assert.deepEqual(new Set(sent), new Set([0, 1]))
  assert.deepEqual(await left(), leftBefore)
  assert.equal((await world.attempts()).length, tried + probes.length, 'probes are recorded')

  answer.status = 200
  await secondsOf(world, receiver, 60)
  assert.partialDeepStrictEqual(await world.endpoints(), [
    { state: 'active', reason: null, probeAt: null, failures: 0 },
  ])
  assert.deepEqual(new Set((await world.deliveries()).map(({ state }) => state)), new Set(['DELIVERED']))
  const taken = receiver.received.slice(tried + probes.length).map(({ headers }) => headers['webhook-id'])
  assert.deepEqual([...taken].sort(), [...ids].sort(), 'each came once')
})

test('[webhooks.12] [webhooks.13] a circuit breaker that is open for three days uses no attempts', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  answer.status = 500
  await notifyTimes(world, 6)
  await sendAll(world, receiver)
  const held = await world.notify()
  for (let hour = 0; hour < 72; hour++) {
    await sendAll(world, receiver)
    world.clock.advance(HOUR)
  }
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'degraded' }])
  const deliveries = await world.deliveries()
  assert.deepEqual(
    deliveries.map(({ scheduleLeft, notificationId }) => [scheduleLeft, notificationId === held]),
    [...Array(6).fill([13, false]), [14, true]],
  )
  answer.status = 200
  await sendAll(world, receiver)
  assert.deepEqual(new Set((await world.deliveries()).map(({ state }) => state)), new Set(['DELIVERED']))
})

test('[webhooks.13] [signing-keys.2] a 401 of a receiver that has cached the earlier keys opens no circuit breaker', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  const bare = { params: undefined, query: undefined, context: requestContext }
  const body = { reason: 'the tests', force: true }
  const made = await world.handlers.createSigningKey({ ...bare, body })
  await world.handlers.promoteSigningKey({ ...bare, params: { key_id: made.body.id }, body })
  answer.status = 401
  await notifyTimes(world, 20)
  await sendAll(world, receiver)
  await sendAll(world, receiver)
  assert.equal(receiver.received.length, 20)
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'active', failures: 0 }])
  answer.status = 200
  await secondsOf(world, receiver, 6)
  assert.deepEqual(new Set((await world.deliveries()).map(({ state }) => state)), new Set(['DELIVERED']))
})

test('[webhooks.13] two processes send one probe between them', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  const other = await world.anotherProcess()
  answer.status = 500
  await notifyTimes(world, 30)
  await sendAll(world, receiver)
  const tried = receiver.received.length
  world.clock.advance(6 * SECOND)
  await Promise.all([world.deliverDue(), other.deliverDue(), world.deliverDue(), other.deliverDue()])
  assert.equal(receiver.received.length, tried + 1)
  answer.status = 200
  world.clock.advance(15 * SECOND)
  await Promise.all([world.deliverDue(), other.deliverDue()])
  await other.deliverDue()
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'active' }])
})

test('[webhooks.12] a probe whose process died is made again when its lease ends', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  answer.status = 500
  await notifyTimes(world, 30)
  await sendAll(world, receiver)
  const tried = receiver.received.length
  answer.status = 200
  const dying = await world.anotherProcess({ failing: 'webhooks.finish' })
  world.clock.advance(6 * SECOND)
  await dying.deliverDue()
  assert.equal(receiver.received.length, tried + 1)
  assert.equal(await sendAll(world, receiver), 0)
  world.clock.advance(30 * SECOND)
  await world.deliverDue()
  assert.equal(receiver.received.length, tried + 2)
})

test('[webhooks.12] another endpoint gets everything while one is held', async (t) => {
  const { world, answer, receiver } = await worldWithReceiver(t)
  const healthy = await startReceiver(t)
  await world.register(healthy.url)
  answer.status = 500
  const count = 2 * limits.webhookInFlight
  await notifyTimes(world, count)
  await sendAll(world, healthy)
  assert.equal(healthy.received.length, count)
  assert.equal(receiver.received.length, limits.webhookInFlight)
})

test('[webhooks.13] [NO-17] an address that is not allowed is probed, not tried with everything', async (t) => {
  const { world, receiver } = await worldWithReceiver(t)
  await notifyTimes(world, limits.webhookInFlight + 10)
  const guarded = await world.anotherProcess({ gate: publicAddressGate() })
  await guarded.deliverDue()
  await guarded.deliverDue()
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'degraded', reason: 'address_not_allowed' }])
  assert.equal(receiver.received.length, 0)
  const tried = (await world.deliveries()).filter(({ attempts }) => attempts > 0)
  assert.equal(tried.length, limits.webhookInFlight)
})

test('[webhooks.14] an endpoint that answers 410 gets nothing more; what it has not had is held', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  answer.status = 410
  await world.notify()
  await world.deliverDue()
  await notifyTimes(world, 3)
  await secondsOf(world, receiver, 3)
  world.clock.advance(80 * HOUR)
  await sendAll(world, receiver)
  assert.equal(receiver.received.length, 1)
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'paused', reason: 'gone' }])
  assert.deepEqual(
    (await world.deliveries()).map(({ state, attempts }) => [state, attempts]),
    [
      ['PENDING', 1],
      ['PENDING', 0],
      ['PENDING', 0],
      ['PENDING', 0],
    ],
  )
})

test('[webhooks.14] three days without a success pause', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  answer.status = 503
  for (let hours = 0; hours <= 75; hours += 3) {
    await world.notify()
    await sendAll(world, receiver)
    world.clock.advance(3 * HOUR)
  }
  assert.partialDeepStrictEqual(await world.endpoints(), [{ state: 'paused', reason: 'failing_for_days' }])
  const sent = receiver.received.length
  world.clock.advance(100 * HOUR)
  assert.equal(await sendAll(world, receiver), 0)
  assert.equal(receiver.received.length, sent)
})

test('[webhooks.14] an endpoint that is repaired and resumed has days again, not one probe', async (t) => {
  const { world, receiver, answer, id } = await worldWithReceiver(t)
  answer.status = 503
  for (let hours = 0; hours <= 75; hours += 3) {
    await world.notify()
    await sendAll(world, receiver)
    world.clock.advance(3 * HOUR)
  }
  const hook = asked(world.handlers, id)
  assert.partialDeepStrictEqual(await hook.read(), { delivery: { state: 'paused', reason: 'failing_for_days' } })
  await hook.resume()
  await sendAll(world, receiver)
  assert.partialDeepStrictEqual(await hook.read(), { delivery: { state: 'degraded', reason: 'failing', failures: 1 } })
})

test('[webhooks.14] what was held for thirty days is given up; what is younger stays', async (t) => {
  const { world, id } = await worldWithReceiver(t)
  const hook = asked(world.handlers, id)
  await hook.pause()
  await world.notify()
  await world.deliverDue()
  world.clock.advance(limits.webhookHeldMs)
  await world.notify()
  await world.deliverDue()
  assert.equal(await world.housekeeping.processNext(), false)
  world.clock.advance(1)
  assert.equal(await world.housekeeping.processNext(), true)
  assert.deepEqual(
    (await world.deliveries()).map(({ state, lastOutcome }) => [state, lastOutcome]),
    [
      ['FAILED', 'held_too_long'],
      ['PENDING', null],
    ],
  )
})

test('[webhooks.3] of an endpoint with a long backlog the rest is cancelled after it was removed, and nothing of it is sent', async (t) => {
  const { world, receiver, id } = await worldWithReceiver(t)
  const hook = asked(world.handlers, id)
  await hook.pause()
  await world.notifyMany(1_200)
  await world.fanOut.processNext()
  while (await world.fanOut.processNext());
  await hook.resume()
  await hook.remove()
  const pending = async () => (await world.deliveries()).filter(({ state }) => state === 'PENDING').length
  assert.equal(await pending(), 700)
  assert.equal(await sendAll(world, receiver), 0)
  while (await world.housekeeping.processNext());
  assert.equal(await pending(), 0)
  assert.deepEqual(await world.endpoints(), [])
})

test('[webhooks.16] [logs.3] an endpoint that is degraded, paused and well again is logged once each', async (t) => {
  const world = await webhookWorld(t)
  const log = capturedLog()
  const told = await world.anotherProcess({ logger: log.logger })
  let status = 500
  const receiver = await startReceiver(t, (response) => response.writeHead(status).end())
  await world.register(receiver.url)
  await notifyTimes(world, 20)
  await sendAll(told, receiver)
  status = 200
  world.clock.advance(6 * SECOND)
  await sendAll(told, receiver)
  status = 410
  await world.notify()
  await sendAll(told, receiver)
  const lines = log.lines.filter(({ event }) => String(event).startsWith('endpoint.'))
  assert.deepEqual(
    lines.map(({ level, event, reason }) => [level, event, reason]),
    [
      ['warn', 'endpoint.circuit_opened', 'failing'],
      ['info', 'endpoint.circuit_closed', undefined],
      ['error', 'endpoint.paused', 'gone'],
    ],
  )
})

test('[logs.1] [logs.3] every line about deliveries has its event, and none a path, a body or an answer', async (t) => {
  const world = await webhookWorld(t)
  const log = capturedLog()
  const logged = await world.anotherProcess({ logger: log.logger })
  let status = 400
  const receiver = await startReceiver(t, (response) => response.writeHead(status).end('hidden answer'))
  const id = await world.register(`${receiver.url}hidden-path?token=hidden`)
  await world.notify('pix_cash_in', '{"event_type":"hidden","event":{}}')
  for (let attempt = 0; attempt < 4; attempt++) {
    await sendAll(logged, receiver)
    world.clock.advance(5 * 60 * SECOND)
  }
  status = 500
  await notifyTimes(world, 6)
  await sendAll(logged, receiver)
  await logged.handlers.testWebhook({ ...input, params: { webhook_id: id } })
  world.clock.advance(limits.webhookHeldMs + HOUR)
  await logged.housekeeping.processNext()
  assert.deepEqual(
    new Set(log.lines.map(({ event }) => event)),
    new Set([
      'delivery.retry_scheduled',
      'delivery.given_up',
      'delivery.held_too_long',
      'endpoint.circuit_opened',
      'endpoint.tested',
    ]),
  )
  assert.doesNotMatch(JSON.stringify(log.lines), /hidden/)
})

test('[webhooks.12] an endpoint that asks for time is left alone, for a minute at most', async (t) => {
  const { world, receiver, answer } = await worldWithReceiver(t)
  Object.assign(answer, { status: 429, headers: { 'retry-after': '3600' } })
  await world.notify()
  await world.deliverDue()
  Object.assign(answer, { status: 200, headers: {} })
  await world.notify()
  world.clock.advance(59 * SECOND)
  assert.equal(await sendAll(world, receiver), 0)
  world.clock.advance(SECOND)
  assert.equal(await sendAll(world, receiver), 1)
})

test('[webhooks.14] deliveries that were held in a pause follow a probe that is taken, oldest first', async (t) => {
  const { world, receiver, id } = await worldWithReceiver(t)
  const hook = asked(world.handlers, id)
  await hook.pause()
  const ids = await notifyTimes(world, 2 * limits.webhookInFlight)
  await secondsOf(world, receiver, 2)
  assert.equal(receiver.received.length, 0)
  assert.partialDeepStrictEqual(await hook.resume(), { delivery: { state: 'degraded', reason: 'resumed' } })
  const arrived = (): string[] => receiver.received.map(({ headers }) => String(headers['webhook-id']))
  for (const count of [1, limits.webhookInFlight, limits.webhookInFlight - 1]) {
    const before = arrived().length
    await world.deliverDue()
    assert.deepEqual(arrived().slice(before).toSorted(), ids.slice(before, before + count).toSorted())
  }
  assert.partialDeepStrictEqual(await hook.read(), { delivery: { state: 'active', reason: null, pending: 0 } })
})

test('[webhooks.14] an endpoint that is resumed and still fails gets a probe a minute, and no more', async (t) => {
  const { world, receiver, answer, id } = await worldWithReceiver(t)
  const hook = asked(world.handlers, id)
  await hook.pause()
  await notifyTimes(world, 20)
  answer.status = 500
  await hook.resume()
  const sent = await secondsOf(world, receiver, 120)
  assert.equal(
    sent.reduce((sum, count) => sum + count, 0),
    4,
  )
  assert.partialDeepStrictEqual(await hook.read(), { delivery: { state: 'degraded', failures: 4 } })
})

test('[webhooks.15] [audit.6] an endpoint shows its state; a pause and its end are audited once', async (t) => {
  const { world, answer, id } = await worldWithReceiver(t)
  const hook = asked(world.handlers, id)
  assert.partialDeepStrictEqual(await hook.read(), {
    webhook_id: id,
    active: true,
    delivery: { state: 'active', reason: null, explanation: null, failures: 0, pending: 0, oldestPendingAt: null },
  })
  const madeAt = new Date(world.clock.now()).toISOString()
  answer.status = 503
  await world.notify()
  await world.deliverDue()
  const failedAt = new Date(world.clock.now()).toISOString()
  assert.partialDeepStrictEqual(await hook.read(), {
    delivery: { state: 'active', failures: 1, failingSince: failedAt, pending: 1, oldestPendingAt: madeAt },
  })
  const first = await hook.pause()
  assert.partialDeepStrictEqual(first, {
    active: false,
    delivery: { state: 'paused', reason: 'requested', explanation: endpointReasons.requested },
  })
  world.clock.advance(SECOND)
  assert.deepEqual(await hook.pause(), first, 'the second changes nothing')
  const { body } = await world.handlers.listWebhooks()
  assert.deepEqual(
    body.data.map(({ active }) => active),
    [false],
  )
  await hook.resume()
  await hook.resume()
  assert.deepEqual(await world.actionsOf(id), ['webhook.created', 'webhook.paused', 'webhook.resumed'])
  await hook.remove()
  for (const call of [hook.read, hook.pause, hook.resume]) {
    await assert.rejects(call(), (error) => error instanceof Refusal && error.code === 'not_found')
  }
})
