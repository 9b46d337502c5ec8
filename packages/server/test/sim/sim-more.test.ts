import assert from 'node:assert/strict'
import test from 'node:test'
import { FAULTS as NAMES } from './faults.ts'
import { nightly } from './programme.ts'

/** The other half of the million of sim.test.ts. */
const FAULTS = 500_000

/** Of what there is so much must be reached: less means that the simulation no longer goes where it went. */
const REACHED = { rows: 0.8, cases: 0.9, decisions: 0.55 }

function shareOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].filter((times) => times > 0).length / counts.size
}

test('[P4] another half a million faults, of every kind, reach most rows, kinds of case and decisions', async () => {
  const { coverage, failed } = await nightly(100_001, { faults: FAULTS })
  assert.deepEqual(failed, [])
  assert.ok(shareOf(coverage.rows) >= REACHED.rows, coverage.unreached.join('\n'))
  assert.ok(shareOf(coverage.cases) >= REACHED.cases, coverage.unreached.join('\n'))
  assert.ok(shareOf(coverage.decisions) >= REACHED.decisions, coverage.unreached.join('\n'))
  const never = Object.keys(NAMES).filter((name) => ![...coverage.faults.keys()].some((fault) => fault === name))
  assert.deepEqual(never, [])
})
