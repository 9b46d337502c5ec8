import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReportedPayout } from '../../src/banks/port.ts'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { inputsOfPayout } from '../../src/cash-out/jobs.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { cases, movesBy, notifiedStatuses, openTransactions } from '../support/evidence.ts'
import { orderIdOf } from '../support/order-ids.ts'
import {
  CONFIRMED,
  FAILED,
  NOT_FOUND,
  PROCESSING,
  payout,
  REJECTED,
  RETURNED,
  TIMEOUT,
  UNREACHABLE,
} from './bank-answers.ts'
import { type CashOutFixture, cashOutFixture } from './fixture.ts'
import { INPUTS } from './situations.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const summary = (inputs: readonly CashOutInput[]) =>
  inputs.map((input) => {
    if (input.on === 'partner.confirmed') return [input.on, input.movement.recipientDiffers, input.isVerified]
    if (input.on === 'partner.returned') return [input.on, input.returned.returnId, input.isVerified]
    return input.on === 'partner.failed' ? [input.on, input.errorCode, input.isVerified] : input.on
  })

test('[P5] of an answer by which the bank has the payout money counts first, whatever is said beside it', () => {
  const inputs = (report: ReportedPayout) => summary(inputsOfPayout('id', report))
  assert.deepEqual(inputs(PROCESSING), ['send.accepted'])
  assert.deepEqual(inputs(FAILED), [['partner.failed', 'closed_account', true]])
  assert.deepEqual(inputs(CONFIRMED), ['send.accepted', ['partner.confirmed', false, true]])
  assert.deepEqual(inputs(RETURNED), [
    'send.accepted',
    ['partner.confirmed', false, true],
    ['partner.returned', 'D1', true],
    ['partner.returned', 'D2', true],
  ])
  const contradicted = { kind: 'CONTRADICTED', reason: 'other pixKey' } as const
  assert.deepEqual(inputs({ ...contradicted, payout: payout('PROCESSING') }), ['send.contradicted'])
  assert.deepEqual(inputs({ ...contradicted, payout: CONFIRMED.payout }), [['partner.confirmed', true, true]])
})

test('[partner.2] [P2] [P1] the claim is committed and nothing is open while the bank is called', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await fixture.reserve()
  const seen: unknown[] = []
  fixture.partner.whileCalled = async () => {
    const { status, facts } = await fixture.read(id)
    seen.push([await openTransactions(fixture.database), status, facts.attempts])
  }
  await fixture.later(0)
  await fixture.later(5 * SECOND)
  assert.deepEqual(fixture.partner.asked, ['PUT', 'GET', 'PUT'])
  const nothing = { transactions: 0n, locks: 0n }
  assert.deepEqual(seen, [
    [nothing, 'DISPATCHED', 1],
    [nothing, 'PROVIDER_RESULT_UNKNOWN', 1],
    [nothing, 'PROVIDER_RESULT_UNKNOWN', 2],
  ])
})

test('[CO-40] the bank’s connector gets the time until which a payout may leave', async (t) => {
  const fixture = await cashOutFixture(t)
  await fixture.reserve()
  await fixture.later(0)
  assert.deepEqual(
    fixture.partner.windows.map((window) => typeof window?.isOver),
    ['function'],
  )
})

/** Puts the clock forward by steps until the bank is told to pay again. */
async function laterUntilSent(fixture: CashOutFixture, times: number): Promise<void> {
  for (let minute = 0; minute < 15; minute++) {
    if (fixture.partner.requests.length === times) return
    await fixture.later(MINUTE)
  }
  assert.equal(fixture.partner.requests.length, times)
}

test('[partner.1] [cash-out.unknown.1] every attempt carries the same id and the same request', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await fixture.reserve()
  await fixture.later(0)
  await laterUntilSent(fixture, 2)
  await laterUntilSent(fixture, 3)
  for (const [sentId, request] of fixture.partner.requests) {
    assert.equal(sentId, await orderIdOf(fixture.database, id))
    assert.deepEqual(request, {
      valueCents: 30_00n,
      recipient: { pixKey: 'joao@example.com', pixKeyType: 'email', name: 'João' },
    })
  }
})

