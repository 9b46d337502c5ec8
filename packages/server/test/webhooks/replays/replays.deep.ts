import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { type ErrorCode, limits, Refusal } from '@pixgate/spec'
import { erase } from '../../../src/retention/store.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { administer } from '../../support/database.ts'
import { lapsing } from '../../support/live-request.ts'
import { openHolder } from '../../support/waiting-backends.ts'
import { type Answering, answering, hanging, startReceiver } from '../../support/webhook-receiver.ts'
import { requestContext, type WebhookProcess, type WebhookWorld, webhookWorld } from '../../support/webhook-world.ts'

const LEASE_MS = 30_000
const bare = { params: undefined, query: undefined, body: undefined, context: requestContext }

/** What is asked for: with a key, by a request that may lapse. */
interface Asked {
  readonly dryRun?: boolean
  readonly key?: string
  readonly live?: typeof requestContext.live
}

function contextOf({ key, live = requestContext.live }: Asked) {
  return { ...requestContext, live, headers: key === undefined ? {} : { 'idempotency-key': key } }
}

function replayOne({ handlers }: WebhookProcess, id: string, asked: Asked = {}) {
  const body = asked.dryRun === undefined ? {} : { dryRun: asked.dryRun }
  return handlers.replayWebhookDelivery({ ...bare, context: contextOf(asked), params: { id }, body })
}

function replayMany(
  { handlers }: WebhookProcess,
  webhookId: string,
  what: { kind: 'failed' | 'missed'; since?: string; until?: string },
  asked: Asked = {},
) {
  const { dryRun = false } = asked
  const body = { since: '2026-11-21T13:00:00Z', ...what, dryRun }
  return handlers.replayWebhook({ ...bare, context: contextOf(asked), params: { webhook_id: webhookId }, body })
}

async function sendReplays({ missed, replays }: Pick<WebhookProcess, 'missed' | 'replays'>): Promise<void> {
  while (await missed.processNext());
  await replays.processNext()
  await replays.settled()
}

async function history(world: WebhookWorld) {
  const { body } = await world.handlers.listWebhookDeliveries({ ...bare, query: {} })
  return body.data
}

async function attemptsOf(world: WebhookWorld, id: string) {
  return (await world.handlers.getWebhookDelivery({ ...bare, params: { id } })).body.attempts
}

async function waiting(world: WebhookWorld): Promise<(readonly [string, number])[]> {
  const text = 'SELECT state, attempts FROM replay_delivery ORDER BY replay_id, delivery_id'
  const rows = await world.database.rows<[], { state: string; attempts: number }>({ name: 'test.replays', text }, [])
  return rows.map(({ state, attempts }) => [state, attempts])
}

/** Gives up what is pending, as after the last attempt. */
function giveUp(world: WebhookWorld): Promise<void> {
  return administer(world.url, `UPDATE delivery SET state = 'FAILED', next_attempt_at = NULL, finished_at = created_at`)
}

function refusal(code: ErrorCode, reason?: string) {
  return (error: unknown) =>
    error instanceof Refusal && error.code === code && (reason === undefined || error.fields[0]?.code === reason)
}

/** A world with a receiver that has had one notification. */
async function deliveredWorld(t: TestContext) {
  const world = await webhookWorld(t)
  const answer = { status: 200, headers: {} as Record<string, string> }
  const receiver = await startReceiver(t, (response) => response.writeHead(answer.status, answer.headers).end())
  const webhookId = await world.subscribe(receiver.url)
  await world.notify()
  await world.deliverDue()
  const [delivery] = await history(world)
  assert.ok(delivery)
  return { world, receiver, answer, webhookId, id: delivery.id }
}

