import assert from 'node:assert/strict'
import test from 'node:test'
import { limits, type RefundInStatus } from '@pixgate/spec'
import type { DecisionInput } from '../../src/cases/case.ts'
import type { CashIn, CashInFacts } from '../../src/cash-in/cash-in.ts'
import { refundableCents, refundedCents, returningCents, suspendedCents } from '../../src/cash-in/returns.ts'
import { reasonFact, reasonOf } from '../../src/engine/follow.ts'
import type { OpenCase, State } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { statusQueryFact, statusQueryOf } from '../../src/operations/attempts.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { orderId } from '../../src/platform/ids.ts'
import type { RefundIn, RefundInInput } from '../../src/refund-in/refund-in.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { createCashInDecider } from '../../src/refund-in/to-payer.ts'
import { cashInAs, NOW } from '../cash-in/situations.ts'
import { done, ordered } from '../support/decided.ts'
import { INSTALLATION, refundTerms } from '../support/limits.ts'
import { confirmed, INPUTS, REFUND_ID, refundAs, stateOf } from './situations.ts'

/** Money in suspense goes back to its payer: the order, what becomes of it, and what else the bank gives back meanwhile. */

const DAY = 86_400_000
const KIND = 'payment_in_suspense cash-in.states.8'
const OTHER_ID = '0198c0f3-3f00-7000-8000-8b9c0d1e2f3c'
const OFF: State = { ...stateOf(), control: () => ({ enabled: false }) }

/** A charge in doubt, of R$ 100,00, for E2, of R$ 60,00. */
function inDoubt(facts: CashInFacts = {}, openCases?: readonly OpenCase[]): CashIn {
  const { openCase } = ordered('return_to_payer', KIND, 'E2')
  const unclear = cashInAs('RECONCILIATION_REQUIRED')
  return {
    ...unclear,
    facts: { ...unclear.facts, payments: { E2: 60_00 }, ...facts },
    openCases: openCases ?? [openCase],
  }
}

interface Given extends Partial<DecisionInput> {
  readonly cashIn?: CashIn
  readonly paidAt?: number
  readonly state?: State
  readonly terms?: ReturnType<typeof refundTerms>
  readonly isUnsupported?: boolean
}

/** An operator has R$ 30,00 of E2 returned. */
function order(given: Given = {}) {
  const { cashIn = inDoubt(), paidAt = NOW - 60_000, state = stateOf(), terms = refundTerms(), ...more } = given
  const { isUnsupported = false, ...ofOrder } = more
  const facts = { occurredAt: paidAt }
  const named = { facts, amountCents: 30_00n, newId: REFUND_ID, ...ofOrder }
  const { openCase, order } = ordered('return_to_payer', KIND, 'E2', named)
  const decider = createCashInDecider({ terms, isUnsupported, isNearRestore: () => false })
  return { ...decider.decide(cashIn, openCase, order, state, NOW), reads: decider.readsFor(cashIn, openCase, order) }
}

/** The refund that is made. */
function made(given: Given = {}): RefundIn {
  const operation = order(given).creates?.[0]?.operation
  assert.ok(operation)
  return operation as RefundIn
}

test('[cash-in.cases.3] a refund of the amount is ordered, and no money is set aside: it stays in suspense', () => {
  const decision = order()
  assert.deepEqual(done(decision), ['operator.returned_to_payer RECONCILIATION_REQUIRED'])
  const {
    version,
    createdAt,
    updatedAt,
    openCases,
    orderId: _,
    ...expected
  } = refundAs('PENDING', {
    externalId: REFUND_ID,
    bodyHash: sha256(`case of ${KIND} ${REFUND_ID}`),
    endToEndId: 'E2',
    dueAt: NOW,
    plan: { step: 'send', changesAt: NOW + limits.unclaimedReleaseMs },
    detail: {
      cashInId: inDoubt().id,
      reason: 'the payer asked for it',
      origin: 'OPERATOR',
      from: inDoubt().id,
    },
    facts: { madeBy: { caller: 'Ana', address: '' } },
  })
  assert.equal(decision.creates?.length, 1)
  const { orderId: ordered, ...operation } = made()
  assert.deepEqual(operation, expected)
  assert.match(ordered, /^[0-9a-f]{32}$/)
  const cashIn = decision.outcome
  assert.deepEqual([suspendedCents(cashIn as CashIn, 'E2'), returningCents(cashIn as CashIn, 'E2')], [60_00n, 30_00n])
})

