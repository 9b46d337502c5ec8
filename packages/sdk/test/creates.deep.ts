import test from 'node:test'
import { SEED } from '../../server/test/support/seed.ts'
import { seededCreates } from './support/seeded-creates.ts'

const [RUNS, WORLDS] = [1_000, 10]

for (let world = 0; world < WORLDS; world += 1) {
  const seed = SEED + world
  test(`[sdk.5] of ${RUNS} creates none happens twice, and every end is true: seed ${seed}`, async (t) => {
    t.diagnostic(JSON.stringify(await seededCreates(t, seed, RUNS)))
  })
}