test('[webhooks.21] [webhooks.23] [events.4] a delivery is sent again: the same bytes and id, signed, marked, and kept as such', async (t) => {
  const { world, receiver, id, webhookId } = await deliveredWorld(t)
  const { status, body } = await replayOne(world, id)
  assert.equal(status, 202)
  assert.partialDeepStrictEqual(body, { webhookId, kind: 'delivery', deliveries: 1, hasMore: false, dryRun: false })
  await sendReplays(world)
  const [first, again] = receiver.received
  assert.ok(first && again)
  assert.deepEqual(again.body, first.body)
  assert.equal(again.headers['webhook-id'], first.headers['webhook-id'])
  assert.deepEqual([first.headers['webhook-replay'], again.headers['webhook-replay']], [undefined, body.replayId])
  const signature = Buffer.from(String(again.headers['digital-signature']), 'base64')
  assert.ok(verify('sha256', again.body, world.keyring.signer().publicPem, signature))
  assert.deepEqual(
    (await attemptsOf(world, id)).map(({ attempt, outcome, replayId }) => [attempt, outcome, replayId]),
    [
      [2, 'delivered', body.replayId],
      [1, 'delivered', null],
    ],
  )
  await sendReplays(world)
  assert.equal(receiver.received.length, 2, 'once')
  assert.deepEqual(await waiting(world), [['DELIVERED', 1]])
})

test('[webhooks.21] a dry run changes nothing', async (t) => {
  const { world, receiver, id, webhookId } = await deliveredWorld(t)
  const { status, body } = await replayOne(world, id, { dryRun: true })
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, { replayId: null, dryRun: true, deliveries: 1 })
  await sendReplays(world)
  assert.equal(receiver.received.length, 1)
  assert.deepEqual(await world.actionsOf(webhookId), ['webhook.created'])
})

test('[webhooks.21] what is under way, has no receiver or was erased is not sent again, and the answer says why', async (t) => {
  const { world, id, webhookId } = await deliveredWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  const [pending] = await history(world)
  await assert.rejects(replayOne(world, pending?.id ?? ''), refusal('delivery_not_replayable', 'pending'))
  await replayOne(world, id)
  await assert.rejects(replayOne(world, id), refusal('delivery_not_replayable', 'replaying'))
  await world.deliverDue()
  await administer(world.url, 'UPDATE notification SET erased_at = now()')
  await assert.rejects(replayOne(world, pending?.id ?? ''), refusal('delivery_not_replayable', 'erased'))
  await world.handlers.deleteWebhook({ ...bare, params: { webhook_id: webhookId } })
  await assert.rejects(replayOne(world, id), refusal('delivery_not_replayable', 'receiver_removed'))
  for (const unknown of ['0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'delivery']) {
    await assert.rejects(replayOne(world, unknown), refusal('not_found'))
  }
})

test('[webhooks.22] what failed at a receiver since a time is counted, then sent oldest first, and is delivered', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const id = await world.subscribe(receiver.url)
  const other = await world.subscribe('http://127.0.0.1:9/other')
  const notifications: string[] = []
  for (let count = 0; count < 4; count++) {
    notifications.push(await world.notify())
    await world.fanOut.processNext()
    world.clock.advance(1_000)
  }
  await giveUp(world)
  const span = { kind: 'failed', since: '2026-11-21T13:00:01Z', until: '2026-11-21T13:00:03Z' } as const
  const counted = await replayMany(world, id, span, { dryRun: true })
  assert.partialDeepStrictEqual(counted, { status: 200, body: { deliveries: 2, replayId: null } })
  const ordered = await replayMany(world, id, span)
  assert.partialDeepStrictEqual(ordered, { status: 202, body: { deliveries: 2, webhookId: id, kind: 'failed' } })
  assert.equal((await replayMany(world, id, span)).body.deliveries, 0, 'those wait already')
  world.clock.advance(1_000)
  await sendReplays(world)
  await sendReplays(world)
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).sort(),
    notifications.slice(1, 3).sort(),
  )
  const states = (await history(world)).map(({ webhookId, state }) => (webhookId === other ? 'other' : state))
  assert.deepEqual(
    states.filter((state) => state !== 'other'),
    ['FAILED', 'DELIVERED', 'DELIVERED', 'FAILED'],
  )
  assert.equal((await replayMany(world, id, span, { dryRun: true })).body.deliveries, 0)
  const actions = await world.actionsOf(id)
  assert.deepEqual(actions, ['webhook.created', 'webhook.replayed', 'webhook.replayed'])
})

