import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { ChargeRequest } from '../../src/banks/port.ts'
import { type CashIn, type CashInInput, inputsOf } from '../../src/cash-in/cash-in.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import { assertBooks, balances } from '../support/books.ts'
import { payment } from '../support/engine.ts'
import { cases, movesBy, notifiedStatuses, openTransactions } from '../support/evidence.ts'
import { MADE_BY } from '../support/limits.ts'
import { wallNow } from '../support/wall-clock.ts'
import {
  ACCEPTED,
  CANCELLED,
  type CashInFixture,
  CONTRADICTED,
  cashInFixture,
  charge,
  ENDED,
  NOT_FOUND,
  PAID,
  PIX_CODE,
  REJECTED,
  TIMEOUT,
  UNREACHABLE,
} from './fixture.ts'
import { CHARGED, cashInAs, confirmed, EXPIRES_AT, IN_DOUBT, INPUTS, NOW } from './situations.ts'

const CHARGE = { on: 'charge.accepted', transactionId: 'tx', pixCode: PIX_CODE } as const
const SWEPT = { now: NOW, isSwept: true }
const ASK = { on: 'work.requested' } as const
/** A payment just now: here the clock is the database's. */
const paid = (given = {}) => confirmed({ occurredAt: wallNow(), ...given })

/** Has the charge paid while the bank is asked to cancel it. */
function payBeforeCancelling({ partner }: CashInFixture): void {
  partner.cancelCharge = async () => {
    partner.query = PAID
    return REJECTED
  }
}

test('[partner.2] no transaction and no lock is open while the bank is called, and others may change the cash-in', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  const seen: unknown[] = []
  fixture.partner.whileCalled = async () => {
    seen.push(await openTransactions(fixture.database))
    await fixture.apply(ASK)
  }
  await fixture.jobs.requestCharge(await fixture.read())
  await fixture.later(62_001)
  assert.deepEqual(fixture.partner.asked, ['PUT', 'GET', 'DELETE'])
  const nothing = { transactions: 0n, locks: 0n }
  assert.deepEqual(seen, [nothing, nothing, nothing])
})

test('[cash-in.returns.4] what is awaited is looked at whenever the bank is asked, also where it is silent', async (t) => {
  const settled: string[] = []
  const fixture = await cashInFixture(t, { query: TIMEOUT }, 60, async ({ id }) => void settled.push(id))
  await fixture.apply(paid())
  await fixture.knows({ D1: IN_DOUBT })
  await fixture.later(60_000)
  assert.deepEqual(settled, [(await fixture.read()).id])
})

test('[partner.1] [api-pix.2] every attempt carries the same id and the same request, and when it is made', async (t) => {
  const requests: [string, Omit<ChargeRequest, 'askedAt' | 'isRepeated'>][] = []
  const areRepeated: unknown[] = []
  const askedAt: number[] = []
  const fixture = await cashInFixture(t, {
    query: NOT_FOUND,
    createCharge: async (id, { askedAt: at, isRepeated, ...request }) => {
      requests.push([id, request])
      areRepeated.push(isRepeated)
      askedAt.push(at)
      return TIMEOUT
    },
  })
  const cashIn = await fixture.read()
  await fixture.jobs.requestCharge(cashIn)
  for (const wait of [5_000, 10_000, 15_000]) await fixture.later(wait)
  assert.equal(requests.length, 4)
  const [first] = requests
  assert.equal(first?.[0], cashIn.orderId)
  assert.equal(first?.[1].expiresAt, cashIn.expiresAt)
  for (const request of requests) assert.deepEqual(request, first)
  assert.deepEqual(areRepeated, [false, true, true, true])
  const waits = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0))
  assert.ok(
    waits.every((wait, index) => wait >= 5_000 * (index + 1)),
    String(waits),
  )
})

test('[cash-in.states.4] [CI-4] a request that never leaves is tried again within the create, then later', async (t) => {
  const fixture = await cashInFixture(t, { create: UNREACHABLE, query: UNREACHABLE })
  const cashIn = await fixture.jobs.requestCharge(await fixture.read())
  assert.equal(cashIn.status, 'PENDING')
  const tries = fixture.partner.asked.length
  assert.ok(tries >= 3, 'with 100 ms, 200 ms, … between them, for half a second')
  await fixture.later(5_000)
  fixture.partner.query = NOT_FOUND
  fixture.partner.create = ACCEPTED
  await fixture.later(10_000)
  assert.deepEqual(fixture.partner.asked.slice(tries), ['GET', 'GET', 'PUT'])
  assert.equal((await fixture.read()).facts.pixCode, PIX_CODE)
})