for (const [what, query] of [
  ['does not know it', NOT_FOUND],
  ['gives no answer', TIMEOUT],
] as const) {
  test(`[CO-9] [CO-42] [cash-out.unknown.7] an order whose process died is asked about, and where the bank ${what} sent again within 10 s`, async (t) => {
    const fixture = await cashOutFixture(t, { query })
    const id = await fixture.reserve()
    await fixture.commands.apply(id, [{ on: 'send.claimed', leaseMs: 5_500 }])
    await fixture.later(5 * SECOND)
    assert.deepEqual(fixture.partner.asked, [], 'it may still be at work')
    await fixture.later(SECOND)
    assert.deepEqual(fixture.partner.asked, ['GET', 'PUT'])
    assert.deepEqual((await fixture.read(id)).facts.attempts, 2)
    assert.deepEqual(await balances(fixture.database), { available: 70_00n, reserved: 30_00n, settlement: -100_00n })
  })
}

test('[CO-42] [P6] beyond the bank’s window nothing is sent again, and the proof ends it', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND, idempotencyWindowMs: 20 * MINUTE })
  const id = await fixture.reserve()
  await fixture.later(0)
  for (let minute = 0; minute < 19; minute++) await fixture.later(MINUTE)
  const sent = fixture.partner.requests.length
  assert.ok(sent > 10)
  assert.deepEqual(await cases(fixture.database), ['outcome_unknown'])
  for (let minute = 0; minute < 7; minute++) await fixture.later(MINUTE)
  assert.equal(fixture.partner.requests.length, sent)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, facts.failureCode], ['FAILED', 'not_found'])
  assert.deepEqual(await cases(fixture.database), ['outcome_unknown (closed)'])
  await assertBooks(fixture.database)
})

test('[CO-43] [cash-out.unknown.8] [P6] what is refused the second time may be carried out from the first: it stays reserved', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await fixture.reserve()
  await fixture.later(0)
  fixture.partner.put = REJECTED
  await fixture.later(5 * SECOND)
  await fixture.later(SECOND)
  assert.equal((await fixture.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  assert.equal((await balances(fixture.database)).reserved, 30_00n)
  // The first attempt arrives after all.
  fixture.partner.query = CONFIRMED
  await fixture.later(MINUTE)
  assert.equal((await fixture.read(id)).status, 'CONFIRMED')
  assert.equal(fixture.partner.requests.length, 2)
  await assertBooks(fixture.database)
})

test('[CO-43] [P6] what was refused and never arrived is released by the proof, and not sent a third time', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await fixture.reserve()
  await fixture.later(0)
  fixture.partner.put = REJECTED
  for (let minute = 0; minute < 8; minute++) await fixture.later(MINUTE)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, facts.failureCode, fixture.partner.requests.length], ['FAILED', 'limit', 2])
  await assertBooks(fixture.database)
})

test('[cash-out.unknown.6] a bank without idempotent payouts is never sent an order twice: proven not there, the money is released', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND, capabilities: new Set(['query-payout']) })
  const id = await fixture.reserve()
  await fixture.later(0)
  for (let minute = 0; minute < 10; minute++) await fixture.later(MINUTE)
  assert.equal(fixture.partner.requests.length, 1)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, facts.failureCode], ['FAILED', 'not_found'])
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID', 'FAILED'])
  await assertBooks(fixture.database)
})

test('[CO-10] [cash-out.states.8] what never left is tried again with longer waits, and paid once the bank is back', async (t) => {
  const fixture = await cashOutFixture(t, { put: UNREACHABLE })
  const id = await fixture.reserve()
  await fixture.later(0)
  for (const seconds of [1, 2, 4, 8]) {
    const before = fixture.partner.requests.length
    await fixture.later(seconds * SECOND - 500)
    assert.equal(fixture.partner.requests.length, before)
    await fixture.later(500)
    assert.equal(fixture.partner.requests.length, before + 1)
  }
  assert.deepEqual(new Set(fixture.partner.asked), new Set(['PUT']), 'nothing is asked about what never left')
  fixture.partner.put = CONFIRMED
  await fixture.later(16 * SECOND)
  assert.equal((await fixture.read(id)).status, 'CONFIRMED')
  await assertBooks(fixture.database)
})

test('[CO-24] [CO-7] [cash-out.states.3] what waited is sent when the switch is on again, or released after a day while it is off', async (t) => {
  const fixture = await cashOutFixture(t, { put: CONFIRMED })
  const first = await fixture.reserve('first')
  await switchPayouts(fixture.database, false)
  await fixture.later(HOUR)
  assert.deepEqual([(await fixture.read(first)).status, fixture.partner.asked], ['RESERVED', []])
  await switchPayouts(fixture.database, true)
  await fixture.later(0)
  assert.equal((await fixture.read(first)).status, 'CONFIRMED')

  const second = await fixture.reserve('second')
  await switchPayouts(fixture.database, false)
  await fixture.later(24 * HOUR - MINUTE)
  assert.equal((await fixture.read(second)).status, 'RESERVED')
  await fixture.later(MINUTE)
  assert.equal((await fixture.read(second)).status, 'RELEASED')
  assert.equal(fixture.partner.requests.length, 1)
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID', 'CONFIRMED', 'FAILED'])
  assert.deepEqual(await balances(fixture.database), { available: 70_00n, settlement: -70_00n })
})

