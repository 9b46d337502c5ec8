import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { createDatabaseClock } from '../src/platform/clock.ts'
import { realPause } from '../src/platform/jobs/pause.ts'
import type { Stop } from '../src/process.ts'
import { start } from '../src/start.ts'
import { testDatabase } from './support/database.ts'
import { wallNow } from './support/wall-clock.ts'
import { ADMIN_TOKEN, ENCRYPTION_KEY, PARTNER_SECRET, PARTNER_TOKEN } from './support/world.ts'

const MINUTE_MS = 60_000

test('[EX-4] a process whose wall clock is an hour fast has the database’s time when its workers start', async (t) => {
  const { url } = await testDatabase(t)
  const clock = createDatabaseClock(() => wallNow() + 60 * MINUTE_MS)
  const readings: number[] = []
  const now = () => {
    const nowMs = clock.now()
    readings.push(nowMs)
    return nowMs
  }
  const dependencies = {
    clock: { ...clock, now },
    pause: realPause,
    random: Math.random,
    logger: pino({ level: 'silent' }),
  }
  const config = readConfig({
    DATABASE_URL: url,
    PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    PIXGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    // Nobody listens there: there is nothing to do at the bank.
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
    PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN,
    PIXGATE_PARTNER_SECRET: PARTNER_SECRET,
  })
  const stops: Stop[] = []
  try {
    const startedAt = wallNow()
    await start('worker', config, dependencies, stops)
    assert.ok(readings.length > 0, 'the workers look for what is due')
    for (const nowMs of readings) assert.ok(Math.abs(nowMs - startedAt) < MINUTE_MS, `${nowMs - startedAt} ms off`)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
})
