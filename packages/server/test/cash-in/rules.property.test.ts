import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type CashIn, type CashInEvent, statusAt } from '../../src/cash-in/cash-in.ts'
import { decideCashIn } from '../../src/cash-in/rules.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import type { Journal } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { CREATED_AT, cashInAs, confirmed, EXPIRES_AT, INPUTS } from './situations.ts'

const { 'partner.confirmed': PAYMENT, ...OTHERS } = INPUTS

const IN_CONTRADICTION: CashInEvent = { ...PAYMENT, isContradicted: true }

/** What may happen, and how long after the thing before it. Payments are often the same, restated, late or early. */
const anyStep = fc.record({
  afterMs: fc.constantFrom(0, 1_000, 61_000, 900_000, 3_600_000),
  input: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom<CashInEvent>(...Object.values(OTHERS)) },
    {
      weight: 1,
      arbitrary: fc
        .record({
          endToEndId: fc.constantFrom('E1', 'E2', 'E3'),
          valueCents: fc.constantFrom(100_00n, 100_00n, 99_00n),
          occurredAt: fc.constantFrom(CREATED_AT, EXPIRES_AT + 60_000, EXPIRES_AT + 60_001),
        })
        .map(confirmed),
    },
    { weight: 1, arbitrary: fc.constant(IN_CONTRADICTION) },
  ),
})

/** Everything that was written since the charge was made. */
interface History {
  readonly journals: Journal[]
  readonly notified: string[]
  cases: number
}

test('[cash-in.states.7] [cash-in.paid.4] whatever happens in whatever order, the books stay right', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
      const history: History = { journals: [], notified: [], cases: 0 }
      let cashIn = cashInAs('PENDING', { version: 1, dueAt: CREATED_AT + 15_000 })
      let nowMs = CREATED_AT
      for (const { afterMs, input } of steps) {
        nowMs += afterMs
        cashIn = step(cashIn, input, nowMs, history)
      }
      assertBooked(cashIn, history)
    }),
    { numRuns: 20_000 },
  )
})

function step(before: CashIn, input: CashInEvent, nowMs: number, history: History): CashIn {
  const { outcome, moves = [], journals = [], notifications = [], cases = [] } = decideCashIn(before, input, nowMs)
  const after = outcome.cashIn
  if (outcome.result !== 'APPLIED') {
    assert.equal(after, before)
    assert.equal(moves.length + journals.length + notifications.length + cases.length, 0)
  } else {
    assert.equal(after.version, before.version + moves.length)
    // A return in doubt is booked, and then known.
    assert.deepEqual(
      moves.slice(1).map(({ trigger }) => trigger),
      Object.keys(before.facts.returns ?? {}).length > 0 && moves.length > 1 ? ['return.known'] : [],
    )
  }
  if (before.status === 'PAID') assert.ok(['PAID', 'RECONCILIATION_REQUIRED'].includes(after.status))
  if (input.on === 'partner.confirmed' && outcome.result !== 'IMPLAUSIBLE') {
    assert.ok(after.facts.payments?.[input.payment.endToEndId], 'money that arrived is booked')
  }
  if (statusAt(before, nowMs) === 'EXPIRED') assertOnlyMoneyChanges(after, nowMs, journals)
  history.journals.push(...journals)
  history.notified.push(...notifications.map(({ status }) => status))
  history.cases += cases.length
  assertNotForgotten(after, history)
  return after
}

/** What a client has read as `EXPIRED` it reads as nothing else, unless money came. */
function assertOnlyMoneyChanges(after: CashIn, nowMs: number, journals: readonly Journal[]): void {
  const status = statusAt(after, nowMs)
  if (journals.length === 0) assert.equal(status, 'EXPIRED')
  else assert.ok(['PAID', 'RECONCILIATION_REQUIRED'].includes(status))
}

/** Nothing that is open waits for ever: a worker looks at it, or a person. */
function assertNotForgotten({ status, dueAt, facts }: CashIn, { cases }: History): void {
  const isOpen = status === 'PENDING' || status === 'PROVIDER_RESULT_UNKNOWN' || reasonOf({ facts }) === 'no_answer'
  if (isOpen) assert.notEqual(dueAt, null)
  if (status === 'RECONCILIATION_REQUIRED') assert.ok(cases > 0)
}

function assertBooked({ status, facts }: CashIn, { journals, notified }: History): void {
  for (const journal of journals) entriesOf(journal)
  const arrived = journals.filter(({ kind }) => kind === 'cash_in_paid' || kind === 'arrived_unattributed')
  const references = arrived.map(({ reference }) => reference)
  assert.equal(new Set(references).size, references.length, 'an end-to-end id is booked once')
  const credits = journals.filter(({ kind }) => kind === 'cash_in_paid')
  assert.equal(credits.length, notified.filter((status) => status === 'PAID').length, 'each credit is told')
  assert.ok(credits.length <= 1)
  assert.ok(notified.filter((status) => status === 'FAILED').length <= 1)
  if (status === 'PAID') assert.equal(credits.length, 1)
  const posted = arrived.reduce((sum, { kind, amounts }) => {
    return sum + ((kind === 'cash_in_paid' ? amounts.v : amounts.p) ?? 0n)
  }, 0n)
  const known = Object.values(facts.payments ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
  assert.equal(posted, known, 'what is known to have arrived is what was booked')
}
