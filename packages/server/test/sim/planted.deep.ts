import assert from 'node:assert/strict'
import test from 'node:test'
import { PLANTED_BUGS } from './planted.ts'
import { findPlanted, isFound } from './programme.ts'

// Each in a process of its own: what it loads reads otherwise in one place.
for (const [number, { name }] of PLANTED_BUGS.entries()) {
  test(`[P4] the simulation finds a bug that was planted: ${name}`, async () => {
    const found = await findPlanted(number)
    assert.ok(isFound(found), `found ${found.invariant ?? 'nothing'}: ${found.message ?? ''}`)
  })
}
