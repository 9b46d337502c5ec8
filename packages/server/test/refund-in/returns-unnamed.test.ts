import assert from 'node:assert/strict'
import test from 'node:test'
import type { CashIn, CashInFacts } from '../../src/cash-in/cash-in.ts'
import { reportedPaymentsFact } from '../../src/cash-in/reported.ts'
import type { State } from '../../src/engine/operation.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { BankReturn } from '../../src/refund-in/refund-in.ts'
import { decideReturn } from '../../src/refund-in/returns.ts'
import { IN_DOUBT, NOW, wentBack } from '../cash-in/situations.ts'
import { paidCashIn, REFUND_ID, refundAs, stateOf, TAKEN } from './situations.ts'

/** Returns that the bank tells without their ids, and with them later. */

const UNNAMED = { returnId: 'unnamed 1', isUnnamed: true } as const

/** In suspense since it was told without its id. */
const SUSPENDED = { state: 'in_suspense', cents: 30_00, unnamedOf: 'E1' } as const

/** What comes of a return of R$ 30,00 of a payment of which this is known. */
function effectsOf(
  facts: CashInFacts,
  given: Partial<BankReturn>,
  state: State = stateOf(),
  found: readonly string[] = [],
) {
  const returned = { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, transactionId: 'tx-b', ...given }
  const identity = { id: REFUND_ID, bodyHash: sha256(returned.returnId) }
  const decision = decideReturn(paidCashIn(facts), returned, identity, state, NOW, found)
  return {
    result: decision.outcome.result,
    journals: (decision.journals ?? []).map(({ kind }) => kind),
    cases: (decision.cases ?? []).map(({ kind }) => kind),
    suspended: suspendedIn(decision.outcome.cashIn?.facts),
  }
}

function suspendedIn({ returns = {} }: CashInFacts = {}): string[] {
  return Object.keys(returns).filter((returnId) => returns[returnId]?.state === 'in_suspense')
}

test('[cash-in.refunds.10] [EV-37] a return without an id goes to suspense, and nothing lets go of it but its id', () => {
  assert.deepEqual(effectsOf({}, UNNAMED), {
    result: 'APPLIED',
    journals: ['left_unattributed'],
    cases: ['debit_in_suspense'],
    suspended: ['unnamed 1'],
  })
})

for (const [what, facts] of [
  ['was debited', { returns: wentBack({ D1: 30_00 }) }],
  ['is in suspense', { returns: { D1: { state: 'in_suspense', cents: 30_00 } } }],
  ['is in doubt', { returns: { D1: IN_DOUBT } }],
  ['may be a refund of any amount under way', { refundsOpenCents: 10_00 }],
] as const)
  test(`[cash-in.refunds.10] [EV-37] a return without an id is a case and not booked where one like it ${what}`, () => {
    const { journals, cases } = effectsOf(facts, UNNAMED)
    assert.deepEqual([journals, cases], [[], ['bank_contradicts']])
  })

test('[cash-in.refunds.10] [RF-8] a return without an id is not booked where a refund that failed may be it', () => {
  const { journals, cases } = effectsOf({}, UNNAMED, stateOf(1_000_00n, refundAs('FAILED')), [REFUND_ID])
  assert.deepEqual([journals, cases], [[], ['bank_contradicts']])
})

test('[cash-in.refunds.10] [EV-37] the return reported with its id is booked, and clears from suspense the one reported without it', () => {
  const { journals, suspended } = effectsOf({ returns: { 'unnamed 1': SUSPENDED } }, { endToEndId: 'E1' })
  assert.deepEqual([journals.toSorted(), suspended], [['return_known', 'taken_by_bank'], []])
  const unclear = { returns: { 'unnamed 1': { ...SUSPENDED, unnamedOf: null } } }
  assert.deepEqual(effectsOf(unclear, { endToEndId: 'E1' }).suspended, [], 'of which payment it is was not told then')
})

test('[cash-in.refunds.10] [EV-37] told without its id once more, after it was told with it, a return is nothing new', () => {
  const decideOn = (cashIn: CashIn, given: Partial<BankReturn>) => {
    const returned = { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, transactionId: 'tx-b', ...given }
    const identity = { id: REFUND_ID, bodyHash: sha256(returned.returnId) }
    return decideReturn(cashIn, { endToEndId: 'E1', ...returned }, identity, stateOf(), NOW)
  }
  const before = paidCashIn({ returns: { 'unnamed 1': SUSPENDED } })
  const after = decideOn(before, {}).outcome.cashIn ?? assert.fail()
  assert.equal(decideOn(after, UNNAMED).outcome.result, 'IGNORED')
  const { journals, cases } = decideOn(after, { ...UNNAMED, valueCents: 31_00n })
  assert.deepEqual([journals, cases?.map(({ kind }) => kind)], [[], ['bank_contradicts']])
})

for (const [what, facts] of [
  ['another amount', { returns: { S1: { ...SUSPENDED, cents: 29_99 } } }],
  ['another payment', { payments: { E1: 100_00, E2: 30_00 }, returns: { S1: { ...SUSPENDED, unnamedOf: 'E2' } } }],
  ['a return that was booked long ago', { returns: { ...wentBack({ D1: 30_00 }), S1: SUSPENDED } }],
] as const)
  test(`[cash-in.refunds.10] a return clears nothing from suspense that is of ${what}`, () => {
    const { journals, suspended } = effectsOf(facts, { endToEndId: 'E1' })
    assert.deepEqual([journals.includes('return_known'), suspended], [false, ['S1']])
  })

test('[cash-in.refunds.10] [cash-in.refunds.11] a return that another operation has lets go of nothing here', () => {
  const { journals, suspended } = effectsOf({ returns: { S1: SUSPENDED } }, { endToEndId: 'E1' }, TAKEN)
  assert.deepEqual([journals, suspended], [[], ['S1']])
})

test('[cash-in.refunds.9] [cash-in.refunds.10] what is in suspense under its own id stays, of whichever payment a return is', () => {
  const facts: CashInFacts = {
    payments: { E1: 100_00, E2: 30_00 },
    returns: { S1: { state: 'in_suspense', cents: 30_00 } },
  }
  const { journals, suspended } = effectsOf(facts, {})
  assert.deepEqual([journals, suspended], [['left_unattributed'], ['S1', 'D1']])
})

test('[cash-in.refunds.9] a new return that names no payment waits while a payment is to be verified', () => {
  const reported = reportedPaymentsFact({ E2: { valueCents: 30_00, occurredAt: NOW - 1_000, since: NOW - 1_000 } })
  const result = (facts: CashInFacts, given: Partial<BankReturn>) => effectsOf({ ...reported, ...facts }, given).result
  assert.equal(result({}, {}), 'EARLY')
  assert.equal(result({}, { endToEndId: 'E1' }), 'APPLIED', 'whose it is is told')
  assert.equal(result({ returns: wentBack({ D1: 30_00 }) }, {}), 'IGNORED', 'it was booked before')
  const openRefunds = { [REFUND_ID]: { valueCents: 30_00, transactionId: null } }
  assert.equal(result({ openRefunds, returns: { D1: IN_DOUBT } }, {}), 'IGNORED', 'it waits already')
})
