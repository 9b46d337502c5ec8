import assert from 'node:assert/strict'
import test from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createHealthStore, createOverdueWorkWatch } from '../../src/health/index.ts'
import type { Count } from '../../src/health/store.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Stop } from '../../src/process.ts'
import { start } from '../../src/start.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ENVIRONMENT, type World, world } from '../support/world.ts'

/** Each kind of work that a worker would do, with no worker to do it. */
async function workOfEveryKind(pix: World): Promise<void> {
  // What is stored is applied at once; what matches nothing waits, and is noted to: before anything else is there to be done.
  const nobody = { id: '0198c0de-7a11-7000-8000-000000000001', valueCents: 1_000, providerTransactionId: 'nobody' }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent(nobody, { occurredAt })), 200)
  await pix.work()
  await pix.balance(10_000)
  await pix.cashOut({ value: 10 })
  await pix.charge('20.00')
}

/** Moves all that is due, or waits, back in time; what is append-only too. */
function lateBy(pix: World, seconds: number): Promise<void> {
  const ago = `clock_timestamp() - interval '${seconds} seconds'`
  return administer(
    pix.databaseUrl,
    `SET session_replication_role = replica;
     UPDATE operation SET due_at = ${ago} WHERE due_at IS NOT NULL;
     UPDATE inbox_event SET due_at = ${ago} WHERE due_at IS NOT NULL;
     UPDATE notification SET created_at = ${ago} WHERE fanned_out_at IS NULL;
     UPDATE delivery SET due_at = ${ago} WHERE due_at IS NOT NULL`,
  )
}

test('[logs.5] [metrics.1] a process without workers reports overdue work by kind', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await workOfEveryKind(pix)
  await lateBy(pix, 180)
  const log = capturedLog()
  const stops: Stop[] = []
  t.after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const environment = {
    ...ENVIRONMENT,
    DATABASE_URL: pix.databaseUrl,
    PORT: '0',
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
  }
  const clock = createDatabaseClock()
  await start(
    'api',
    readConfig(environment),
    { clock, logger: log.logger, pause: realPause, random: Math.random },
    stops,
  )
  const { level, lateSeconds, count } = await log.line('', { event: 'work.overdue', work: 'cash_out' })
  assert.deepEqual([level, count], ['warn', 1])
  assert.ok(Number(lateSeconds) >= 180)
  for (const work of ['cash_in', 'event', 'notification']) await log.line('', { event: 'work.overdue', work })
  const series = await scrape(pix)
  assert.equal(series('pixgate_work_late{kind="cash_out"}'), 1)
  assert.ok((series('pixgate_work_late_seconds{kind="event"}') ?? 0) >= 180)
})

test('[logs.5] a delivery that waits for its next attempt is not late, one that has for a minute is', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.paid('10.00')
  await administer(
    pix.databaseUrl,
    `INSERT INTO delivery (id, notification_id, endpoint_id, state, due_at, created_at)
     SELECT gen_random_uuid(), n.id, s.id, 'PENDING', clock_timestamp() + interval '1 hour', clock_timestamp()
       FROM notification n, endpoint s`,
  )
  const store = createHealthStore(pix.database)
  const lateDeliveries = async () => (await store.late()).find(({ kind }) => kind === 'delivery')?.count
  assert.equal(await lateDeliveries(), undefined)
  await lateBy(pix, 30)
  assert.equal(await lateDeliveries(), undefined)
  await lateBy(pix, 61)
  assert.equal(await lateDeliveries(), 1)
  await administer(
    pix.databaseUrl,
    `INSERT INTO delivery_attempt (delivery_id, attempt, endpoint_id, outcome, started_at, ended_at)
     SELECT gen_random_uuid(), 1, endpoint_id, 'delivered', now(), now() FROM delivery`,
  )
  assert.equal(await lateDeliveries(), undefined, 'a backlog that is being sent is not')
})

test('[logs.5] as long as work is late there is a line at each look, and one when that is over', async () => {
  const log = capturedLog()
  const rows: Count[][] = [[late('event'), late('cash_out')], [late('event')], []]
  const countOverdue = async () => rows.shift() ?? []
  const look = createOverdueWorkWatch({ countOverdue, payoutBreaker: () => 'closed', logger: log.logger })
  for (let looks = 0; looks < 4; looks++) await look()
  assert.deepEqual(
    log.lines.map(({ level, work, event }) => [level, work, event]),
    [
      ['warn', 'event', 'work.overdue'],
      ['warn', 'cash_out', 'work.overdue'],
      ['warn', 'event', 'work.overdue'],
      ['info', 'cash_out', 'work.overdue_cleared'],
      ['info', 'event', 'work.overdue_cleared'],
    ],
  )
})

