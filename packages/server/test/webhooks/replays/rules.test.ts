import assert from 'node:assert/strict'
import test from 'node:test'
import { dueAtOf, nextReplay } from '../../../src/webhooks/replays/rules.ts'

const NOW = Date.parse('2026-11-21T13:00:00Z')

test('[webhooks.23] a replay leaves at ten a second at first, and twice as fast with every ten seconds', () => {
  const dueBefore = (seconds: number) => {
    let count = 0
    while (dueAtOf(count, NOW) < NOW + seconds * 1_000) count++
    return count
  }
  assert.equal(dueAtOf(0, NOW), NOW)
  assert.deepEqual([1, 10, 20, 30].map(dueBefore), [11, 145, 433, 1_010])
})

test('[webhooks.23] it has four attempts, whatever is answered', () => {
  const broken = { failure: 'broken', code: undefined } as const
  const states = [1, 2, 3, 4, 5].map((attempt) => nextReplay(broken, attempt, NOW, 0).state)
  assert.deepEqual(states, ['PENDING', 'PENDING', 'PENDING', 'FAILED', 'FAILED'])
  assert.deepEqual(nextReplay(broken, 1, NOW, 0), { state: 'PENDING', nextAttemptAt: NOW + 5_500 })
  const well = { statusCode: 204, retryAfter: undefined }
  for (const attempt of [1, 4]) assert.deepEqual(nextReplay(well, attempt, NOW, 0), { state: 'DELIVERED' })
})
