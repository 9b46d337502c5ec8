import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import type { CashIn, CashInFacts } from '../../src/cash-in/cash-in.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { decideCreate, type RefundInRequest } from '../../src/refund-in/commands.ts'
import { cashInAs, NOW, wentBack } from '../cash-in/situations.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { paidCashIn, REFUND_ID, refundAs, stateOf } from './situations.ts'

const DEADLINE_MS = 89 * 24 * 3_600_000

function request(given: Partial<RefundInRequest> = {}): RefundInRequest {
  return {
    id: REFUND_ID,
    cashInId: paidCashIn().id,
    valueCents: 30_00n,
    externalId: 'refund-1',
    reason: null,
    correlationId: 'test',
    bodyHash: sha256('refund-1'),
    idempotencyKey: null,
    madeBy: MADE_BY,
    ...given,
  }
}

test('[refund-in.states.1] an accepted request is a PENDING refund whose amount is set aside, due at once', () => {
  const cashIn = paidCashIn()
  const decision = decideCreate(request(), refundTerms(), stateOf(30_00n, cashIn), NOW)
  assert.deepEqual(
    decision.outcome,
    refundAs('PENDING', {
      version: 1,
      dueAt: NOW,
      plan: { step: 'send', changesAt: NOW + 86_400_000 },
      facts: { madeBy: MADE_BY },
      createdAt: NOW,
      updatedAt: NOW,
    }),
  )
  assert.deepEqual(
    decision.journals?.flatMap(entriesOf).map(({ account, amountCents, shown }) => [account, amountCents, shown]),
    [
      ['available', -30_00n, 'REFUND_IN_RESERVE'],
      ['reserved', 30_00n, null],
    ],
  )
  assert.deepEqual(decision.notifications, [])
})

test('[cash-in.refunds.1] every refund moves its cash-in, so that two of them cannot both be decided on the same one', () => {
  const { moves = [] } = decideCreate(
    request(),
    refundTerms(),
    stateOf(30_00n, paidCashIn({ refundsOpenCents: 5 })),
    NOW,
  )
  assert.deepEqual(
    moves.map(({ operationId, trigger, facts }) => [operationId, trigger, facts]),
    [
      [
        paidCashIn().id,
        'refund.reserved',
        { refundsOpenCents: 30_05, openRefunds: { [REFUND_ID]: { valueCents: 30_00, transactionId: null } } },
      ],
    ],
  )
})

/** The code of the refusal. */
function refusalOf(given: Partial<RefundInRequest>, cashIn: CashIn, availableCents = 1_000_00n, at = NOW) {
  try {
    decideCreate(request(given), refundTerms(), stateOf(availableCents, cashIn, refundAs('CONFIRMED')), at)
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.message
  }
}

const NOT_FOUND = 'original cash-in transaction not found'
const NOT_PAID = 'refunds can only be issued for PAID cash-in transactions'
const NOT_POSITIVE = 'refundValue must be greater than zero'
const TOO_LATE = 'refund deadline of 89 days has been exceeded'
const TOO_MUCH = 'refundValue exceeds the amount available for refund'

test('[refund-in.create.2] what is wrong is reported in one order, whatever else is wrong', () => {
  const id = '0198c0de-0000-7000-8000-000000000000'
  const exhausted = { ...paidCashIn({ returns: wentBack({ D1: 100_00 }) }), status: 'RECONCILIATION_REQUIRED' } as const
  const late = paidCashIn({ paidAt: NOW - DEADLINE_MS - 1, returns: wentBack({ D1: 100_00 }) })
  assert.equal(refusalOf({ valueCents: 0n, cashInId: id }, late, 0n), NOT_FOUND)
  assert.equal(refusalOf({ valueCents: 0n }, { ...exhausted, facts: late.facts }, 0n), NOT_PAID)
  assert.equal(refusalOf({ valueCents: 0n }, late, 0n), NOT_POSITIVE)
  assert.equal(refusalOf({ valueCents: 1n }, late, 0n), TOO_LATE)
  assert.equal(refusalOf({ valueCents: 1n }, paidCashIn({ returns: wentBack({ D1: 100_00 }) }), 0n), TOO_MUCH)
  assert.equal(refusalOf({ valueCents: 1n }, paidCashIn(), 0n), 'insufficient balance')
  assert.equal(refusalOf({ valueCents: 1n }, paidCashIn(), 1n), undefined)
})

test('[RF-11] [refund-in.create.2] an id that is no UUID, or that of a refund, is no cash-in', () => {
  assert.equal(refusalOf({ cashInId: null }, paidCashIn()), NOT_FOUND)
  assert.equal(refusalOf({ cashInId: REFUND_ID }, paidCashIn()), NOT_FOUND)
})

test('[RF-5] [refund-in.create.2] only a PAID cash-in is refunded', () => {
  for (const status of ['PENDING', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'] as const)
    assert.equal(refusalOf({}, cashInAs(status)), NOT_PAID)
})

test('[RF-4] [refund-in.create.3] the 89 days end with the instant paidAt + 89 × 24 h, inclusive', () => {
  const paidAt = NOW - DEADLINE_MS
  assert.equal(refusalOf({}, paidCashIn({ paidAt })), undefined)
  assert.equal(refusalOf({}, paidCashIn({ paidAt: paidAt - 1 })), TOO_LATE)
})

test('[refund-in.create.4] refunds under way, refunds done and what the bank took count against the ceiling', () => {
  const left = (facts: CashInFacts) => (valueCents: bigint) => refusalOf({ valueCents }, paidCashIn(facts))
  for (const [facts, mostCents] of [
    [{}, 100_00n],
    [{ refundsOpenCents: 40_00 }, 60_00n],
    [{ returns: wentBack({ D1: 40_00, D2: 10_00 }) }, 50_00n],
    [{ refundsOpenCents: 40_00, returns: wentBack({ D1: 59_99 }) }, 1n],
  ] as const) {
    assert.equal(left(facts)(mostCents), undefined)
    assert.equal(left(facts)(mostCents + 1n), TOO_MUCH)
  }
  assert.equal(left({ returns: wentBack({ D1: 150_00 }) })(1n), TOO_MUCH, 'also where more went back than came in')
})
