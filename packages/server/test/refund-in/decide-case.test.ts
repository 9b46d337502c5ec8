import assert from 'node:assert/strict'
import test from 'node:test'
import { type CaseDecision, type RefundInStatus, Refusal } from '@pixgate/spec'
import type { DecidableCase, DecisionInput } from '../../src/cases/case.ts'
import type { CashInFacts } from '../../src/cash-in/cash-in.ts'
import { type Reason, reasonFact, reasonOf } from '../../src/engine/follow.ts'
import type { OpenCase } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { refundInDecider } from '../../src/refund-in/decide-case.ts'
import type { RefundIn, RefundInFacts } from '../../src/refund-in/refund-in.ts'
import { IN_DOUBT, NOW, wentBack } from '../cash-in/situations.ts'
import { done, ordered, seeing } from '../support/decided.ts'
import { cashInOf, paidCashIn, REFUND_ID, refundAs } from './situations.ts'

/** What must come of each decision, written by hand: it says nothing because the table of the machine says so. */

const UNENDED = [
  'outcome_unknown refund-in.unknown.4',
  'outcome_unknown refund-in.cases.9',
  'outcome_unknown refund-in.states.10',
  'outcome_unknown refund-in.doubt.1',
  'outcome_unknown refund-in.doubt.2',
]
const LEFT = [
  'debit_in_suspense refund-in.doubt.4',
  'debit_in_suspense refund-in.doubt.8',
  'debit_in_suspense refund-in.doubt.5',
  'debit_in_suspense refund-in.ended.6',
]
const TOLD = [
  'bank_contradicts refund-in.doubt.3',
  'bank_contradicts refund-in.ended.2',
  'bank_contradicts refund-in.ended.3',
  'bank_contradicts refund-in.ended.4',
]
const STATES = ['PENDING', 'CONFIRMED', 'FAILED'] as const
/** One attempt, six minutes ago: it arrives no more. */
const TRIED: RefundInFacts = { attempts: 1, firstAttemptAt: NOW - 360_000, lastAttemptAt: NOW - 360_000 }
const ANOTHER: OpenCase = {
  id: 'another',
  kind: 'bank_contradicts',
  rule: 'refund-in.ended.2',
  reference: '',
  version: 1,
}
const CASTING: OpenCase = {
  id: 'casting',
  kind: 'bank_contradicts',
  rule: 'refund-in.doubt.3',
  reference: 'D0',
  version: 1,
}

interface Given extends Partial<DecisionInput> {
  readonly facts?: RefundInFacts
  readonly inDoubtFor?: Reason
  readonly reference?: string
  readonly others?: readonly OpenCase[]
  readonly available?: bigint
  readonly known?: string
  readonly told?: DecidableCase['facts']
  readonly cashIn?: CashInFacts
  readonly given?: Partial<RefundIn>
}

function decide(status: RefundInStatus, decision: CaseDecision, kind: string, given: Given = {}) {
  const {
    facts = {},
    inDoubtFor,
    reference = '',
    others = [],
    available = 0n,
    known,
    told = {},
    cashIn = {},
    given: besides = {},
    ...rest
  } = given
  const { openCase, order } = ordered(decision, kind, reference, { facts: told, ...rest })
  const operation = refundAs(status, {
    ...besides,
    facts: { ...refundAs(status).facts, ...TRIED, ...facts, ...(inDoubtFor && reasonFact(inDoubtFor)) },
    openCases: [openCase, ...others],
  })
  const movements = known === undefined ? {} : { [known]: { operationId: 'x', valueCents: 1n } }
  const operations = [operation, cashInOf(status, cashIn)]
  return refundInDecider.decide(
    operation,
    openCase,
    order,
    seeing({ operations, availableCents: available, movements }),
    NOW,
  )
}

const D9 = { evidence: { returnId: 'D9' } }
/** A return told with another amount left: D5 is in suspense. */
const SUSPENDED: RefundInFacts = { returns: { D5: 29_00 } }

