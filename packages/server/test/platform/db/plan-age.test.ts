import assert from 'node:assert/strict'
import test from 'node:test'
import { PlanAge } from '../../../src/platform/db/database.ts'

test('[database.8] plans are made anew each time that twice as many statements were sent, and after 1,024 at the latest', () => {
  const age = new PlanAge()
  const renewed: number[] = []
  for (let sent = 0; sent < 4_000; sent++) {
    if (age.isOver()) renewed.push(sent)
    age.count()
  }
  assert.deepEqual(renewed, [64, 128, 256, 512, 1_024, 2_048, 3_072])
})
