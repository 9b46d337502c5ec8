import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { createErasing } from '../../../src/retention/jobs.ts'
import { LOOKED_AT_MAX } from '../../../src/webhooks/replays/missed/jobs.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { administer } from '../../support/database.ts'
import { openHolder } from '../../support/waiting-backends.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'
import { requestContext, type WebhookProcess, type WebhookWorld, webhookWorld } from '../../support/webhook-world.ts'

const bare = { params: undefined, query: undefined, context: { ...requestContext, headers: {} } }
const SINCE = '2026-11-21T13:00:00Z'

async function order(
  { handlers }: WebhookProcess,
  webhookId: string,
  { since = SINCE, dryRun = false }: { since?: string; dryRun?: boolean } = {},
) {
  const body = { kind: 'missed', since, dryRun } as const
  return (await handlers.replayWebhook({ ...bare, params: { webhook_id: webhookId }, body })).body
}

/** Looks on until there is nothing more to look at. @returns in how many steps */
async function lookOn({ missed }: WebhookProcess): Promise<number> {
  let steps = 0
  while (await missed.processNext()) steps += 1
  return steps
}

function fanOutAll({ fanOut }: WebhookProcess): Promise<void> {
  return fanOut.processNext().then((isMore) => (isMore ? fanOutAll({ fanOut } as WebhookProcess) : undefined))
}

/** What is to be sent, by the ids of the notifications; as often as it is. */
async function ordered({ database }: WebhookWorld): Promise<string[]> {
  const text = `SELECT d.notification_id AS id FROM replay_delivery r JOIN delivery d ON d.id = r.delivery_id ORDER BY r.due_at, id`
  return (await database.rows<[], { id: string }>({ name: 'test.ordered', text }, [])).map(({ id }) => id)
}

async function notificationIds({ database }: WebhookWorld): Promise<string[]> {
  const text = 'SELECT id FROM notification ORDER BY position'
  return (await database.rows<[], { id: string }>({ name: 'test.notificationIds', text }, [])).map(({ id }) => id)
}

/** As if all of it had been sent and delivered: nothing waits. */
function deliverAll(world: WebhookWorld): Promise<void> {
  return administer(
    world.url,
    `UPDATE replay_delivery SET state = 'DELIVERED', due_at = NULL, finished_at = now() WHERE state = 'WAITING';
     UPDATE delivery SET state = 'DELIVERED', finished_at = now()`,
  )
}

/** So many notifications, and then a receiver of them. */
async function lateReceiver(t: TestContext, count: number) {
  const world = await webhookWorld(t)
  await world.notifyMany(count)
  await fanOutAll(world)
  world.clock.advance(1_000)
  const receiver = await startReceiver(t)
  return { world, receiver, id: await world.subscribe(receiver.url) }
}

test('[webhooks.24] one order sends all that was missed, however much: some places of the feed at a time, each once', async (t) => {
  const count = 2 * LOOKED_AT_MAX + 1
  const { world, id } = await lateReceiver(t, count)
  assert.partialDeepStrictEqual(await order(world, id), { deliveries: count, hasMore: false })
  assert.deepEqual(await ordered(world), [], 'the answer waits for none of it')
  const looked: number[] = []
  while ((await ordered(world)).length < count) {
    await lookOn(world)
    looked.push((await ordered(world)).length)
    await deliverAll(world)
    world.clock.advance(1_000)
  }
  assert.deepEqual(looked, [LOOKED_AT_MAX, 2 * LOOKED_AT_MAX, count], 'nothing is added while much waits')
  assert.deepEqual((await ordered(world)).sort(), (await notificationIds(world)).sort())
})

test('[webhooks.24] [NO-21] a process that dies on the way: another goes on from where the last stretch was written', async (t) => {
  const { world, id } = await lateReceiver(t, LOOKED_AT_MAX + 100)
  const dying = await world.anotherProcess({ failing: 'webhooks.recordMissed' })
  await order(world, id)
  await assert.rejects(lookOn(dying))
  assert.deepEqual(await ordered(world), [], 'it leaves nothing half')
  await lookOn(world)
  await deliverAll(world)
  world.clock.advance(1_000)
  await assert.rejects(lookOn(dying))
  assert.equal((await ordered(world)).length, LOOKED_AT_MAX)
  await lookOn(world)
  assert.deepEqual((await ordered(world)).sort(), (await notificationIds(world)).sort())
})

test('[webhooks.24] several processes look on for several orders of the same at once: everything is sent once', async (t) => {
  const { world, id } = await lateReceiver(t, 500)
  const processes = [world, await world.anotherProcess(), await world.anotherProcess()]
  for (const since of [SINCE, '2026-11-20T00:00:00Z', '2026-11-19T00:00:00Z']) await order(world, id, { since })
  await Promise.all(processes.map(lookOn))
  assert.deepEqual((await ordered(world)).sort(), (await notificationIds(world)).sort())
})

test('[webhooks.24] only what was made since then and before the receiver is sent; what goes on already is not counted again', async (t) => {
  const world = await webhookWorld(t)
  const made: string[] = []
  for (let count = 0; count < 3; count += 1) {
    made.push(await world.notify())
    await fanOutAll(world)
    world.clock.advance(1_000)
  }
  const id = await world.subscribe('http://127.0.0.1:9/')
  await world.notify()
  await fanOutAll(world)
  const since = '2026-11-21T13:00:01Z'
  assert.equal((await order(world, id, { since })).deliveries, 2)
  assert.equal((await order(world, id, { since, dryRun: true })).deliveries, 0, 'the order will find them')
  assert.equal((await order(world, id, { dryRun: true })).deliveries, 1, 'but not this one')
  await lookOn(world)
  assert.deepEqual(await ordered(world), made.slice(1))
})

