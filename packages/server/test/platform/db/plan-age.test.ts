import assert from 'node:assert/strict'
import test from 'node:test'
import { PlanAge } from '../../../src/platform/db/plan-age.ts'

test('[database.8] plans are made anew each time that twice as many statements were sent, and after 1,024 at the latest', () => {
  const age = new PlanAge(0)
  const renewed: number[] = []
  for (let sent = 0; sent < 4_000; sent++) {
    if (age.isOver(0)) renewed.push(sent)
    age.count()
  }
  assert.deepEqual(renewed, [64, 128, 256, 512, 1_024, 2_048, 3_072])
})

test('[database.8] plans are made anew each time that their connection is twice as old, and after a minute at the latest', () => {
  const age = new PlanAge(500)
  const renewed: number[] = []
  for (let second = 0; second < 240; second++) {
    age.count()
    if (age.isOver(500 + second * 1_000)) renewed.push(second)
  }
  assert.deepEqual(renewed, [1, 2, 4, 8, 16, 32, 64, 124, 184])
})

test('[database.8] plans of which none was made since are not old', () => {
  const age = new PlanAge(0)
  assert.equal(age.isOver(60_000), false)
  age.count()
  assert.equal(age.isOver(60_000), true)
  assert.equal(age.isOver(600_000), false)
})
