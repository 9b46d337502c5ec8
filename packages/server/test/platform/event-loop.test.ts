import assert from 'node:assert/strict'
import test from 'node:test'
import { DelayMemory, LoopWatch } from '../../src/platform/runtime.ts'

/** A loop whose time and whose turns the test makes. */
function loop() {
  let [monotonic, wall] = [5_000, 1_000_000]
  let afterReading: (() => void)[] = []
  const gaps: number[] = []
  const watch = new LoopWatch({
    monotonic: () => monotonic,
    wall: () => wall,
    afterReading: (run) => afterReading.push(run),
    onGap: (ms) => gaps.push(ms),
  })
  return {
    watch,
    gaps,
    /** Time passes unseen, as it does for a process that is stopped. */
    sleep: (ms: number) => {
      monotonic += ms
      wall += ms
    },
    /** Time passes on one clock only. */
    stepWall: (ms: number) => {
      wall += ms
    },
    /** A turn of the loop ends: it has read all that was there when it began to read. */
    turn: () => {
      const due = afterReading
      afterReading = []
      for (const run of due) run()
    },
  }
}

test('[http.14] [PL-5] requests read before a stall of more than 2 s are stale', () => {
  const { watch, sleep, gaps } = loop()
  const before = watch.mark()
  sleep(2_000)
  assert.equal(watch.hasStoodStillSince(before), false)
  sleep(2_001)
  assert.equal(watch.hasStoodStillSince(before), true)
  assert.equal(watch.hasStoodStillSince(before), true, 'and stays so')
  assert.deepEqual(gaps, [2_001])
})

test('[http.14] [PL-5] time that passes while it turns is no gap', () => {
  const { watch, sleep } = loop()
  const before = watch.mark()
  for (let looks = 0; looks < 100; looks++) {
    sleep(250)
    watch.look()
  }
  assert.equal(watch.hasStoodStillSince(before), false)
})

test('[http.14] [PL-5] a machine that was suspended is seen by its wall clock; a clock that is set back is no gap', () => {
  const { watch, stepWall } = loop()
  const before = watch.mark()
  stepWall(-3_600_000)
  assert.equal(watch.hasStoodStillSince(before), false)
  stepWall(2_001)
  assert.equal(watch.hasStoodStillSince(before), true)
})

test('[http.14] [PL-5] requests are stale until one whole read phase has passed after the stall', () => {
  const { watch, sleep, turn } = loop()
  sleep(3_000)
  const first = watch.mark()
  turn()
  const second = watch.mark()
  turn()
  const third = watch.mark()
  turn()
  assert.deepEqual(
    [first, second, third].map((mark) => watch.hasStoodStillSince(mark)),
    [true, true, false],
  )
})

test('[http.14] [PL-5] connections that waited to be accepted are old, one a turn and each read a turn later', () => {
  const { watch, sleep, turn } = loop()
  sleep(3_000)
  watch.look()
  turn()
  for (let waited = 0; waited < 100; waited++) {
    watch.noteConnection()
    turn()
    assert.ok(watch.hasStoodStillSince(watch.mark()), `the ${waited}th`)
  }
  turn()
  assert.equal(watch.hasStoodStillSince(watch.mark()), false)
})

test('[http.14] [PL-5] a flood of new connections does not keep it waking: no more can have waited than may wait', () => {
  const { watch, sleep, turn } = loop()
  sleep(3_000)
  watch.look()
  turn()
  let accepted = 0
  while (watch.hasStoodStillSince(watch.mark())) {
    watch.noteConnection()
    accepted += 1
    turn()
  }
  assert.equal(accepted, 512)
})

test('[http.14] [PL-5] a loop that stands still again while it wakes up is waking anew', () => {
  const { watch, sleep, turn, gaps } = loop()
  sleep(3_000)
  watch.look()
  turn()
  sleep(3_000)
  watch.look()
  turn()
  assert.ok(watch.hasStoodStillSince(watch.mark()))
  turn()
  assert.equal(watch.hasStoodStillSince(watch.mark()), false)
  assert.equal(gaps.length, 2)
})

test('[http.14] [PL-5] a gap during which the wall clock was set back is seen by the monotonic one', () => {
  const { watch, sleep, stepWall } = loop()
  const before = watch.mark()
  sleep(3_000)
  stepWall(-3_000)
  assert.equal(watch.hasStoodStillSince(before), true)
})

test('[metrics.1] the longest delay of the last minute is remembered, however often it is read', () => {
  let [nowMs, longestMs] = [0, 0]
  const histogram = {
    // What is measured is the time from one look to the next, 20 ms where nothing is late.
    percentile: () => (longestMs + 20) * 1e6,
    reset: () => {
      longestMs = 0
    },
  }
  const memory = new DelayMemory(histogram, () => nowMs)
  longestMs = 500
  assert.deepEqual([memory.delays().longestMs, memory.delays().longestMs], [500, 500])
  nowMs += 30_000
  memory.look()
  longestMs = 7
  assert.equal(memory.delays().longestMs, 500)
  nowMs += 29_999
  memory.look()
  assert.equal(memory.delays().longestMs, 500)
  nowMs += 1
  memory.look()
  assert.equal(memory.delays().longestMs, 7)
})
