import assert from 'node:assert/strict'
import test from 'node:test'
import { createClockWatch } from '../../src/health/index.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { capturedLog } from '../support/captured-log.ts'

test('[logs.5] a clock that is off is told at each look, with how much, and so is that it is right again', async () => {
  const log = capturedLog()
  let wall = 1_600_000
  const clock = createDatabaseClock(
    () => wall,
    () => 0,
  )
  const look = createClockWatch({ clock, databaseNow: async () => 1_000_000, logger: log.logger })
  await look()
  await look()
  wall = 1_000_000
  await look()
  await look()
  assert.deepEqual(
    log.lines.map(({ level, skewMs }) => [level, skewMs]),
    [
      ['warn', 600_000],
      ['warn', 600_000],
      ['info', undefined],
    ],
  )
  assert.match(log.lines[0]?.msg ?? '', /clock of this machine is off the database’s/)
})
