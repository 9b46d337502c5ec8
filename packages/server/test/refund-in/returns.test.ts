import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { type CashIn, isCashIn } from '../../src/cash-in/cash-in.ts'
import { refundableCents, returnInDoubt, returnsInDoubt } from '../../src/cash-in/returns.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { statusQueryFact } from '../../src/operations/attempts.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { ownOrderId } from '../../src/platform/ids.ts'
import type { BankReturn, Holder, RefundIn } from '../../src/refund-in/refund-in.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { cashInAs, NOW, wentBack } from '../cash-in/situations.ts'
import { withOpenCases } from '../support/open-cases.ts'
import { cashInOf, confirmed, INPUTS, paidCashIn, REFUND_ID, refundAs, SENT, stateOf } from './situations.ts'

const IDENTITY = { id: REFUND_ID, bodyHash: sha256('D1') }

function returned(given: Partial<BankReturn> = {}): BankReturn {
  return { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, transactionId: 'tx-b', ...given }
}

test('[EV-27] [refund-in.returns.1] a return made by the bank is a confirmed refund, debited and notified', () => {
  const decision = decideReturn(paidCashIn(), returned(), IDENTITY, stateOf(), NOW)
  assert.equal(decision.outcome.result, 'APPLIED')
  assert.deepEqual(
    decision.creates?.map(({ operation }) => operation),
    [
      (({ version, createdAt, updatedAt, openCases, ...operation }) => operation)(
        refundAs('CONFIRMED', {
          externalId: REFUND_ID,
          orderId: ownOrderId(REFUND_ID),
          bodyHash: IDENTITY.bodyHash,
          transactionId: 'tx-b',
          detail: { cashInId: paidCashIn().id, reason: null, origin: 'PARTNER' },
          facts: { returns: { D1: 30_00 }, returnId: 'D1', confirmedAt: NOW - 1_000 },
        }),
      ),
    ],
  )
  assert.deepEqual(
    decision.journals?.flatMap(entriesOf).map(({ account, amountCents, shown }) => [account, amountCents, shown]),
    [
      ['available', -30_00n, 'FORCED_DEBIT'],
      ['settlement', 30_00n, null],
    ],
  )
  const { event_type, event } = JSON.parse(decision.notifications?.[0]?.body.toString() ?? '')
  assert.deepEqual(
    [event_type, event],
    [
      'pix_cash_in_reversal',
      {
        id: paidCashIn().id,
        correlation_id: 'test',
        external_id: REFUND_ID,
        transaction_id: 'tx-b',
        status: 'CONFIRMED',
        value_cents: 30_00,
        end_to_end_id: 'E1',
        fee_amount_cents: 0,
        confirmed_at: '2026-11-21T13:29:59.000000000Z',
        created_at: '2026-11-21T13:30:00.000000000Z',
      },
    ],
  )
  assert.deepEqual(decision.exact, ['available', 'receivable'])
})

test('[refund-in.returns.1] what the balance cannot bear is owed', () => {
  const debited = (availableCents: bigint) => {
    const { journals = [] } = decideReturn(paidCashIn(), returned(), IDENTITY, stateOf(availableCents), NOW)
    return Object.fromEntries(journals.flatMap(entriesOf).map(({ account, amountCents }) => [account, amountCents]))
  }
  assert.deepEqual(debited(0n), { settlement: 30_00n, receivable: -30_00n })
  assert.deepEqual(debited(10_00n), { available: -10_00n, settlement: 30_00n, receivable: -20_00n })
})

test('[RF-10] [cash-in.refunds.5] what the bank took is booked however much went back; more than came in is a case', () => {
  const cashIn = paidCashIn({ returns: wentBack({ D0: 80_00 }) })
  const decision = decideReturn(cashIn, returned(), IDENTITY, stateOf(), NOW)
  assert.equal(decision.outcome.result, 'APPLIED')
  assert.deepEqual(
    decision.cases?.map(({ operationId, kind, reference }) => [operationId, kind, reference]),
    [[cashIn.id, 'bank_contradicts', 'D1']],
  )
})

test('[refund-in.returns.2] a return is booked once, for ever; reported with another amount it is a case', () => {
  const cashIn = paidCashIn({ returns: wentBack({ D1: 30_00 }) })
  assert.equal(decideReturn(cashIn, returned(), IDENTITY, stateOf(), NOW).outcome.result, 'IGNORED')
  const restated = decideReturn(cashIn, returned({ valueCents: 29_99n }), IDENTITY, stateOf(), NOW)
  assert.deepEqual([restated.creates, restated.journals], [[], []])
  assert.deepEqual(
    restated.cases?.map(({ kind }) => kind),
    ['bank_contradicts'],
  )
})