test('[cash-in.cases.3] a reason that is too long for the bank is cut', () => {
  const reason = 'x'.repeat(limits.reasonMaxLength + 1)
  const { detail } = made({ reason })
  assert.equal(detail.reason, reason.slice(1))
})

test('[cash-in.cases.3] the order id follows from the payment and the number of the order, and is no merchant’s', () => {
  const first = made().orderId
  assert.equal(made({ newId: OTHER_ID, amountCents: 1n }).orderId, first, 'decided again in another process')
  const again = made({ cashIn: inDoubt({ returnOrders: { E2: 1 } }) }).orderId
  const third = made({ cashIn: inDoubt({ returnOrders: { E2: 2 } }) }).orderId
  assert.equal(made({ cashIn: inDoubt({ returnOrders: { E3: 1 } }) }).orderId, first)
  const elsewhere = made({ terms: { ...refundTerms(), installation: OTHER_ID } }).orderId
  const merchants = ['1', 'operator', REFUND_ID].map((externalId) =>
    orderId(INSTALLATION, { kind: 'refund_in', endToEndId: 'E2', externalId }),
  )
  assert.equal(new Set([first, again, third, elsewhere, ...merchants]).size, 4 + merchants.length)
})

test('[cash-in.cases.3] a payment goes back for 90 days, by its own time', () => {
  const last = 90 * DAY
  assert.equal(order({ paidAt: NOW - last }).creates?.length, 1)
  assert.throws(() => order({ paidAt: NOW - last - 1 }), { code: 'refund_deadline_exceeded' })
  const { openCase, order: untimed } = ordered('return_to_payer', KIND, 'E2', { amountCents: 30_00n })
  const decider = createCashInDecider({ terms: refundTerms(), isUnsupported: false, isNearRestore: () => false })
  const at = (createdAt: number) => decider.decide({ ...inDoubt(), createdAt }, openCase, untimed, stateOf(), NOW)
  assert.equal(at(NOW - last).creates?.length, 1, 'where its time is not told the charge’s counts')
  assert.throws(() => at(NOW - last - 1), { code: 'refund_deadline_exceeded' })
})

test('[cash-in.cases.3] [operator.switch.2] not while payouts and refunds are off, nor at a bank without refunds', () => {
  assert.throws(() => order({ state: OFF }), { code: 'cash_out_suspended' })
  assert.throws(() => order({ isUnsupported: true }), { code: 'not_supported_by_bank' })
  assert.deepEqual(order().reads.controls, ['cash_out_switch'])
})

test('[cash-in.cases.3] [limits.4] caps bind it as any refund', () => {
  const bound = (cents: bigint) => order({ terms: refundTerms({ paymentCents: cents, dayCents: 100_00n }) })
  assert.throws(() => bound(29_99n), { code: 'limit_exceeded' })
  const decision = bound(30_00n)
  assert.ok(decision.allowances?.some(({ cents }) => cents === 30_00n))
  assert.deepEqual(
    decision.reads.allowances?.map(({ span }) => span),
    ['day'],
  )
  const used: State = { ...stateOf(), usedSince: () => 71_00n, used: () => new Map([[0, 71_00n]]) as never }
  assert.throws(() => order({ state: used, terms: refundTerms({ hourCents: 100_00n }) }), { code: 'limit_exceeded' })
})

test('[cash-in.cases.3] every other decision orders nothing', () => {
  const decider = createCashInDecider({ terms: refundTerms(), isUnsupported: true, isNearRestore: () => false })
  const { openCase, order: other } = ordered('write_off', KIND, 'E2')
  const decision = decider.decide(inDoubt(), openCase, other, OFF, NOW)
  assert.deepEqual([decision.creates, decider.readsFor(inDoubt(), openCase, other).controls], [[], undefined])
})

