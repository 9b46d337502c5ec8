import assert from 'node:assert/strict'
import test from 'node:test'
import {
  attempted,
  isProvenNotFound,
  isUnsent,
  leaseMsFor,
  notFoundFacts,
  type SendFacts,
} from '../../src/operations/attempts.ts'
import { inputsWithoutOrder, inputWithoutOrder } from '../../src/operations/orders.ts'

const AT = 1_700_000_000_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const LEASE_MS = 5_500

test('[CO-10] [P6] nothing was sent only where there was an attempt and no byte of any left', () => {
  assert.equal(isUnsent({}), false)
  assert.equal(isUnsent({ attempts: 1 }), false)
  assert.equal(isUnsent({ attempts: 2, unsentAttempts: 1 }), false)
  assert.equal(isUnsent({ attempts: 2, unsentAttempts: 2 }), true)
})

/** The bank is asked at these times after the last attempt and does not know the order. */
function asked(...times: readonly number[]): SendFacts {
  let facts = attempted({}, AT, LEASE_MS)
  for (const ms of times) facts = { ...facts, ...notFoundFacts(facts, AT + ms) }
  return facts
}

test('[P6] another attempt starts the proof anew, and what the bank had is never proven not to be there', () => {
  const proven = asked(4 * MINUTE, 5 * MINUTE)
  const again = { ...proven, ...attempted(proven, AT + 6 * MINUTE, LEASE_MS) }
  assert.equal(isProvenNotFound(again), false)
  assert.equal(isProvenNotFound({ ...again, ...notFoundFacts(again, AT + 12 * MINUTE) }), false, 'told once since')
  assert.equal(isProvenNotFound({ ...proven, isAccepted: true }), false)
})

test('[cash-out.work.2] [CO-42] a lease covers the time until the order may leave, and one call', () => {
  assert.equal(leaseMsFor(3_000), 2_000 + 3_000 + 500)
  assert.equal(attempted({}, AT, LEASE_MS).leaseEndsAt, AT + LEASE_MS)
})

const TIMEOUT = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined } as const
const UNREACHABLE = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' } as const

test('[P5] what the answer to an attempt means where the bank does not have the order', () => {
  const given = (answer: Parameters<typeof inputWithoutOrder>[1]) => inputWithoutOrder({ attempts: 2 }, answer)
  assert.deepEqual(given(TIMEOUT), { on: 'send.unknown', reason: 'timeout' })
  assert.deepEqual(given(UNREACHABLE), { on: 'send.not_sent', attempt: 2, reason: 'ECONNREFUSED' })
  assert.deepEqual(given({ kind: 'REJECTED', errorCode: 'x'.repeat(100), errorMessage: undefined }), {
    on: 'send.rejected',
    attempt: 2,
    errorCode: 'x'.repeat(64),
    errorMessage: null,
  })
})

test('[P5] what the answer to a query means; a query that failed is repeated', () => {
  const given = (answer: Parameters<typeof inputsWithoutOrder>[1], windowMs = 0) =>
    inputsWithoutOrder({ updatedAt: 7 }, answer, windowMs, {})
  assert.deepEqual(given({ kind: 'NOT_FOUND' }, 86_400_000), [
    { on: 'partner.not_found', windowMs: 86_400_000, askedAt: 7 },
    { on: 'work.done' },
  ])
  const unanswered = { on: 'work.done', isUnanswered: true }
  assert.deepEqual(given(TIMEOUT), [{ on: 'send.unknown', reason: 'timeout' }, unanswered])
  assert.deepEqual(given(UNREACHABLE), [{ on: 'send.unknown', reason: 'ECONNREFUSED' }, unanswered])
})
