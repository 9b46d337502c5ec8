import assert from 'node:assert/strict'
import test from 'node:test'
import * as apiPix from '../../src/banks/api-pix/bodies.ts'
import { bodyTest } from '../../src/banks/body-test.ts'
import * as efi from '../../src/banks/efi/bodies.ts'
import * as pixgate from '../../src/banks/pixgate/protocol/bodies.ts'

test('every shape of a bank’s bodies can be compiled, which is done when the first of them comes', () => {
  for (const bodies of [pixgate, apiPix, efi]) {
    const tests = Object.entries(bodies).filter(([name]) => name.startsWith('is'))
    assert.ok(tests.length >= 4)
    for (const [name, isBody] of tests) assert.equal((isBody as (json: unknown) => boolean)('no body'), false, name)
  }
})

test('a shape that is none is told by the first body, and a body by its shape', () => {
  const isAmount = bodyTest<{ cents: number }>({ type: 'object', properties: { cents: { type: 'integer' } } })
  assert.deepEqual([{ cents: 1 }, { cents: 0.5 }, 1].map(isAmount), [true, false, false])
  assert.throws(() => bodyTest({ type: 'a thing' })({}), /type must be/)
})