test('[cash-in.work.4] [CI-3] a charge that was not requested at the bank is claimed by a worker after 15 s', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  await fixture.later(14_000)
  assert.deepEqual(fixture.partner.asked, [])
  await fixture.later(1_001)
  assert.deepEqual(fixture.partner.asked, ['GET', 'PUT'])
  assert.equal((await fixture.read()).facts.pixCode, PIX_CODE)
})

test('[cash-in.states.11] the bank is asked about a charge, then to cancel it, before it is EXPIRED', async (t) => {
  const fixture = await cashInFixture(t)
  await fixture.apply(CHARGE)
  await fixture.later(61_000)
  assert.deepEqual(fixture.partner.asked, [], 'the expiry is believed 2 s after its time')
  await fixture.later(1_001)
  assert.deepEqual(fixture.partner.asked, ['GET', 'DELETE'])
  const { status, dueAt } = await fixture.read()
  assert.deepEqual({ status, dueAt }, { status: 'EXPIRED', dueAt: null })
})

test('[cash-in.states.11] [EX-2] a charge that was paid between the question and the cancelling is PAID', async (t) => {
  const fixture = await cashInFixture(t, { cancel: REJECTED })
  await fixture.apply(CHARGE)
  payBeforeCancelling(fixture)
  await fixture.later(62_001)
  const { status, facts } = await fixture.read()
  assert.deepEqual([status, facts.payments], ['PAID', { E1: 100_00 }])
  await assertBooks(fixture.database)
})

test('[cash-in.states.11] [EX-3] while the bank does not answer nothing expires, and it is asked again', async (t) => {
  for (const silence of [{ query: TIMEOUT }, { query: UNREACHABLE }, { cancel: TIMEOUT }, { cancel: UNREACHABLE }]) {
    const fixture = await cashInFixture(t, silence)
    await fixture.apply(CHARGE)
    await fixture.later(62_001)
    const { status, dueAt } = await fixture.read()
    assert.equal(status, 'PENDING')
    assert.ok(dueAt !== null && dueAt > fixture.clock.now() + 1_000, 'and not in a busy loop')
    Object.assign(fixture.partner, { query: ACCEPTED, cancel: CANCELLED })
    await fixture.later(60_001)
    assert.equal((await fixture.read()).status, 'EXPIRED')
  }
})

test('[cash-in.work.6] [EX-8] about a charge whose time is over, and which the bank does not end, it is asked less and less', async (t) => {
  // Nobody believes such a payment, and a bank that has it cancels nothing.
  const payments = [payment({ endToEndId: 'E1', occurredAt: wallNow() + 86_400_000 })]
  const fixture = await cashInFixture(t, { query: { kind: 'FINAL', charge: charge('PAID', { payments }) } })
  await fixture.apply(CHARGE)
  await fixture.later(62_001)
  for (let second = 1; second <= 200; second++) await fixture.later(1_000)
  assert.deepEqual(fixture.partner.asked, ['GET', 'GET', 'GET'], 'after one minute and two more')
  fixture.partner.query = PAID
  await fixture.later(300_001)
  assert.equal((await fixture.read()).status, 'PAID')
})

test('[cash-in.expired.3] [cash-in.expired.5] [EX-8] a bank that stops answering about what is over is asked less and less; after an hour that is a case, which its answer closes', async (t) => {
  const fixture = await cashInFixture(t, { query: TIMEOUT })
  await fixture.apply(CHARGE)
  await fixture.later(62_001)
  for (let minute = 1; minute <= 59; minute++) await fixture.later(60_001)
  assert.deepEqual(fixture.partner.asked, Array(5).fill('GET'), 'at its time, then after 1, 3, 8 and 23 minutes')
  assert.deepEqual(await cases(fixture.database), [])
  for (let minute = 1; minute <= 300; minute++) await fixture.later(60_001)
  assert.deepEqual(fixture.partner.asked, Array(10).fill('GET'), 'and each hour')
  assert.equal((await fixture.read()).status, 'PENDING')
  assert.deepEqual(await cases(fixture.database), ['charge_unclear'])
  fixture.partner.query = ACCEPTED
  await fixture.later(3_600_001)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  assert.deepEqual(await cases(fixture.database), ['charge_unclear (closed)'])
  assert.deepEqual(await notifiedStatuses(fixture.database), [])
})

