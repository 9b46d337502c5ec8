import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { type ErrorCode, type EventType, limits, Refusal } from '@pixgate/spec'
import { erase } from '../../src/retention/retention.ts'
import { administer } from '../support/database.ts'
import { lapsing } from '../support/live-request.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookProcess, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const HOUR = 3_600_000
const START = '2026-11-21T13:00:00Z'
const bare = { params: undefined, query: undefined, body: undefined, context: requestContext }

function resend({ handlers }: WebhookProcess, id: string, live = requestContext.live) {
  const context = { ...requestContext, live }
  return handlers.resendWebhookDelivery({ ...bare, context, params: { id } })
}

async function recover({ handlers }: WebhookProcess, id: string, since = START, live = requestContext.live) {
  const context = { ...requestContext, live }
  return (await handlers.recoverWebhook({ ...bare, context, params: { webhook_id: id }, body: { since } })).body
}

async function sendMissed({ handlers }: WebhookProcess, id: string, since = START, live = requestContext.live) {
  const context = { ...requestContext, live }
  return (await handlers.sendMissedToWebhook({ ...bare, context, params: { webhook_id: id }, body: { since } })).body
}

function refusal(code: ErrorCode, reason?: string) {
  return (error: unknown) =>
    error instanceof Refusal && error.code === code && (reason === undefined || error.fields[0]?.code === reason)
}

/** A world with an endpoint that answers as the test says, and a notification. */
async function notifiedWorld(t: TestContext, status = 200) {
  const world = await webhookWorld(t)
  const answer = { status }
  const receiver = await startReceiver(t, (response) => response.writeHead(answer.status).end())
  const webhookId = await world.register(receiver.url)
  await world.notify()
  await world.deliverDue()
  const delivery = async () => (await world.deliveries())[0] ?? assert.fail()
  return { world, receiver, answer, webhookId, delivery, id: (await delivery()).id }
}

/** Ends all deliveries, as after the last attempt. */
function giveUp(world: WebhookWorld): Promise<void> {
  return administer(
    world.url,
    `UPDATE delivery SET state = 'FAILED', due_at = NULL, schedule_left = 0, finished_at = created_at`,
  )
}

async function notifyTimes(world: WebhookWorld, count: number, type: EventType = 'pix_cash_in'): Promise<string[]> {
  const ids: string[] = []
  for (let one = 0; one < count; one++) {
    ids.push(await world.notify(type))
    await world.fanOut.processNext()
    world.clock.advance(1_000)
  }
  return ids
}

test('[webhooks.21] [events.4] a delivered delivery is sent again, with the same bytes and id, and stays delivered', async (t) => {
  const { world, receiver, webhookId, delivery, id } = await notifiedWorld(t)
  const { status, body } = await resend(world, id)
  assert.equal(status, 202)
  assert.partialDeepStrictEqual(body, { id, webhookId, state: 'DELIVERED', attemptCount: 1 })
  assert.equal(body.nextAttemptAt, new Date(world.clock.now()).toISOString())
  await world.deliverDue()
  const [first, again] = receiver.received
  assert.ok(first && again)
  assert.deepEqual(again.body, first.body)
  assert.equal(again.headers['webhook-id'], first.headers['webhook-id'])
  const signature = Buffer.from(String(again.headers['digital-signature']), 'base64')
  assert.ok(verify('sha256', again.body, world.keyring.signer().publicPem, signature))
  assert.partialDeepStrictEqual(await delivery(), { state: 'DELIVERED', attempts: 2, dueAt: null })
  assert.deepEqual(await world.actionsOf(webhookId), ['webhook.created', 'webhook.resent'])
})

test('[webhooks.21] a resend of a delivered delivery that fails four times leaves it delivered', async (t) => {
  const { world, receiver, answer, delivery, id } = await notifiedWorld(t)
  answer.status = 400
  await resend(world, id)
  for (let attempt = 0; attempt < 8; attempt++) {
    await world.deliverDue()
    world.clock.advance(HOUR)
  }
  assert.equal(receiver.received.length, 5)
  assert.partialDeepStrictEqual(await delivery(), { state: 'DELIVERED', attempts: 5, dueAt: null, resendLeft: 0 })
})