/** The refund of R$ 30,00 of E2. */
function toPayer(status: RefundInStatus, given: Partial<RefundIn> = {}): RefundIn {
  const { detail } = refundAs(status)
  return refundAs(status, {
    endToEndId: 'E2',
    detail: { ...detail, origin: 'OPERATOR', from: inDoubt().id },
    ...given,
    facts: { ...refundAs(status).facts, ...given.facts },
  })
}

const OPEN = { [REFUND_ID]: { valueCents: 30_00, transactionId: null, payment: 'E2' } }
const UNDER_WAY: CashInFacts = { openRefunds: OPEN, returnOrders: { E2: 1 } }
const FROM_E2 = { state: 'from_suspense', cents: 30_00, endToEndId: 'E2' } as const

function apply(refund: RefundIn, facts: CashInFacts, ...inputs: readonly RefundInInput[]) {
  const decision = decideRefundIn(refund, inDoubt(facts), inputs, stateOf(), NOW)
  const entries = decision.journals?.flatMap(entriesOf).map(({ account, amountCents }) => `${account} ${amountCents}`)
  return { ...decision, ...decision.outcome, holder: decision.outcome.holder as CashIn, entries }
}

test('[refund-in.states.7] [cash-in.refunds.2] what the bank confirms is taken from suspense, and the merchant is notified of the refund', () => {
  const { refund, holder: cashIn, entries, notifications } = apply(toPayer('PENDING'), UNDER_WAY, confirmed())
  assert.deepEqual([refund.status, entries], ['CONFIRMED', ['suspense_in -3000', 'settlement 3000']])
  assert.deepEqual(cashIn.facts.returns, { D1: { ...FROM_E2, refundId: REFUND_ID } })
  assert.deepEqual([suspendedCents(cashIn, 'E2'), returningCents(cashIn, 'E2')], [30_00n, 0n])
  assert.deepEqual([refundedCents(cashIn), cashIn.facts.refundsOpenCents], [0n, undefined])
  assert.deepEqual(
    notifications?.map(({ eventType, status }) => [eventType, status]),
    [['pix_cash_in_reversal', 'CONFIRMED']],
  )
})

test('[cash-in.refunds.1] of a charge that is PAID it costs the merchant nothing: as much may be refunded as before', () => {
  const paid = { ...cashInAs('PAID'), openCases: [] }
  const facts = { ...paid.facts, payments: { E1: 100_00, E2: 30_00 }, ...UNDER_WAY }
  const { outcome } = decideRefundIn(toPayer('PENDING'), { ...paid, facts }, [confirmed()], stateOf(), NOW)
  const after = outcome.holder as CashIn
  assert.deepEqual([refundableCents({ ...paid, facts }), refundableCents(after)], [100_00n, 100_00n])
})

for (const [what, refund, input] of [
  ['the bank refuses', toPayer('PENDING'), INPUTS['send.rejected']],
  ['the bank reports as failed', toPayer('PENDING'), INPUTS['partner.failed']],
  ['an operator refuses', toPayer('PENDING', { facts: { attempts: 0 } }), INPUTS['operator.refused']],
  [
    'nobody sent for a day',
    toPayer('PENDING', { facts: { attempts: 0 }, createdAt: NOW - DAY }),
    INPUTS['clock.released'],
  ],
] as const) {
  test(`[refund-in.states.1] [cash-in.refunds.3] of what ${what} nothing changed: the whole is in suspense, and its case open`, () => {
    const { refund: after, holder: cashIn, entries, closes } = apply(refund, UNDER_WAY, input)
    assert.deepEqual([after.status, entries, closes], ['FAILED', [], []])
    assert.deepEqual([suspendedCents(cashIn, 'E2'), returningCents(cashIn, 'E2')], [60_00n, 0n])
    assert.equal(cashIn.facts.refundsOpenCents, undefined)
    const again = made({ cashIn, amountCents: 60_00n, newId: OTHER_ID })
    assert.notEqual(again.orderId, made().orderId, 'it can be ordered again, as another order')
  })
}

