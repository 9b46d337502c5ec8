import assert from 'node:assert/strict'
import test from 'node:test'
import { createClockWatch } from '../../src/health/index.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { capturedLog } from '../support/captured-log.ts'

const DATABASE_AT = 1_000_000

test('[logs.5] a clock that is off is logged at each check, with amount and direction, and its return to normal once', async () => {
  const log = capturedLog()
  let skewMs = 0
  const clock = createDatabaseClock(
    () => DATABASE_AT + skewMs,
    () => 0,
  )
  const look = createClockWatch({ clock, databaseNow: async () => DATABASE_AT, logger: log.logger })
  for (const at of [60_001, 60_000, -1_001, -60_001, 0, 0]) {
    skewMs = at
    await look()
  }
  assert.deepEqual(
    log.lines.map(({ level, event, skewMs }) => [level, event, skewMs]),
    [
      ['error', 'clock.skewed', 60_001],
      ['warn', 'clock.skewed', 60_000],
      ['warn', 'clock.skewed', -1_001],
      ['error', 'clock.skewed', -60_001],
      ['info', 'clock.in_sync', undefined],
    ],
  )
})
