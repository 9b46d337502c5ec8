import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { APPLICATION_ROLE } from '../../src/platform/db/database.ts'
import { createErasing, type KeptDays } from '../../src/retention/retention.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer } from '../support/database.ts'
import { eventsIn, feedOf } from '../support/feed.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'
import { ENVIRONMENT } from '../support/world.ts'

const KEPT: KeptDays = { callbacks: 180, notifications: 90, deliveries: 180, ended_operations: 180 }

/** Erases all that is over, as the worker does. @returns how many rows of each */
async function erased({ database }: WebhookWorld, keptDays: KeptDays = KEPT): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const onErased = (what: string, rows: number) => {
    counts[what] = (counts[what] ?? 0) + rows
  }
  const step = createErasing({ database, logger: capturedLog().logger, keptDays, observer: { onErased } })
  while (await step());
  return counts
}

/** A world in which so many notifications were delivered. */
async function delivered(t: TestContext, count: number): Promise<WebhookWorld> {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  await world.register(receiver.url)
  for (let made = 0; made < count; made += 1) {
    await world.notify()
    await world.deliverDue()
  }
  return world
}

/** All that ended, did so long ago. */
function ended(world: WebhookWorld, daysAgo: number): Promise<void> {
  return administer(
    world.url,
    `UPDATE notification SET created_at = now() - interval '${daysAgo} days';
     UPDATE delivery SET finished_at = now() - interval '${daysAgo} days' WHERE finished_at IS NOT NULL;
     SET session_replication_role = replica;
     UPDATE delivery_attempt SET ended_at = now() - interval '${daysAgo} days';
     RESET session_replication_role`,
  )
}

test('[privacy.10] a delivery goes with its attempts when its time is over, and is not made again', async (t) => {
  const world = await delivered(t, 2)
  await ended(world, 179)
  assert.equal((await erased(world)).deliveries, undefined)
  await ended(world, 181)
  assert.equal((await erased(world)).deliveries, 2)
  await world.deliverDue()
  assert.deepEqual([await world.deliveries(), await world.attempts()], [[], []])
  assert.equal((await eventsIn(world.database)).length, 0, 'the bodies went before')
  assert.equal((await feedOf(world, world).read()).feed.lastPosition, 2, 'that there were two is known')
})

test('[privacy.10] [webhooks.21] a delivery that is resent stays until the resend ended long ago', async (t) => {
  const world = await delivered(t, 1)
  const [{ id } = assert.fail()] = await world.deliveries()
  const bare = { query: undefined, body: undefined, context: requestContext }
  await world.handlers.resendWebhookDelivery({ ...bare, params: { id } })
  await ended(world, 400)
  const kept = { ...KEPT, notifications: 1_000 }
  assert.equal((await erased(world, kept)).deliveries, undefined)
  await world.deliverDue()
  await administer(world.url, `UPDATE notification SET created_at = now() - interval '400 days'`)
  assert.equal((await erased(world, kept)).deliveries, undefined, 'it was sent again lately')
  await ended(world, 400)
  assert.equal((await erased(world)).deliveries, 1)
})

test('[privacy.10] what is pending stays, however old it is', async (t) => {
  const world = await delivered(t, 1)
  await administer(
    world.url,
    `UPDATE delivery SET state = 'PENDING', due_at = 'infinity', delivered_at = NULL, finished_at = NULL`,
  )
  await ended(world, 400)
  assert.deepEqual(await erased(world), {})
  assert.equal((await world.attempts()).length, 1)
})

/** What makes an operation one of which somebody may still have to know who was told what. */
const DISPUTES = {
  'has an open case': `INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at)
    SELECT gen_random_uuid(), operation_id, 'x', 'x', '{}', now() FROM notification`,
  'is in doubt': `SET session_replication_role = replica;
    INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail, facts,
                           created_at, updated_at)
    SELECT operation_id, 'cash_in', 'x', 'x', 'RECONCILIATION_REQUIRED', 1, 1, 0, 'x', '', '{}', '{}', now(), now() FROM notification`,
}

for (const [what, make] of Object.entries(DISPUTES)) {
  test(`[privacy.2] [privacy.10] of an operation that ${what} nothing that was sent is erased`, async (t) => {
    const world = await delivered(t, 1)
    await administer(world.url, make)
    await ended(world, 400)
    assert.deepEqual(await erased(world), {})
    await administer(world.url, `UPDATE "case" SET closed_at = now()`)
    await administer(world.url, `SET session_replication_role = replica; UPDATE operation SET status = 'PAID'`)
    assert.deepEqual(await erased(world), { notifications: 1, deliveries: 1 })
  })
}

test('[privacy.4] nothing that was sent goes within 90 days, whatever is asked for, by anybody', async (t) => {
  const world = await delivered(t, 1)
  await ended(world, 89)
  assert.deepEqual(await erased(world, { ...KEPT, notifications: 0, deliveries: -1 }), {})
  const deletions = ['DELETE FROM delivery', 'DELETE FROM delivery_attempt']
  for (const sql of deletions) {
    await assert.rejects(administer(world.url, `SET pixgate.erases = 'yes'; ${sql}`), { code: '42501' }, sql)
  }
  await ended(world, 400)
  for (const sql of [...deletions, 'TRUNCATE delivery', 'TRUNCATE delivery_attempt']) {
    await assert.rejects(administer(world.url, sql), { code: '42501' }, sql)
    await assert.rejects(administer(world.url, `SET ROLE ${APPLICATION_ROLE}; ${sql}`), /permission denied/, sql)
  }
})

test('[privacy.4] a start that would keep what was sent for less than 90 days is refused', () => {
  const environment = {
    ...ENVIRONMENT,
    DATABASE_URL: 'postgres://localhost/x',
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
  }
  for (const [name, least] of [
    ['PIXGATE_KEEP_PERSONAL_DATA_DAYS', 120],
    ['PIXGATE_KEEP_NOTIFICATIONS_DAYS', 90],
  ] as const) {
    assert.ok(readConfig({ ...environment, [name]: String(least) }))
    assert.throws(() => readConfig({ ...environment, [name]: String(least - 1) }), new RegExp(name))
  }
})

test('[privacy.2] [feed.5] what is erased of the feed is told to who reads on from before it', async (t) => {
  const world = await delivered(t, 2)
  const feed = feedOf(world, world)
  const { pagination } = await feed.read({ limit: 1 })
  await ended(world, 91)
  await world.notify()
  await world.fanOut.processNext()
  assert.equal((await erased(world)).notifications, 2)
  const refused = await feed.read({ cursor: pagination.nextCursor }).catch((error) => error)
  assert.deepEqual([refused.code, refused.readFrom?.position], ['events_erased', 3])
  const { data } = await feed.read({ cursor: refused.readFrom.cursor })
  assert.deepEqual(
    data.map(({ position }) => position),
    [3],
  )
})