test('[webhooks.22] a new receiver is sent what it missed of its events, once, and what comes as ever', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const missed: string[] = []
  for (const type of ['pix_cash_in', 'pix_cash_out', 'pix_cash_in'] as const) {
    const notification = await world.notify(type)
    if (type === 'pix_cash_in') missed.push(notification)
    world.clock.advance(1_000)
  }
  await world.fanOut.processNext()
  const id = await world.subscribe(receiver.url, ['pix_cash_in'])
  assert.equal((await replayMany(world, id, { kind: 'missed' }, { dryRun: true })).body.deliveries, 2)
  assert.equal((await history(world)).length, 0, 'a dry run makes no delivery')
  assert.equal((await replayMany(world, id, { kind: 'missed' })).body.deliveries, 2)
  assert.equal((await replayMany(world, id, { kind: 'missed' })).body.deliveries, 0)
  const live = await world.notify()
  await world.deliverDue()
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [live],
    'they are due by the replay alone',
  )
  world.clock.advance(1_000)
  await sendReplays(world)
  await sendReplays(world)
  assert.deepEqual(
    receiver.received
      .slice(1)
      .map(({ headers }) => headers['webhook-id'])
      .sort(),
    missed.sort(),
  )
  assert.deepEqual(new Set((await history(world)).map(({ state }) => state)), new Set(['DELIVERED']))
  const { body } = await world.handlers.getWebhook({ ...bare, params: { webhook_id: id } })
  assert.partialDeepStrictEqual(body.delivery, { pending: 0, replaying: 0, recent: { attempts: 1 } })
})

test('[webhooks.22] the same Idempotency-Key gets the same answer for a day; with another request it is refused', async (t) => {
  const { world, receiver, webhookId, id } = await deliveredWorld(t)
  const first = await replayOne(world, id, { key: 'again-1' })
  const second = await replayOne(world, id, { key: 'again-1' })
  assert.deepEqual(second.body, first.body)
  assert.deepEqual(second.headers, { 'idempotent-replayed': 'true' })
  await sendReplays(world)
  assert.equal((await replayOne(world, id, { key: 'again-1' })).body.replayId, first.body.replayId)
  assert.deepEqual(await waiting(world), [['DELIVERED', 1]])

  await replayMany(world, webhookId, { kind: 'failed' }, { key: 'all-1' })
  await assert.rejects(
    replayMany(world, webhookId, { kind: 'missed' }, { key: 'all-1' }),
    refusal('idempotency_key_reused'),
  )
  world.clock.advance(24 * 3_600_000)
  assert.notEqual((await replayOne(world, id, { key: 'again-1' })).body.replayId, first.body.replayId)
  await sendReplays(world)
  assert.equal(receiver.received.length, 3)
})

test('[webhooks.22] of the same order made at once by two processes one sends', async (t) => {
  const { world, id } = await deliveredWorld(t)
  const other = await world.anotherProcess()
  const results = await Promise.allSettled([world, other, world, other].map((process) => replayOne(process, id)))
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  const keyed = await Promise.all(
    [world, other].map((process) => replayMany(process, 'x', { kind: 'failed' }).catch((error) => error.code)),
  )
  assert.deepEqual(keyed, ['not_found', 'not_found'])
})

test('[http.14] [webhooks.22] a request that has lapsed orders nothing; one that ends before it begins is wrong', async (t) => {
  const { world, webhookId, id } = await deliveredWorld(t)
  const live = lapsing()
  live.lapse()
  await assert.rejects(replayOne(world, id, { live }), refusal('overloaded'))
  const upsideDown = { kind: 'failed', since: '2026-11-21T13:00:01Z', until: '2026-11-21T13:00:00Z' } as const
  await assert.rejects(replayMany(world, webhookId, upsideDown), refusal('validation_error'))
  assert.deepEqual(await waiting(world), [])
})

