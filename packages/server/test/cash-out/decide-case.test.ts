import assert from 'node:assert/strict'
import test from 'node:test'
import { type CaseDecision, type CashOutStatus, limits, Refusal } from '@pixgate/spec'
import type { DecidableCase, DecisionInput } from '../../src/cases/case.ts'
import type { CashOut, CashOutFacts } from '../../src/cash-out/cash-out.ts'
import { cashOutDecider } from '../../src/cash-out/decide-case.ts'
import { type Reason, reasonFact, reasonOf } from '../../src/engine/follow.ts'
import type { OpenCase } from '../../src/engine/operation.ts'
import { done, ordered, seeing } from '../support/decided.ts'
import { CREATED_AT, cashOutAs, NOW } from './situations.ts'

/** What must come of each decision, written by hand: it says nothing because the table of the machine says so. */

const DOUBT = 'RECONCILIATION_REQUIRED'
const UNENDED = [
  'outcome_unknown cash-out.unknown.5',
  'outcome_unknown cash-out.cases.11',
  'outcome_unknown cash-out.states.9',
  'outcome_unknown cash-out.states.5',
]
const LEFT = [
  'debit_in_suspense cash-out.states.12',
  'debit_in_suspense cash-out.reconciliation.2',
  'debit_in_suspense cash-out.ended.2',
]
const CAME_BACK = [
  'return_in_suspense cash-out.reversal.2',
  'return_in_suspense cash-out.reversal.5',
  'return_in_suspense cash-out.reconciliation.3',
]
const TOLD = [
  'bank_contradicts cash-out.confirmed.2',
  'bank_contradicts cash-out.confirmed.3',
  'bank_contradicts cash-out.confirmed.4',
  'bank_contradicts cash-out.reversal.3',
  'bank_contradicts cash-out.reversal.5',
  'bank_contradicts cash-out.ended.3',
]
const SENT_STATES = [
  'DISPATCHED',
  'PROVIDER_RESULT_UNKNOWN',
  'CONFIRMED',
  'FAILED',
  'REVERSED',
  'RELEASED',
  DOUBT,
] as const
/** One attempt, six minutes ago: it arrives no more. */
const TRIED: CashOutFacts = { attempts: 1, firstAttemptAt: NOW - 360_000, lastAttemptAt: NOW - 360_000 }
const ANOTHER: OpenCase = {
  id: 'another',
  kind: 'outcome_unknown',
  rule: 'cash-out.states.9',
  reference: '',
  version: 1,
}

interface Given extends Partial<DecisionInput> {
  readonly before?: Partial<CashOut>
  readonly inDoubtFor?: Reason
  readonly reference?: string
  readonly others?: readonly OpenCase[]
  readonly available?: bigint
  readonly known?: string
  readonly facts?: DecidableCase['facts']
}

function decide(status: CashOutStatus, decision: CaseDecision, kind: string, given: Given = {}) {
  const {
    before = {},
    inDoubtFor = 'conflict',
    reference = '',
    others = [],
    available = 0n,
    known,
    facts = {},
    ...rest
  } = given
  const { openCase, order } = ordered(decision, kind, reference, { facts, ...rest })
  const operation = cashOutAs(status, {
    ...before,
    facts: { ...cashOutAs(status).facts, ...before.facts, ...(status === DOUBT ? reasonFact(inDoubtFor) : {}) },
    openCases: [openCase, ...others],
  })
  const movements = known === undefined ? {} : { [known]: { operationId: 'x', valueCents: 1n } }
  return cashOutDecider.decide(operation, openCase, order, seeing({ availableCents: available, movements }), NOW)
}

const E9 = { evidence: { endToEndId: 'E9' } }
const CONFIRMED_J3 =
  'cash_out_confirmed E9: available 3100 CASH_OUT_RELEASE, available -3000 CASH_OUT, available -100 FEE, reserved -3100, settlement 3000, fees 100'
const RELEASED_J4 = (reference: string) =>
  `cash_out_released ${reference}: available 3100 CASH_OUT_RELEASE, reserved -3100`.replace('  ', ' ')
const SUSPENDED: CashOutFacts = { movements: { E5: 29_00 } }