test('[restored.4] [DB-46] after a restore what looks as if it was never sent is released only where the bank does not have it', async (t) => {
  const fixture = await cashOutFixture(t, { query: TIMEOUT }, {}, () => true)
  const id = await fixture.reserve('paid')
  await switchPayouts(fixture.database, false)
  await fixture.later(25 * HOUR)
  assert.equal((await fixture.read(id)).status, 'RESERVED', 'the bank did not answer')
  fixture.partner.query = PROCESSING
  await fixture.later(MINUTE)
  assert.equal((await fixture.read(id)).status, 'RESERVED', 'the bank is at it')
  fixture.partner.query = CONFIRMED
  await fixture.later(MINUTE)
  assert.equal((await fixture.read(id)).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID'], 'nobody is told that it failed')

  for (const query of [NOT_FOUND, FAILED]) {
    await switchPayouts(fixture.database, true)
    const free = await fixture.reserve(query.kind)
    await switchPayouts(fixture.database, false)
    fixture.partner.query = query
    await fixture.later(25 * HOUR)
    assert.equal((await fixture.read(free)).status, 'RELEASED')
  }
  assert.deepEqual(fixture.partner.requests, [], 'nothing was sent')
  await assertBooks(fixture.database)
})

test('[restored.5] what the bank had before the first try is adopted only where it tells the same recipient', async (t) => {
  const paying = (recipient: object) =>
    ({ ...CONFIRMED, payout: { ...CONFIRMED.payout, recipient } }) as typeof CONFIRMED
  const nobody = { name: 'Maria', document: undefined, ispb: undefined, pixKey: undefined }
  for (const [query, status] of [
    [paying(nobody), 'RECONCILIATION_REQUIRED'],
    [paying({ ...nobody, pixKey: 'joao@example.com' }), 'CONFIRMED'],
    [FAILED, 'FAILED'],
  ] as const) {
    const fixture = await cashOutFixture(t, { query }, {}, () => true)
    const id = await fixture.reserve()
    await fixture.later(0)
    assert.deepEqual([(await fixture.read(id)).status, fixture.partner.asked[0]], [status, 'GET'])
    assert.deepEqual(fixture.partner.requests, [], 'nothing was sent')
    await assertBooks(fixture.database)
  }
})

test('[restored.4] after a restore what seems unsent in all its tries is kept while the bank has it', async (t) => {
  const fixture = await cashOutFixture(t, { put: UNREACHABLE, query: NOT_FOUND }, {}, () => true)
  const id = await fixture.reserve()
  await fixture.later(0)
  fixture.partner.query = PROCESSING
  await switchPayouts(fixture.database, false)
  await fixture.later(30 * MINUTE)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, facts.isAccepted], ['DISPATCHED', true])
})

test('[CO-21] [cash-out.work.2] two processes that see the same payout send it once', async (t) => {
  const fixture = await cashOutFixture(t)
  const other = fixture.another()
  for (let round = 0; round < 3; round++) await fixture.reserve(`p${round}`)
  await Promise.all([fixture.jobs.processNext(), other.jobs.processNext()])
  assert.equal(fixture.partner.requests.length, 3)
  assert.equal(new Set(fixture.partner.requests.map(([id]) => id)).size, 3)
  assert.equal((await movesBy(fixture.database, 'send.claimed'))?.moves, 3n)
})

test('[CO-18] a confirmation that overtakes the answer waits for the reference that the answer tells', async (t) => {
  const fixture = await cashOutFixture(t)
  const id = await fixture.reserve()
  const movement = { ...INPUTS['partner.confirmed'].movement, occurredAt: 1_700_000_000_000 }
  const told = { ...INPUTS['partner.confirmed'], movement, isVerified: false }
  const results: unknown[] = []
  fixture.partner.whileCalled = async () => {
    results.push((await fixture.commands.apply(id, [told]))?.result)
  }
  await fixture.later(0)
  assert.equal((await fixture.read(id)).status, 'DISPATCHED')
  results.push((await fixture.commands.apply(id, [told]))?.result)
  assert.deepEqual(results, ['EARLY', 'APPLIED'])
  const { status, transactionId, facts, dueAt } = await fixture.read(id)
  assert.deepEqual([status, transactionId, facts.isAccepted, dueAt], ['CONFIRMED', 'tx', true, null])
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID', 'CONFIRMED'])
  await assertBooks(fixture.database)
})