test('[webhooks.23] a replay that fails is tried four times and changes nothing of the receiver; what was delivered stays so', async (t) => {
  const { world, receiver, answer, webhookId, id } = await deliveredWorld(t)
  answer.status = 410
  const before = await world.lanes()
  const log = capturedLog()
  const process = await world.anotherProcess({ logger: log.logger })
  await replayOne(world, id)
  for (let attempt = 0; attempt < 6; attempt++) {
    await sendReplays(process)
    world.clock.advance(600_000)
  }
  assert.equal(receiver.received.length, 1 + limits.webhookShortScheduleAttempts)
  assert.deepEqual(await world.lanes(), before)
  assert.deepEqual(await waiting(world), [['FAILED', 4]])
  assert.deepEqual(
    log.lines.map(({ msg, reason, delivery, host }) => [msg, reason, delivery, host]),
    [
      [
        'a delivery was sent again in vain: there will be no further attempt',
        'HTTP 410',
        id,
        URL.parse(receiver.url)?.host,
      ],
    ],
  )
  assert.partialDeepStrictEqual(await history(world), [{ state: 'DELIVERED', attemptCount: 5 }])
  const { body } = await world.handlers.getWebhook({ ...bare, params: { webhook_id: webhookId } })
  assert.partialDeepStrictEqual(body.delivery, { failures: 0, recent: { attempts: 1, succeeded: 1 } })
})

test('[webhooks.12] [webhooks.23] a receiver that answers a replay by asking for time is left alone, by what is live too', async (t) => {
  const { world, receiver, answer, id } = await deliveredWorld(t)
  answer.status = 429
  answer.headers = { 'retry-after': '40' }
  await replayOne(world, id)
  await sendReplays(world)
  assert.equal(receiver.received.length, 2)
  answer.status = 200
  await world.notify()
  world.clock.advance(39_000)
  await world.deliverDue()
  await sendReplays(world)
  assert.equal(receiver.received.length, 2, 'not yet')
  world.clock.advance(1_000)
  await world.deliverDue()
  assert.equal(receiver.received.length, 3)
})

test('[webhooks.23] a missed one that fails has failed, and can be recovered', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answering(500))
  await world.notify()
  await world.fanOut.processNext()
  world.clock.advance(1_000)
  const id = await world.subscribe(receiver.url)
  await replayMany(world, id, { kind: 'missed' })
  for (let attempt = 0; attempt < 5; attempt++) {
    await sendReplays(world)
    world.clock.advance(600_000)
  }
  assert.partialDeepStrictEqual(await history(world), [{ state: 'FAILED', attemptCount: 4, nextAttemptAt: null }])
  assert.equal((await replayMany(world, id, { kind: 'failed' }, { dryRun: true })).body.deliveries, 1)
})

test('[webhooks.14] [webhooks.23] what waits at a paused receiver for thirty days is given up, and can be recovered', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answering(200))
  await world.notify()
  await world.fanOut.processNext()
  world.clock.advance(1_000)
  const id = await world.subscribe(receiver.url)
  await world.handlers.pauseWebhook({ ...bare, params: { webhook_id: id } })
  await replayMany(world, id, { kind: 'missed' })
  await sendReplays(world)
  world.clock.advance(limits.webhookHeldMs - 1)
  await world.housekeeping.processNext()
  assert.deepEqual(await waiting(world), [['WAITING', 0]])
  world.clock.advance(1)
  await world.housekeeping.processNext()
  assert.deepEqual(await waiting(world), [['FAILED', 0]])
  assert.partialDeepStrictEqual(await history(world), [{ state: 'FAILED', nextAttemptAt: null }])
  assert.equal((await replayMany(world, id, { kind: 'failed' }, { dryRun: true })).body.deliveries, 1)
})

