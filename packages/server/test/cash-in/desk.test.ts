import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type CaseKind,
  type CashInStatus,
  caseKinds,
  cashIn,
  type DeskDecision,
  type EvidenceField,
  Refusal,
} from '@pixgate/spec'
import type { CashIn, CashInFacts } from '../../src/cash-in/cash-in.ts'
import { cashInDecider } from '../../src/cash-in/desk.ts'
import { reportedPayments, reportedPaymentsFact } from '../../src/cash-in/reported.ts'
import { bookedReturn, type KnownReturn, refundedCents, returnInDoubt } from '../../src/cash-in/returns.ts'
import type { DecidableCase, DeskOrder } from '../../src/desk/decider.ts'
import type { OpenCase } from '../../src/engine/operation.ts'
import { type Reason, reasonFact, reasonOf } from '../../src/engine/reason.ts'
import { done, ordered, seeing } from '../support/desk.ts'
import { cashInAs, EXPIRES_AT, IN_DOUBT, NOW, PAID } from './situations.ts'

/** What must come of each decision, written by hand: it says nothing because the table of the machine says so. */

const ARRIVED = [
  'payment_in_suspense cash-in.states.8',
  'payment_in_suspense cash-in.states.9',
  'payment_in_suspense cash-in.failed.2',
  'payment_in_suspense cash-in.reconciliation.2',
  'payment_in_suspense cash-in.states.12',
  'payment_in_suspense cash-in.states.14',
]
const LEFT = ['debit_in_suspense cash-in.refunds.9', 'debit_in_suspense cash-in.refunds.10']
const CLOSABLE = [
  'bank_contradicts cash-in.paid.3',
  'bank_contradicts cash-in.paid.5',
  'charge_unclear cash-in.failed.1',
  'payment_unconfirmed cash-in.credits.4',
  'payment_unconfirmed cash-in.credits.5',
  'bank_contradicts cash-in.refunds.5',
  'bank_contradicts cash-in.refunds.6',
  'bank_contradicts cash-in.refunds.12',
  ...ARRIVED,
  ...LEFT,
  'movement_elsewhere cash-in.states.13',
]
const ASKABLE = [
  'charge_unclear cash-in.unknown.7',
  'charge_unclear cash-in.states.6',
  'bank_contradicts cash-in.paid.5',
  'bank_contradicts cash-in.paid.3',
  'payment_unconfirmed cash-in.credits.4',
  'payment_unconfirmed cash-in.credits.5',
  'charge_unclear cash-in.expired.5',
  'return_unexplained cash-in.returns.4',
  'bank_contradicts cash-in.refunds.6',
]

const DOUBT = 'RECONCILIATION_REQUIRED'
/** E2 came beside E1, which was credited. */
const SECOND: CashInFacts = { ...PAID, payments: { E1: 100_00, E2: 60_00 } }
/** D9 left, and nobody knows of which payment. */
const LEFT_FACTS: CashInFacts = { ...SECOND, returns: { D9: { state: 'in_suspense', cents: 30_00 } } }
const WRITTEN_OFF: CashInFacts = { ...SECOND, returns: { D9: { state: 'decided', cents: 30_00, isDebited: false } } }
const KEEPING: OpenCase = { id: 'another', kind: 'charge_unclear', rule: 'cash-in.states.6', reference: '', version: 1 }

interface Given extends Partial<DeskOrder> {
  readonly before?: Partial<CashIn>
  readonly inDoubtFor?: Reason
  readonly reference?: string
  readonly others?: readonly OpenCase[]
  readonly available?: bigint
  readonly known?: string
  readonly facts?: DecidableCase['facts']
  readonly target?: CashIn
}

function decide(status: CashInStatus, decision: DeskDecision, kind: string, given: Given = {}) {
  const {
    before = {},
    reference = 'E2',
    others = [],
    available = 0n,
    known,
    facts = {},
    target,
    inDoubtFor,
    ...rest
  } = given
  const { openCase, order } = ordered(decision, kind, reference, { facts, ...rest })
  const isDoubted = status === DOUBT ? reasonFact(inDoubtFor ?? 'conflict') : {}
  const operation = cashInAs(status, {
    ...before,
    facts: { ...cashInAs(status).facts, ...before.facts, ...isDoubted },
    openCases: [openCase, ...others],
  })
  const movements = known === undefined ? {} : { [`out ${known}`]: { operationId: 'x', valueCents: 1n } }
  const operations = [operation, ...(target ? [target] : [])]
  const state = seeing({ operations, availableCents: available, movements })
  return cashInDecider.decide(operation, openCase, order, state, NOW)
}

