import assert from 'node:assert/strict'
import test from 'node:test'
import { createEventQueryBudget } from '../../src/banks/event-query-budget.ts'

test('[partner.7] [EV-44] events cause 200 status queries at once, and 100 a second from then on', () => {
  const budget = createEventQueryBudget()
  assert.equal(budget.take(150, 1_000), 150)
  assert.equal(budget.take(150, 1_000), 50, 'the others wait')
  assert.equal(budget.take(1, 1_000), 0)
  assert.equal(budget.take(1_000, 1_500), 50)
  assert.equal(budget.take(1_000, 100_000), 200, 'what is not used does not pile up')
})

test('[partner.7] a clock that steps back grants no extra query', () => {
  const budget = createEventQueryBudget()
  assert.equal(budget.take(200, 10_000), 200)
  assert.equal(budget.take(1, 5_000), 0)
  assert.equal(budget.take(1_000, 5_500), 50)
})