test('[webhooks.23] what is due by itself goes first, and a receiver that is not active gets no replay', async (t) => {
  const { world, receiver, webhookId, id } = await deliveredWorld(t)
  await replayOne(world, id)
  await world.notify()
  await world.fanOut.processNext()
  await sendReplays(world)
  assert.equal(receiver.received.length, 1, 'a live one is due')
  await world.deliverDue()
  assert.equal(receiver.received.length, 2)
  const of = { ...bare, params: { webhook_id: webhookId } }
  await world.handlers.pauseWebhook(of)
  await sendReplays(world)
  await world.handlers.resumeWebhook(of)
  await sendReplays(world)
  assert.equal(receiver.received.length, 2, 'it is paused, then probed')
  for (let probe = 0; probe < 2; probe++) {
    await world.notify()
    await world.deliverDue()
    world.clock.advance(1)
  }
  await sendReplays(world)
  assert.equal(receiver.received.length, 5)
  assert.notEqual(receiver.received.at(-1)?.headers['webhook-replay'], undefined)
})

/** A world with so many deliveries to a receiver that were given up, and are ordered again. */
async function orderedWorld(t: TestContext, count: number, answer: Answering) {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answer)
  const webhookId = await world.subscribe(receiver.url)
  for (let made = 0; made < count; made++) await world.notify()
  await world.fanOut.processNext()
  await giveUp(world)
  await replayMany(world, webhookId, { kind: 'failed' })
  world.clock.advance(10_000)
  return { world, receiver, webhookId }
}

test('[webhooks.25] a quarter of a receiver’s places at most have replays, and what is due finds the others', async (t) => {
  const answers: (() => void)[] = []
  const { world, receiver } = await orderedWorld(t, 10, (response) => answers.push(() => response.end()))
  await world.replays.processNext()
  await receiver.arrived(1)
  await world.replays.processNext()
  assert.equal((await waiting(world)).filter(([, attempts]) => attempts > 0).length, 1, 'of a new lane one of four')
  for (let count = 0; count < 10; count++) await world.notify()
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await receiver.arrived(limits.webhookLaneStart)
  assert.equal(
    (await world.deliveries()).filter(({ state, attempts }) => state === 'PENDING' && attempts > 0).length,
    3,
  )
  for (const answer of answers) answer()
  await Promise.all([world.replays.settled(), world.delivery.settled()])
})

test('[webhooks.25] a replay that times out halves what a receiver has under way, but tells nothing of its health', async (t) => {
  const { world, receiver, webhookId } = await orderedWorld(t, 1, hanging)
  const lanes = await world.lanes()
  await sendReplays(world)
  assert.deepEqual(await world.lanes(), lanes)
  for (let count = 0; count < limits.webhookLaneStart; count++) await world.notify()
  await world.fanOut.processNext()
  await world.delivery.processNext()
  await receiver.arrived(1 + limits.webhookLaneStart / 2)
  const started = (await world.deliveries()).filter(({ state, attempts }) => state === 'PENDING' && attempts > 0)
  assert.equal(started.length, limits.webhookLaneStart / 2)
  const { body } = await world.handlers.getWebhook({ ...bare, params: { webhook_id: webhookId } })
  assert.partialDeepStrictEqual(body.delivery, { state: 'active', failures: 0, recent: { attempts: 0 } })
  await receiver.close()
  await world.delivery.settled()
})

test('[webhooks.23] a process that dies: another sends the replay when its lease ends', async (t) => {
  const { world, receiver, id } = await deliveredWorld(t)
  await replayOne(world, id)
  const dying = await world.anotherProcess({ failing: 'webhooks.recordReplays' })
  await sendReplays(dying)
  world.clock.advance(LEASE_MS - 1)
  await sendReplays(world)
  assert.equal(receiver.received.length, 2, 'the lease still holds')
  world.clock.advance(1)
  await sendReplays(world)
  assert.equal(receiver.received.length, 3)
  assert.deepEqual(await waiting(world), [['DELIVERED', 2]])
})