/** A credited charge, in doubt or not, with E2 in suspense, or D9. */
const CREDITED_STATES = ['PAID', DOUBT] as const
const credited = (facts: CashInFacts): Partial<CashIn> => ({ endToEndId: 'E1', facts })
/** In doubt a decided case is the last one: the doubt ends. */
const andEnds = (status: CashInStatus) => (status === DOUBT ? ['doubt.decided PAID'] : [])

/** A decision's lines in their order: moves, journals, notifications, closed cases. */
function expected(on: string, status: CashInStatus, kind: string, journal?: string): string[] {
  return [`operator.${on} ${status}`, ...andEnds(status), ...(journal ? [journal] : []), `closes case of ${kind}`]
}

for (const status of CREDITED_STATES) {
  for (const kind of ARRIVED) {
    const before = credited(SECOND)
    const about = `a case ${kind} of a charge that is ${status}`
    test(`[cash-in.desk.2] ${about}: the merchant is credited less the fee, and told nothing`, () => {
      const journal = 'suspense_credited E2: available 6000 CASH_IN, available -100 FEE, suspense_in -6000, fees 100'
      assert.deepEqual(done(decide(status, 'credit', kind, { before })), expected('credited', status, kind, journal))
    })
    test(`[cash-in.desk.3] ${about}: the bank returned it`, () => {
      const decision = decide(status, 'return', kind, { before, evidence: { returnId: 'D2' } })
      const journal = 'arrival_returned D2: suspense_in -6000, settlement 6000'
      assert.deepEqual(done(decision), expected('returned', status, kind, journal))
      const { returns } = decision.outcome.operation.facts
      assert.deepEqual(returns, { D2: { state: 'from_suspense', cents: 60_00, endToEndId: 'E2' } })
      assert.throws(
        () => decide(status, 'return', kind, { before, evidence: { returnId: 'D2' }, known: 'D2' }),
        Refusal,
      )
      assert.throws(() => decide(status, 'return', kind, { before }), { code: 'validation_error' })
    })
    test(`[cash-in.desk.4] ${about}: it is a gain`, () => {
      const journal = 'arrival_written_off E2: suspense_in -6000, losses 6000'
      assert.deepEqual(
        done(decide(status, 'write_off', kind, { before })),
        expected('written_off', status, kind, journal),
      )
    })
    test(`[cash-in.desk.5] ${about}: it was meant for another charge`, () => {
      const target = cashInAs('PENDING', { id: 'other', valueCents: 60_00n })
      const decision = decide(status, 'book', kind, {
        before,
        target,
        operationId: 'other',
        facts: { occurredAt: NOW - 5 },
      })
      assert.deepEqual(done(decision), [
        'operator.received PAID',
        `operator.attributed ${status}`,
        ...andEnds(status),
        'cash_in_attributed E2: available 6000 CASH_IN, available -100 FEE, settlement -6000, fees 100',
        'arrival_handed_over E2: suspense_in -6000, settlement 6000',
        'pix_cash_in PAID',
        `closes case of ${kind}`,
      ])
      assert.equal(decision.moves?.[0]?.operationId, 'other')
    })
    test(`[desk.7] ${about}: what was decided is not decided again`, () => {
      for (const decision of ['credit', 'write_off'] as const) {
        const gone = { ...before, facts: { ...SECOND, decidedPayments: { E2: 60_00 } } }
        assert.throws(() => decide(status, decision, kind, { before: gone }), Refusal)
        const returned: Partial<CashIn> = {
          ...before,
          facts: { ...SECOND, returns: { D2: { state: 'from_suspense', cents: 60_00, endToEndId: 'E2' } } },
        }
        assert.throws(() => decide(status, decision, kind, { before: returned }), Refusal)
      }
      for (const decision of ['return', 'book'] as const) {
        const gone = { ...before, facts: { ...SECOND, decidedPayments: { E2: 60_00 } } }
        const target = cashInAs('PENDING', { id: 'other', valueCents: 0n })
        const order = { evidence: { returnId: 'D2' }, target, operationId: 'other' }
        assert.throws(() => decide(status, decision, kind, { before: gone, ...order }), Refusal)
      }
    })
    test(`[cash-in.desk.13] ${about} is not closed while money is in suspense`, () => {
      assert.throws(() => decide(status, 'close', kind, { before }), Refusal)
    })
  }
  for (const kind of LEFT) {
    const before = credited(LEFT_FACTS)
    const about = `a case ${kind} of a charge that is ${status}`
    const evidence = { returnId: 'D10' }
    test(`[cash-in.desk.8] ${about}: the merchant is debited, and owes what is not there`, () => {
      const decision = decide(status, 'return', kind, { before, reference: 'D9', available: 10_00n, evidence })
      const journal = 'return_debited D9: available -1000 FORCED_DEBIT, suspense_out 3000, receivable -2000'
      assert.deepEqual(done(decision), expected('returned', status, kind, journal))
      assert.deepEqual(decision.exact, ['available'])
      const { facts } = decision.outcome.operation
      const decided = { state: 'decided', cents: 30_00, isDebited: true } as const
      assert.deepEqual(facts.returns, { D9: decided, D10: { state: 'alias', cents: 30_00 } })
      assert.equal(refundedCents({ facts }), 30_00n, 'it counts against what may be refunded')
      assert.equal(bookedReturn({ facts }, 'D10'), 30_00n, 'told again by its own id it is nothing new')
      const gone = { ...before, facts: { ...SECOND, returns: { D9: decided } } }
      assert.throws(() => decide(status, 'return', kind, { before: gone, reference: 'D9', evidence }), Refusal)
      const uncredited = { ...before, endToEndId: null }
      assert.throws(() => decide(status, 'return', kind, { before: uncredited, reference: 'D9', evidence }), Refusal)
      assert.throws(
        () => decide(status, 'return', kind, { before, reference: 'D9', evidence, known: 'D10' }),
        Refusal,
        'another operation has it',
      )
    })
  }
  test(`[cash-in.desk.7] a payment that another operation has, of a charge that is ${status}, is undone here`, () => {
    const journal = 'arrival_handed_over E2: suspense_in -6000, settlement 6000'
    const decision = decide(status, 'undo', 'movement_elsewhere cash-in.states.13', { before: credited(SECOND) })
    assert.deepEqual(done(decision), expected('undone', status, 'movement_elsewhere cash-in.states.13', journal))
  })
  test(`[cash-in.desk.10] a return of a charge that is ${status} is no refund of ours`, () => {
    const held = { ...IN_DOUBT, transactionId: null, answered: ['r0'], heldCents: 0 }
    const openRefunds = {
      r1: { valueCents: 30_00, transactionId: null },
      r2: { valueCents: 1_00, transactionId: null },
    }
    const before = credited({ ...PAID, openRefunds, returns: { D9: held } })
    const decision = decide(status, 'return', 'return_unexplained cash-in.returns.4', { before, reference: 'D9' })
    assert.deepEqual(done(decision), [`operator.returned ${status}`], 'the worker that books it closes it')
    assert.deepEqual(returnInDoubt(decision.outcome.operation, 'D9')?.answered, ['r0', 'r1'])
    assert.equal(decision.outcome.operation.facts.isQuestionWanted, true)
  })
}