for (const kind of UNENDED) {
  test(`[refund-in.cases.1] a refund went back, as the bank says: ${kind}`, () => {
    const decision = decide('PENDING', 'executed', kind, { ...D9, inDoubtFor: 'no_answer' })
    assert.deepEqual(done(decision).slice(0, 3), [
      'refund.confirmed PAID',
      'operator.executed CONFIRMED',
      'refund_in_confirmed D9: available 3000 REFUND_IN_RELEASE, available -3000 REFUND_IN, reserved -3000, settlement 3000',
    ])
    assert.deepEqual(
      decision.notifications?.map(({ eventType, status }) => [eventType, status]),
      [['pix_cash_in_reversal', 'CONFIRMED']],
    )
    assert.ok(decision.closes?.includes(`case of ${kind}`))
    assert.deepEqual(
      decision.moves?.[0]?.facts?.returns,
      wentBack({ D9: 30_00 }),
      'it counts against what may be refunded',
    )
    const { facts } = decision.outcome
    assert.deepEqual([facts.returnId, facts.confirmedAt], ['D9', NOW])
    assert.throws(() => decide('PENDING', 'executed', kind, { ...D9, known: 'out D9' }), Refusal)
    assert.throws(() => decide('PENDING', 'executed', kind, { ...D9, facts: SUSPENDED }), Refusal)
    assert.throws(() => decide('PENDING', 'executed', kind), { code: 'validation_error' })
    const kept = decide('PENDING', 'executed', kind, { ...D9, inDoubtFor: 'conflict', others: [CASTING] })
    assert.equal(kept.moves?.[1]?.to, 'CONFIRMED')
    assert.equal(reasonOf(kept.outcome), 'conflict')
    for (const given of [{ known: 'out D9' }, { facts: SUSPENDED }]) {
      const order = { ...D9, inDoubtFor: 'conflict', others: [CASTING], ...given } as const
      assert.throws(() => decide('PENDING', 'executed', kind, order), Refusal)
    }
    assert.deepEqual(
      kept.journals?.map((journal) => journal.kind),
      ['refund_in_confirmed'],
    )
    assert.deepEqual(kept.notifications?.length, 1)
    assert.deepEqual(kept.closes, [`case of ${kind}`])
  })
  test(`[refund-in.cases.2] [cases.11] a refund never went back, as the bank says: ${kind}`, () => {
    const decision = decide('PENDING', 'not_executed', kind, { inDoubtFor: 'no_answer' })
    assert.deepEqual(
      decision.moves?.map(({ trigger, to }) => `${trigger} ${to}`),
      ['refund.released PAID', 'operator.not_executed FAILED'],
    )
    assert.deepEqual(
      decision.journals?.map((journal) => journal.kind),
      ['refund_in_released'],
    )
    assert.deepEqual(
      decision.notifications?.map(({ status }) => status),
      ['FAILED'],
    )
    assert.equal(decision.outcome.facts.failureCode, 'decided_by_operator')
    const kept = decide('PENDING', 'not_executed', kind, { inDoubtFor: 'conflict', others: [CASTING] })
    assert.deepEqual([kept.moves?.[1]?.to, reasonOf(kept.outcome)], ['FAILED', 'conflict'])
    assert.deepEqual([kept.journals?.length, kept.notifications?.length], [1, 1])
    assert.deepEqual(kept.closes, [`case of ${kind}`])
    for (const facts of [{ lastAttemptAt: NOW - 299_999 }, { isShown: true }, SUSPENDED]) {
      assert.throws(() => decide('PENDING', 'not_executed', kind, { facts }), Refusal)
      assert.throws(
        () => decide('PENDING', 'not_executed', kind, { facts, inDoubtFor: 'conflict', others: [CASTING] }),
        Refusal,
      )
    }
  })
}

test('[cases.12] a return that was in doubt is known once an operator says that it is a refund of ours', () => {
  const decision = decide('PENDING', 'executed', 'outcome_unknown refund-in.unknown.4', {
    ...D9,
    cashIn: { returns: { D9: { ...IN_DOUBT, transactionId: null, heldCents: 5_00 } } },
  })
  assert.deepEqual(
    decision.journals?.map(({ kind }) => kind),
    ['return_known', 'refund_in_confirmed'],
  )
})

