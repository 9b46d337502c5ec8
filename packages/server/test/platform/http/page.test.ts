import assert from 'node:assert/strict'
import test from 'node:test'
import { daysOf } from '../../../src/platform/http/page.ts'

test('[lists.2] days are the instants between which they lie', () => {
  const midnight = Date.parse('2026-11-21T00:00:00Z')
  assert.deepEqual(daysOf('2026-11-21', '2026-11-21'), { from: midnight, to: midnight + 86_400_000 })
  assert.deepEqual(daysOf(undefined, undefined), {})
})

test('[lists.2] the last day that can be written has no end: the day after it cannot be written', () => {
  assert.deepEqual(daysOf('9999-12-31', '9999-12-31'), { from: Date.parse('9999-12-31') })
})
