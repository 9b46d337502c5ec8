import assert from 'node:assert/strict'
import test from 'node:test'
import { createTurns } from '../../src/cash-in/turns.ts'

test('[cash-in.work.2] so many work at the same time, the others in the order in which they came', async () => {
  const inTurn = createTurns(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = [0, 1, 2, 3].map((number) =>
    inTurn(() => {
      begun.push(number)
      return new Promise<void>((resolve) => ends.push(resolve))
    }),
  )
  assert.deepEqual(begun, [0, 1])
  ends[1]?.()
  await work[1]
  assert.deepEqual(begun, [0, 1, 2])
  for (const number of [0, 2, 3]) {
    ends[number]?.()
    await work[number]
  }
  assert.deepEqual(begun, [0, 1, 2, 3])
})

test('[cash-in.work.2] work that fails gives its turn on', async () => {
  const inTurn = createTurns(1)
  const failed = inTurn(() => Promise.reject(new Error('failed')))
  const next = inTurn(async () => 'done')
  await assert.rejects(failed, /failed/)
  assert.equal(await next, 'done')
})
