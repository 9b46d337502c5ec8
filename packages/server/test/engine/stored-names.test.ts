import assert from 'node:assert/strict'
import test from 'node:test'
import {
  reportedFailure,
  reportedFailureFact,
  reportedPayments,
  reportedPaymentsFact,
} from '../../src/cash-in/reported.ts'
import { repeatedReturn } from '../../src/cash-out/cash-out.ts'
import { type Reason, reasonFact, reasonOf } from '../../src/engine/follow.ts'
import { type StatusQuery, statusQueryFact, statusQueryOf } from '../../src/operations/attempts.ts'

/** Names in stored facts are a format: they are literals here, as rows of the first version have them. */

const REASONS: readonly (readonly [Reason | null, string | null])[] = [
  ['no_answer', 'missing'],
  ['conflict', 'contradiction'],
  ['not_dispatched', 'unrecorded'],
  [null, null],
]

test('[DB-43] the reason of a doubt is stored under the words of the first version', () => {
  for (const [reason, word] of REASONS) {
    assert.deepEqual(reasonFact(reason), { doubt: word })
    assert.equal(reasonOf({ facts: { doubt: word } }), reason)
  }
  assert.equal(reasonOf({ facts: {} }), null)
})

const QUERIES: readonly (readonly [StatusQuery | null, 'wanted' | 'asked' | null])[] = [
  ['requested', 'wanted'],
  ['in_flight', 'asked'],
  [null, null],
]

test('[DB-43] a status query is stored under the words of the first version', () => {
  for (const [query, word] of QUERIES) {
    assert.deepEqual(statusQueryFact(query), { question: word })
    assert.equal(statusQueryOf({ question: word }), query)
  }
  assert.equal(statusQueryOf({}), null)
})

test('[DB-43] what only events reported is stored under the names of the first version', () => {
  const payments = { E1: { valueCents: 100, occurredAt: 1, since: 2 } }
  assert.deepEqual(reportedPaymentsFact(payments), { toldPayments: payments })
  assert.deepEqual(reportedPayments({ toldPayments: payments }), payments)
  assert.deepEqual(reportedPayments({}), {})
  const failure = { errorCode: 'removed', errorMessage: null, occurredAt: null }
  assert.deepEqual(reportedFailureFact(failure), { toldFailure: failure })
  assert.deepEqual(reportedFailure({ toldFailure: failure }), failure)
  assert.equal(reportedFailure({}), null)
})

test('[DB-43] a repeated return is stored under the name of the first version', () => {
  assert.equal(repeatedReturn({ returnsToldAgain: { D1: 10 } }, 'D1'), 10)
  assert.equal(repeatedReturn({}, 'D1'), undefined)
})