test('[webhooks.21] a failed delivery is resent: it fails again after four attempts, or is delivered', async (t) => {
  const { world, answer, delivery, id } = await notifiedWorld(t, 400)
  await giveUp(world)
  await resend(world, id)
  for (let attempt = 0; attempt < 4; attempt++) {
    assert.partialDeepStrictEqual(await delivery(), { state: 'FAILED', resendLeft: 4 - attempt })
    await world.deliverDue()
    world.clock.advance(HOUR)
  }
  assert.partialDeepStrictEqual(await delivery(), { state: 'FAILED', attempts: 5, dueAt: null })
  await resend(world, id)
  answer.status = 200
  await world.deliverDue()
  assert.partialDeepStrictEqual(await delivery(), { state: 'DELIVERED', attempts: 6, dueAt: null })
})

test('[webhooks.21] a pending delivery that waits for hours is sent at once, and keeps the rest of its schedule', async (t) => {
  const { world, receiver, answer, delivery, id } = await notifiedWorld(t, 400)
  await administer(world.url, `UPDATE delivery SET due_at = due_at + interval '8 hours', schedule_left = 3`)
  await resend(world, id)
  await world.deliverDue()
  assert.equal(receiver.received.length, 2)
  assert.partialDeepStrictEqual(await delivery(), { state: 'PENDING', scheduleLeft: 3, resendLeft: 3 })
  answer.status = 200
  world.clock.advance(6_000)
  await world.deliverDue()
  assert.partialDeepStrictEqual(await delivery(), { state: 'DELIVERED', attempts: 3 })
})

for (const [status, ends] of [
  [500, { state: 'PENDING', resendLeft: 4, attempts: 1 }],
  [200, { state: 'DELIVERED', resendLeft: 0, attempts: 1, dueAt: null }],
] as const) {
  test(`[webhooks.21] a delivery in flight is resent: an attempt that ends with ${status} makes it ${ends.state}`, async (t) => {
    const world = await webhookWorld(t)
    const answers: (() => void)[] = []
    const receiver = await startReceiver(t, (response) => answers.push(() => response.writeHead(status).end()))
    await world.register(receiver.url)
    await world.notify()
    await world.fanOut.processNext()
    await world.delivery.processNext()
    await receiver.arrived(1)
    const [{ id } = assert.fail()] = await world.deliveries()
    assert.equal((await resend(world, id)).body.nextAttemptAt, null)
    const resentAt = world.clock.now()
    world.clock.advance(1_000)
    await world.delivery.processNext()
    assert.equal(receiver.received.length, 1, 'the attempt under way is the only one')
    for (const answer of answers) answer()
    await world.delivery.settled()
    assert.partialDeepStrictEqual(await world.deliveries(), [ends])
    if (status === 500) assert.partialDeepStrictEqual(await world.deliveries(), [{ dueAt: resentAt }])
  })
}

for (const order of ['a resend', 'a recovery'] as const) {
  test(`[webhooks.14] [webhooks.21] [webhooks.22] what a paused endpoint has held for almost 30 days is held as long again by ${order}`, async (t) => {
    const world = await webhookWorld(t)
    const receiver = await startReceiver(t)
    const webhookId = await world.register(receiver.url)
    await world.handlers.pauseWebhook({ ...bare, params: { webhook_id: webhookId } })
    await notifyTimes(world, 1)
    world.clock.advance(limits.webhookHeldMs - HOUR)
    if (order === 'a recovery') await recover(world, webhookId)
    else await resend(world, (await world.deliveries())[0]?.id ?? assert.fail())
    world.clock.advance(2 * HOUR)
    await world.housekeeping.processNext()
    await world.handlers.resumeWebhook({ ...bare, params: { webhook_id: webhookId } })
    await world.deliverDue()
    assert.equal(receiver.received.length, 1)
  })
}