test('[CO-15] [CO-44] [cash-out.states.9] an answer about something else leaves a doubt, a case, and the money reserved', async (t) => {
  const contradicted = { kind: 'CONTRADICTED', reason: 'other valueCents', payout: payout('PROCESSING') } as const
  const fixture = await cashOutFixture(t, { put: contradicted, query: contradicted })
  const id = await fixture.reserve()
  await fixture.later(0)
  await fixture.later(0)
  await fixture.later(24 * HOUR)
  const { status, dueAt } = await fixture.read(id)
  assert.deepEqual([status, dueAt, fixture.partner.asked], ['RECONCILIATION_REQUIRED', null, ['PUT', 'GET']])
  assert.deepEqual(await cases(fixture.database), ['outcome_unknown'])
  assert.equal((await balances(fixture.database)).reserved, 30_00n)
})

test('[CO-44] [cash-out.states.9] what a contradicting answer calls our order, a later event may call it too', async (t) => {
  const fixture = await cashOutFixture(t)
  const id = await fixture.reserve()
  const orderId = await orderIdOf(fixture.database, id)
  const reported = payout('PROCESSING', { id: orderId, transactionId: 'tx-9', valueCents: 29_00n })
  fixture.partner.put = { kind: 'CONTRADICTED', reason: 'other valueCents', payout: reported }
  fixture.partner.query = { kind: 'ACCEPTED', payout: payout('PROCESSING', { id: orderId, transactionId: 'tx-9' }) }
  await fixture.later(0)
  assert.equal((await fixture.read(id)).transactionId, 'tx-9')
  await fixture.later(0)
  assert.deepEqual(fixture.partner.asked, ['PUT', 'GET'])
})

test('[CO-17] [CO-16] what the bank executed while its events were not received is found by a status query, and booked once', async (t) => {
  const fixture = await cashOutFixture(t)
  const id = await fixture.reserve()
  await fixture.commands.apply(id, [INPUTS['send.claimed']])
  const other = fixture.another()
  fixture.clock.advance(MINUTE)
  await Promise.all([fixture.jobs.processNext(), other.jobs.processNext()])
  assert.equal((await fixture.read(id)).status, 'CONFIRMED')
  assert.deepEqual(fixture.partner.requests, [])
  assert.deepEqual(await balances(fixture.database), { available: 70_00n, settlement: -70_00n })
  await assertBooks(fixture.database)
})

test('[CO-24] [P8] what is proven not there and may not be sent is asked about, until an operator is notified', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await fixture.reserve()
  await fixture.later(0)
  await switchPayouts(fixture.database, false)
  for (let minute = 0; minute < 10; minute++) await fixture.later(MINUTE)
  assert.equal((await fixture.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  assert.equal(fixture.partner.asked.length, 11, 'it is asked about each minute')
  for (let minute = 0; minute < 10; minute++) await fixture.later(MINUTE)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, reasonOf({ facts })], ['RECONCILIATION_REQUIRED', 'no_answer'])
  assert.deepEqual(await cases(fixture.database), ['outcome_unknown'])
  assert.equal(fixture.partner.requests.length, 1)

  await switchPayouts(fixture.database, true)
  fixture.partner.put = CONFIRMED
  await fixture.later(MINUTE)
  assert.equal((await fixture.read(id)).status, 'CONFIRMED')
  assert.deepEqual(await cases(fixture.database), ['outcome_unknown (closed)'])
  await assertBooks(fixture.database)
})

test('[CO-24] [cash-out.states.5] a doubt about what was never sent is asked about while the switch is off', async (t) => {
  const fixture = await cashOutFixture(t, { query: CONFIRMED })
  const id = await fixture.reserve()
  await switchPayouts(fixture.database, false)
  const movement = { ...INPUTS['partner.confirmed'].movement, occurredAt: 1_700_000_000_000 }
  await fixture.commands.apply(id, [{ ...INPUTS['partner.confirmed'], movement, isVerified: false }])
  assert.equal(reasonOf(await fixture.read(id)), 'not_dispatched')
  await fixture.later(0)
  assert.deepEqual([(await fixture.read(id)).status, fixture.partner.asked], ['CONFIRMED', ['GET']])
})
