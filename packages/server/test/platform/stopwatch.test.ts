import assert from 'node:assert/strict'
import test from 'node:test'
import { sleeplessClock } from '../../src/platform/clock.ts'

test('[CO-40] [P10] it goes on while the process is stopped and while its machine is suspended, and never goes back', () => {
  const at = { wall: 1_000_000, monotonic: 500 }
  const clock = sleeplessClock(
    () => at.monotonic,
    () => at.wall,
  )
  assert.equal(clock(), 0)
  at.monotonic += 3_000
  assert.equal(clock(), 3_000, 'stopped')
  at.wall += 600_000
  assert.equal(clock(), 603_000, 'suspended: only the wall clock went on')
  at.wall -= 3_600_000
  at.monotonic += 10
  assert.equal(clock(), 603_010, 'set back')
})
