import assert from 'node:assert/strict'
import test from 'node:test'
import { seededCreates } from './support/seeded-creates.ts'

for (const seed of [1, 2]) {
  test(`[sdk.5] under cuts, time-outs, refusals and doubled answers a create happens once, and its end is true: seed ${seed}`, async (t) => {
    const { created, existing, refused, open } = await seededCreates(t, seed, 150)
    t.diagnostic(JSON.stringify({ created, existing, refused, open }))
    assert.ok(created > 0 && existing > 0 && refused > 0 && open > 0, 'every end is reached')
  })
}
