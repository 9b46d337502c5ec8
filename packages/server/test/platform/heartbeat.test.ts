import assert from 'node:assert/strict'
import test from 'node:test'
import { andMore, createHeartbeat } from '../../src/platform/heartbeat.ts'

/** A heartbeat whose minutes end when the test says so, and what it wrote. */
function steppedHeartbeat() {
  let timers: (() => void)[] = []
  const lines: string[] = []
  const heartbeat = createHeartbeat((_, run) => timers.push(run))
  return {
    lines,
    report: (kind: string) => heartbeat.report(kind, (more) => lines.push(`${kind}${andMore(more)}`)),
    minuteEnds: () => {
      const ended = timers
      timers = []
      for (const run of ended) run()
    },
    running: () => timers.length,
  }
}

test('[logs.3] the first is written at once, the others as one line a minute, until there are none', () => {
  const { lines, report, minuteEnds, running } = steppedHeartbeat()
  for (let count = 0; count < 38; count++) report('timeout')
  report('refused')
  assert.deepEqual(lines.splice(0), ['timeout', 'refused'])
  minuteEnds()
  assert.deepEqual(lines.splice(0), ['timeout (and 37 more in the last minute)'])
  report('timeout')
  minuteEnds()
  assert.deepEqual(lines.splice(0), ['timeout (and 1 more in the last minute)'])
  minuteEnds()
  assert.deepEqual([lines.splice(0), running()], [[], 0])
  report('timeout')
  assert.deepEqual(lines, ['timeout'])
})

test('[logs.3] however many kinds there are, few are told apart', () => {
  const { lines, report, running } = steppedHeartbeat()
  for (let kind = 0; kind < 10_000; kind++) report(`kind ${kind}`)
  assert.deepEqual([lines.length, running()], [201, 201])
})
