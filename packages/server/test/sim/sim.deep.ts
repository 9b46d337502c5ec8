import assert from 'node:assert/strict'
import test from 'node:test'
import { SEED } from '../support/seed.ts'
import { FAULTS as NAMES } from './faults.ts'
import { belying, HOW_TO_REACH, inTwo, lackingOf, nightly, unknownNames } from './programme.ts'

/** What the corpus reached before the order of chance changed with what was taken away; `npm run sim -- --find` searches other seeds. */
const OUT_OF_REACH: ReadonlySet<string> = new Set([
  'refund_in outcome_overdue confirm',
  'refund_in outcome_overdue fail',
  'cash_in cash-in.states.6 PROVIDER_RESULT_UNKNOWN charge.accepted [reference differs] → RECONCILIATION_REQUIRED',
  'cash_in cash-in.credits.4 PROVIDER_RESULT_UNKNOWN work.done [reported payment is unconfirmed for too long] → PROVIDER_RESULT_UNKNOWN',
  'cash_out cash-out.states.7 PROVIDER_RESULT_UNKNOWN send.rejected [refusal is of the latest attempt, not the bank has it, not another attempt may arrive] → FAILED',
  'cash_out cash-out.unknown.5 DISPATCHED send.unknown [no answer for 15 minutes, not the bank has it] → RECONCILIATION_REQUIRED',
  'cash_out cash-out.desk.9 RECONCILIATION_REQUIRED:* operator.explained [the reservation was given back] → RECONCILIATION_REQUIRED',
  'refund_in refund-in.desk.1 PENDING:* operator.confirmed [another case is open, not its movement is known, not money of it is in suspense] → CONFIRMED',
  'refund_in refund-in.desk.2 PENDING:* operator.failed [another case is open, not an attempt may still arrive, not the statement shows it, not money of it is in suspense] → FAILED',
  'refund_in refund-in.desk.7 FAILED:* operator.explained → FAILED',
  'cash_out returned_too_much credit',
  'cash_out result_missing close',
  'cash_out confirmed_without_sending close',
  'refund_in result_missing close',
])

test('[P4] a million faults of every kind: every invariant holds after every step, and every situation is reached', async () => {
  const { coverage, failed } = await inTwo(1_000_000, 1)
  assert.deepEqual(failed, [])
  assert.ok(coverage.faultCount >= 1_000_000)
  assert.deepEqual(
    lackingOf(coverage).filter((name) => !OUT_OF_REACH.has(name)),
    [],
    HOW_TO_REACH,
  )
  assert.deepEqual(belying(coverage), [], 'reached, and unreached.ts says that it never is')
  assert.deepEqual(unknownNames(coverage), [], 'in unreached.ts, corpus.ts or a scene, and nowhere else')
  const never = Object.keys(NAMES).filter((name) => ![...coverage.faults.keys()].some((fault) => fault === name))
  assert.deepEqual(never, [])
})

// What a run reaches depends on its seeds, so the run above has the same ones always.
test('[P4] 100,000 faults from another seed: every invariant holds after every step', async () => {
  const { coverage, failed } = await nightly(SEED, { faults: 100_000 })
  assert.deepEqual(failed, [])
  assert.ok(coverage.faultCount >= 100_000)
})