for (const status of ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const) {
  const before = { facts: { ...TRIED, isAccepted: true } }
  test(`[cash-out.cases.1] a payout that is ${status} and overdue has left, as the bank says`, () => {
    assert.deepEqual(done(decide(status, 'executed', 'outcome_unknown cash-out.states.15', { before, ...E9 })), [
      'operator.executed CONFIRMED',
      CONFIRMED_J3,
      'pix_cash_out CONFIRMED',
      'closes case of outcome_unknown cash-out.states.15',
    ])
    const order = { before, ...E9 }
    assert.throws(
      () => decide(status, 'executed', 'outcome_unknown cash-out.states.15', { ...order, known: 'out E9' }),
      Refusal,
    )
    const suspended = { facts: { ...before.facts, ...SUSPENDED } }
    assert.throws(
      () => decide(status, 'executed', 'outcome_unknown cash-out.states.15', { ...order, before: suspended }),
      Refusal,
    )
    assert.throws(() => decide(status, 'executed', 'outcome_unknown cash-out.states.15', { before }), {
      code: 'validation_error',
    })
  })
  test(`[cash-out.cases.2] a payout that is ${status} and overdue never left, as the bank says`, () => {
    assert.deepEqual(done(decide(status, 'not_executed', 'outcome_unknown cash-out.states.15', { before })), [
      'operator.not_executed FAILED',
      RELEASED_J4(''),
      'pix_cash_out FAILED',
      'closes case of outcome_unknown cash-out.states.15',
    ])
    for (const facts of [{ leaseEndsAt: NOW + 1 }, { isShown: true }, SUSPENDED]) {
      const order = { before: { facts: { ...before.facts, ...facts } } }
      assert.throws(() => decide(status, 'not_executed', 'outcome_unknown cash-out.states.15', order), Refusal)
    }
  })
}

for (const kind of UNENDED) {
  const before = { facts: TRIED }
  test(`[cash-out.cases.1] a payout in doubt has left, as the bank says: ${kind}`, () => {
    const decision = decide(DOUBT, 'executed', kind, { before, ...E9 })
    assert.deepEqual(done(decision), [
      `operator.executed ${DOUBT}`,
      'doubt.decided CONFIRMED',
      CONFIRMED_J3,
      'pix_cash_out CONFIRMED',
      `closes case of ${kind}`,
    ])
    assert.equal(decision.outcome.endToEndId, 'E9')
    assert.deepEqual(decision.outcome.facts.movements, { E9: 30_00 })
    assert.throws(() => decide(DOUBT, 'executed', kind, { before, ...E9, known: 'out E9' }), Refusal)
    for (const given of [{ facts: { ...TRIED, ...SUSPENDED } }, { facts: { ...TRIED, isReleased: true } }]) {
      assert.throws(() => decide(DOUBT, 'executed', kind, { before: given, ...E9 }), Refusal)
    }
    const already = { endToEndId: 'E1', facts: { ...TRIED, movements: { E1: 30_00 } } }
    assert.throws(() => decide(DOUBT, 'executed', kind, { before: already, ...E9 }), Refusal)
  })
  test(`[cash-out.cases.2] [cases.11] [CO-25] a payout in doubt never left, as the bank says: ${kind}`, () => {
    const decision = decide(DOUBT, 'not_executed', kind, { before })
    assert.deepEqual(done(decision), [
      `operator.not_executed ${DOUBT}`,
      'doubt.decided FAILED',
      RELEASED_J4(''),
      'pix_cash_out FAILED',
      `closes case of ${kind}`,
    ])
    assert.equal(decision.moves?.[0]?.givesUpExclusiveKey, true)
    assert.equal(decision.outcome.facts.failureCode, 'decided_by_operator')
    const young = { ...TRIED, lastAttemptAt: NOW - 299_999 }
    for (const facts of [
      young,
      { ...TRIED, isShown: true },
      { ...TRIED, ...SUSPENDED },
      { ...TRIED, isReleased: true },
    ]) {
      assert.throws(() => decide(DOUBT, 'not_executed', kind, { before: { facts } }), Refusal)
    }
    const already = { endToEndId: 'E1', facts: { ...TRIED, movements: { E1: 30_00 } } }
    assert.throws(() => decide(DOUBT, 'not_executed', kind, { before: already }), Refusal)
    for (const facts of [
      { ...young, isAccepted: true },
      { ...young, unsentAttempts: 1 },
    ]) {
      assert.equal(done(decide(DOUBT, 'not_executed', kind, { before: { facts } }))[1], 'doubt.decided FAILED')
    }
  })
}