for (const kind of LEFT) {
  for (const status of ['PENDING', 'FAILED'] as const) {
    const held = status === 'PENDING' ? 30_00 : 12_00
    const facts = { ...SUSPENDED, ...(status === 'FAILED' ? { heldAgainCents: 12_00 } : {}) }
    test(`[refund-in.cases.3] what is in suspense is the refund that is ${status}: ${kind}`, () => {
      const order = { facts, reference: 'D5', inDoubtFor: 'conflict', told: { occurredAt: NOW - 9 } } as const
      const decision = decide(status, 'executed', kind, order)
      const [taken, owed] = status === 'PENDING' ? [29_00, ''] : [12_00, ', receivable -1700']
      assert.deepEqual(
        done(decision).filter((word) => !word.startsWith('pix') && !word.startsWith('refund.')),
        [
          'operator.executed CONFIRMED',
          `refund_left_in_suspense D5: available ${held} REFUND_IN_RELEASE, available -${taken} REFUND_IN, reserved -${held}, suspense_out 2900${owed}`,
          `closes case of ${kind}`,
        ],
      )
      const counted = decision.moves?.map(({ trigger }) => trigger)
      const released = status === 'PENDING' ? ['refund.released'] : []
      assert.deepEqual(counted, [...released, 'operator.executed'], 'what left counted when it left')
      assert.equal(decision.notifications?.[0]?.status, 'CONFIRMED')
      assert.deepEqual(decision.exact, ['available'])
      assert.deepEqual([decision.outcome.facts.confirmedAt, decision.outcome.facts.returnId], [NOW - 9, 'D5'])
      const kept = decide(status, 'executed', kind, { ...order, others: [CASTING] })
      assert.equal(kept.outcome.status, 'CONFIRMED')
      assert.equal(reasonOf(kept.outcome), 'conflict')
      assert.deepEqual([kept.journals?.length, kept.notifications?.length], [1, 1])
      assert.deepEqual(kept.closes, [`case of ${kind}`])
      const gone = { ...order, facts: { ...facts, decidedReturns: { D5: 29_00 } }, ...D9 }
      assert.throws(() => decide(status, 'executed', kind, gone), Refusal)
      assert.throws(() => decide(status, 'executed', kind, { ...gone, others: [CASTING] }), Refusal)
    })
  }
}

for (const status of STATES) {
  const end = status === 'PENDING' ? 'doubt.decided PENDING' : `doubt.decided ${status}`
  const facts = { returns: { ...refundAs(status).facts.returns, D5: 29_00 }, heldAgainCents: 12_00 }
  const gone = { ...facts, decidedReturns: { D5: 29_00 } }
  const about = { facts, reference: 'D5', inDoubtFor: 'conflict' } as const
  for (const kind of [...LEFT, 'debit_in_suspense refund-in.ended.8']) {
    const free =
      kind === 'debit_in_suspense refund-in.ended.6' ? 'available 1200 CASH_OUT_RELEASE, reserved -1200, ' : ''
    test(`[refund-in.cases.5] what left for a refund that is ${status} is a loss: ${kind}`, () => {
      assert.deepEqual(done(decide(status, 'write_off', kind, about)), [
        `operator.written_off ${status}`,
        end,
        `left_written_off D5: ${free}suspense_out 2900, losses -2900`,
        `closes case of ${kind}`,
      ])
      assert.throws(() => decide(status, 'write_off', kind, { ...about, facts: gone }), Refusal)
    })
  }
  for (const kind of [
    ...TOLD,
    ...LEFT,
    'debit_in_suspense refund-in.ended.8',
    'movement_elsewhere refund-in.doubt.9',
  ]) {
    test(`[refund-in.cases.7] a case ${kind} of a refund that is ${status} is explained, and nothing is booked`, () => {
      const order = { inDoubtFor: 'conflict', reference: 'D1' } as const
      assert.deepEqual(done(decide(status, 'close', kind, order)), [
        `operator.explained ${status}`,
        end,
        `closes case of ${kind}`,
      ])
      assert.throws(() => decide(status, 'close', kind, about), Refusal)
    })
  }
  for (const kind of UNENDED) {
    test(`[refund-in.cases.7] a case ${kind} of a refund that is ${status} is explained once that has ended`, () => {
      const close = () => decide(status, 'close', kind, { inDoubtFor: 'conflict' })
      if (status === 'PENDING') return assert.throws(close, Refusal)
      assert.deepEqual(done(close()), [`operator.explained ${status}`, end, `closes case of ${kind}`])
    })
  }
  for (const kind of [
    ...UNENDED,
    'bank_contradicts refund-in.ended.2',
    'bank_contradicts refund-in.ended.4',
    'bank_contradicts refund-in.ended.3',
  ]) {
    test(`[refund-in.cases.8] the bank is asked again about a case ${kind} of a refund that is ${status}`, () => {
      const decision = decide(status, 'ask_again', kind, { inDoubtFor: 'conflict' })
      assert.deepEqual(done(decision), [`operator.asked_again ${status}`], 'the case stays open')
      assert.equal(decision.outcome.dueAt, NOW)
    })
  }
  test(`[refund-in.cases.9] [cases.5] a refund that is ${status} stays in doubt while a case that cast one is open`, () => {
    const close = (others: readonly OpenCase[]) =>
      decide(status, 'close', 'bank_contradicts refund-in.ended.3', { inDoubtFor: 'conflict', others })
    assert.deepEqual(done(close([CASTING])), [
      `operator.explained ${status}`,
      'closes case of bank_contradicts refund-in.ended.3',
    ])
    const ended = close([ANOTHER])
    assert.equal(done(ended)[1], end)
    const isHeld = status === 'PENDING'
    assert.equal(reasonOf(ended.outcome), isHeld ? 'no_answer' : null)
    assert.equal(ended.outcome.dueAt, isHeld ? NOW : null)
    assert.deepEqual(
      ended.cases?.map(({ kind }) => kind),
      isHeld ? ['outcome_unknown'] : [],
    )
  })
}

