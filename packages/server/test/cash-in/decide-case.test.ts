import assert from 'node:assert/strict'
import test from 'node:test'
import { type CaseDecision, type CashInStatus, cashIn, type EvidenceField, Refusal } from '@pixgate/spec'
import type { DecidableCase, DecisionInput } from '../../src/cases/case.ts'
import type { CashIn, CashInFacts } from '../../src/cash-in/cash-in.ts'
import { cashInDecider, decideReversal } from '../../src/cash-in/decide-case.ts'
import { reportedPayments, reportedPaymentsFact } from '../../src/cash-in/reported.ts'
import {
  bookedReturn,
  type KnownReturn,
  paidCents,
  refundableCents,
  refundedCents,
  returnInDoubt,
  returningCents,
  suspendedCents,
} from '../../src/cash-in/returns.ts'
import { type Reason, reasonFact, reasonOf } from '../../src/engine/follow.ts'
import type { Decision, OpenCase } from '../../src/engine/operation.ts'
import { done, ordered, seeing } from '../support/decided.ts'
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
const UNNAMED_CASE = 'debit_in_suspense cash-in.refunds.10'
const LEFT = ['debit_in_suspense cash-in.refunds.9', UNNAMED_CASE]
/** Of a return that the bank told without its id, the one that the operator names is known afterwards; any other has its own. */
const aliasOf = (kind: string) => (kind === UNNAMED_CASE ? { D10: { state: 'alias', cents: 30_00 } } : {})
const CLOSABLE = [
  'bank_contradicts cash-in.paid.3',
  'bank_contradicts cash-in.paid.5',
  'charge_unclear cash-in.failed.1',
  'payment_unconfirmed cash-in.credits.4',
  'payment_unconfirmed cash-in.credits.5',
  'bank_contradicts cash-in.refunds.5',
  'bank_contradicts cash-in.refunds.6',
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
/** Of E2 an operator has R$ 20,00 returned to its payer. */
const RETURNING = {
  ...SECOND,
  openRefunds: { r1: { valueCents: 20_00, transactionId: null, payment: 'E2' } },
  returnOrders: { E2: 1 },
} satisfies CashInFacts
const WRITTEN_OFF_E2: CashInFacts = { ...SECOND, decidedPayments: { E2: 60_00 } }
const WENT_BACK_E2: CashInFacts = {
  ...SECOND,
  returns: { D2: { state: 'from_suspense', cents: 60_00, endToEndId: 'E2' } },
}
const NOT_POSSIBLE = { code: 'not_possible_in_state' }
const KEEPING: OpenCase = { id: 'another', kind: 'charge_unclear', rule: 'cash-in.states.6', reference: '', version: 1 }

interface Given extends Partial<DecisionInput> {
  readonly before?: Partial<CashIn>
  readonly inDoubtFor?: Reason
  readonly reference?: string
  readonly others?: readonly OpenCase[]
  readonly available?: bigint
  readonly known?: string
  readonly facts?: DecidableCase['facts']
  readonly target?: CashIn
}

function decide(status: CashInStatus, decision: CaseDecision, kind: string, given: Given = {}) {
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

/** The amount that the merchant is told of. */
function notifiedCents({ notifications = [] }: Decision<unknown>): unknown {
  return JSON.parse(notifications[0]?.body.toString() ?? '{}').event?.value_cents
}

/** A decision's lines in their order: moves, journals, notifications, closed cases. */
function expected(on: string, status: CashInStatus, kind: string, journal?: string): string[] {
  return [`operator.${on} ${status}`, ...andEnds(status), ...(journal ? [journal] : []), `closes case of ${kind}`]
}

for (const status of CREDITED_STATES) {
  for (const kind of ARRIVED) {
    const before = credited(SECOND)
    const about = `a case ${kind} of a charge that is ${status}`
    test(`[cash-in.cases.1] ${about}: beside the payment that is credited no other one is accepted`, () => {
      assert.throws(() => decide(status, 'accept', kind, { before, amountCents: 60_00n }), NOT_POSSIBLE)
      const others = [KEEPING]
      assert.throws(() => decide(status, 'accept', kind, { before, others, amountCents: 60_00n }), NOT_POSSIBLE)
    })
    test(`[cash-in.cases.3] ${about}: a part of it is ordered back to its payer, and stays in suspense until the bank confirms`, () => {
      const decision = decide(status, 'return_to_payer', kind, { before, amountCents: 20_00n, newId: 'r2' })
      assert.deepEqual(done(decision), [`operator.returned_to_payer ${status}`], 'the case stays open')
      const { openRefunds, returnOrders } = decision.outcome.facts
      assert.deepEqual(openRefunds, { r2: { valueCents: 20_00, transactionId: null, payment: 'E2' } })
      assert.deepEqual(returnOrders, { E2: 1 })
      assert.equal(suspendedCents(decision.outcome, 'E2'), 60_00n)
    })
    test(`[cash-in.cases.4] ${about}: it is a gain`, () => {
      const journal = 'arrival_written_off E2: suspense_in -6000, losses 6000'
      assert.deepEqual(
        done(decide(status, 'write_off', kind, { before })),
        expected('written_off', status, kind, journal),
      )
      assert.throws(() => decide(status, 'write_off', kind, { before: credited(RETURNING) }), NOT_POSSIBLE)
    })
    test(`[cash-in.cases.5] ${about}: it was meant for another charge`, () => {
      const target = cashInAs('PENDING', { id: 'other', valueCents: 60_00n })
      const order = { target, operationId: 'other', facts: { occurredAt: NOW - 5 } }
      const decision = decide(status, 'book', kind, { before, ...order })
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
      const rest = cashInAs('PENDING', { id: 'other', valueCents: 40_00n })
      const returning = { ...order, target: rest, before: credited(RETURNING) }
      assert.throws(() => decide(status, 'book', kind, returning), NOT_POSSIBLE, 'nor what is left of it')
    })
    test(`[cases.7] ${about}: what was decided is not decided again`, () => {
      const target = cashInAs('PENDING', { id: 'other', valueCents: 0n })
      for (const facts of [WRITTEN_OFF_E2, WENT_BACK_E2]) {
        const gone = { ...before, facts }
        const orders = [
          ['return_to_payer', { amountCents: 1n }],
          ['book', { target, operationId: 'other' }],
          ['write_off', {}],
        ] as const
        for (const [decision, named] of orders) {
          assert.throws(() => decide(status, decision, kind, { before: gone, ...named }), NOT_POSSIBLE)
        }
      }
    })
    test(`[cash-in.cases.13] ${about} is not closed while money is in suspense, or on its way back`, () => {
      assert.throws(() => decide(status, 'close', kind, { before }), NOT_POSSIBLE)
      const returning = { ...SECOND, openRefunds: { r1: { ...RETURNING.openRefunds.r1, valueCents: 60_00 } } }
      assert.throws(() => decide(status, 'close', kind, { before: credited(returning) }), NOT_POSSIBLE)
    })
  }
  for (const kind of LEFT) {
    const before = credited(LEFT_FACTS)
    const about = `a case ${kind} of a charge that is ${status}`
    const evidence = { returnId: 'D10' }
    test(`[cash-in.cases.8] ${about}: the merchant is debited, and owes what is not there`, () => {
      const decision = decide(status, 'debit', kind, { before, reference: 'D9', available: 10_00n, evidence })
      const journal = 'return_debited D9: available -1000 FORCED_DEBIT, suspense_out 3000, receivable -2000'
      assert.deepEqual(done(decision), expected('debited', status, kind, journal))
      assert.deepEqual(decision.exact, ['available'])
      const { facts } = decision.outcome
      const decided = { state: 'decided', cents: 30_00, isDebited: true } as const
      assert.deepEqual(facts.returns, { D9: decided, ...aliasOf(kind) })
      assert.equal(refundedCents({ facts }), 30_00n, 'it counts against what may be refunded')
      assert.equal(bookedReturn({ facts }, 'D10'), kind === UNNAMED_CASE ? 30_00n : undefined)
      const gone = { ...before, facts: { ...SECOND, returns: { D9: decided } } }
      assert.throws(() => decide(status, 'debit', kind, { before: gone, reference: 'D9', evidence }), Refusal)
      const uncredited = { ...before, endToEndId: null }
      assert.throws(() => decide(status, 'debit', kind, { before: uncredited, reference: 'D9', evidence }), Refusal)
      const openRefunds = { r1: { ...RETURNING.openRefunds.r1, payment: 'E1' } }
      const returning = credited({ ...LEFT_FACTS, openRefunds })
      assert.throws(() => decide(status, 'debit', kind, { before: returning, reference: 'D9', evidence }), NOT_POSSIBLE)
      assert.throws(
        () => decide(status, 'debit', kind, { before, reference: 'D9', evidence, known: 'D10' }),
        Refusal,
        'another operation has it',
      )
    })
  }
  test(`[cash-in.cases.10] a return of a charge that is ${status} is no refund of ours`, () => {
    const held = { ...IN_DOUBT, transactionId: null, answered: ['r0'], heldCents: 0 }
    const openRefunds = {
      r1: { valueCents: 30_00, transactionId: null },
      r2: { valueCents: 1_00, transactionId: null },
    }
    const before = credited({ ...PAID, openRefunds, returns: { D9: held } })
    const decision = decide(status, 'book', 'return_unexplained cash-in.returns.4', { before, reference: 'D9' })
    assert.deepEqual(done(decision), [`operator.attributed ${status}`], 'the worker that books it closes it')
    assert.deepEqual(returnInDoubt(decision.outcome, 'D9')?.answered, ['r0', 'r1'])
    assert.equal(decision.outcome.facts.isQuestionWanted, true)
  })
}

for (const status of cashIn.states) {
  const before = { endToEndId: 'E1', facts: LEFT_FACTS }
  for (const kind of LEFT) {
    test(`[cash-in.cases.9] what left of a charge that is ${status} is a loss: ${kind}`, () => {
      const journal = 'left_written_off D9: suspense_out 3000, losses -3000'
      const order = { before, reference: 'D9', evidence: { returnId: 'D10' } }
      const decision = decide(status, 'write_off', kind, order)
      assert.deepEqual(done(decision), expected('written_off', status, kind, journal))
      assert.deepEqual(decision.outcome.facts.returns, { ...WRITTEN_OFF.returns, ...aliasOf(kind) })
      const gone = { ...before, facts: WRITTEN_OFF }
      assert.throws(() => decide(status, 'write_off', kind, { ...order, before: gone }), Refusal)
      assert.throws(() => decide(status, 'write_off', kind, { ...order, known: 'D10' }), Refusal)
    })
  }
}

for (const decision of ['debit', 'write_off'] as const) {
  const about = { before: { endToEndId: 'E1', facts: LEFT_FACTS }, reference: 'D9' }
  test(`[cases.15] a return that the bank told without its id is named by it: ${decision}`, () => {
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

/** E2 arrived, of R$ 150,00, and nothing is credited. */
const ARRIVED_FACTS: CashInFacts = { payments: { E2: 150_00 } }
/** The same money again, by E3: its own case. */
const OTHER_ARRIVAL: OpenCase = {
  id: 'of E3',
  kind: 'payment_in_suspense',
  rule: 'cash-in.reconciliation.2',
  reference: 'E3',
  version: 1,
}

for (const kind of ARRIVED) {
  const accept = (amountCents: bigint, given: Given = {}) =>
    decide(DOUBT, 'accept', kind, {
      before: { facts: ARRIVED_FACTS },
      facts: { occurredAt: NOW - 7 },
      amountCents,
      ...given,
    })
  test(`[cash-in.cases.1] [cases.8] the whole of what is in suspense becomes the payment of the charge, and is notified as one: ${kind}`, () => {
    const decision = accept(100_00n, { before: { facts: { payments: { E2: 100_00 } } } })
    assert.deepEqual(done(decision), [
      'operator.accepted PAID',
      'suspense_credited E2: available 10000 CASH_IN, available -100 FEE, suspense_in -10000, fees 100',
      'pix_cash_in PAID',
      `closes case of ${kind}`,
    ])
    const { endToEndId, facts } = decision.outcome
    assert.deepEqual([endToEndId, facts.paidAt, facts.decidedPayments], ['E2', NOW - 7, undefined])
    assert.equal(facts.acceptedCents, undefined, 'of the exact value')
    assert.equal(reasonOf(decision.outcome), null)
    const { event } = JSON.parse(decision.notifications?.[0]?.body.toString() ?? '{}')
    assert.deepEqual(
      [event.status, event.end_to_end_id, event.fee_amount_cents, event.value_cents, event.confirmed_at],
      ['PAID', 'E2', 100, 10_000, '2026-11-21T13:29:59.993000000Z'],
    )
  })
  test(`[cash-in.cases.1] a part of it does, and what is left stays in suspense, with its case: ${kind}`, () => {
    const decision = accept(60_00n)
    assert.deepEqual(done(decision), [
      'operator.accepted PAID',
      'suspense_credited E2: available 6000 CASH_IN, available -100 FEE, suspense_in -6000, fees 100',
      'pix_cash_in PAID',
    ])
    const operation = decision.outcome
    assert.deepEqual([paidCents(operation), suspendedCents(operation, 'E2')], [60_00n, 90_00n])
    assert.equal(refundableCents(operation), 60_00n, 'so much may be refunded')
    assert.equal(notifiedCents(decision), 60_00, 'and so much is told')
    assert.deepEqual(
      operation.openCases?.map(({ id }) => id),
      [`case of ${kind}`],
    )
  })
  test(`[cash-in.cases.1] while another case casts one it stays so: ${kind}`, () => {
    const before = { facts: { payments: { E2: 100_00 } } }
    const decision = accept(100_00n, { before, others: [KEEPING] })
    assert.deepEqual(done(decision), [
      `operator.accepted ${DOUBT}`,
      'suspense_credited E2: available 10000 CASH_IN, available -100 FEE, suspense_in -10000, fees 100',
      'pix_cash_in PAID',
      `closes case of ${kind}`,
    ])
    const operation = decision.outcome
    assert.deepEqual([operation.endToEndId, reasonOf(operation)], ['E2', 'conflict'])
    const gone = { before: { facts: { ...ARRIVED_FACTS, decidedPayments: { E2: 150_00 } } } }
    for (const others of [[], [KEEPING]]) assert.throws(() => accept(1n, { ...gone, others }), NOT_POSSIBLE)
  })
  test(`[cash-in.cases.1] more money in suspense beside it casts none, and money that left does: ${kind}`, () => {
    const before = { facts: { payments: { E2: 150_00, E3: 10_00 } } }
    assert.equal(accept(150_00n, { before, others: [OTHER_ARRIVAL] }).outcome.status, 'PAID')
    const empty = { facts: { ...before.facts, decidedPayments: { E3: 10_00 } } }
    assert.equal(accept(150_00n, { before: empty, others: [OTHER_ARRIVAL] }).outcome.status, DOUBT)
  })
  test(`[cash-in.cases.3] of what no charge was paid by, too, an amount goes back: ${kind}`, () => {
    const decision = accept(150_00n, {})
    assert.equal(decision.outcome.facts.acceptedCents, 150_00, 'more than the charge asks for is accepted')
    const order = { before: { facts: ARRIVED_FACTS }, amountCents: 150_00n, newId: 'r2' }
    const { outcome } = decide(DOUBT, 'return_to_payer', kind, order)
    assert.equal(outcome.status, DOUBT, 'it is in doubt until the bank confirms')
    assert.equal(returningCents(outcome, 'E2'), 150_00n)
  })
}

const STATES_8 = 'payment_in_suspense cash-in.states.8'

test('[cash-in.cases.1] [cash-in.cases.3] no more is decided than is in suspense and not on its way back', () => {
  const openRefunds = { r1: { valueCents: 50_00, transactionId: null, payment: 'E2' } }
  const returning = { facts: { ...ARRIVED_FACTS, openRefunds, returnOrders: { E2: 1 } } }
  const rest = { endToEndId: 'E2', facts: { ...ARRIVED_FACTS, ...returning.facts, acceptedCents: 60_00 } }
  const refused = (run: () => unknown) =>
    assert.throws(run, (error) => {
      assert.ok(error instanceof Refusal)
      const [field] = error.fields
      assert.deepEqual([error.code, field?.field, field?.code], ['not_possible_in_state', 'amountCents', 'too_large'])
      return true
    })
  const most: readonly (readonly [Partial<CashIn>, CaseDecision, bigint])[] = [
    [{ facts: ARRIVED_FACTS }, 'accept', 150_00n],
    [{ facts: ARRIVED_FACTS }, 'return_to_payer', 150_00n],
    [returning, 'accept', 100_00n],
    [returning, 'return_to_payer', 100_00n],
    [rest, 'return_to_payer', 40_00n],
  ]
  for (const [before, decision, amountCents] of most) {
    decide(DOUBT, decision, STATES_8, { before, amountCents })
    refused(() => decide(DOUBT, decision, STATES_8, { before, amountCents: amountCents + 1n }))
  }
  const again = decide(DOUBT, 'return_to_payer', STATES_8, { before: returning, amountCents: 100_00n, newId: 'r2' })
  assert.deepEqual(again.outcome.facts.returnOrders, { E2: 2 }, 'each order has its own number')
  assert.equal(returningCents(again.outcome, 'E2'), 150_00n)
  const all = { facts: again.outcome.facts }
  for (const decision of ['accept', 'return_to_payer', 'write_off', 'close'] as const) {
    const amount = decision === 'accept' || decision === 'return_to_payer' ? { amountCents: 1n } : {}
    assert.throws(() => decide(DOUBT, decision, STATES_8, { before: all, ...amount }), NOT_POSSIBLE)
  }
})

test('[cash-in.cases.1] [cash-in.cases.3] an amount must be named', () => {
  for (const decision of ['accept', 'return_to_payer'] as const) {
    const before = { facts: ARRIVED_FACTS }
    assert.throws(
      () => decide(DOUBT, decision, STATES_8, { before }),
      (error) =>
        error instanceof Refusal && error.code === 'validation_error' && error.fields[0]?.field === 'amountCents',
    )
  }
})

test('[cash-in.cases.1] of less than the fee no more than what is accepted is taken, and so much is told', () => {
  const decision = decide(DOUBT, 'accept', STATES_8, { before: { facts: ARRIVED_FACTS }, amountCents: 40n })
  const journal = 'suspense_credited E2: available 40 CASH_IN, available -40 FEE, suspense_in -40, fees 40'
  assert.equal(done(decision)[1], journal)
  const { event } = JSON.parse(decision.notifications?.[0]?.body.toString() ?? '{}')
  assert.deepEqual([event.value_cents, event.fee_amount_cents], [40, 40])
})

test('[cash-in.cases.1] [cash-in.cases.15] what is accepted in doubt makes it PAID when the other case is decided', () => {
  const before = { facts: { payments: { E2: 100_00 } } }
  const { outcome } = decide(DOUBT, 'accept', STATES_8, { before, others: [KEEPING], amountCents: 60_00n })
  const { openCase, order } = ordered('close', 'charge_unclear cash-in.states.6', '')
  const [rest] = outcome.openCases?.filter(({ id }) => id !== KEEPING.id) ?? []
  const last = { ...outcome, openCases: [openCase, ...(rest ? [rest] : [])] }
  const decided = cashInDecider.decide(last, openCase, order, seeing({}), NOW)
  assert.deepEqual(done(decided).slice(0, 2), [`operator.explained ${DOUBT}`, 'doubt.decided PAID'])
  assert.deepEqual(decided.notifications, [], 'the merchant was notified when it was accepted')
})

/** E2, of another amount than the charge, was decided; the bank took it back by D9. */
const TAKEN_BACK: CashInFacts = {
  payments: { E2: 60_00 },
  decidedPayments: { E2: 60_00 },
  returns: { D9: { state: 'in_suspense', cents: 60_00 } },
}

for (const status of ['PENDING', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', DOUBT] as const) {
  for (const kind of LEFT) {
    test(`[cash-in.cases.8] of a charge that is ${status} and that no payment was credited of nothing is debited: ${kind}`, () => {
      const order = { reference: 'D9', available: 60_00n, evidence: { returnId: 'D10' } }
      const before = { endToEndId: null, facts: TAKEN_BACK }
      assert.throws(() => decide(status, 'debit', kind, { ...order, before }), NOT_POSSIBLE)
    })
  }
}

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
  test(`[cash-in.cases.6] [cases.6] a charge that is ${status} is paid by what was in suspense on another one`, () => {
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

test('[cash-in.cases.6] nothing is attributed to a charge that was paid, that failed, that is contradicted, or to itself', () => {
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

test('[cash-in.cases.11] a charge whose end the bank does not tell ended unpaid', () => {
  const decision = decide('PENDING', 'close', 'charge_unclear cash-in.expired.5', {
    before: { facts: { isEndCaseOpen: true } },
  })
  assert.deepEqual(done(decision)[0], 'operator.explained EXPIRED')
  assert.deepEqual(decision.notifications, [])
  assert.ok(decision.closes?.includes('case of charge_unclear cash-in.expired.5'))
  assert.equal(decision.outcome.facts.isEndCaseOpen, false)
})

for (const kind of ['charge_unclear cash-in.unknown.7', 'charge_unclear cash-in.states.6']) {
  test(`[cash-in.cases.11] a charge in doubt failed, as the bank’s own portal shows: ${kind}`, () => {
    const decision = decide(DOUBT, 'close', kind, {
      inDoubtFor: kind === 'charge_unclear cash-in.unknown.7' ? 'no_answer' : 'conflict',
    })
    assert.deepEqual(done(decision), [
      `operator.explained ${DOUBT}`,
      'doubt.decided FAILED',
      'pix_cash_in FAILED',
      `closes case of ${kind}`,
    ])
    assert.equal(decision.outcome.facts.failureCode, 'decided_by_operator')
    assert.throws(() => decide(DOUBT, 'close', kind, { before: credited(SECOND) }), Refusal, 'not what was paid')
  })
}

test('[cash-in.cases.12] a charge that the bank contradicted waits for its payment again while its time lasts', () => {
  const decision = decide(DOUBT, 'ask_again', 'charge_unclear cash-in.states.6', { reference: '' })
  assert.deepEqual(done(decision), ['operator.asked_again PENDING', 'closes case of charge_unclear cash-in.states.6'])
  assert.equal(decision.outcome.facts.isQuestionWanted, true)
  assert.equal(reasonOf(decision.outcome), null)
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
    test(`[cash-in.cases.13] a case ${kind} of a charge that is ${status} is explained, and nothing is booked`, () => {
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
    test(`[cash-in.cases.14] the bank is asked again about a case ${kind} of a charge that is ${status}, which stays open`, () => {
      const decision = decide(status, 'ask_again', kind, { before, reference: '' })
      assert.deepEqual(done(decision), [`operator.asked_again ${status}`])
      assert.equal(decision.outcome.facts.isQuestionWanted, true)
    })
  }
}

for (const cause of [
  'charge_unclear cash-in.failed.1',
  'charge_unclear cash-in.paid.2',
  'bank_contradicts cash-in.refunds.5',
  'bank_contradicts cash-in.refunds.10',
]) {
  test(`[cash-in.cases.14] what no answer settles is not asked about again: ${cause}`, () => {
    assert.throws(() => decide('PAID', 'ask_again', cause, { before: credited(PAID), reference: '' }), NOT_POSSIBLE)
  })
}

test('[cash-in.cases.12] [cash-in.cases.13] where the bank’s answer is missing the charge does not wait again, and is closed as unpaid, or as the payment that is credited', () => {
  const cause = 'charge_unclear cash-in.unknown.7'
  const given = { inDoubtFor: 'no_answer', reference: '' } as const
  assert.deepEqual(done(decide(DOUBT, 'ask_again', cause, given)), [`operator.asked_again ${DOUBT}`])
  assert.equal(done(decide(DOUBT, 'close', cause, given))[1], 'doubt.decided FAILED')
  const paid = done(decide(DOUBT, 'close', cause, { ...given, before: credited(PAID) }))
  assert.equal(paid[1], 'doubt.decided PAID', 'what is paid needs no answer')
})

test('[cash-in.cases.13] what events reported and the bank never confirmed is forgotten with its case', () => {
  const reported = reportedPaymentsFact({ E8: { valueCents: 1, occurredAt: NOW, since: NOW } })
  for (const kind of ['payment_unconfirmed cash-in.credits.4', 'payment_unconfirmed cash-in.credits.5']) {
    const decision = decide('PENDING', 'close', kind, { before: { facts: { ...reported, isPaymentCaseOpen: true } } })
    assert.deepEqual(reportedPayments(decision.outcome.facts), {})
    assert.equal(decision.outcome.facts.isPaymentCaseOpen, false)
  }
})

test('[cash-in.cases.15] [cases.5] a decision leaves other cases open, and the doubt while one of those that cast it is', () => {
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

test('[cases.3] a case that is closed is not decided', () => {
  const { openCase, order } = ordered('close', 'bank_contradicts cash-in.paid.3', '')
  const before = cashInAs('PAID', { openCases: [] })
  assert.throws(() => cashInDecider.decide(before, openCase, order, seeing({}), NOW), Refusal)
})

test('[cases.4] the move keeps who decided what, and why', () => {
  const evidence = { reference: 'ticket 7', note: 'by phone' }
  const { moves = [] } = decide('PAID', 'close', 'bank_contradicts cash-in.paid.3', { evidence, reference: '' })
  assert.deepEqual(moves[0]?.evidence, {
    caseId: 'case of bank_contradicts cash-in.paid.3',
    decision: 'close',
    operator: 'Ana',
    approver: 'Bruno',
    reason: 'the payer asked for it',
    evidence,
  })
})

test('[cases.2] each decision of the table is shown, with what it needs and why it is not offered now', () => {
  const optionsOf = (status: CashInStatus, given: Partial<CashIn>) => {
    const { openCase } = ordered('accept', 'payment_in_suspense cash-in.reconciliation.2', 'E2')
    const options = cashInDecider.options(cashInAs(status, { ...given, openCases: [openCase] }), openCase, NOW)
    return options.map(
      ({
        decision,
        isOffered,
        needs,
        maxCents,
        whyNot,
      }): readonly [CaseDecision, boolean, readonly EvidenceField[], bigint | undefined, boolean] => [
        decision,
        isOffered,
        needs,
        maxCents,
        whyNot.length > 0,
      ],
    )
  }
  assert.deepEqual(optionsOf('PAID', credited(SECOND)), [
    ['return_to_payer', true, ['amountCents'], 60_00n, false],
    ['book', true, ['operationId'], undefined, false],
    ['write_off', true, [], undefined, false],
    ['close', false, [], undefined, true],
  ])
  assert.deepEqual(optionsOf('PAID', credited(RETURNING)), [
    ['return_to_payer', true, ['amountCents'], 40_00n, false],
    ['book', false, ['operationId'], undefined, true],
    ['write_off', false, [], undefined, true],
    ['close', false, [], undefined, true],
  ])
  assert.deepEqual(optionsOf('PAID', credited(WRITTEN_OFF_E2)), [
    ['return_to_payer', false, ['amountCents'], 0n, true],
    ['book', false, ['operationId'], undefined, true],
    ['write_off', false, [], undefined, true],
    ['close', true, [], undefined, false],
  ])
  assert.deepEqual(optionsOf(DOUBT, { facts: { ...ARRIVED_FACTS, ...reasonFact('conflict') } })[0], [
    'accept',
    true,
    ['amountCents'],
    150_00n,
    false,
  ])
})

const REVERSAL = {
  endToEndId: 'E1',
  caseId: 'case of line_missing',
  operator: 'Ana',
  reason: 'the bank does not have it',
}

for (const [availableCents, taken] of [
  [200_00n, 'available -9900 FORCED_DEBIT, fees -100, settlement 10000'],
  [20_00n, 'available -2000 FORCED_DEBIT, fees -100, receivable -7900, settlement 10000'],
  [0n, 'fees -100, receivable -9900, settlement 10000'],
] as const) {
  test(`[cash-in.cases.16] a credit that the bank does not have is taken back, with its fee: ${availableCents} is free`, () => {
    const paid = cashInAs('PAID')
    const decision = decideReversal(paid, REVERSAL, seeing({ operations: [paid], availableCents }), NOW)
    assert.deepEqual(done(decision), [
      'operator.reversed FAILED',
      `credit_reversed E1: ${taken}`,
      'pix_cash_in FAILED E1',
    ])
    const { status, facts } = decision.outcome
    assert.deepEqual([status, facts.failureCode, facts.reversed], ['FAILED', 'reversed_by_operator', { E1: 100_00 }])
    assert.equal(refundableCents(decision.outcome), 0n)
    assert.deepEqual(decision.exact, ['available', 'receivable'])
  })
}

test('[cash-in.cases.16] a credit is not taken back while a refund of it is under way, nor where part of it went back, nor twice', () => {
  const part: CashInFacts = { payments: { E1: 150_00 } }
  const cases: readonly (readonly [CashInStatus, CashInFacts])[] = [
    ['PAID', { refundsOpenCents: 1, openRefunds: { r1: { valueCents: 1, transactionId: null } } }],
    ['PAID', { returns: { D1: { state: 'booked', cents: 1 } } }],
    ['PAID', part],
    ['PAID', { payments: { E1: 100_00, E2: 50_00 } }],
    ['FAILED', {}],
    ['PENDING', {}],
  ]
  for (const [status, facts] of cases) {
    const known = cashInAs(status)
    const charge = { ...known, facts: { ...known.facts, ...facts } }
    const order = { ...REVERSAL, endToEndId: charge.endToEndId ?? '' }
    assert.throws(() => decideReversal(charge, order, seeing({ availableCents: 200_00n }), NOW), {
      code: 'not_possible_in_state',
    })
  }
})

test('[cash-in.cases.16] a missing payment takes back no other one', () => {
  const order = { ...REVERSAL, endToEndId: 'E2' }
  const decide = () => decideReversal(cashInAs('PAID'), order, seeing({ availableCents: 200_00n }), NOW)
  assert.throws(decide, { code: 'case_changed' })
})