test('[refund-in.ended.6] [cash-in.refunds.4] what leaves after the failure is in suspense as left, and nothing of the merchant is held', () => {
  const { refund, holder: cashIn, entries, cases } = apply(toPayer('FAILED'), { returnOrders: { E2: 1 } }, confirmed())
  assert.deepEqual(entries, ['settlement 3000', 'suspense_out -3000'])
  assert.deepEqual(
    [refund.status, refund.facts.heldAgainCents, cases?.map(({ kind }) => kind)],
    ['FAILED', 0, ['debit_in_suspense']],
  )
  assert.deepEqual(cashIn.facts.returns, { D1: { state: 'at_refund', cents: 30_00 } })
  assert.equal(suspendedCents(cashIn, 'E2'), 60_00n, 'its case decides whether that was it')
})

test('[refund-in.doubt.4] [cash-in.refunds.4] another amount is in suspense as left, and the order stays under way', () => {
  const { refund, holder: cashIn, entries } = apply(toPayer('PENDING'), UNDER_WAY, confirmed({ valueCents: 29_99n }))
  assert.deepEqual([refund.status, entries], ['PENDING', ['settlement 2999', 'suspense_out -2999']])
  assert.deepEqual(cashIn.facts.returns, { D1: { state: 'at_refund', cents: 29_99 } })
  assert.deepEqual([suspendedCents(cashIn, 'E2'), returningCents(cashIn, 'E2')], [60_00n, 30_00n])
})

test('[cash-in.refunds.8] the reference by which the bank knows it tells it from other returns of the payment', () => {
  const { holder: cashIn } = apply(toPayer('PENDING'), UNDER_WAY, INPUTS['send.accepted'])
  assert.deepEqual(cashIn.facts.openRefunds, { [REFUND_ID]: { ...OPEN[REFUND_ID], transactionId: 'tx-r' } })
})

const IDENTITY = { id: OTHER_ID, bodyHash: sha256('D1') }

/** The bank gives R$ 30,00 of E2 back while the refund is under way. */
function reported(
  facts: CashInFacts = UNDER_WAY,
  given: object = {},
  found: readonly string[] = [],
  refund = toPayer('PENDING'),
) {
  const returned = {
    returnId: 'D1',
    valueCents: 30_00n,
    occurredAt: NOW - 1_000,
    transactionId: 'tx-b',
    endToEndId: 'E2',
  }
  const state = stateOf(1_000_00n, refund)
  const decision = decideReturn(inDoubt(facts), { ...returned, ...given }, IDENTITY, state, NOW, found)
  const asked = decision.moves?.some(({ operationId }) => operationId === REFUND_ID) ?? false
  const kinds = [...(decision.journals ?? []), ...(decision.cases ?? [])].map(({ kind }) => kind)
  return { state: decision.outcome.cashIn?.facts.returns?.D1?.state, kinds, asked, creates: decision.creates ?? [] }
}

test('[cash-in.returns.1] the same amount without a reference of its own may be the refund, of which the bank is asked at once', () => {
  assert.deepEqual(reported(), { state: 'in_doubt', kinds: [], asked: true, creates: [] })
  assert.deepEqual(reported({ ...UNDER_WAY }, { endToEndId: null }).state, 'in_doubt', 'the only payment is meant')
  const failed = toPayer('FAILED')
  assert.equal(
    reported({ returnOrders: { E2: 1 } }, {}, [REFUND_ID], failed).state,
    'in_doubt',
    'a failed one may have arrived',
  )
})

test('[cash-in.refunds.12] with another reference, or of another amount, it is the bank’s own, and taken from suspense at once', () => {
  const booked = { state: 'from_suspense', kinds: ['arrival_returned'], asked: false, creates: [] }
  const named = {
    ...UNDER_WAY,
    openRefunds: { [REFUND_ID]: { ...OPEN[REFUND_ID], valueCents: 30_00, transactionId: 'tx-r' } },
  }
  assert.deepEqual(reported(named), booked)
  assert.deepEqual(reported(UNDER_WAY, { valueCents: 29_99n }), booked)
  const merchants = {
    refundsOpenCents: 30_00,
    openRefunds: { [REFUND_ID]: { valueCents: 30_00, transactionId: null } },
  }
  const credited = { payments: { E1: 100_00, E2: 60_00 }, ...merchants }
  assert.equal(reported(credited).kinds[0], 'arrival_returned', 'a refund of the merchant is of the credited payment')
})