for (const kind of LEFT) {
  const about = { reference: 'E5', available: 50_00n }
  test(`[cash-out.cases.3] what is in suspense is the payout: ${kind}`, () => {
    const decision = decide(DOUBT, 'executed', kind, {
      ...about,
      before: { facts: SUSPENDED },
      facts: { occurredAt: NOW - 9 },
    })
    assert.deepEqual(done(decision), [
      `operator.executed ${DOUBT}`,
      'doubt.decided CONFIRMED',
      'payout_left_in_suspense E5: available 3100 CASH_OUT_RELEASE, available -2900 CASH_OUT, available -100 FEE, reserved -3100, suspense_out 2900, fees 100',
      'pix_cash_out CONFIRMED',
      `closes case of ${kind}`,
    ])
    assert.deepEqual(decision.exact, ['available'])
    assert.equal(decision.outcome.facts.confirmedAt, NOW - 9)
    assert.deepEqual(decision.outcome.facts.decidedMovements, { E5: 29_00 })
    const decided = { facts: { ...SUSPENDED, decidedMovements: { E5: 29_00 } } }
    assert.throws(() => decide(DOUBT, 'executed', kind, { ...about, before: decided, ...E9 }), Refusal)
    const already = { endToEndId: 'E1', facts: SUSPENDED }
    assert.throws(() => decide(DOUBT, 'executed', kind, { ...about, before: already }), Refusal)
  })
  test(`[cash-out.cases.3] what left beyond what is there is owed: ${kind}`, () => {
    const facts = { movements: { E5: 90_00 }, isReleased: true }
    const words = done(decide(DOUBT, 'executed', kind, { ...about, before: { facts } }))
    const journal =
      'payout_left_in_suspense E5: available -5000 CASH_OUT, suspense_out 9000, fees 100, receivable -4100'
    assert.equal(words[2], journal)
  })
}

for (const kind of [...LEFT, 'debit_in_suspense cash-out.confirmed.5']) {
  const isHeld = kind === 'debit_in_suspense cash-out.ended.2'
  const held = isHeld ? { heldAgainCents: 12_00, isReleased: false } : { isReleased: true }
  const before = { facts: { ...SUSPENDED, ...held } }
  const free = isHeld ? 'available 1200 CASH_OUT_RELEASE, reserved -1200, ' : ''
  test(`[cash-out.cases.5] what left is a loss: ${kind}`, () => {
    assert.deepEqual(done(decide(DOUBT, 'write_off', kind, { before, reference: 'E5' })), [
      `operator.written_off ${DOUBT}`,
      'doubt.decided FAILED',
      `left_written_off E5: ${free}suspense_out 2900, losses -2900`,
      `closes case of ${kind}`,
    ])
    const gone = { facts: { ...before.facts, decidedMovements: { E5: 29_00 } } }
    assert.throws(() => decide(DOUBT, 'write_off', kind, { before: gone, reference: 'E5' }), Refusal)
  })
}

for (const kind of CAME_BACK) {
  const before = { endToEndId: 'E1', facts: { movements: { E1: 30_00 }, suspendedReturns: { D5: 10_00 } } }
  test(`[cash-out.cases.6] a return in suspense is credited: ${kind}`, () => {
    const decision = decide(DOUBT, 'book', kind, { before, reference: 'D5' })
    assert.deepEqual(done(decision), [
      `operator.attributed ${DOUBT}`,
      'doubt.decided REVERSED',
      'payout_return_credited D5: available 1000 CASH_OUT_REVERSAL, suspense_in -1000',
      'pix_cash_out_reversal REVERSED D5',
      `closes case of ${kind}`,
    ])
    const { event } = JSON.parse(decision.notifications?.[0]?.body.toString() ?? '{}')
    assert.deepEqual([event.value_cents, event.end_to_end_id], [1000, 'E1'])
    assert.deepEqual(decision.outcome.facts.returns, { D5: 10_00 })
    for (const given of [
      { endToEndId: null, facts: before.facts },
      { endToEndId: 'E1', facts: { ...before.facts, returns: { D0: 20_01 } } },
      { endToEndId: 'E1', facts: { ...before.facts, decidedReturns: { D5: 10_00 } } },
    ]) {
      assert.throws(() => decide(DOUBT, 'book', kind, { before: given, reference: 'D5' }), Refusal)
    }
  })
  test(`[cash-out.cases.7] a return in suspense is a gain: ${kind}`, () => {
    assert.deepEqual(done(decide(DOUBT, 'write_off', kind, { before, reference: 'D5' })), [
      `operator.written_off ${DOUBT}`,
      'doubt.decided CONFIRMED',
      'arrival_written_off D5: suspense_in -1000, losses 1000',
      `closes case of ${kind}`,
    ])
    const gone = { ...before, facts: { ...before.facts, decidedReturns: { D5: 10_00 } } }
    assert.throws(() => decide(DOUBT, 'write_off', kind, { before: gone, reference: 'D5' }), Refusal)
  })
}