test('[webhooks.21] a resend that was ordered during an attempt survives the crash of its worker', async (t) => {
  const { world, receiver, delivery, id } = await notifiedWorld(t, 500)
  const dying = await world.anotherProcess({ failing: 'webhooks.finish' })
  world.clock.advance(6_000)
  await dying.delivery.processNext()
  await receiver.arrived(2)
  await resend(world, id)
  await dying.delivery.settled()
  world.clock.advance(30_000)
  await world.deliverDue()
  assert.partialDeepStrictEqual(await delivery(), { state: 'PENDING', attempts: 2, scheduleLeft: 13, resendLeft: 3 })
})

test('[webhooks.21] an erased body and a removed endpoint are 409 with their reason, an unknown delivery is 404', async (t) => {
  const { world, webhookId, id } = await notifiedWorld(t)
  await administer(world.url, 'UPDATE notification SET erased_at = now()')
  await assert.rejects(resend(world, id), refusal('delivery_not_resendable', 'erased'))
  await world.handlers.deleteWebhook({ ...bare, params: { webhook_id: webhookId } })
  await assert.rejects(resend(world, id), refusal('delivery_not_resendable', 'endpoint_removed'))
  for (const unknown of ['0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'delivery', '']) {
    await assert.rejects(resend(world, unknown), refusal('not_found'))
  }
})

test('[webhooks.21] [privacy.2] a resend waits for the erasing of its notification, and then sees it', async (t) => {
  const { world, id } = await notifiedWorld(t)
  const holder = await openHolder(world.url)
  await holder.hold("UPDATE notification SET erased_at = now(), body = ''")
  const refused = assert.rejects(resend(world, id), refusal('delivery_not_resendable', 'erased'))
  await holder.waiting(1)
  await holder.release()
  await refused
  assert.partialDeepStrictEqual(await world.deliveries(), [{ dueAt: null }])
})

test('[webhooks.21] [privacy.2] what is being resent is not erased, and after that is when its time is over', async (t) => {
  const { world, id, delivery } = await notifiedWorld(t)
  await resend(world, id)
  const erased = async () => {
    await erase(world.database, 'notifications', 30, 100)
    const [{ count } = assert.fail()] = await world.database.rows<[], { count: number }>(
      { name: '', text: 'SELECT count(*)::integer AS count FROM notification WHERE erased_at IS NOT NULL' },
      [],
    )
    return count
  }
  const old = "'2020-01-01'"
  const age = `SET session_replication_role = replica; UPDATE notification SET created_at = ${old};
    UPDATE delivery SET finished_at = ${old}; UPDATE delivery_attempt SET ended_at = ${old}`
  await administer(world.url, age)
  assert.equal(await erased(), 0)
  await world.deliverDue()
  await administer(world.url, age)
  assert.equal(await erased(), 1)
  assert.partialDeepStrictEqual(await delivery(), { state: 'DELIVERED', dueAt: null })
})

for (const order of ['a resend', 'a recovery', 'missed']) {
  test(`[webhooks.21] [webhooks.22] [webhooks.24] [privacy.2] what ${order} makes due while the erasing looks at it is not erased`, async (t) => {
    const world = await webhookWorld(t)
    const receiver = await startReceiver(t)
    if (order === 'missed') await notifyTimes(world, 1)
    const webhookId = await world.register(receiver.url)
    if (order !== 'missed') await notifyTimes(world, 1)
    await giveUp(world)
    const holder = await openHolder(world.url)
    await holder.hold('SELECT pg_advisory_xact_lock(7)')
    await administer(
      world.url,
      `SET session_replication_role = replica;
       UPDATE notification SET created_at = '2020-01-01';
       UPDATE delivery SET created_at = '2020-01-01', finished_at = '2020-01-01';
       CREATE OR REPLACE FUNCTION is_disputed(operation_id uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS
         $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN false; END $$`,
    )
    const erased = erase(world.database, 'notifications', 30, 100)
    await holder.waiting(1)
    if (order === 'missed') await sendMissed(world, webhookId, '2019-12-31T00:00:00Z')
    else if (order === 'a recovery') await recover(world, webhookId, '2019-12-31T00:00:00Z')
    else await resend(world, (await world.deliveries())[0]?.id ?? assert.fail())
    await holder.release()
    assert.equal(await erased, 0)
    await world.deliverDue()
    assert.equal(receiver.received.length, 1)
  })
}

test('[http.14] [webhooks.21] [webhooks.22] a request that has lapsed resends nothing and leaves no row in the audit trail', async (t) => {
  const { world, webhookId, id } = await notifiedWorld(t)
  const live = lapsing()
  live.lapse()
  await assert.rejects(resend(world, id, live), refusal('overloaded'))
  await assert.rejects(recover(world, webhookId, START, live), refusal('overloaded'))
  await assert.rejects(sendMissed(world, webhookId, START, live), refusal('overloaded'))
  assert.deepEqual(await world.actionsOf(webhookId), ['webhook.created'])
  assert.partialDeepStrictEqual(await world.deliveries(), [{ dueAt: null }])
})

test('[webhooks.22] failed and pending deliveries since a time are due, oldest first, with four attempts each', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const id = await world.register(receiver.url)
  await world.register('http://127.0.0.1:9/other', ['pix_cash_out'])
  const [before, ...failed] = await notifyTimes(world, 4)
  await giveUp(world)
  const pending = await notifyTimes(world, 2)
  await administer(world.url, `UPDATE delivery SET due_at = due_at + interval '8 hours' WHERE state = 'PENDING'`)
  await notifyTimes(world, 1, 'pix_cash_out')
  const since = '2026-11-21T13:00:01Z'
  const recovered = await recover(world, id, since)
  assert.deepEqual(recovered, { webhookId: id, deliveries: 5, hasMore: false, since: recovered.since })
  assert.deepEqual(
    (await world.deliveries()).filter(({ resendLeft }) => resendLeft === 4).map(({ notificationId }) => notificationId),
    [...failed, ...pending],
  )
  assert.equal((await recover(world, id, since)).deliveries, 0, 'they are due already')
  await world.deliverDue()
  const arrived = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.ok([...failed, ...pending].every((one) => arrived.includes(one)) && !arrived.includes(before))
  assert.deepEqual(await world.actionsOf(id), ['webhook.created', 'webhook.recovered', 'webhook.recovered'])
})