test('[cash-in.states.15] [EX-7] one «not found» at the expiry loses no payment: it is found when the bank knows the charge again', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND, cancel: REJECTED })
  await fixture.apply(CHARGE)
  await fixture.later(62_001)
  assert.equal((await fixture.read()).status, 'PENDING')
  assert.deepEqual(fixture.partner.asked, ['GET', 'DELETE'], 'nobody is to pay it any more')
  fixture.partner.query = PAID
  await fixture.later(60_001)
  assert.equal((await fixture.read()).status, 'PAID')
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID'])
  assert.deepEqual(await cases(fixture.database), [])
  await assertBooks(fixture.database)
})

test('[cash-in.states.11] [cash-in.states.15] [EX-7] a charge that the bank took and does not know expires once that is proven', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND, cancel: NOT_FOUND })
  await fixture.apply(CHARGE)
  const statuses: string[] = []
  for (const wait of [62_001, 60_001, 120_001, 300_001]) {
    await fixture.later(wait)
    statuses.push((await fixture.read()).status)
  }
  assert.deepEqual(statuses, ['PENDING', 'PENDING', 'PENDING', 'EXPIRED'], 'five minutes after the last attempt')
  assert.equal((await fixture.read()).dueAt, null)
  assert.deepEqual([await notifiedStatuses(fixture.database), await cases(fixture.database)], [[], []])
})

test('[cash-in.states.11] [EX-7] that the bank does not know what it is asked to cancel proves nothing either', async (t) => {
  const fixture = await cashInFixture(t, { cancel: NOT_FOUND })
  await fixture.apply(CHARGE)
  await fixture.later(62_001)
  assert.equal((await fixture.read()).status, 'PENDING')
  fixture.partner.query = PAID
  await fixture.later(60_001)
  assert.equal((await fixture.read()).status, 'PAID')
})

test('[cash-in.expired.4] [EX-9] late money at a bank without a statement is found by asking after the expiry', async (t) => {
  const fixture = await cashInFixture(t, {
    capabilities: new Set(['idempotent-charge', 'query-charge', 'cancel-charge']),
  })
  await fixture.apply(CHARGE)
  await fixture.later(62_001)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  fixture.partner.query = NOT_FOUND
  await fixture.later(300_001)
  assert.equal(fixture.partner.asked.filter((call) => call === 'GET').length, 2)
  fixture.partner.query = PAID
  await fixture.later(3_300_001)
  assert.equal((await fixture.read()).status, 'PAID')
  await assertBooks(fixture.database)
})

test('[cash-in.expired.3] a charge that the bank reports failed, or contradicts, after its time is EXPIRED and no notification is sent', async (t) => {
  for (const query of [ENDED, CONTRADICTED]) {
    const fixture = await cashInFixture(t, { query })
    await fixture.apply(CHARGE)
    await fixture.later(62_001)
    assert.deepEqual(fixture.partner.asked, query === CONTRADICTED ? ['GET', 'DELETE'] : ['GET'])
    const { status, dueAt } = await fixture.read()
    assert.deepEqual({ status, dueAt }, { status: 'EXPIRED', dueAt: null })
    assert.deepEqual([await notifiedStatuses(fixture.database), await cases(fixture.database)], [[], []])
  }
})

test('[cash-in.states.11] [EX-3] an unknown result that expired and that the bank never saw is EXPIRED', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  await fixture.apply(INPUTS['charge.unknown'])
  await fixture.later(62_001)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  assert.deepEqual(fixture.partner.asked, ['GET'])
})

test('[cash-in.unknown.3] [CI-6] a bank that cannot recognise a repetition is never asked for a second charge', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND, create: TIMEOUT, capabilities: new Set(['query-charge']) })
  await fixture.jobs.requestCharge(await fixture.read())
  for (const wait of [5_000, 60_000]) await fixture.later(wait)
  assert.deepEqual(fixture.partner.asked, ['PUT', 'GET', 'GET'])
  assert.equal((await fixture.read()).status, 'EXPIRED')
})

