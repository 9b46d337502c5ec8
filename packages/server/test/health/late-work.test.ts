import assert from 'node:assert/strict'
import test from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createHealthStore, createLateWorkWatch } from '../../src/health/index.ts'
import type { Count } from '../../src/health/store.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Stop } from '../../src/process.ts'
import { start } from '../../src/start.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ENVIRONMENT, type World, world } from '../support/world.ts'

const SENTENCE = 'what was due more than a minute ago has not been taken up'

/** Each kind of work that a worker would do, with no worker to do it. */
async function workOfEveryKind(pix: World): Promise<void> {
  await pix.balance(10_000)
  await pix.cashOut({ value: 10 })
  await pix.charge('20.00')
  // What is stored is applied at once; what matches nothing waits.
  const nobody = { id: '0198c0de-7a11-7000-8000-000000000001', valueCents: 1_000, providerTransactionId: 'nobody' }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent(nobody, { occurredAt })), 200)
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
     UPDATE delivery SET next_attempt_at = ${ago} WHERE state = 'PENDING'`,
  )
}

test('[logs.5] [metrics.1] a process without workers tells what nobody takes up, by kind', async (t) => {
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
  const { level, lateSeconds, count } = await log.line(SENTENCE, { work: 'cash_out' })
  assert.deepEqual([level, count], ['warn', 1])
  assert.ok(Number(lateSeconds) >= 180)
  for (const work of ['cash_in', 'event', 'notification']) await log.line(SENTENCE, { work })
  const series = await scrape(pix)
  assert.equal(series('pixgate_work_late{kind="cash_out"}'), 1)
  assert.ok((series('pixgate_work_late_seconds{kind="event"}') ?? 0) >= 180)
})

test('[logs.5] a delivery that waits for its next attempt is not late, one that has for a minute is', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.paid('10.00')
  await administer(
    pix.databaseUrl,
    `INSERT INTO delivery (id, notification_id, subscription_id, state, next_attempt_at, created_at)
     SELECT gen_random_uuid(), n.id, s.id, 'PENDING', clock_timestamp() + interval '1 hour', clock_timestamp()
       FROM notification n, subscription s`,
  )
  const store = createHealthStore(pix.database)
  const lateDeliveries = async () => (await store.late()).find(({ kind }) => kind === 'delivery')?.count
  assert.equal(await lateDeliveries(), undefined)
  await lateBy(pix, 30)
  assert.equal(await lateDeliveries(), undefined)
  await lateBy(pix, 61)
  assert.equal(await lateDeliveries(), 1)
})

test('[logs.5] as long as work is late there is a line at each look, and one when that is over', async () => {
  const log = capturedLog()
  const rows: Count[][] = [[late('event'), late('cash_out')], [late('event')], []]
  const look = createLateWorkWatch({ late: async () => rows.shift() ?? [], logger: log.logger })
  for (let looks = 0; looks < 4; looks++) await look()
  assert.deepEqual(
    log.lines.map(({ level, work, msg }) => [level, work, msg.includes(SENTENCE)]),
    [
      ['warn', 'event', true],
      ['warn', 'cash_out', true],
      ['warn', 'event', true],
      ['info', 'cash_out', false],
      ['info', 'event', false],
    ],
  )
})

function late(kind: string): Count {
  return { kind, state: '', count: 1, oldestSeconds: 61 }
}