test('[cash-in.refunds.12] [refund-in.doubt.10] what the bank gave back of what is on its way back is taken from suspense: the refund is not sent', () => {
  const back = reported(UNDER_WAY, { valueCents: 30_01n })
  assert.deepEqual([back.state, back.kinds], ['from_suspense', ['arrival_returned']])
  const gone = { ...UNDER_WAY, returns: { D1: { state: 'from_suspense', cents: 30_01, endToEndId: 'E2' } } } as const
  const unsent = toPayer('PENDING', { dueAt: NOW, facts: { unsentAttempts: 1 } })
  const again = { ...INPUTS['send.claimed'], again: { askedAt: NOW, windowMs: DAY } }
  for (const [refund, claim] of [
    [unsent, INPUTS['send.claimed']],
    [toPayer('PENDING'), again],
  ] as const) {
    assert.deepEqual(apply(refund, gone, claim).moves ?? [], [])
    assert.equal(apply(refund, UNDER_WAY, claim).moves?.length, 1, 'it is sent where the payment is there')
  }
  for (const facts of [{}, reasonFact('no_answer'), reasonFact('not_dispatched')]) {
    const left = apply(toPayer('PENDING', { facts }), gone, confirmed({ returnId: 'D2' }))
    assert.deepEqual([left.refund.status, reasonOf(left.refund)], ['PENDING', 'conflict'])
    assert.deepEqual(
      [left.journals?.map(({ kind }) => kind), left.cases?.map(({ kind }) => kind)],
      [['left_unattributed'], ['debit_in_suspense']],
      'what left all the same has a case of its own',
    )
  }
  for (const doubt of [{}, reasonFact('no_answer')]) {
    const waiting = { ...unsent, facts: { ...unsent.facts, ...doubt } }
    const { refund } = apply(waiting, gone, INPUTS['send.postponed'])
    assert.deepEqual([refund.dueAt, refund.status, reasonOf(refund)], [NOW + 300_000, 'PENDING', reasonOf(waiting)])
  }
  assert.deepEqual(apply(unsent, UNDER_WAY, INPUTS['send.postponed']).moves ?? [], [], 'it may be sent')
})

test('[cash-in.returns.3] a refund that failed is on its way no more once the bank answered of it, whatever the return was', () => {
  const failed = toPayer('FAILED', { facts: statusQueryFact('in_flight'), dueAt: NOW })
  for (const returns of [{}, { D1: { state: 'at_refund', cents: 30_00 } }] as const) {
    const { holder: cashIn, moves } = apply(failed, { ...UNDER_WAY, returns }, { on: 'work.done' })
    assert.ok(moves?.some(({ trigger }) => trigger === 'refund.answered'))
    assert.deepEqual([cashIn.facts.openRefunds, returningCents(cashIn, 'E2')], [{}, 0n])
    const unanswered = apply(failed, { ...UNDER_WAY, returns }, { on: 'work.done', isUnanswered: true })
    assert.equal(returningCents(unanswered.holder, 'E2'), 30_00n)
  }
})

/** It was reported a quarter of an hour ago. */
const LONG_IN_DOUBT = {
  state: 'in_doubt',
  cents: 30_00,
  occurredAt: NOW - 901_000,
  transactionId: 'tx-b',
  payment: 'E2',
  since: NOW - 900_000,
  answered: [],
} as const

function settle(facts: CashInFacts, refund: RefundIn, openCases?: readonly OpenCase[]) {
  const cashIn = inDoubt(facts, openCases)
  const decision = decideInDoubt(cashIn, new Map([['D1', IDENTITY]]), stateOf(1_000_00n, refund, cashIn), NOW)
  const entries = (decision.journals ?? [])
    .flatMap(entriesOf)
    .map(({ account, amountCents }) => `${account} ${amountCents}`)
  return { ...decision, cashIn: decision.outcome, entries }
}

