import assert from 'node:assert/strict'
import test from 'node:test'
import { SEED } from '../support/seed.ts'
import { findShapes, SHAPE_CASES } from './shapes.ts'

const CASES = 5_000

for (const kind of Object.keys(SHAPE_CASES))
  test(`[api-pix.18] [partner.3] ${kind}: any shape of the bank’s JSON has one meaning or is not read`, async (t) => {
    const startedAt = performance.now()
    const findings = await findShapes(SEED, CASES, kind)
    t.diagnostic(
      `${kind}: ${CASES} cases of seed ${SEED}, ${Math.round((CASES / (performance.now() - startedAt)) * 1_000)} a second`,
    )
    assert.deepEqual(findings, [])
  })