test('[webhooks.22] a recovery goes on with the time of its answer, 10,000 at a time', async (t) => {
  const world = await webhookWorld(t)
  const id = await world.register('http://127.0.0.1:9/')
  await administer(
    world.url,
    `WITH made AS (
       INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at, fanned_out_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', '', '{}', now(), now()
         FROM generate_series(1, ${limits.webhookResendMax + 700})
       RETURNING id)
     INSERT INTO delivery (id, notification_id, endpoint_id, state, created_at, finished_at)
     SELECT gen_random_uuid(), id, '${id}', 'FAILED',
            timestamptz '${START}' + (row_number() OVER () / 600) * interval '1 s', now() FROM made`,
  )
  world.clock.advance(HOUR)
  const first = await recover(world, id)
  assert.deepEqual([first.deliveries, first.hasMore], [limits.webhookResendMax, true])
  assert.ok(first.since > START)
  const second = await recover(world, id, first.since)
  assert.deepEqual([second.deliveries, second.hasMore], [700, false])
  assert.ok((await world.deliveries()).every(({ dueAt }) => dueAt !== null))
})

test('[webhooks.22] [NO-21] two recoveries at once, and a removal meanwhile, make each delivery due once, or none', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const id = await world.register('http://127.0.0.1:9/')
  await notifyTimes(world, 5)
  await giveUp(world)
  const both = await Promise.all([world, other].map((process) => recover(process, id)))
  assert.equal(
    both.reduce((sum, { deliveries }) => sum + deliveries, 0),
    5,
  )
  await world.handlers.deleteWebhook({ ...bare, params: { webhook_id: id } })
  for (const unknown of [id, '0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'webhook']) {
    await assert.rejects(recover(world, unknown), refusal('not_found'))
    await assert.rejects(sendMissed(world, unknown), refusal('not_found'))
  }
  assert.ok((await world.deliveries()).every(({ dueAt }) => dueAt === null))
})