test('[refund-in.cases.8] of a return that was booked as another one no answer settles which it is', () => {
  for (const status of STATES) {
    const ask = () => decide(status, 'ask_again', 'bank_contradicts refund-in.doubt.3', { inDoubtFor: 'conflict' })
    assert.throws(ask, { code: 'not_possible_in_state' })
  }
})

/** The last case of a refund under way is closed: why it is in doubt then, when it is due, and what of it is open. */
function afterTheLast(facts: RefundInFacts) {
  const order = { inDoubtFor: 'conflict', facts } as const
  const { outcome, cases = [] } = decide('PENDING', 'close', 'bank_contradicts refund-in.ended.3', order)
  const { status, facts: after, dueAt } = outcome
  return [status, reasonOf({ facts: after }), dueAt, ...cases.map(({ kind }) => kind)]
}

test('[refund-in.cases.9] [cases.14] what a decision leaves set aside has a case, unless it was never sent: then it is sent', () => {
  assert.deepEqual(afterTheLast({}), ['PENDING', 'no_answer', NOW, 'outcome_unknown'])
  assert.deepEqual(afterTheLast({ attempts: 0, isAccepted: true }), ['PENDING', 'no_answer', NOW, 'outcome_unknown'])
  assert.deepEqual(afterTheLast({ attempts: 0 }), ['PENDING', null, NOW])
})

test('[cases.14] what left for a refund and is decided shows that the bank has it: it is not sent again, and may have failed', () => {
  const order = { facts: { ...SUSPENDED, isShown: true }, reference: 'D5', inDoubtFor: 'conflict' } as const
  const operation = decide('PENDING', 'write_off', 'debit_in_suspense refund-in.doubt.4', order).outcome
  assert.deepEqual([operation.facts.isAccepted, operation.facts.isShown], [true, false])
})

/** It returns R$ 30,00 of E2, which is in suspense of its charge, to the payer. */
const TO_PAYER: Partial<RefundIn> = {
  endToEndId: 'E2',
  detail: { ...refundAs('PENDING').detail, origin: 'OPERATOR', from: paidCashIn().id },
}
const UNDER_WAY = { [REFUND_ID]: { valueCents: 30_00, transactionId: null, payment: 'E2' } }

/** What its charge knows of E2, of which so much arrived. */
function ofE2(cents: number, given: CashInFacts = {}): CashInFacts {
  return { payments: { E1: 100_00, E2: cents }, openRefunds: UNDER_WAY, refundsOpenCents: 0, ...given }
}

test('[refund-in.cases.1] [cash-in.cases.3] money in suspense went back, as the bank says: it is taken from there', () => {
  const order = { ...D9, inDoubtFor: 'no_answer', given: TO_PAYER, cashIn: ofE2(30_00) } as const
  const decision = decide('PENDING', 'executed', 'outcome_unknown refund-in.unknown.4', order)
  assert.deepEqual(done(decision).slice(0, 3), [
    'refund.confirmed PAID',
    'operator.executed CONFIRMED',
    'refund_in_confirmed D9: suspense_in -3000, settlement 3000',
  ])
  const { returns, openRefunds, refundsOpenCents } = decision.moves?.[0]?.facts ?? {}
  const back = { D9: { state: 'from_suspense', cents: 30_00, endToEndId: 'E2', refundId: REFUND_ID } }
  assert.deepEqual([returns, openRefunds, refundsOpenCents], [back, {}, undefined])
})

test('[refund-in.cases.1] not where the payment is not in suspense any more, as the bank gave it back by itself', () => {
  const gone = { D1: { state: 'from_suspense', cents: 1, endToEndId: 'E2' } } as const
  for (const others of [[], [CASTING]]) {
    const order = {
      ...D9,
      inDoubtFor: 'conflict',
      given: TO_PAYER,
      cashIn: ofE2(30_00, { returns: gone }),
      others,
    } as const
    const refused = { code: 'not_possible_in_state' }
    assert.throws(() => decide('PENDING', 'executed', 'outcome_unknown refund-in.doubt.1', order), refused)
    const there = { ...order, cashIn: ofE2(30_01, { returns: gone }) }
    const operation = decide('PENDING', 'executed', 'outcome_unknown refund-in.doubt.1', there).outcome
    assert.equal(operation.status, 'CONFIRMED')
  }
})

