import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import * as cashOuts from '../../src/cash-out/facts.ts'
import { type Reason, reasonFact } from '../../src/engine/follow.ts'
import type { Plan, Step } from '../../src/engine/operation.ts'
import type { SendFacts } from '../../src/operations/attempts.ts'
import * as refunds from '../../src/refund-in/facts.ts'
import { CREATED_AT, cashOutAs, NOW } from '../cash-out/situations.ts'
import { refundAs } from '../refund-in/situations.ts'

const DAY = 86_400_000

/** What is known of an order that was tried. */
const facts: fc.Arbitrary<SendFacts> = fc
  .record({
    attempts: fc.integer({ min: 1, max: 3 }),
    left: fc.integer({ min: 0, max: 3 }),
    firstAttemptAt: fc.integer({ min: CREATED_AT, max: NOW }),
    isAccepted: fc.boolean(),
    isOverdue: fc.boolean(),
    reason: fc.constantFrom<Reason | null>('no_answer', 'conflict', 'not_dispatched', null),
  })
  .map(({ left, reason, ...known }) => ({
    ...known,
    ...reasonFact(reason),
    unsentAttempts: Math.max(0, known.attempts - left),
  }))

/** Fails where the plan does not say what is to be done until it changes, or where it changes at another time. */
function assertPlan({ step, changesAt }: Plan, dueAt: number, nextStep: (nowMs: number) => Step): void {
  const until = changesAt === null ? dueAt + 40 * DAY : changesAt - 1
  for (const part of [0, 0.3, 0.7, 1]) assert.equal(nextStep(Math.round(dueAt + (until - dueAt) * part)), step)
  if (changesAt !== null) assert.notEqual(nextStep(changesAt), step)
}

const dueAts = fc.integer({ min: NOW, max: NOW + DAY })

test('[cash-out.work.6] what a payout is planned for is what is to be done until the plan changes by time alone', () => {
  const statuses = fc.constantFrom(
    'RESERVED',
    'DISPATCHED',
    'PROVIDER_RESULT_UNKNOWN',
    'RECONCILIATION_REQUIRED',
    'FAILED',
  )
  fc.assert(
    fc.property(statuses, facts, dueAts, (status, known, dueAt) => {
      const cashOut = cashOutAs(status, { facts: status === 'RESERVED' ? {} : known, dueAt })
      assertPlan(cashOuts.planOf(cashOut, NOW), dueAt, (nowMs) => cashOuts.nextStep(cashOut, nowMs))
    }),
  )
})

test('[cash-out.work.6] so it is of a refund', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('PENDING', 'PENDING', 'CONFIRMED'),
      fc.oneof(facts, fc.constant({})),
      dueAts,
      (status, known, dueAt) => {
        const refund = refundAs(status, { facts: known, dueAt })
        assertPlan(refunds.planOf(refund, NOW), dueAt, (nowMs) => refunds.nextStep(refund, nowMs))
      },
    ),
  )
})