test('[cash-in.states.6] [CI-10] a contradicting charge is cancelled at the bank and never asked for again', async (t) => {
  const fixture = await cashInFixture(t, { create: CONTRADICTED })
  const cashIn = await fixture.jobs.requestCharge(await fixture.read())
  assert.equal(cashIn.status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(fixture.partner.asked, ['PUT', 'DELETE'])
  fixture.partner.query = NOT_FOUND
  await fixture.apply(ASK)
  await fixture.later(1)
  for (let second = 1; second <= 60; second++) await fixture.later(1_000)
  assert.deepEqual(fixture.partner.asked, ['PUT', 'DELETE', 'GET', 'GET', 'GET', 'GET'])
})

test('[cash-in.states.15] [CI-15] one «not found» is no contradiction of a charge that can still be paid; a proof of it is', async (t) => {
  const fixture = await cashInFixture(t, {}, 86_400)
  await fixture.apply(CHARGE)
  fixture.clock.advance(600_000)
  fixture.partner.query = NOT_FOUND
  await fixture.apply(ASK)
  await fixture.later(1)
  assert.equal((await fixture.read()).status, 'PENDING')
  fixture.partner.query = ACCEPTED
  await fixture.later(60_001)
  assert.equal((await fixture.read()).facts.notFoundSince, undefined)
  fixture.partner.query = NOT_FOUND
  await fixture.apply(ASK)
  await fixture.later(1)
  for (const wait of [1_001, 5_001, 15_001]) await fixture.later(wait)
  assert.equal((await fixture.read()).status, 'PENDING', 'less than a minute')
  assert.deepEqual(await cases(fixture.database), [])
  await fixture.later(900_001)
  assert.equal((await fixture.read()).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(fixture.database), ['charge_unclear'])
  assert.ok(!fixture.partner.asked.includes('PUT') && !fixture.partner.asked.includes('DELETE'))
})

/** The bank tells of another amount, and of money: for the charge with this id. */
const contradiction = (id: string) => ({
  ...CONTRADICTED,
  charge: charge('PAID', { id, valueCents: 99_00n, payments: [payment({ endToEndId: 'E1', valueCents: 99_00n })] }),
})

test('[cash-in.states.12] [P7] money in a contradicting answer is booked in suspense, with its own case', async (t) => {
  const fixture = await cashInFixture(t)
  const { orderId } = await fixture.read()
  fixture.partner.query = contradiction(orderId)
  await fixture.apply(CHARGE, ASK)
  await fixture.later(1)
  const { status, facts, dueAt } = await fixture.read()
  assert.deepEqual([status, facts.payments, dueAt], ['RECONCILIATION_REQUIRED', { E1: 99_00 }, null])
  assert.deepEqual(await balances(fixture.database), { settlement: -99_00n, suspense_in: 99_00n })
  assert.deepEqual(await cases(fixture.database), ['charge_unclear', 'payment_in_suspense'])
  assert.deepEqual(await notifiedStatuses(fixture.database), [])
})

test('[cash-in.states.12] [P7] money of an answer under another id is not ours', async (t) => {
  const fixture = await cashInFixture(t, { query: contradiction('somebody else') })
  await fixture.apply(CHARGE, ASK)
  await fixture.later(1)
  assert.equal((await fixture.read()).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await balances(fixture.database), {})
  assert.deepEqual(await cases(fixture.database), ['charge_unclear'])
})

test('[cash-in.states.12] [P7] money that fits is in suspense where the charge can still be paid and its code is none', () => {
  const payments = [payment({ endToEndId: 'E1' })]
  const cashIn = charged()
  const answer = {
    kind: 'ACCEPTED',
    charge: charge('ACTIVE', { id: cashIn.orderId, pixCode: 'no code', payments }),
  } as const
  assert.deepEqual(inputsOf(cashIn, answer, SWEPT), [
    { on: 'charge.contradicted', reason: 'pixCode is not a valid BR Code' },
    { on: 'partner.confirmed', payment: payments[0], transactionId: 'tx', isContradicted: true },
  ])
})

test('[cash-in.states.6] a charge whose code is none is a contradiction', async (t) => {
  const unpayable = await cashInFixture(t, {
    create: { ...ACCEPTED, charge: charge('ACTIVE', { pixCode: 'no code' }) },
  })
  const cashIn = await unpayable.jobs.requestCharge(await unpayable.read())
  assert.equal(cashIn.status, 'RECONCILIATION_REQUIRED')
  assert.equal(cashIn.facts.pixCode, undefined)
})

test('[cash-in.reconciliation.1] for want of an answer the bank is asked each minute until it gives one', async (t) => {
  const fixture = await cashInFixture(t, { query: TIMEOUT }, 86_400)
  await fixture.apply(INPUTS['charge.unknown'])
  await fixture.later(900_001)
  assert.equal((await fixture.read()).status, 'RECONCILIATION_REQUIRED')
  for (let minute = 1; minute <= 3; minute++) {
    await fixture.later(59_000)
    assert.equal(fixture.partner.asked.length, minute)
    await fixture.later(1_001)
    assert.equal(fixture.partner.asked.length, minute + 1)
  }
  fixture.partner.query = PAID
  await fixture.later(60_001)
  const { status, dueAt } = await fixture.read()
  assert.deepEqual({ status, dueAt }, { status: 'PAID', dueAt: null })
})

test('[cash-in.reconciliation.1] what the bank never saw, and whose time is over, is EXPIRED and its case closed', async (t) => {
  const fixture = await cashInFixture(t, { query: TIMEOUT })
  await fixture.apply(INPUTS['charge.unknown'])
  await fixture.later(900_001)
  assert.deepEqual(await cases(fixture.database), ['charge_unclear'])
  fixture.partner.query = NOT_FOUND
  await fixture.later(60_001)
  const cashIn = await fixture.read()
  assert.deepEqual([cashIn.status, cashIn.dueAt, reasonOf(cashIn)], ['EXPIRED', null, null])
  assert.deepEqual(await cases(fixture.database), ['charge_unclear (closed)'])
})

test('[cash-in.reconciliation.1] a doubt that arose and ended in one batch leaves no case open', async (t) => {
  const fixture = await cashInFixture(t)
  await fixture.apply(INPUTS['charge.unknown'])
  fixture.clock.advance(900_001)
  await fixture.applyTogether(INPUTS['charge.unknown'], paid())
  assert.equal((await fixture.read()).status, 'PAID')
  assert.deepEqual(await cases(fixture.database), ['charge_unclear (closed)'])
})

test('[cash-in.failed.1] [CI-9] a charge that the bank accepted after FAILED is cancelled there, in as many attempts as needed', async (t) => {
  const fixture = await cashInFixture(t, { cancel: TIMEOUT })
  await fixture.apply(INPUTS['partner.failed'], CHARGE)
  assert.deepEqual(await cases(fixture.database), ['charge_unclear'])
  await fixture.later(1)
  await fixture.later(59_000)
  assert.deepEqual(fixture.partner.asked, ['GET', 'DELETE'], 'and not in a busy loop')
  fixture.partner.cancel = CANCELLED
  await fixture.later(1_001)
  await fixture.later(60_001)
  assert.deepEqual(fixture.partner.asked, ['GET', 'DELETE', 'GET', 'DELETE'])
  const { status, dueAt } = await fixture.read()
  assert.deepEqual({ status, dueAt }, { status: 'FAILED', dueAt: null })
})

test('[cash-in.failed.2] [CI-9] a charge that was paid before it could be cancelled is in suspense', async (t) => {
  const fixture = await cashInFixture(t)
  await fixture.apply(INPUTS['partner.failed'], CHARGE)
  payBeforeCancelling(fixture)
  await fixture.later(1)
  const { status, facts } = await fixture.read()
  assert.deepEqual([status, facts.payments], ['RECONCILIATION_REQUIRED', { E1: 100_00 }])
  await assertBooks(fixture.database)
})

test('[cash-in.paid.5] [EV-17] after a failure of what was paid the bank is asked until it answers, and that is kept', async (t) => {
  const fixture = await cashInFixture(t, { query: TIMEOUT })
  await fixture.apply(CHARGE, paid(), INPUTS['partner.failed'])
  await fixture.later(1)
  fixture.partner.query = { kind: 'FINAL', charge: charge('FAILED', { payments: PAID.charge.payments }) }
  await fixture.later(60_001)
  await fixture.later(60_001)
  assert.deepEqual(fixture.partner.asked, ['GET', 'GET'])
  const { status, dueAt, expiresAt, facts } = await fixture.read()
  assert.deepEqual({ status, dueAt }, { status: 'RECONCILIATION_REQUIRED', dueAt: null })
  assert.deepEqual(facts.bankAnswer, {
    transactionId: 'tx',
    status: 'FAILED',
    valueCents: 100_00,
    expiresAt,
    payments: [{ endToEndId: 'E1', valueCents: 100_00, occurredAt: PAID.charge.payments[0]?.occurredAt }],
  })
  assert.deepEqual(await cases(fixture.database), ['bank_contradicts'])
})

test('[cash-in.work.2] [EX-5] a backlog is claimed 500 at a time, and the bank is asked 32 questions at a time', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  await fixture.stock(549)
  let calls = 0
  let most = 0
  fixture.partner.whileCalled = async () => {
    most = Math.max(most, ++calls)
    await endOfTurn()
    calls -= 1
  }
  fixture.clock.advance(120_000)
  assert.equal(await fixture.jobs.processNext(), true, 'more is due')
  assert.deepEqual(await movesBy(fixture.database, 'work.claimed'), { moves: 500n, batches: 2n })
  assert.equal(await fixture.jobs.processNext(), false)
  assert.equal(fixture.partner.asked.length, 550)
  assert.equal(most, 32)
})

