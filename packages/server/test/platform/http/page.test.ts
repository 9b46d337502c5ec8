import assert from 'node:assert/strict'
import test from 'node:test'
import { timesOf } from '../../../src/platform/http/page.ts'

test('[lists.2] days are the instants between which they lie', () => {
  const midnight = Date.parse('2026-11-21T00:00:00Z')
  assert.deepEqual(timesOf('2026-11-21', '2026-11-21'), { from: midnight, to: midnight + 86_400_000 })
  assert.deepEqual(timesOf(undefined, undefined), {})
})

test('[lists.2] the last day that can be written has no end: the day after it cannot be written', () => {
  assert.deepEqual(timesOf('9999-12-31', '9999-12-31'), { from: Date.parse('9999-12-31') })
})

test('[lists.2] an instant as the end is not in the range, and days and instants go together', () => {
  const midnight = Date.parse('2026-11-21T00:00:00Z')
  assert.deepEqual(timesOf('2026-11-20T21:00:00-03:00', '2026-11-21T00:00:00.001Z'), {
    from: midnight,
    to: midnight + 1,
  })
  assert.deepEqual(timesOf('2026-11-21', '2026-11-21T01:00:00Z'), { from: midnight, to: midnight + 3_600_000 })
  assert.throws(() => timesOf('2026-11-21T00:00:00Z', '2026-11-21T00:00:00Z'), { code: 'validation_error' })
})