for (const status of cashIn.states) {
  const before = { endToEndId: 'E1', facts: LEFT_FACTS }
  const undone = 'left_handed_over D9: settlement -3000, suspense_out 3000'
  test(`[cash-in.desk.7] a return that another operation has, of a charge that is ${status}, is undone here`, () => {
    const decision = decide(status, 'undo', 'movement_elsewhere cash-in.states.13', { before, reference: 'D9' })
    assert.deepEqual(done(decision), expected('undone', status, 'movement_elsewhere cash-in.states.13', undone))
    const gone = { ...before, facts: WRITTEN_OFF }
    assert.throws(
      () => decide(status, 'undo', 'movement_elsewhere cash-in.states.13', { before: gone, reference: 'D9' }),
      Refusal,
    )
  })
  for (const kind of LEFT) {
    test(`[cash-in.desk.9] what left of a charge that is ${status} is a loss: ${kind}`, () => {
      const journal = 'left_written_off D9: suspense_out 3000, losses -3000'
      const order = { before, reference: 'D9', evidence: { returnId: 'D10' } }
      const decision = decide(status, 'write_off', kind, order)
      assert.deepEqual(done(decision), expected('written_off', status, kind, journal))
      assert.deepEqual(decision.outcome.operation.facts.returns, {
        ...WRITTEN_OFF.returns,
        D10: { state: 'alias', cents: 30_00 },
      })
      const gone = { ...before, facts: WRITTEN_OFF }
      assert.throws(() => decide(status, 'write_off', kind, { ...order, before: gone }), Refusal)
      assert.throws(() => decide(status, 'write_off', kind, { ...order, known: 'D10' }), Refusal)
    })
  }
}