test('[cash-in.work.2] [EX-5] what a slow bank leaves no time for is done when its lease is over, not after it', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  await fixture.stock(99)
  fixture.partner.whileCalled = async () => fixture.clock.advance(1_000)
  await fixture.later(120_000)
  const asked = fixture.partner.asked.length
  assert.ok(20 < asked && asked < 32, `${asked} were begun within half a lease`)
  fixture.partner.whileCalled = async () => undefined
  await fixture.later(60_001)
  assert.equal(fixture.partner.asked.length, 100)
})

/** Cash-ins that have ended or wait for an operator, by the inputs that led there. */
const RESTING: Readonly<Record<string, readonly CashInInput[]>> = {
  PAID: [CHARGE, paid()],
  'PAID before the charge was known': [paid()],
  FAILED: [CHARGE, INPUTS['partner.failed']],
  'FAILED at once': [INPUTS['charge.rejected']],
  EXPIRED: [CHARGE, INPUTS['clock.expired']],
  'RECONCILIATION_REQUIRED about the charge': [INPUTS['charge.contradicted']],
  'RECONCILIATION_REQUIRED about a known charge': [CHARGE, INPUTS['charge.contradicted']],
  'FAILED before the charge was known': [INPUTS['partner.failed'], CHARGE],
  'RECONCILIATION_REQUIRED about a failure': [CHARGE, paid(), INPUTS['partner.failed']],
  'RECONCILIATION_REQUIRED about a payment': [CHARGE, paid({ valueCents: 99_00n })],
}