for (const leftCents of [9_00, 40_00]) {
  test(`[cash-out.cases.6] of a payout that was confirmed by ${leftCents} centavos as much is credited as left, and no more`, () => {
    const book = (cents: number) => {
      const facts = { movements: { E5: leftCents }, suspendedReturns: { D5: cents } }
      return decide(DOUBT, 'book', 'return_in_suspense cash-out.reconciliation.3', {
        before: { endToEndId: 'E5', facts },
        reference: 'D5',
      })
    }
    assert.equal(done(book(leftCents))[1], 'doubt.decided REVERSED')
    assert.throws(() => book(leftCents + 1), Refusal)
  })
}

const CONFIRMED: Partial<CashOut> = { endToEndId: 'E1', facts: { movements: { E1: 30_00 } } }
const GIVEN_BACK: Partial<CashOut> = { facts: { isReleased: true } }

for (const [before, statuses] of [
  [CONFIRMED, ['CONFIRMED', 'REVERSED', DOUBT]],
  [GIVEN_BACK, ['FAILED', 'RELEASED', DOUBT]],
] as const) {
  for (const kind of [...UNENDED, 'outcome_unknown cash-out.states.15']) {
    for (const status of statuses)
      test(`[cash-out.cases.9] a case ${kind} of a payout that is ${status} is explained once ${before.endToEndId ? 'it left' : 'nothing is set aside'}`, () => {
        const [first, ...others] = done(decide(status, 'close', kind, { before }))
        assert.equal(first, `operator.explained ${status}`)
        const ended = `doubt.decided ${before === CONFIRMED ? 'CONFIRMED' : 'FAILED'}`
        assert.deepEqual(others, [...(status === DOUBT ? [ended] : []), `closes case of ${kind}`])
        if (status === DOUBT) assert.throws(() => decide(status, 'close', kind), Refusal, 'while it waits')
      })
    for (const status of ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const)
      assert.throws(() => decide(status, 'close', kind, { before }), Refusal)
  }
}

for (const status of SENT_STATES) {
  for (const kind of [
    ...TOLD,
    ...LEFT,
    ...CAME_BACK,
    'debit_in_suspense cash-out.confirmed.5',
    'movement_elsewhere cash-out.states.16',
  ]) {
    test(`[cash-out.cases.9] a case ${kind} of a payout that is ${status} is explained, and nothing is booked`, () => {
      const before = {
        endToEndId: 'E1',
        facts: { movements: { E1: 30_00, E5: 29_00 }, suspendedReturns: { D5: 10_00 } },
      }
      const [first, ...others] = done(decide(status, 'close', kind, { before, reference: 'E1' }))
      assert.equal(first, `operator.explained ${status}`)
      assert.deepEqual(others, [...(status === DOUBT ? ['doubt.decided CONFIRMED'] : []), `closes case of ${kind}`])
      for (const reference of ['E5', 'D5']) {
        assert.throws(() => decide(status, 'close', kind, { before, reference }), Refusal)
      }
    })
  }
  const askable = [
    ...UNENDED,
    'outcome_unknown cash-out.states.15',
    'bank_contradicts cash-out.confirmed.2',
    'bank_contradicts cash-out.confirmed.4',
    'bank_contradicts cash-out.ended.3',
    'bank_contradicts cash-out.confirmed.3',
    'bank_contradicts cash-out.reversal.3',
  ]
  for (const kind of askable) {
    test(`[cash-out.cases.10] the bank is asked again about a case ${kind} of a payout that is ${status}`, () => {
      const decision = decide(status, 'ask_again', kind)
      assert.deepEqual(done(decision), [`operator.asked_again ${status}`], 'the case stays open')
      assert.equal(decision.outcome.dueAt, NOW)
    })
  }
}

test('[cash-out.cases.10] of a return that may be known no answer settles which it is', () => {
  for (const status of ['CONFIRMED', 'REVERSED', DOUBT] as const) {
    const ask = () => decide(status, 'ask_again', 'bank_contradicts cash-out.reversal.5')
    assert.throws(ask, { code: 'not_possible_in_state' })
  }
})

test('[cash-out.cases.11] [cases.5] a decision leaves other cases open, and the doubt while one of those that cast it is', () => {
  const close = (before: Partial<CashOut>, others: readonly OpenCase[] = []) =>
    decide(DOUBT, 'close', 'bank_contradicts cash-out.confirmed.2', { before, others })
  assert.deepEqual(done(close({ endToEndId: 'E1' }, [ANOTHER])), [
    `operator.explained ${DOUBT}`,
    'closes case of bank_contradicts cash-out.confirmed.2',
  ])
  assert.equal(done(close({ endToEndId: 'E1' }))[1], 'doubt.decided CONFIRMED')
  assert.equal(done(close({ endToEndId: 'E1', facts: { returns: { D0: 1 } } }))[1], 'doubt.decided REVERSED')
  assert.equal(done(close({ facts: { returns: { D0: 1 }, isReleased: true } }))[1], 'doubt.decided FAILED')
})