test('[logs.5] orders that the breaker holds back say so, and other work does not', async () => {
  const log = capturedLog()
  const rows = ['cash_out', 'refund_in', 'cash_in'].map(late)
  const countOverdue = async () => rows
  await createOverdueWorkWatch({ countOverdue, payoutBreaker: () => 'half_open', logger: log.logger })()
  assert.deepEqual(
    log.lines.map(({ work, heldBack }) => [work, heldBack]),
    [
      ['cash_out', 'breaker'],
      ['refund_in', 'breaker'],
      ['cash_in', undefined],
    ],
  )
})

test('[logs.5] payouts held by the kill switch are not overdue; sent ones are', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await workOfEveryKind(pix)
  await lateBy(pix, 61)
  const store = createHealthStore(pix.database)
  const latePayouts = async () => (await store.late()).find(({ kind }) => kind === 'cash_out')?.count
  assert.equal(await latePayouts(), 1)
  const setSwitch = (enabled: boolean) =>
    administer(
      pix.databaseUrl,
      `UPDATE control SET value = jsonb_set(value, '{enabled}', '${enabled}') WHERE name = 'cash_out_switch'`,
    )
  await setSwitch(false)
  assert.equal(await latePayouts(), undefined)
  await administer(pix.databaseUrl, `UPDATE operation SET status = 'DISPATCHED' WHERE kind = 'cash_out'`)
  assert.equal(await latePayouts(), 1)
})

/** Pending deliveries of a new receiver with the lowest id there can be, and as many events that are due soon. */
async function flood(pix: World, count: number): Promise<void> {
  await administer(
    pix.databaseUrl,
    `SET session_replication_role = replica;
     INSERT INTO endpoint (id, url, events, created_at, since)
     VALUES ('00000000-0000-7000-8000-000000000000', 'https://flood.example', '{pix_cash_in}', clock_timestamp(), clock_timestamp());
     INSERT INTO delivery (id, notification_id, endpoint_id, state, due_at, created_at)
     SELECT gen_random_uuid(), gen_random_uuid(), '00000000-0000-7000-8000-000000000000', 'PENDING',
            clock_timestamp() - interval '2 minutes', clock_timestamp()
       FROM generate_series(1, ${count});
     INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, due_at)
     SELECT id, n, 'flood-' || n, '', 'PARKED', clock_timestamp() - interval '2 minutes'
       FROM (SELECT id FROM inbox LIMIT 1) AS callback, generate_series(10, ${count + 10}) n`,
  )
}

test('[metrics.3] the oldest is found, however many fresh ones of another endpoint there are; 10000 is the most', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await workOfEveryKind(pix)
  await administer(
    pix.databaseUrl,
    `SET session_replication_role = replica;
     INSERT INTO delivery (id, notification_id, endpoint_id, state, due_at, created_at)
     SELECT gen_random_uuid(), n.id, s.id, 'PENDING', clock_timestamp() + interval '1 hour',
            clock_timestamp() - interval '5 hours'
       FROM notification n, endpoint s LIMIT 1;
     INSERT INTO inbox (id, endpoint, body, is_proven, received_at)
     SELECT '00000000-0000-7000-8000-000000000001', endpoint, body, is_proven, clock_timestamp() - interval '3 hours'
       FROM inbox LIMIT 1;
     INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, due_at)
     VALUES ('00000000-0000-7000-8000-000000000001', 0, 'old', '', 'PARKED', clock_timestamp() + interval '1 hour')`,
  )
  await flood(pix, 10_001)
  const { deliveries, events, late } = createHealthStore(pix.database)
  const [pending] = (await deliveries()).filter(({ state }) => state === 'pending')
  assert.equal(pending?.count, 10_000)
  assert.ok(Number(pending?.oldestSeconds) >= 5 * 3_600)
  const [parked] = (await events()).filter(({ state }) => state === 'parked')
  assert.equal(parked?.count, 10_000)
  assert.ok(Number(parked?.oldestSeconds) >= 3 * 3_600)
  for (const { kind, count } of await late()) assert.ok(count <= 10_000, kind)
})

function late(kind: string): Count {
  return { kind, state: '', count: 1, oldestSeconds: 61 }
}

test('[database.8] overdue work is found by an index on its due time', async (t) => {
  const { url, database } = await testDatabase(t)
  await administer(
    url,
    `INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state)
     SELECT gen_random_uuid(), 0, n::text, '', 'DONE' FROM generate_series(1, 10000) n`,
  )
  const { texts, noting } = notingTexts(database)
  await createHealthStore(noting).late()
  const [text = ''] = texts
  const plan = await planOf(url, text)
  for (const index of ['inbox_event_due', 'notification_to_fan_out', 'delivery_due', 'operation_due_by_kind']) {
    assert.match(plan, new RegExp(`(using|on) ${index}.*\\n *Index Cond: .* < \\(`))
  }
})
