import assert from 'node:assert/strict'
import test from 'node:test'
import { createDatabaseClock } from '../../src/platform/clock.ts'

/** A clock on a machine whose clocks the test sets. */
function machine() {
  const at = { wall: 1_000_000, monotonic: 500 }
  const clock = createDatabaseClock(
    () => at.wall,
    () => at.monotonic,
  )
  return { at, clock }
}

test('[P10] [EX-4] the database’s first time is used, even if it is behind the machine’s', () => {
  const { at, clock } = machine()
  clock.now()
  clock.observe(400_000)
  assert.equal(clock.now(), 400_000)
  at.monotonic += 250
  assert.equal(clock.now(), 400_250, 'it does not wait for the machine’s time to come')
})

test('[P10] the clock is the database’s time, carried on by the monotonic clock', () => {
  const { at, clock } = machine()
  clock.observe(2_000_000)
  assert.equal(clock.now(), 2_000_000)
  at.monotonic += 250.75
  assert.equal(clock.now(), 2_000_250, 'whole milliseconds')
  at.wall = 0
  assert.equal(clock.now(), 2_000_250, 'somebody who sets the machine’s clock changes nothing')
})

test('[P10] the clock never goes back', () => {
  const { at, clock } = machine()
  clock.observe(2_000_000)
  clock.now()
  clock.observe(1_990_000)
  assert.equal(clock.now(), 2_000_000)
  at.monotonic += 9_000
  assert.equal(clock.now(), 2_000_000, 'it waits')
  at.monotonic += 2_000
  assert.equal(clock.now(), 2_001_000, 'and goes on')
})

test('[CO-48] [P10] it knows since when it runs without a step, in either direction', () => {
  const { at, clock } = machine()
  assert.equal(clock.steadySince(), Number.POSITIVE_INFINITY)
  clock.observe(2_000_000)
  assert.equal(clock.steadySince(), 2_000_000)
  at.monotonic += 60_000
  clock.observe(2_060_000 - 6_000)
  assert.equal(clock.steadySince(), 2_000_000, 'a reply that was late')
  clock.observe(2_400_000)
  assert.equal(clock.steadySince(), 2_400_000)
  at.monotonic += 1_000
  assert.equal(clock.now(), 2_401_000)
  clock.observe(2_000_000)
  assert.equal(clock.steadySince(), 2_401_000, 'from where it waits')
})

test('[P10] [CO-61] it knows when it was set back, which a late reply, a step ahead and its first time are not', () => {
  const { at, clock } = machine()
  assert.equal(clock.setBackAt(), undefined)
  clock.observe(1_000)
  clock.observe(2_000_000)
  at.monotonic += 60_000
  clock.observe(2_060_000 - 30_000)
  assert.equal(clock.setBackAt(), undefined)
  at.monotonic += 60_000
  clock.observe(2_090_000 - 30_001)
  assert.equal(clock.setBackAt(), 2_090_000, 'by its own time, which goes on from there')
})

test('[health.2] [EX-4] it reports how far the machine is off, sign included', () => {
  const { at, clock } = machine()
  assert.equal(clock.skewMs(), 0)
  clock.observe(998_500)
  assert.equal(clock.skewMs(), 1_500)
  clock.observe(1_002_000)
  assert.equal(clock.skewMs(), -2_000)
  at.wall += 10
  at.monotonic += 10
  assert.equal(clock.skewMs(), -2_000)
})
