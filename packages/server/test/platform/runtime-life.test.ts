import assert from 'node:assert/strict'
import test from 'node:test'
import { examineRuntime } from '../../src/doctor/doctor.ts'
import { endedRuntime } from '../../src/platform/runtime.ts'

const LAST_MOMENT = Date.UTC(2028, 4, 1) - 1

test('[production.8] a Node.js gets fixes until its last day is over, and one whose last day nobody knows is left alone', () => {
  assert.equal(endedRuntime(LAST_MOMENT, '24.18.1'), undefined)
  assert.deepEqual(endedRuntime(LAST_MOMENT + 1, '24.18.1'), { version: '24.18.1', lastDay: '2028-04-30' })
  assert.equal(endedRuntime(LAST_MOMENT * 2, '26.0.0'), undefined)
})

test('[production.8] the doctor says so, and nothing before', () => {
  assert.deepEqual(examineRuntime(LAST_MOMENT, '24.18.1'), [])
  assert.deepEqual(examineRuntime(LAST_MOMENT + 1, '24.18.1'), [
    { isOk: false, check: 'Node.js', says: '24.18.1 gets no security fixes since 2028-04-30: install a newer major' },
  ])
})