test('[webhooks.24] what was made before the receiver and gets its place later is sent, too', async (t) => {
  const world = await webhookWorld(t)
  const slow = await world.notify()
  world.clock.advance(1_000)
  const id = await world.subscribe('http://127.0.0.1:9/')
  assert.partialDeepStrictEqual(await order(world, id), { deliveries: 0, hasMore: true })
  await lookOn(world)
  assert.deepEqual(await ordered(world), [])
  await fanOutAll(world)
  world.clock.advance(3_600_000)
  await lookOn(world)
  assert.deepEqual(await ordered(world), [slow])
  world.clock.advance(1_000)
  assert.equal(await lookOn(world), 0, 'it is over')
})

test('[webhooks.24] what was begun to be written before the receiver was there and ends after the order is sent, too', async (t) => {
  const world = await webhookWorld(t)
  world.clock.advance(1_000)
  const id = await world.subscribe('http://127.0.0.1:9/')
  await order(world, id)
  await lookOn(world)
  world.clock.advance(5_000)
  const late = await world.notify()
  await administer(world.url, `UPDATE notification SET created_at = created_at - interval '5500 ms'`)
  await fanOutAll(world)
  await lookOn(world)
  assert.deepEqual(await ordered(world), [late])
})

test('[webhooks.24] [privacy.10] what was sent as missed is not missed again when its delivery is erased before it', async (t) => {
  const { world, id } = await lateReceiver(t, 3)
  await order(world, id)
  await lookOn(world)
  await deliverAll(world)
  await administer(
    world.url,
    `SET session_replication_role = replica;
     UPDATE delivery SET finished_at = now() - interval '181 days';
     UPDATE replay_delivery SET finished_at = now() - interval '181 days';
     RESET session_replication_role`,
  )
  const keptDays = { callbacks: 180, notifications: 1_000, deliveries: 180, ended_operations: 180 }
  const observer = { onErased: () => undefined }
  await createErasing({ database: world.database, logger: capturedLog().logger, keptDays, observer })()
  assert.deepEqual(await world.deliveries(), [])
  for (const since of [SINCE, '2026-11-01T00:00:00Z', '2026-11-21T12:59:59Z']) {
    assert.equal((await order(world, id, { since, dryRun: true })).deliveries, 0)
    await order(world, id, { since })
  }
  world.clock.advance(1_000)
  await lookOn(world)
  assert.deepEqual(await world.deliveries(), [])
})

for (const when of ['ordered', 'looked for'] as const) {
  test(`[webhooks.24] a receiver is removed while what it missed is ${when}: nothing waits for it`, async (t) => {
    const { world, id } = await lateReceiver(t, 1)
    if (when === 'looked for') await order(world, id)
    const holder = await openHolder(world.url)
    await holder.hold('UPDATE subscription SET deleted_at = now()')
    const doing = when === 'ordered' ? order(world, id).catch(({ code }) => code) : lookOn(world)
    await holder.waiting(1)
    await holder.release()
    assert.equal(await doing, when === 'ordered' ? 'not_found' : 1)
    assert.deepEqual(await world.deliveries(), [])
    world.clock.advance(3_600_000)
    assert.equal(await lookOn(world), 0)
  })
}

test('[webhooks.24] an order of a receiver that was removed is over; more is counted than 10,000 by saying so', async (t) => {
  const { world, id } = await lateReceiver(t, limits.webhookReplayMax + 1)
  const counted = await order(world, id, { dryRun: true })
  assert.partialDeepStrictEqual(counted, { deliveries: limits.webhookReplayMax, hasMore: true })
  await order(world, id)
  await world.handlers.deleteWebhook({ ...bare, params: { webhook_id: id }, body: undefined })
  assert.equal(await lookOn(world), 1)
  world.clock.advance(3_600_000)
  assert.equal(await lookOn(world), 0)
  assert.deepEqual(await world.deliveries(), [])
})

test('[webhooks.22] what was notified while a receiver was being registered, and sent to nobody, was missed', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const id = await world.subscribe(receiver.url)
  world.clock.advance(2)
  const unseen = await world.notify()
  // As a process fans out that does not see the registration yet.
  await administer(world.url, "UPDATE subscription SET created_at = created_at + interval '1 hour'")
  await fanOutAll(world)
  await administer(world.url, "UPDATE subscription SET created_at = created_at - interval '1 hour'")
  const seen = await world.notify()
  await fanOutAll(world)
  world.clock.advance(60_000)
  assert.equal((await order(world, id)).deliveries, 1)
  await lookOn(world)
  assert.deepEqual(await ordered(world), [unseen], `and ${seen} was not`)
})

test('[webhooks.24] what is found when an order is older than anything is held waits from then on', async (t) => {
  const { world, id } = await lateReceiver(t, 3)
  await order(world, id)
  world.clock.advance(limits.webhookHeldMs + 60_000)
  await lookOn(world)
  await world.housekeeping.processNext()
  assert.equal((await ordered(world)).length, 3)
  const [{ failed } = { failed: -1 }] = await world.database.rows<[], { failed: number }>(
    { name: 'test.failed', text: "SELECT count(*)::integer AS failed FROM replay_delivery WHERE state <> 'WAITING'" },
    [],
  )
  assert.equal(failed, 0)
})