test('[cash-in.returns.4] [cash-in.returns.1] held for a quarter of an hour it holds nothing of the merchant', () => {
  const { entries, cashIn, cases } = settle({ ...UNDER_WAY, returns: { D1: LONG_IN_DOUBT } }, toPayer('PENDING'))
  assert.deepEqual(entries, ['settlement 3000', 'suspense_out -3000'])
  assert.deepEqual(cashIn.facts.returns, { D1: { ...LONG_IN_DOUBT, heldCents: 0 } })
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['return_unexplained'],
  )
  const merchants = { 'refund-2': { valueCents: 30_00, transactionId: null } }
  const { payment: _, ...unclear } = LONG_IN_DOUBT
  const both = settle({ openRefunds: { ...OPEN, ...merchants }, returns: { D1: unclear } }, toPayer('PENDING'))
  assert.ok(both.entries.includes('available -3000'), 'what may be the merchant’s refund is held')
})

const HELD: CashInFacts = { returns: { D1: { ...LONG_IN_DOUBT, heldCents: 0 } } }

test('[cash-in.returns.1] [cash-in.returns.9] what the bank confirms of a return that only an event told counts as its word', () => {
  const told = { ...LONG_IN_DOUBT, isUnverified: true } as const
  const facts = { ...UNDER_WAY, returns: { D1: told } }
  const tell = (isVerified: boolean) => {
    const returned = { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, endToEndId: 'E2', isVerified }
    const state = stateOf(1_000_00n, toPayer('PENDING'))
    return decideReturn(inDoubt(facts), { ...returned, transactionId: 'tx-b' }, IDENTITY, state, NOW).outcome
  }
  assert.equal(tell(false).result, 'EARLY')
  const { cashIn } = tell(true)
  assert.deepEqual(cashIn?.facts.returns, { D1: LONG_IN_DOUBT })
  const { cashIn: after } = settle({ returnOrders: { E2: 1 }, openRefunds: {}, ...cashIn?.facts }, toPayer('FAILED'))
  assert.ok(after)
})

test('[cash-in.returns.5] held, and then confirmed as the refund, it is booked once', () => {
  const { refund, holder: cashIn, entries } = apply(toPayer('PENDING'), { ...UNDER_WAY, ...HELD }, confirmed())
  assert.equal(refund.status, 'CONFIRMED')
  assert.deepEqual(entries, ['settlement -3000', 'suspense_out 3000', 'suspense_in -3000', 'settlement 3000'])
  assert.deepEqual(cashIn.facts.returns, { D1: { ...FROM_E2, refundId: REFUND_ID } })
})

test('[cash-in.returns.5] [cash-in.cases.15] held, and not the refund, it is the bank’s own: where nothing is left the doubt ends', () => {
  const about = { id: 'of D1', kind: 'return_unexplained', rule: 'cash-in.returns.4', reference: 'D1', version: 1 }
  const { openCase } = ordered('return_to_payer', KIND, 'E2')
  const facts = { payments: { E2: 30_00 }, returnOrders: { E2: 1 }, openRefunds: {}, ...HELD }
  const { entries, cashIn, closes, notifications, creates } = settle(facts, toPayer('FAILED'), [openCase, about])
  assert.deepEqual(entries.toSorted(), [
    'settlement -3000',
    'settlement 3000',
    'suspense_in -3000',
    'suspense_out 3000',
  ])
  assert.deepEqual(cashIn.facts.returns, { D1: FROM_E2 })
  assert.deepEqual([creates ?? [], closes?.toSorted()], [[], [openCase.id, about.id].toSorted()])
  assert.deepEqual([cashIn.status, cashIn.facts.failureCode], ['FAILED', 'returned_to_payer'])
  assert.deepEqual(
    notifications?.map(({ status }) => status),
    ['FAILED'],
  )
})

test('[refund-in.unknown.1] [refund-in.states.9] a missing answer, or a failure that only an event reports, ends nothing of it', () => {
  for (const input of [INPUTS['send.unknown'], { ...INPUTS['partner.failed'], isVerified: false }]) {
    const { refund, holder: cashIn } = apply(toPayer('PENDING'), UNDER_WAY, input)
    assert.deepEqual([refund.status, returningCents(cashIn, 'E2')], ['PENDING', 30_00n])
  }
  assert.equal(
    statusQueryOf(
      apply(toPayer('PENDING'), UNDER_WAY, { ...INPUTS['partner.failed'], isVerified: false }).refund.facts,
    ),
    'requested',
  )
})
