import assert from 'node:assert/strict'
import test from 'node:test'
import { SEED } from '../support/seed.ts'
import { FAULTS as NAMES } from './faults.ts'
import { belying, HOW_TO_REACH, inTwo, lackingOf, nightly, unknownNames } from './programme.ts'

test('[P4] a million faults of every kind: every invariant holds after every step, and every situation is reached', async () => {
  const { coverage, failed } = await inTwo(1_000_000, 1)
  assert.deepEqual(failed, [])
  assert.ok(coverage.faultCount >= 1_000_000)
  assert.deepEqual(lackingOf(coverage), [], HOW_TO_REACH)
  assert.deepEqual(belying(coverage), [], 'reached, and unreached.ts says that it never is')
  assert.deepEqual(unknownNames(coverage), [], 'in unreached.ts, corpus.ts or a scene, and nowhere else')
  const never = Object.keys(NAMES).filter((name) => ![...coverage.faults.keys()].some((fault) => fault === name))
  assert.deepEqual(never, [])
})

// What a run reaches depends on its seeds, so the run above has the same ones always.
test('[P4] 100,000 faults from another seed: every invariant holds after every step', async () => {
  const { coverage, failed } = await nightly(SEED, { faults: 100_000 })
  assert.deepEqual(failed, [])
  assert.ok(coverage.faultCount >= 100_000)
})
