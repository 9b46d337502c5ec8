import assert from 'node:assert/strict'
import test from 'node:test'
import { crashAt } from './crash.ts'
import { scenarios } from './scenarios.ts'
import { crashWorld } from './world.ts'

/** One scenario with a few pieces lost; `npm run test:deep -- crash` runs all of them. */

const STEP = 30

const payout = scenarios.find(({ name }) => name === 'a payout goes to a key')

test('[P1] [P2] [P4] a payout survives the loss of a process on its way', async (t) => {
  assert.ok(payout)
  const world = await crashWorld(t)
  let piece = 1
  while (await crashAt(world, payout, { piece, isBeside: piece % 2 === 0 })) piece += STEP - 1
  assert.ok(piece > STEP, 'the process never died')
})
