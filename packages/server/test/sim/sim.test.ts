import assert from 'node:assert/strict'
import test from 'node:test'
import { nightly } from './programme.ts'

/** Half of a million; the other half is in sim-more.test.ts, so that two cores share them. */
const FAULTS = 500_000

test('[P4] half a million faults, and every invariant holds after every step', async () => {
  const { coverage, failed } = await nightly(1, { faults: FAULTS })
  assert.deepEqual(failed, [])
  assert.ok(coverage.faultCount >= FAULTS)
})
