import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '../src/limits.ts'

test('[webhooks.6] fourteen attempts reach over three days', () => {
  const total = limits.webhookRetryDelaysMs.reduce((sum, delay) => sum + delay, 0)
  assert.equal(limits.webhookRetryDelaysMs.length + 1, 14)
  assert.equal(Math.floor(total / 3_600_000), 75)
})

test('[partner.4] the bank is asked at 5, 15, 30 and 60 s, then each minute', () => {
  let elapsed = 0
  const asked = limits.unknownResultQueryDelaysMs.map((delay) => {
    elapsed += delay
    return elapsed / 1_000
  })
  assert.deepEqual(asked, [5, 15, 30, 60, 120])
})