test('[webhooks.24] [NO-9] a new endpoint is sent the notifications of its events that it missed, each once, oldest first', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const [before, ...missed] = await notifyTimes(world, 3)
  await notifyTimes(world, 1, 'pix_cash_out')
  const id = await world.register(receiver.url, ['pix_cash_in'])
  assert.deepEqual(await world.deliveries(), [])
  const since = '2026-11-21T13:00:01Z'
  assert.partialDeepStrictEqual(await sendMissed(world, id, since), { webhookId: id, deliveries: 2, hasMore: false })
  assert.partialDeepStrictEqual(await world.deliveries(), [
    { notificationId: missed[0], state: 'PENDING', scheduleLeft: 0, resendLeft: 4 },
    { notificationId: missed[1], state: 'PENDING', scheduleLeft: 0, resendLeft: 4 },
  ])
  assert.equal((await sendMissed(world, id, since)).deliveries, 0)
  const live = await world.notify()
  await world.deliverDue()
  const arrived = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(arrived.toSorted(), [...missed, live].toSorted())
  assert.ok(!arrived.includes(before))
  assert.deepEqual(await world.actionsOf(id), ['webhook.created', 'webhook.missed_sent', 'webhook.missed_sent'])
})

test('[webhooks.24] more than 10,000 missed notifications are sent by several requests, none twice', async (t) => {
  const world = await webhookWorld(t)
  const count = limits.webhookResendMax + 2_500
  await world.notifyMany(count)
  while (await world.fanOut.processNext());
  world.clock.advance(HOUR)
  const id = await world.register('http://127.0.0.1:9/')
  const first = await sendMissed(world, id)
  assert.deepEqual([first.deliveries, first.hasMore], [limits.webhookResendMax, true])
  const second = await sendMissed(world, id, first.since)
  assert.deepEqual([second.deliveries, second.hasMore], [2_500, false])
  assert.equal((await world.deliveries()).length, count)
})

test('[webhooks.24] a notification that has no place in the feed yet is sent by the next request', async (t) => {
  const world = await webhookWorld(t)
  const missed = await world.notify()
  world.clock.advance(1)
  const id = await world.register('http://127.0.0.1:9/')
  const first = await sendMissed(world, id)
  assert.deepEqual([first.deliveries, first.hasMore], [0, true])
  await world.fanOut.processNext()
  const second = await sendMissed(world, id, first.since)
  assert.deepEqual([second.deliveries, second.hasMore], [1, false])
  assert.partialDeepStrictEqual(await world.deliveries(), [{ notificationId: missed }])
})

test('[webhooks.24] a fan-out that did not see the endpoint being registered leaves nothing missed', async (t) => {
  const world = await webhookWorld(t)
  const id = await world.register('http://127.0.0.1:9/')
  world.clock.advance(1_000)
  await world.notify()
  await administer(
    world.url,
    `UPDATE notification SET fanned_out_at = now(), position = 1; UPDATE feed SET last_position = 1`,
  )
  assert.equal((await sendMissed(world, id)).deliveries, 1)
  world.clock.advance(60_000)
  const late = await world.notify()
  await administer(
    world.url,
    `UPDATE notification SET fanned_out_at = now(), position = 2 WHERE id = '${late}'; UPDATE feed SET last_position = 2`,
  )
  assert.equal((await sendMissed(world, id)).deliveries, 0)
})