for (const decision of ['return', 'write_off'] as const) {
  const about = { before: { endToEndId: 'E1', facts: LEFT_FACTS }, reference: 'D9' }
  test(`[desk.15] a return that the bank told without its id is named by it: ${decision}`, () => {
    assert.throws(
      () => decide('PAID', decision, 'debit_in_suspense cash-in.refunds.10', about),
      (error) =>
        error instanceof Refusal &&
        error.code === 'validation_error' &&
        error.fields.every(({ field, code }) => field === 'evidence.returnId' && code === 'required'),
    )
    const known: KnownReturn[] = [
      { state: 'booked', cents: 30_00 },
      { state: 'alias', cents: 30_00 },
      { ...IN_DOUBT, transactionId: null },
    ]
    for (const D10 of known) {
      const before = { ...about.before, facts: { ...LEFT_FACTS, returns: { ...LEFT_FACTS.returns, D10 } } }
      const order = { before, reference: 'D9', evidence: { returnId: 'D10' } }
      assert.throws(() => decide('PAID', decision, 'debit_in_suspense cash-in.refunds.10', order), Refusal)
    }
    const itself = { ...about, evidence: { returnId: 'D9' }, known: 'D9' }
    assert.throws(
      () => decide('PAID', decision, 'debit_in_suspense cash-in.refunds.10', itself),
      Refusal,
      'the id was made for it',
    )
    decide('PAID', decision, 'debit_in_suspense cash-in.refunds.9', itself)
    decide('PAID', decision, 'debit_in_suspense cash-in.refunds.9', about)
  })
}

for (const kind of ARRIVED) {
  test(`[cash-in.desk.1] a charge in doubt is paid by the exact value that was in suspense: ${kind}`, () => {
    const before = { facts: { payments: { E2: 100_00 } } }
    const decision = decide(DOUBT, 'credit', kind, { before, facts: { occurredAt: NOW - 7 } })
    assert.deepEqual(done(decision), [
      `operator.credited ${DOUBT}`,
      'doubt.decided PAID',
      'suspense_credited E2: available 10000 CASH_IN, available -100 FEE, suspense_in -10000, fees 100',
      'pix_cash_in PAID',
      `closes case of ${kind}`,
    ])
    const { endToEndId, facts } = decision.outcome.operation
    assert.deepEqual([endToEndId, facts.paidAt, facts.decidedPayments], ['E2', NOW - 7, undefined])
  })
}

test('[cash-in.desk.1] another value pays nothing, and a charge is paid once', () => {
  const another = done(
    decide(DOUBT, 'credit', 'payment_in_suspense cash-in.states.8', { before: { facts: { payments: { E2: 99_99 } } } }),
  )
  assert.deepEqual(another.slice(0, 2), [`operator.credited ${DOUBT}`, 'doubt.decided FAILED'])
  const second = { before: credited({ ...PAID, payments: { E1: 100_00, E2: 100_00 } }) }
  assert.equal(
    done(decide(DOUBT, 'credit', 'payment_in_suspense cash-in.reconciliation.2', second)).includes('pix_cash_in PAID'),
    false,
  )
})

test('[cash-in.desk.2] of less than the fee no more than what is there is taken', () => {
  const before = credited({ ...PAID, payments: { E1: 100_00, E2: 40 } })
  assert.ok(
    done(decide('PAID', 'credit', 'payment_in_suspense cash-in.reconciliation.2', { before })).includes(
      'suspense_credited E2: available 40 CASH_IN, available -40 FEE, suspense_in -40, fees 40',
    ),
  )
})

/** E2, of another amount than the charge, was decided; the bank took it back by D9. */
const TAKEN_BACK: CashInFacts = {
  payments: { E2: 60_00 },
  decidedPayments: { E2: 60_00 },
  returns: { D9: { state: 'in_suspense', cents: 60_00 } },
}

