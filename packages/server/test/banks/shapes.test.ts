import assert from 'node:assert/strict'
import test from 'node:test'
import { findShapes, SHAPE_CASES } from './shapes.ts'

for (const kind of Object.keys(SHAPE_CASES))
  test(`[api-pix.18] [partner.3] ${kind}: any shape of the bank’s JSON has one meaning or is not read`, async () => {
    assert.deepEqual(await findShapes(20_261_129, 40, kind), [])
  })