const ANSWERS = { ACCEPTED, PAID, ENDED, CONTRADICTED, NOT_FOUND }

for (const [situation, inputs] of Object.entries(RESTING)) {
  test(`[cash-in.work.3] whatever the bank answers about one that is ${situation}, it rests afterwards`, async (t) => {
    const fixture = await cashInFixture(t)
    await fixture.apply(...inputs)
    for (const [name, query] of Object.entries(ANSWERS)) {
      fixture.partner.query = query
      await fixture.apply(ASK)
      for (const wait of [60_001, 1_001, 5_001, 15_001]) await fixture.later(wait)
      assert.equal((await fixture.read()).dueAt, null, name)
    }
    assert.ok(!fixture.partner.asked.includes('PUT'), 'nobody wants the charge any more')
    await assertBooks(fixture.database)
  })
}

test('[cash-in.work.1] a question that got no answer is asked again, also about one that has ended', async (t) => {
  const fixture = await cashInFixture(t, { query: TIMEOUT })
  await fixture.apply(...(RESTING.PAID ?? []), ASK)
  await fixture.later(1)
  await fixture.later(60_001)
  assert.deepEqual(fixture.partner.asked, ['GET', 'GET'])
})

test('[cash-in.work.5] [EV-9] [EV-41] however often a status query is requested, one is in flight and one is requested', async (t) => {
  const fixture = await cashInFixture(t, { query: PAID })
  await fixture.apply(...(RESTING.PAID ?? []))
  const requests = Array<CashInInput>(100).fill(ASK)
  fixture.partner.whileCalled = async () => {
    fixture.partner.whileCalled = async () => undefined
    await fixture.applyTogether(...requests)
  }
  await fixture.applyTogether(...requests)
  await fixture.later(1)
  assert.deepEqual(fixture.partner.asked, ['GET'])
  await fixture.later(1)
  await fixture.later(60_001)
  assert.deepEqual(fixture.partner.asked, ['GET', 'GET'])
  assert.equal((await movesBy(fixture.database, 'work.requested'))?.moves, 2n, 'one, and one while it is asked')
})

test('[cash-in.work.5] [partner.7] [EV-44] what finds the budget of events used up waits for it; what a schedule asks does not', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  await fixture.stock(1)
  await fixture.apply(ASK)
  fixture.budget.take(1_000, fixture.clock.now())
  await fixture.later(15_001)
  assert.equal(fixture.partner.asked.length, 4, 'after 15 s the budget has one again')
  fixture.partner.asked.length = 0
  await fixture.apply(ASK)
  // Counted as of later: until it is asked again nothing is added, however long that takes.
  fixture.budget.take(10_000, fixture.clock.now() + 60_000)
  await fixture.later(1)
  assert.deepEqual(fixture.partner.asked, [])
  await fixture.later(11)
  assert.deepEqual(fixture.partner.asked, ['GET'])
})

