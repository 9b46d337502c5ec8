import assert from 'node:assert/strict'
import test from 'node:test'
import { FAULTS as NAMES } from './faults.ts'
import { nightly } from './programme.ts'

/** The other half of the million of sim.test.ts. */
const FAULTS = 500_000

test('[P4] another half a million faults, of every kind, reach every row, case and decision that they can', async () => {
  const { coverage, failed, unreached } = await nightly(100_001, { faults: FAULTS })
  assert.deepEqual(failed, [])
  assert.deepEqual(unreached, [])
  const never = Object.keys(NAMES).filter((name) => ![...coverage.faults.keys()].some((fault) => fault === name))
  assert.deepEqual(never, [])
})