test('[refund-in.cases.2] [cash-in.cases.3] money in suspense never went back, as the bank says: it is there as before', () => {
  const order = { inDoubtFor: 'no_answer', given: TO_PAYER, cashIn: ofE2(30_00) } as const
  const decision = decide('PENDING', 'not_executed', 'outcome_unknown refund-in.unknown.4', order)
  assert.deepEqual(decision.journals?.flatMap(entriesOf), [], 'nothing was set aside')
  assert.deepEqual(decision.moves?.[0]?.facts?.openRefunds, {})
  assert.equal(decision.notifications?.[0]?.status, 'FAILED')
})

for (const status of ['PENDING', 'FAILED'] as const) {
  const kind = status === 'PENDING' ? 'debit_in_suspense refund-in.doubt.4' : 'debit_in_suspense refund-in.ended.6'
  const openRefunds = status === 'PENDING' ? UNDER_WAY : {}
  const returns = { D5: { state: 'at_refund', cents: 29_00 } } as const
  const execute = (cents: number, more: CashInFacts = {}, others: readonly OpenCase[] = []) =>
    decide(status, 'executed', kind, {
      facts: { ...SUSPENDED, ...(status === 'FAILED' ? { heldAgainCents: 0 } : {}) },
      reference: 'D5',
      inDoubtFor: 'conflict',
      given: TO_PAYER,
      cashIn: ofE2(cents, { openRefunds, returns, ...more }),
      available: 500_00n,
      others,
    })
  test(`[refund-in.cases.3] what left for it is taken from what is in suspense of the payment, and nothing from the merchant: ${status}`, () => {
    const decision = execute(30_00)
    const [confirmed, moved, journal] = done(decision)
    assert.deepEqual([confirmed, moved], ['refund.confirmed PAID', 'operator.executed CONFIRMED'])
    assert.equal(journal, 'refund_left_in_suspense D5: suspense_out 2900, suspense_in -2900')
    const { cashIn } = { cashIn: decision.moves?.[0]?.facts }
    const back = { D5: { state: 'from_suspense', cents: 29_00, endToEndId: 'E2', refundId: REFUND_ID } }
    assert.deepEqual([cashIn?.returns, cashIn?.openRefunds], [back, {}])
  })
  test(`[refund-in.cases.3] not where less of the payment is in suspense any more than left: ${status}`, () => {
    const refused = { code: 'not_possible_in_state' }
    execute(29_00)
    for (const others of [[], [CASTING]]) {
      assert.throws(() => execute(28_99, {}, others), refused)
      assert.throws(() => execute(30_00, { decidedPayments: { E2: 30_00 } }, others), refused)
      const another = { ...openRefunds, another: { valueCents: 1_01, transactionId: null, payment: 'E2' } }
      assert.throws(
        () => execute(30_00 + (status === 'PENDING' ? 100 : 0) - 100, { openRefunds: another }, others),
        refused,
      )
    }
    const kept = execute(30_00, {}, [CASTING])
    assert.deepEqual([kept.outcome.status, reasonOf(kept.outcome)], ['CONFIRMED', 'conflict'])
  })
  test(`[cases.2] that what left for it is taken from suspense is offered: ${status}`, () => {
    const { openCase } = ordered('executed', kind, 'D5')
    const facts = {
      ...refundAs(status).facts,
      ...TRIED,
      ...SUSPENDED,
      ...(status === 'FAILED' && { heldAgainCents: 0 }),
    }
    const refund = refundAs(status, {
      ...TO_PAYER,
      facts: { ...facts, ...reasonFact('conflict') },
      openCases: [openCase],
    })
    const option = refundInDecider.options(refund, openCase, NOW).find(({ decision }) => decision === 'executed')
    assert.deepEqual([option?.isOffered, option?.whyNot], [true, []])
  })
  test(`[refund-in.cases.5] what left for it may be a loss, and is then in suspense of the payment as before: ${status}`, () => {
    const order = { facts: SUSPENDED, reference: 'D5', inDoubtFor: 'conflict', given: TO_PAYER, cashIn: ofE2(30_00) }
    const words = done(decide(status, 'write_off', kind, order as Given))
    assert.equal(words[2], 'left_written_off D5: suspense_out 2900, losses -2900')
  })
}
