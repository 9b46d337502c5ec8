import assert from 'node:assert/strict'
import test from 'node:test'
import { ratchetProblems } from '../../check/ratchet.ts'

const bounds = { limit: 60, unit: 'lines', where: 'sizes.json' }

test('what is within the limit, or shrank, is no problem', () => {
  assert.deepEqual(ratchetProblems({ short: 60, long: 89 }, { long: 90 }, bounds), [])
})

test('what is above the limit has to be listed, and may not grow', () => {
  assert.deepEqual(ratchetProblems({ long: 61, longer: 91 }, { longer: 90 }, bounds), [
    'long: 61 lines, allowed are 60',
    'longer: 91 lines, allowed are 90',
  ])
})

test('what came within the limit, or is gone, leaves the list', () => {
  assert.deepEqual(ratchetProblems({ short: 60 }, { short: 70, gone: 80 }, bounds), [
    'short is within the limit; take it out of sizes.json',
    'gone is within the limit; take it out of sizes.json',
  ])
})