for (const status of ['PENDING', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN'] as const) {
  for (const kind of LEFT) {
    test(`[cash-in.desk.8] [cash-in.desk.2] of a charge that is ${status} what the merchant was credited with is debited, and nothing else: ${kind}`, () => {
      const order = { reference: 'D9', available: 60_00n, evidence: { returnId: 'D10' } }
      const credited = { endToEndId: null, facts: { ...TAKEN_BACK, creditedPayments: { E2: 60_00 } } }
      const journal = 'return_debited D9: available -6000 FORCED_DEBIT, suspense_out 6000'
      assert.deepEqual(
        done(decide(status, 'return', kind, { ...order, before: credited })),
        expected('returned', status, kind, journal),
      )
      const kept = { endToEndId: null, facts: TAKEN_BACK }
      assert.throws(() => decide(status, 'return', kind, { ...order, before: kept }), Refusal)
    })
  }
}

test('[cash-in.desk.2] what is credited beside the charge is known as the merchant’s', () => {
  const creditedPayments = (decision: DeskDecision) =>
    decide('PAID', decision, 'payment_in_suspense cash-in.reconciliation.2', { before: credited(SECOND) }).outcome
      .operation.facts.creditedPayments
  assert.deepEqual([creditedPayments('credit'), creditedPayments('write_off')], [{ E2: 60_00 }, undefined])
})

const RECEIVING = [
  ['PENDING', undefined],
  ['EXPIRED', undefined],
  ['PROVIDER_RESULT_UNKNOWN', undefined],
  [DOUBT, 'no_answer'],
] as const

for (const [status, reason] of RECEIVING) {
  const target = cashInAs(status, { id: 'other', valueCents: 60_00n, ...(reason && { facts: reasonFact(reason) }) })
  const attribute = (given: Partial<CashIn> = {}, operationId = 'other') =>
    decide('PAID', 'book', 'payment_in_suspense cash-in.reconciliation.2', {
      before: credited(SECOND),
      target: { ...target, ...given },
      operationId,
      facts: { occurredAt: NOW - 5 },
    })
  test(`[cash-in.desk.6] [desk.6] a charge that is ${status} is paid by what was in suspense on another one`, () => {
    const decision = attribute()
    assert.equal(done(decision)[0], 'operator.received PAID')
    assert.ok(done(decision).includes('pix_cash_in PAID'))
    assert.deepEqual(decision.moves?.[0]?.facts?.payments, { E2: 60_00 })
    assert.equal(decision.moves?.[0]?.facts?.paidAt, NOW - 5)
    assert.equal(decision.moves?.[0]?.endToEndId, 'E2')
    assert.throws(() => attribute({ valueCents: 59_99n }), Refusal, 'not of another value')
    assert.throws(() => attribute({ facts: { ...target.facts, payments: { E7: 1 } } }), Refusal, 'not a second time')
    assert.throws(() => attribute({}, 'nobody'), Refusal)
  })
}

test('[cash-in.desk.6] nothing is attributed to a charge that was paid, that failed, that is contradicted, or to itself', () => {
  for (const status of ['PAID', 'FAILED', DOUBT] as const) {
    const target = cashInAs(status, { id: 'other', valueCents: 60_00n })
    const order = { before: credited(SECOND), target, operationId: 'other' }
    assert.throws(() => decide('PAID', 'book', 'payment_in_suspense cash-in.reconciliation.2', order), Refusal)
  }
  const { id } = cashInAs('PAID')
  assert.throws(
    () =>
      decide('PAID', 'book', 'payment_in_suspense cash-in.reconciliation.2', {
        before: credited(SECOND),
        operationId: id,
      }),
    Refusal,
  )
})

test('[cash-in.desk.11] a charge whose end the bank does not tell ended unpaid', () => {
  const decision = decide('PENDING', 'close', 'charge_unclear cash-in.expired.5', {
    before: { facts: { isEndCaseOpen: true } },
  })
  assert.deepEqual(done(decision)[0], 'operator.explained EXPIRED')
  assert.deepEqual(decision.notifications, [])
  assert.ok(decision.closes?.includes('case of charge_unclear cash-in.expired.5'))
  assert.equal(decision.outcome.operation.facts.isEndCaseOpen, false)
})

for (const kind of ['charge_unclear cash-in.unknown.7', 'charge_unclear cash-in.states.6']) {
  test(`[cash-in.desk.11] a charge in doubt failed, as the bank’s own portal shows: ${kind}`, () => {
    const decision = decide(DOUBT, 'close', kind, {
      inDoubtFor: kind === 'charge_unclear cash-in.unknown.7' ? 'no_answer' : 'conflict',
    })
    assert.deepEqual(done(decision), [
      `operator.explained ${DOUBT}`,
      'doubt.decided FAILED',
      'pix_cash_in FAILED',
      `closes case of ${kind}`,
    ])
    assert.equal(decision.outcome.operation.facts.failureCode, 'decided_by_operator')
    assert.throws(() => decide(DOUBT, 'close', kind, { before: credited(SECOND) }), Refusal, 'not what was paid')
  })
}

test('[cash-in.desk.12] a charge that the bank contradicted waits for its payment again while its time lasts', () => {
  const decision = decide(DOUBT, 'ask_again', 'charge_unclear cash-in.states.6', { reference: '' })
  assert.deepEqual(done(decision), ['operator.asked_again PENDING', 'closes case of charge_unclear cash-in.states.6'])
  assert.equal(decision.outcome.operation.facts.isQuestionWanted, true)
  assert.equal(reasonOf(decision.outcome.operation), null)
  const others = [{ id: 'another', kind: 'payment_in_suspense', rule: 'cash-in.states.8', reference: 'E9', version: 1 }]
  for (const given of [{ before: { expiresAt: NOW - 1 } }, { before: credited(PAID) }, { others }]) {
    const asked = decide(DOUBT, 'ask_again', 'charge_unclear cash-in.states.6', { reference: '', ...given })
    assert.deepEqual(done(asked), [`operator.asked_again ${DOUBT}`], 'it stays in doubt, and its case open')
  }
  const over = decide(DOUBT, 'close', 'charge_unclear cash-in.states.6', {
    before: { expiresAt: NOW - 1 },
    reference: '',
  })
  assert.deepEqual(done(over).slice(0, 2), [`operator.explained ${DOUBT}`, 'doubt.decided EXPIRED'])
  const paid = decide(DOUBT, 'close', 'charge_unclear cash-in.states.6', { before: credited(PAID), reference: '' })
  assert.deepEqual(done(paid).slice(0, 2), [`operator.explained ${DOUBT}`, 'doubt.decided PAID'])
  const kept = decide(DOUBT, 'close', 'charge_unclear cash-in.states.6', { reference: '', others })
  assert.deepEqual(done(kept), [`operator.explained ${DOUBT}`, 'closes case of charge_unclear cash-in.states.6'])
})

for (const status of cashIn.states) {
  const before = { endToEndId: 'E1', facts: PAID }
  for (const kind of CLOSABLE) {
    test(`[cash-in.desk.13] a case ${kind} of a charge that is ${status} is explained, and nothing is booked`, () => {
      const decision = decide(status, 'close', kind, { before, reference: 'E1' })
      assert.deepEqual(done(decision), expected('explained', status, kind))
      for (const [reference, facts] of [
        ['E2', SECOND],
        ['D9', LEFT_FACTS],
      ] as const) {
        assert.throws(() => decide(status, 'close', kind, { before: credited(facts), reference }), Refusal)
      }
    })
  }
  for (const kind of ASKABLE) {
    test(`[cash-in.desk.14] the bank is asked again about a case ${kind} of a charge that is ${status}, which stays open`, () => {
      const decision = decide(status, 'ask_again', kind, { before, reference: '' })
      assert.deepEqual(done(decision), [`operator.asked_again ${status}`])
      assert.equal(decision.outcome.operation.facts.isQuestionWanted, true)
    })
  }
}

test('[cash-in.desk.13] what events reported and the bank never confirmed is forgotten with its case', () => {
  const reported = reportedPaymentsFact({ E8: { valueCents: 1, occurredAt: NOW, since: NOW } })
  for (const kind of ['payment_unconfirmed cash-in.credits.4', 'payment_unconfirmed cash-in.credits.5']) {
    const decision = decide('PENDING', 'close', kind, { before: { facts: { ...reported, isPaymentCaseOpen: true } } })
    assert.deepEqual(reportedPayments(decision.outcome.operation.facts), {})
    assert.equal(decision.outcome.operation.facts.isPaymentCaseOpen, false)
  }
})

test('[cash-in.desk.15] [desk.5] a decision leaves other cases open, and the doubt while one of those that cast it is', () => {
  const close = (before: Partial<CashIn>, others: readonly OpenCase[] = []) =>
    done(decide(DOUBT, 'close', 'bank_contradicts cash-in.paid.3', { before, others, reference: '' }))
  assert.deepEqual(close(credited(PAID), [KEEPING]), [
    `operator.explained ${DOUBT}`,
    'closes case of bank_contradicts cash-in.paid.3',
  ])
  const harmless = {
    id: 'harmless',
    kind: 'payment_unconfirmed cash-in.credits.4',
    rule: 'cash-in.credits.4',
    reference: '',
    version: 1,
  }
  assert.deepEqual(close(credited(PAID), [harmless]).slice(0, 2), [`operator.explained ${DOUBT}`, 'doubt.decided PAID'])
  assert.deepEqual(close({ expiresAt: NOW - 1 }).slice(1), [
    'doubt.decided EXPIRED',
    'closes case of bank_contradicts cash-in.paid.3',
  ])
  const failed = { expiresAt: NOW - 1, facts: { failureCode: 'refused', failureReason: null } }
  assert.deepEqual(close(failed).slice(1), ['doubt.decided FAILED', 'closes case of bank_contradicts cash-in.paid.3'])
  assert.deepEqual(close({ expiresAt: EXPIRES_AT }).slice(1), [
    'doubt.decided FAILED',
    'pix_cash_in FAILED',
    'closes case of bank_contradicts cash-in.paid.3',
  ])
})

test('[desk.3] a case that is closed is not decided', () => {
  const { openCase, order } = ordered('close', 'bank_contradicts cash-in.paid.3', '')
  const before = cashInAs('PAID', { openCases: [] })
  assert.throws(() => cashInDecider.decide(before, openCase, order, seeing({}), NOW), Refusal)
})

test('[desk.4] the move keeps who decided what, and why', () => {
  const evidence = { reference: 'ticket 7', note: 'by phone' }
  const { moves = [] } = decide('PAID', 'close', 'bank_contradicts cash-in.paid.3', { evidence, reference: '' })
  assert.deepEqual(moves[0]?.evidence, {
    caseId: 'case of bank_contradicts cash-in.paid.3',
    decision: 'close',
    operator: 'Ana',
    approver: 'Bruno',
    reason: 'the payer asked for it',
    evidence: { endToEndId: undefined, returnId: undefined, ...evidence },
  })
})

test('[desk.8] the merchant is told by the bytes that the bank’s word would have made', () => {
  const before = { facts: { payments: { E2: 100_00 } } }
  const { notifications = [] } = decide(DOUBT, 'credit', 'payment_in_suspense cash-in.states.12', {
    before,
    facts: { occurredAt: NOW - 1_000 },
  })
  const { event } = JSON.parse(notifications[0]?.body.toString() ?? '{}')
  assert.deepEqual(
    [event.status, event.end_to_end_id, event.fee_amount_cents, event.value_cents, event.confirmed_at],
    ['PAID', 'E2', 100, 10_000, '2026-11-21T13:29:59.000000000Z'],
  )
})

test('[desk.2] each decision of the table is shown, with what it needs and why it is not offered now', () => {
  const optionsOf = (facts: CashInFacts) => {
    const { openCase } = ordered('credit', 'payment_in_suspense cash-in.reconciliation.2', 'E2')
    const operation = cashInAs('PAID', { ...credited(facts), openCases: [openCase] })
    const options = cashInDecider.options(operation, openCase, NOW)
    return options.map(
      ({ decision, isOffered, needs, because }): [DeskDecision, boolean, readonly EvidenceField[], boolean] => [
        decision,
        isOffered,
        needs,
        because.length > 0,
      ],
    )
  }
  assert.deepEqual(optionsOf(SECOND), [
    ['credit', true, [], false],
    ['return', true, ['returnId'], false],
    ['book', true, ['operationId'], false],
    ['write_off', true, [], false],
    ['close', false, [], true],
  ])
  assert.deepEqual(optionsOf({ ...SECOND, decidedPayments: { E2: 60_00 } }), [
    ['credit', false, [], true],
    ['return', false, [], true],
    ['book', false, ['operationId'], true],
    ['write_off', false, [], true],
    ['close', true, [], false],
  ])
})

test('[desk.10] no kind of case of a charge is without a way out', () => {
  const decided = new Set<string>(cashIn.rows.flatMap(({ decides = [] }) => decides))
  assert.deepEqual(
    Object.entries<CaseKind>(caseKinds).filter(([kind, { of }]) => of.includes('cash_in') && !decided.has(kind)),
    [],
  )
})