test('[webhooks.23] [signing-keys.5] a process that signs with an older key claims no replay before it has the current one', async (t) => {
  const { world, receiver, id } = await deliveredWorld(t)
  const other = await world.anotherProcess()
  const rest = { ...bare, context: { ...requestContext, caller: { credential: 'admin', id: 'admin' } } } as const
  const { body: made } = await world.handlers.createSigningKey({ ...rest, body: { reason: 'yearly' } })
  const body = { reason: 'the old one leaked', force: true }
  await world.handlers.promoteSigningKey({ ...rest, params: { key_id: made.id }, body })
  await replayOne(world, id)
  assert.equal(await other.replays.processNext(), true, 'it fetches the key first')
  await sendReplays(other)
  assert.equal(receiver.received.at(-1)?.headers['digital-signature-key-id'], made.id)
})

test('[webhooks.23] what waits for a removed receiver is cancelled, and what was erased is given up', async (t) => {
  const { world, receiver, webhookId, id } = await deliveredWorld(t)
  await replayOne(world, id)
  await administer(world.url, `UPDATE notification SET erased_at = now(), body = ''`)
  await sendReplays(world)
  assert.equal(receiver.received.length, 1, 'nothing of it is left to be sent')
  await world.housekeeping.processNext()
  assert.deepEqual(await waiting(world), [['FAILED', 0]])
  await administer(world.url, 'UPDATE notification SET erased_at = NULL')
  await replayOne(world, id)
  await world.handlers.deleteWebhook({ ...bare, params: { webhook_id: webhookId } })
  await sendReplays(world)
  await world.housekeeping.processNext()
  assert.deepEqual(
    (await waiting(world)).map(([state]) => state),
    ['FAILED', 'CANCELLED'],
  )
  assert.equal(receiver.received.length, 1)
})

/** What may happen to a delivery while it is ordered to be sent again. */
const MEANWHILE = {
  'its receiver is removed': 'UPDATE subscription SET deleted_at = now()',
  'it is erased': 'SET LOCAL session_replication_role = replica; DELETE FROM delivery',
}

for (const [what, change] of Object.entries(MEANWHILE)) {
  for (const kind of ['delivery', 'failed'] as const) {
    test(`[webhooks.23] while a replay (${kind}) is ordered ${what}: nothing waits`, async (t) => {
      const { world, webhookId, id } = await deliveredWorld(t)
      if (kind === 'failed') await giveUp(world)
      const holder = await openHolder(world.url)
      await holder.hold(change)
      const ordering = kind === 'failed' ? replayMany(world, webhookId, { kind }) : replayOne(world, id)
      const refused = assert.rejects(ordering, refusal('not_found'))
      await holder.waiting(1)
      await holder.release()
      await refused
      assert.deepEqual(await waiting(world), [])
      assert.deepEqual(await world.actionsOf(webhookId), ['webhook.created'])
    })
  }
}

test('[webhooks.23] a receiver is removed while a replay is ordered: what waits is cancelled', async (t) => {
  const { world, webhookId, id } = await deliveredWorld(t)
  const holder = await openHolder(world.url)
  await holder.hold('SELECT FROM delivery FOR UPDATE')
  const ordering = replayOne(world, id)
  await holder.waiting(1)
  const removing = world.handlers.deleteWebhook({ ...bare, params: { webhook_id: webhookId } })
  await holder.waiting(2)
  await world.housekeeping.processNext()
  await holder.release()
  await Promise.all([ordering, removing])
  await world.housekeeping.processNext()
  assert.deepEqual(await waiting(world), [['CANCELLED', 0]])
})

test('[webhooks.23] [privacy.10] what is being ordered again is not erased', async (t) => {
  const { world, id } = await deliveredWorld(t)
  await administer(world.url, `UPDATE delivery SET finished_at = now() - interval '400 days'`)
  const holder = await openHolder(world.url)
  await holder.hold(`SELECT FROM delivery FOR KEY SHARE`)
  assert.equal(await erase(world.database, 'deliveries', 90, 10), 0)
  await holder.release()
  await replayOne(world, id)
  assert.equal(await erase(world.database, 'deliveries', 90, 10), 0)
})