test('[EV-27b] [refund-in.returns.3] a debit never comes before its credit, and not from the future', () => {
  for (const status of ['PENDING', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'] as const)
    assert.equal(decideReturn(cashInAs(status), returned(), IDENTITY, stateOf(), NOW).outcome.result, 'EARLY')
  const ahead = returned({ occurredAt: NOW + 300_001 })
  assert.equal(decideReturn(paidCashIn(), ahead, IDENTITY, stateOf(), NOW).outcome.result, 'IMPLAUSIBLE')
  const doubted = { ...paidCashIn(), status: 'RECONCILIATION_REQUIRED' } as const
  assert.equal(decideReturn(doubted, returned(), IDENTITY, stateOf(), NOW).outcome.result, 'APPLIED')
})

test('[refund-in.returns.4] a return that is reported by the payment’s reference has none of its own', () => {
  const byPayment = returned({ transactionId: paidCashIn().transactionId as string })
  const { creates } = decideReturn(paidCashIn(), byPayment, IDENTITY, stateOf(), NOW)
  assert.equal(creates?.[0]?.operation.transactionId, null)
})

/** One open refund of R$ 30,00, and its cash-in; `transactionId` is the bank's reference of it, where that is known. */
function open(transactionId: string | null = null) {
  const openRefunds = { [REFUND_ID]: { valueCents: 30_00, transactionId } }
  return { refund: refundAs('PENDING', { transactionId }), cashIn: cashInOf('PENDING', { openRefunds }) }
}

/** What comes of a return that is told while this is so. */
function afterReturn(cashIn: CashIn, refund: RefundIn, given: Partial<BankReturn> = {}) {
  const decision = decideReturn(cashIn, returned(given), IDENTITY, stateOf(1_000_00n, cashIn, refund), NOW)
  const after = decision.outcome.cashIn as CashIn
  return {
    after,
    isBooked: (decision.creates ?? []).length === 1,
    isAwaited: returnInDoubt(after, 'D1') !== undefined,
    journals: (decision.journals ?? []).map(({ kind }) => kind),
    moves: (decision.moves ?? []).map(({ operationId, trigger }) => [operationId, trigger]),
  }
}

test('[RF-12] [cash-in.returns.1] while an unnamed refund of this very amount is open nothing is booked, and it is asked about', () => {
  const { refund, cashIn } = open()
  const { after, journals, moves } = afterReturn(cashIn, refund)
  assert.deepEqual(journals, [])
  assert.deepEqual(moves, [
    [cashIn.id, 'return.told'],
    [REFUND_ID, 'work.requested'],
  ])
  assert.equal(after.dueAt, NOW + limits.unknownResultEscalationMs, 'the database knows when it is too long')
  assert.equal(refundableCents(after), refundableCents(cashIn) - 30_00n)
  assert.deepEqual(afterReturn(after, refund).moves, [], 'told again it is nothing new')
})

test('[RF-12] [RF-13] [RF-17] [cash-in.returns.1] [cash-in.returns.2] what distinguishes a return from a refund', () => {
  const payments = paidCashIn().transactionId as string
  for (const [reference, given, isAwaited] of [
    [null, {}, true],
    [null, { transactionId: payments }, true],
    ['tx-r', { transactionId: payments }, true],
    ['tx-r', { transactionId: 'tx-r' }, true],
    ['tx-r', {}, false],
    [null, { valueCents: 29_99n }, false],
    [null, { valueCents: 30_01n }, false],
  ] as const) {
    const { refund, cashIn } = open(reference)
    const outcome = afterReturn(cashIn, refund, given)
    assert.deepEqual(
      [outcome.isAwaited, outcome.isBooked],
      [isAwaited, !isAwaited],
      JSON.stringify([reference, given.transactionId]),
    )
  }
})

test('[cash-in.returns.1] a refund that a process of the version before took is known from the store', () => {
  const refund = refundAs('PENDING')
  const cashIn = paidCashIn({ refundsOpenCents: 30_00 })
  const state = stateOf(1_000_00n, cashIn, refund)
  const { outcome } = decideReturn(cashIn, returned(), IDENTITY, state, NOW, [REFUND_ID])
  assert.ok(outcome.cashIn && returnInDoubt(outcome.cashIn, 'D1'))
  assert.deepEqual(outcome.cashIn.facts.openRefunds, { [REFUND_ID]: { valueCents: 30_00, transactionId: null } })
})

test('[cash-in.refunds.6] [cash-in.returns.1] a return that is awaited and reported with another amount is a case', () => {
  const { refund, cashIn } = open()
  const { after } = afterReturn(cashIn, refund)
  const again = decideReturn(after, returned({ valueCents: 1n }), IDENTITY, stateOf(1_000_00n, after, refund), NOW)
  assert.deepEqual(
    again.cases?.map(({ kind }) => kind),
    ['bank_contradicts'],
  )
  assert.deepEqual([again.creates, again.journals], [[], []])
  assert.deepEqual(again.outcome.cashIn?.facts.returns, after.facts.returns)
})

test('[cash-in.returns.1] ids that every object has are no return and no refund', () => {
  const knowing = paidCashIn({ returns: wentBack({ D0: 1 }) })
  for (const returnId of ['constructor', 'toString', '__proto__'])
    assert.equal(decideReturn(knowing, returned({ returnId }), IDENTITY, stateOf(), NOW).creates?.length, 1)
})

/** The cash-in and the refund after a return was told that may be it, and everything that is due was done. */
function settled(cashIn: Holder, refund: RefundIn, availableCents = 1_000_00n, at = NOW) {
  assert.ok(isCashIn(cashIn))
  const identities = new Map([['D1', IDENTITY]])
  return decideInDoubt(cashIn, identities, stateOf(availableCents, cashIn, refund), at)
}

function kindsOf({ journals = [] }: { readonly journals?: readonly { readonly kind: string }[] }): string[] {
  return journals.map(({ kind }) => kind)
}

test('[RF-12] [cash-in.returns.2] the answer that names the refund by the return’s reference makes it ours', () => {
  const { refund, cashIn } = open()
  const { after } = afterReturn(cashIn, refund, { transactionId: 'tx-r' })
  const { outcome } = decideRefundIn(refund, after, [INPUTS['send.accepted']], stateOf(), NOW)
  assert.equal(outcome.holder.dueAt, NOW, 'what is lost of this is taken up again')
  const decision = settled(outcome.holder, outcome.refund)
  assert.deepEqual(kindsOf(decision), ['refund_in_confirmed'])
  assert.deepEqual(decision.outcome.facts.returns, wentBack({ D1: 30_00 }))
})

test('[RF-14] [cash-in.returns.2] the refund’s own confirmation by this return, or by another one, settles it', () => {
  const { refund, cashIn } = open()
  const { after } = afterReturn(cashIn, refund)
  const ours = decideRefundIn(refund, after, [confirmed()], stateOf(), NOW)
  assert.deepEqual([kindsOf(ours), returnsInDoubt(ours.outcome.holder)], [['refund_in_confirmed'], []])
  const another = decideRefundIn(refund, after, [confirmed({ returnId: 'D2' })], stateOf(), NOW).outcome
  assert.deepEqual(kindsOf(settled(another.holder, another.refund)), ['taken_by_bank'])
  const failed = decideRefundIn(refund, after, [INPUTS['partner.failed']], stateOf(), NOW).outcome
  assert.deepEqual(kindsOf(settled(failed.holder, failed.refund)), ['taken_by_bank'])
})

test('[RF-13] [cash-in.returns.3] that the bank has it under way counts 10 s after the return was reported, not before', () => {
  const { refund, cashIn } = open('tx-r')
  const accepted = { ...refund, facts: { ...SENT, isAccepted: true } }
  const { after } = afterReturn(cashIn, accepted, { transactionId: paidCashIn().transactionId as string })
  const answered = (nowMs: number) => decideRefundIn(accepted, after, [{ on: 'work.done' }], stateOf(), nowMs).outcome
  for (const [at, kinds] of [
    [NOW + 9_999, []],
    [NOW + 10_000, ['taken_by_bank']],
  ] as const) {
    const { holder: now, refund: asked } = answered(at)
    assert.deepEqual(kindsOf(settled(now, asked, 1_000_00n, at)), kinds)
  }
})

test('[RF-12] [cash-in.returns.3] that the bank does not know the refund yet says nothing', () => {
  const { refund, cashIn } = open()
  const { after } = afterReturn(cashIn, refund)
  const { outcome } = decideRefundIn(
    refund,
    after,
    [INPUTS['partner.not_found'], { on: 'work.done' }],
    stateOf(),
    NOW + 60_000,
  )
  assert.deepEqual(kindsOf(settled(outcome.holder, outcome.refund, 1_000_00n, NOW + 60_000)), [])
})

const LATE = NOW + limits.unknownResultEscalationMs

test('[RF-15] [RF-16] [cash-in.returns.4] after 15 minutes it is a case, and what is there of it is held', () => {
  const { refund, cashIn } = open()
  const { after } = afterReturn(cashIn, refund)
  assert.deepEqual(kindsOf(settled(after, refund, 0n, LATE - 1)), [])
  for (const [availableCents, heldCents] of [
    [1_000_00n, 30_00],
    [12_34n, 12_34],
    [0n, 0],
  ] as const) {
    const decision = settled(after, refund, availableCents, LATE)
    assert.deepEqual(
      decision.cases?.map(({ kind, reference, facts }) => [kind, reference, facts]),
      [
        [
          'return_unexplained',
          'D1',
          { returnId: 'D1', valueCents: 30_00, heldCents, refundIds: [REFUND_ID], rule: 'cash-in.returns.4' },
        ],
      ],
    )
    const entries = decision.journals?.flatMap(entriesOf).map(({ account, amountCents }) => [account, amountCents])
    const sums: Record<string, bigint> = Object.fromEntries(entries ?? [])
    assert.deepEqual(
      [sums.available ?? 0n, sums.reserved ?? 0n, sums.settlement, sums.suspense_out],
      [BigInt(-heldCents), BigInt(heldCents), 30_00n, -30_00n],
    )
    assert.ok(decision.exact?.includes('available'))
    assert.deepEqual(kindsOf(settled(decision.outcome, refund, availableCents, LATE + 1)), [], 'held once')
  }
})

test('[RF-15] [cash-in.returns.5] what was held is released with what it turns out to be, and the case closes', () => {
  const { refund, cashIn } = open()
  const held = withOpenCases(
    settled(afterReturn(cashIn, refund).after, refund, 12_34n, LATE).outcome,
    'return_unexplained',
  )

  const ours = decideRefundIn(refund, held, [confirmed()], stateOf(0n), LATE)
  assert.deepEqual(kindsOf(ours).toSorted(), ['refund_in_confirmed', 'return_known'])
  assert.deepEqual(ours.closes, ['return_unexplained'])

  const { outcome } = decideRefundIn(refund, held, [INPUTS['send.accepted']], stateOf(0n), LATE)
  const banks = settled(outcome.holder, outcome.refund, 0n, LATE)
  assert.deepEqual(kindsOf(banks), ['return_known', 'taken_by_bank'])
  assert.deepEqual(banks.closes, ['return_unexplained'])
  // What was held pays for it, and only the rest is owed.
  assert.deepEqual(banks.journals?.[1]?.amounts, { r: 30_00n, d: 12_34n })
})

/** A refund that failed here although it may have arrived, and its cash-in. */
function failed() {
  return { refund: refundAs('FAILED'), cashIn: cashInOf('FAILED') }
}

test('[RF-8] [cash-in.returns.8] what may be a refund that failed here is not the bank’s own before that was asked', () => {
  const { refund, cashIn } = failed()
  const state = stateOf(1_000_00n, cashIn, refund)
  const { outcome, moves } = decideReturn(cashIn, returned(), IDENTITY, state, NOW, [REFUND_ID])
  const after = outcome.cashIn as CashIn
  assert.ok(returnInDoubt(after, 'D1'))
  assert.deepEqual(
    moves?.map(({ trigger }) => trigger),
    ['return.told', 'work.requested'],
  )
  const asked = { ...refund, facts: { ...refund.facts, ...statusQueryFact('in_flight') } } as const

  const left = decideRefundIn(asked, after, [confirmed(), { on: 'work.done' }], stateOf(), NOW)
  assert.deepEqual(kindsOf(left), ['left_after_release'], 'ours after all: held again, with a case')
  assert.deepEqual(left.outcome.holder.facts.returns, wentBack({ D1: 30_00 }))

  const never = decideRefundIn(asked, after, [INPUTS['partner.not_found'], { on: 'work.done' }], stateOf(), NOW)
  assert.deepEqual(never.outcome.holder.facts.openRefunds, {})
  assert.deepEqual(kindsOf(settled(never.outcome.holder, never.outcome.refund)), ['taken_by_bank'])
})
