import assert from 'node:assert/strict'
import test from 'node:test'
import { run } from './run.ts'

/** A short run; `npm run test:deep -- sim` injects a million faults. */

const STEPS = 20_000

test('[P4] 20,000 steps of the simulation: every invariant holds after every step', async () => {
  let steps = 0
  for (let seed = 1; steps < STEPS; seed += 1) {
    const result = await run(seed)
    assert.equal(result.failure, undefined, `seed ${seed}`)
    steps += result.steps
  }
})