test('[cash-in.work.5] [partner.7] [EV-44] what an event asks at once has the budget too, and stays due where none is left', async (t) => {
  const fixture = await cashInFixture(t, { query: PAID })
  await fixture.apply(...(RESTING.PAID ?? []))
  await fixture.apply(ASK)
  fixture.partner.asked.length = 0
  const cashIn = await fixture.read()
  // Counted as of later: until then nothing is added.
  fixture.budget.take(10_000, fixture.clock.now() + 60_000)
  await fixture.jobs.askNow(cashIn)
  assert.deepEqual(fixture.partner.asked, [])
  await fixture.later(60_000)
  assert.deepEqual(fixture.partner.asked, ['GET'])
})

test('[cash-in.work.2] two processes do the same work once', async (t) => {
  const fixture: CashInFixture = await cashInFixture(t, { query: NOT_FOUND })
  fixture.clock.advance(15_001)
  await Promise.all([fixture.jobs.processNext(), fixture.jobs.processNext()])
  assert.deepEqual(fixture.partner.asked, ['GET', 'PUT'])
})

const charged = (): CashIn => cashInAs('PENDING', { transactionId: 'tx', facts: CHARGED })
const inputNames = (cashIn: CashIn, answer: Parameters<typeof inputsOf>[1], now: number) =>
  inputsOf(cashIn, answer, { now, isSwept: true }).map(({ on }) => on)

test('[cash-in.states.10] a charge that ended unpaid before its time failed; after its time it expired', () => {
  for (const status of ['FAILED', 'CANCELLED'] as const) {
    const answer = { kind: 'FINAL', charge: charge(status) } as const
    assert.deepEqual(inputNames(charged(), answer, EXPIRES_AT), ['charge.accepted', 'partner.failed'])
  }
  for (const status of ['CANCELLED', 'EXPIRED'] as const) {
    const answer = { kind: 'FINAL', charge: charge(status) } as const
    assert.deepEqual(inputNames(charged(), answer, EXPIRES_AT + 1), ['charge.accepted', 'clock.expired'])
  }
})

test('[cash-in.states.12] [api-pix.6] only of a charge that can be paid a code is wanted', () => {
  for (const pixCode of [undefined, 'no code']) {
    const payments = [payment({ endToEndId: 'E1' })]
    const paid = { kind: 'FINAL', charge: charge('PAID', { payments, pixCode }) } as const
    const inputs = inputsOf(cashInAs('PROVIDER_RESULT_UNKNOWN', {}), paid, { now: NOW, isSwept: true })
    assert.deepEqual(
      inputs.map((input) => [input.on, 'isContradicted' in input, 'pixCode' in input]),
      [
        ['charge.accepted', false, false],
        ['partner.confirmed', false, false],
      ],
    )
    const active = { kind: 'ACCEPTED', charge: charge('ACTIVE', { pixCode }) } as const
    assert.deepEqual(inputNames(cashInAs('PROVIDER_RESULT_UNKNOWN', {}), active, NOW), ['charge.contradicted'])
  }
})

test('[cash-in.paid.5] [ST-60] a paid charge reported as ended unpaid is a contradiction, in whatever status and whenever it is reported', async (t) => {
  for (const status of ['FAILED', 'CANCELLED', 'EXPIRED'] as const) {
    for (const at of [EXPIRES_AT, EXPIRES_AT + 1]) {
      const paid = cashInAs('PAID', { transactionId: 'tx', facts: { ...CHARGED, payments: { E1: 100_00 } } })
      const names = inputNames(paid, { kind: 'FINAL', charge: charge(status) }, at)
      assert.deepEqual(names, ['charge.accepted', 'partner.failed'], `${status} ${at - EXPIRES_AT}`)
    }
  }
  const fixture = await cashInFixture(t, { query: { kind: 'FINAL', charge: charge('EXPIRED') } })
  await fixture.apply(CHARGE, paid(), { on: 'work.requested' })
  await fixture.later(1)
  assert.deepEqual(await cases(fixture.database), ['bank_contradicts'])
})

test('[cash-in.states.11] a bank whose clock is ahead ends no charge before its time', () => {
  const answer = { kind: 'FINAL', charge: charge('EXPIRED') } as const
  assert.deepEqual(inputNames(charged(), answer, EXPIRES_AT), ['charge.accepted'])
})

