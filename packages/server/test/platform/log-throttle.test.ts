import assert from 'node:assert/strict'
import test from 'node:test'
import { andMore } from '../../src/platform/runtime.ts'
import { steppedLogThrottle } from '../support/stepped-log-throttle.ts'

/** A stepped throttle, and what it wrote. */
function written() {
  const lines: string[] = []
  const throttle = steppedLogThrottle()
  return {
    ...throttle,
    lines,
    report: (kind: string) => throttle.report(kind, (more) => lines.push(`${kind}${andMore(more)}`)),
  }
}

test('[logs.3] the first is written at once, the others as one line a minute, until there are none', () => {
  const { lines, report, minuteEnds, running } = written()
  for (let count = 0; count < 38; count++) report('timeout')
  report('refused')
  assert.deepEqual(lines.splice(0), ['timeout', 'refused'])
  minuteEnds()
  assert.deepEqual(lines.splice(0), ['timeout (happened 37 more times within the past minute)'])
  report('timeout')
  minuteEnds()
  assert.deepEqual(lines.splice(0), ['timeout (happened 1 more times within the past minute)'])
  minuteEnds()
  assert.deepEqual([lines.splice(0), running()], [[], 0])
  report('timeout')
  assert.deepEqual(lines, ['timeout'])
})

test('[logs.3] however many kinds there are, few are told apart', () => {
  const { lines, report, running } = written()
  for (let kind = 0; kind < 10_000; kind++) report(`kind ${kind}`)
  assert.deepEqual([lines.length, running()], [201, 201])
})
