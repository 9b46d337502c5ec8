import assert from 'node:assert/strict'
import test from 'node:test'
import {
  attempted,
  hasOtherOpenAttempts,
  isOverdue,
  isProvenNotFound,
  isRepeatable,
  isTriedLongEnough,
  isUnansweredTooLong,
  isUnsent,
  leaseMsFor,
  notFound,
  pollDelayMs,
  queryDelayMs,
  retryDelayMs,
  type SendFacts,
} from '../../src/operations/attempts.ts'

const AT = 1_700_000_000_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const LEASE_MS = 5_500
const DAY = 1_440 * MINUTE

test('[CO-10] an order that never left is tried again after 1, 2, 4 … s, at most a minute', () => {
  const waits = Array.from({ length: 9 }, (_, unsentAttempts) => retryDelayMs({ unsentAttempts }) / SECOND)
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
  assert.equal(retryDelayMs({ unsentAttempts: 5_000 }), MINUTE, 'however often')
})

test('[partner.4] an unknown outcome is asked about after 5, 10, 15 and 30 s, then each minute', () => {
  const waits = Array.from({ length: 7 }, (_, questions) => queryDelayMs({ questions }) / SECOND)
  assert.deepEqual(waits, [5, 10, 15, 30, 60, 60, 60])
})

test('[CO-22] an order that the bank has is asked about 10, 20, 40 and 60 s after it was sent, then each minute', () => {
  const waits = [0, 1, 10, 19, 20, 40, 59, 60, 86_400].map((s) => pollDelayMs({ lastAttemptAt: AT - s * SECOND }, AT))
  assert.deepEqual(
    waits,
    [10, 9, 10, 1, 20, 20, 1, 60, 60].map((s) => s * SECOND),
  )
  assert.equal(pollDelayMs({}, AT), 10 * SECOND)
})

test('[CO-10] [P6] nothing was sent only where there was an attempt and no byte of any left', () => {
  assert.equal(isUnsent({}), false)
  assert.equal(isUnsent({ attempts: 1 }), false)
  assert.equal(isUnsent({ attempts: 2, unsentAttempts: 1 }), false)
  assert.equal(isUnsent({ attempts: 2, unsentAttempts: 2 }), true)
})

test('[cash-out.states.10] an order is given up after 30 minutes, counted from the first attempt', () => {
  const facts = { attempts: 2, unsentAttempts: 2, firstAttemptAt: AT, lastAttemptAt: AT + 29 * MINUTE }
  assert.equal(isTriedLongEnough(facts, AT + 30 * MINUTE - 1), false)
  assert.equal(isTriedLongEnough(facts, AT + 30 * MINUTE), true)
})

test('[partner.5] an outcome that is missing for 15 minutes is missing for too long', () => {
  assert.equal(isUnansweredTooLong({ unknownSince: AT }, AT + 15 * MINUTE - 1), false)
  assert.equal(isUnansweredTooLong({ unknownSince: AT }, AT + 15 * MINUTE), true)
  assert.equal(isUnansweredTooLong({ unknownSince: null }, AT), false)
})

test('[CO-22] an order without an outcome is overdue after a day, where the bank has it, and is reported once', () => {
  const had = { isAccepted: true, firstAttemptAt: AT }
  assert.equal(isOverdue(had, AT + DAY - 1), false)
  assert.equal(isOverdue(had, AT + DAY), true)
  assert.equal(isOverdue({ ...had, isOverdue: true }, AT + DAY), false)
  assert.equal(isOverdue({ firstAttemptAt: AT }, AT + DAY), false)
})

/** The bank is asked at these times after the last attempt and does not know the order. */
function asked(...times: readonly number[]): SendFacts {
  let facts = attempted({}, AT, LEASE_MS)
  for (const ms of times) facts = { ...facts, ...notFound(facts, AT + ms) }
  return facts
}

test('[P6] «not found» is proof when reported twice, a minute apart, the last time five minutes after the last attempt', () => {
  assert.equal(isProvenNotFound(asked()), false)
  assert.equal(isProvenNotFound(asked(6 * MINUTE)), false, 'told once')
  assert.equal(isProvenNotFound(asked(5 * MINUTE, 6 * MINUTE - 1)), false, 'less than a minute apart')
  assert.equal(isProvenNotFound(asked(4 * MINUTE, 5 * MINUTE - 1)), false, 'the attempt may still be on its way')
  assert.equal(isProvenNotFound(asked(4 * MINUTE, 5 * MINUTE)), true)
  assert.equal(isProvenNotFound(asked(1 * MINUTE, 2 * MINUTE, 5 * MINUTE)), true)
})

test('[P6] another attempt starts the proof anew, and what the bank had is never proven not to be there', () => {
  const proven = asked(4 * MINUTE, 5 * MINUTE)
  const again = { ...proven, ...attempted(proven, AT + 6 * MINUTE, LEASE_MS) }
  assert.equal(isProvenNotFound(again), false)
  assert.equal(isProvenNotFound({ ...again, ...notFound(again, AT + 12 * MINUTE) }), false, 'told once since')
  assert.equal(isProvenNotFound({ ...proven, isAccepted: true }), false)
})

test('[P1] an attempt is counted when it is claimed, and the first one remembered', () => {
  const first = attempted({}, AT, LEASE_MS)
  assert.deepEqual([first.attempts, first.firstAttemptAt, first.lastAttemptAt], [1, AT, AT])
  const second = attempted(first, AT + 1, LEASE_MS)
  assert.deepEqual([second.attempts, second.firstAttemptAt, second.lastAttemptAt], [2, AT, AT + 1])
})

test('[cash-out.work.2] [CO-42] a lease covers the time until the order may leave, and one call', () => {
  assert.equal(leaseMsFor(3_000), 2_000 + 3_000 + 500)
  assert.equal(attempted({}, AT, LEASE_MS).leaseEndsAt, AT + LEASE_MS)
})

test('[cash-out.unknown.7] [CO-42] an order is repeated within the bank’s window only, and never what it has or has refused', () => {
  const tried = { attempts: 1, firstAttemptAt: AT }
  assert.equal(isRepeatable(tried, DAY, AT + DAY - 1), true)
  assert.equal(isRepeatable(tried, DAY, AT + DAY), false)
  assert.equal(isRepeatable(tried, 0, AT), false)
  assert.equal(isRepeatable({ ...tried, isAccepted: true }, DAY, AT), false)
  assert.equal(isRepeatable({ ...tried, refusal: { errorCode: 'limit', errorMessage: null } }, DAY, AT), false)
})

test('[CO-43] another attempt may arrive unless it is proven that no byte of it left', () => {
  assert.equal(hasOtherOpenAttempts({ attempts: 1 }), false)
  assert.equal(hasOtherOpenAttempts({ attempts: 2 }), true)
  assert.equal(hasOtherOpenAttempts({ attempts: 2, unsentAttempts: 1 }), false)
})