test('[cash-in.paid.4] every payment that the bank reports is judged, whatever the status word', () => {
  const payments = [payment({ endToEndId: 'E1' }), payment({ endToEndId: 'E2' })]
  const answer = { kind: 'FINAL', charge: charge('CANCELLED', { payments }) } as const
  assert.deepEqual(inputNames(charged(), answer, NOW), ['charge.accepted', 'partner.confirmed', 'partner.confirmed'])
})

test('[cash-in.unknown.3] a question that failed casts no doubt on a charge that is known to exist', () => {
  for (const answer of [TIMEOUT, UNREACHABLE]) assert.deepEqual(inputsOf(charged(), answer, SWEPT), [])
  assert.deepEqual(inputNames(cashInAs('PENDING'), TIMEOUT, NOW), ['charge.unknown'])
})

test('[cash-in.states.3] of a refusal is kept what the detail can show', () => {
  const refusal = { ...REJECTED, errorCode: 'x'.repeat(128), errorMessage: undefined }
  assert.deepEqual(inputsOf(charged(), refusal, SWEPT), [
    { on: 'charge.rejected', errorCode: 'x'.repeat(64), errorMessage: null },
  ])
})

const CANCEL = { on: 'cancel.requested', by: MADE_BY } as const

test('[cash-in.cancel.4] [CI-20] a cancellation that was stored before its process died is carried out by a worker', async (t) => {
  const fixture = await cashInFixture(t)
  await fixture.apply(CHARGE, CANCEL)
  assert.deepEqual(fixture.partner.asked, [])
  await fixture.later(0)
  assert.deepEqual(fixture.partner.asked, ['GET', 'DELETE'])
  const { status, dueAt, facts } = await fixture.read()
  assert.deepEqual([status, dueAt, facts.failureCode], ['FAILED', null, 'cancelled_by_merchant'])
  assert.deepEqual(await notifiedStatuses(fixture.database), ['FAILED'])
})

test('[cash-in.cancel.4] a cancellation does not wait for the budget of queries that events request', async (t) => {
  const fixture = await cashInFixture(t)
  await fixture.apply(CHARGE, CANCEL)
  fixture.budget.take(1_000_000, fixture.clock.now())
  await fixture.later(0)
  assert.equal((await fixture.read()).status, 'FAILED')
})

test('[cash-in.cancel.4] while the bank is asked to cancel no transaction is open, and a second worker does nothing', async (t) => {
  const fixture = await cashInFixture(t)
  await fixture.apply(CHARGE)
  const seen: unknown[] = []
  fixture.partner.whileCalled = async () => {
    seen.push(await openTransactions(fixture.database))
    await fixture.jobs.processNext()
  }
  await fixture.jobs.cancel(await fixture.read(), MADE_BY)
  const nothing = { transactions: 0n, locks: 0n }
  assert.deepEqual(
    [fixture.partner.asked, seen],
    [
      ['GET', 'DELETE'],
      [nothing, nothing],
    ],
  )
})

test('[cash-in.cancel.6] [CI-20] a charge to be cancelled is not created again; once its absence is proven it is FAILED', async (t) => {
  const fixture = await cashInFixture(t, { create: TIMEOUT, query: NOT_FOUND }, 3_600)
  await fixture.jobs.requestCharge(await fixture.read())
  await fixture.jobs.cancel(await fixture.read(), MADE_BY)
  for (let minute = 0; minute < 5; minute++) await fixture.later(60_001)
  assert.equal((await fixture.read()).status, 'PROVIDER_RESULT_UNKNOWN', 'the first request may still arrive')
  await fixture.later(60_001)
  assert.deepEqual(
    [(await fixture.read()).status, fixture.partner.asked.filter((one) => one !== 'GET')],
    ['FAILED', ['PUT']],
  )
})

test('[cash-in.cancel.4] a charge that the bank denies although it accepted it is cancelled there all the same', async (t) => {
  const fixture = await cashInFixture(t, { query: NOT_FOUND })
  await fixture.apply(CHARGE)
  const { status, facts } = await fixture.jobs.cancel(await fixture.read(), MADE_BY)
  assert.deepEqual([status, facts.failureCode], ['FAILED', 'cancelled_by_merchant'])
})

test('[cash-in.cancel.4] [cash-in.expired.3] a cancellation that the bank confirms after the expiry is an expiry', async (t) => {
  const fixture = await cashInFixture(t, { cancel: TIMEOUT })
  await fixture.apply(CHARGE)
  await fixture.jobs.cancel(await fixture.read(), MADE_BY)
  fixture.partner.cancel = CANCELLED
  await fixture.later(62_001)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  assert.deepEqual(await notifiedStatuses(fixture.database), [])
})