/** The last case of a payout is closed: where it is then, and what of it is open. */
function afterTheLast(facts: CashOutFacts) {
  const { outcome, cases = [] } = decide(DOUBT, 'close', 'bank_contradicts cash-out.confirmed.2', { before: { facts } })
  const { status, facts: after, dueAt } = outcome
  return [status, reasonOf({ facts: after }), dueAt, ...cases.map(({ kind }) => kind)]
}

test('[cash-out.cases.11] [cases.14] what a decision leaves set aside has a case, and the bank is asked', () => {
  const owned = [DOUBT, 'no_answer', NOW, 'outcome_unknown']
  assert.deepEqual(afterTheLast({}), owned)
  assert.deepEqual(afterTheLast({ attempts: 0, isAccepted: true }), owned, 'the bank has what was never sent')
})

test('[cash-out.cases.11] [cases.14] what was never sent is where it was: nothing leaves without its approval', () => {
  const approval = { wanted: 1, keyMadeBy: null, by: [] }
  const deadline = CREATED_AT + limits.unclaimedReleaseMs
  assert.deepEqual(afterTheLast({ attempts: 0, approval }), ['RESERVED', null, deadline])
  assert.deepEqual(afterTheLast({ attempts: 0 }), ['RESERVED', null, NOW])
})

test('[cash-out.cases.11] a case about what is still set aside is no case of its own kind again', () => {
  const { openCase } = ordered('ask_again', 'outcome_unknown cash-out.cases.11', '')
  const operation = cashOutAs(DOUBT, { facts: { ...TRIED, ...reasonFact('no_answer') }, openCases: [openCase] })
  const offered = cashOutDecider.options(operation, openCase, NOW).filter(({ isOffered }) => isOffered)
  assert.deepEqual(
    offered.map(({ decision }) => decision),
    ['executed', 'not_executed', 'ask_again'],
  )
})

test('[cases.14] what left for a payout and is decided shows that the bank has it: it is not sent again, and may have failed', () => {
  const facts = { ...TRIED, isShown: true, ...SUSPENDED }
  const order = { before: { facts }, reference: 'E5' }
  const operation = decide(DOUBT, 'write_off', 'debit_in_suspense cash-out.states.12', order).outcome
  assert.deepEqual([operation.facts.isAccepted, operation.facts.isShown], [true, false])
})

test('[cash-out.cases.9] [cash-out.states.16] what another operation has is closed, and nothing of it is known of this one', () => {
  const facts = { ...TRIED, elsewhere: { E5: 29_00 } }
  const decision = decide(DOUBT, 'close', 'movement_elsewhere cash-out.states.16', {
    before: { facts },
    reference: 'E5',
  })
  assert.deepEqual(decision.journals, [])
  const { status, facts: after } = decision.outcome
  assert.deepEqual([status, reasonOf({ facts: after }), after.isAccepted], [DOUBT, 'no_answer', undefined])
})

test('[cases.18] [cash-out.cases.6] where it may be of another payment of the payout its end-to-end id is named, and must be the payout’s', () => {
  const before = {
    endToEndId: 'E1',
    facts: { movements: { E1: 30_00, E5: 29_00 }, suspendedReturns: { D5: 10_00 } },
  }
  const book = (evidence: DecisionInput['evidence'] = {}) =>
    decide(DOUBT, 'book', 'return_in_suspense cash-out.reversal.2', { before, reference: 'D5', evidence })
  assert.equal(done(book({ endToEndId: 'E1' }))[0], `operator.attributed ${DOUBT}`)
  for (const evidence of [{}, { endToEndId: 'E5' }]) assert.throws(() => book(evidence), { code: 'validation_error' })
})

test('[cases.2] why a failure is not offered now is told', () => {
  const { openCase } = ordered('not_executed', 'outcome_unknown cash-out.unknown.5', '')
  const operation = cashOutAs(DOUBT, {
    facts: { ...TRIED, lastAttemptAt: NOW, ...reasonFact('no_answer') },
    openCases: [openCase],
  })
  const fail = cashOutDecider.options(operation, openCase, NOW).find(({ decision }) => decision === 'not_executed')
  assert.equal(fail?.isOffered, false)
  assert.match(fail?.whyNot.join() ?? '', /younger than 5 minutes/)
})
