import assert from 'node:assert/strict'
import test from 'node:test'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { inputsOfAsking, inputsOfSending } from '../../src/cash-out/jobs.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { cases, movesBy, openTransactions, told } from '../support/evidence.ts'
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
  type Workshop,
  workshop,
} from './fixture.ts'
import { INPUTS } from './situations.ts'

/** Of the order that the answers are about. */
const ID = 'id'
const ASKED = { id: ID, updatedAt: 7 }
const TRIED = { id: ID, facts: { attempts: 2 } }

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const summary = (inputs: readonly CashOutInput[]) =>
  inputs.map((input) => {
    if (input.on === 'partner.confirmed') return [input.on, input.movement.isElsewhere, input.isVerified]
    if (input.on === 'partner.returned') return [input.on, input.returned.returnId, input.isVerified]
    return input.on === 'partner.failed' ? [input.on, input.errorCode, input.isVerified] : input.on
  })

test('[P5] what the answer to an order means: money first, whatever is said beside it', () => {
  assert.deepEqual(summary(inputsOfSending(TRIED, PROCESSING)), ['send.accepted'])
  assert.deepEqual(summary(inputsOfSending(TRIED, REJECTED)), ['send.rejected'])
  assert.deepEqual(summary(inputsOfSending(TRIED, TIMEOUT)), ['send.unknown'])
  assert.deepEqual(inputsOfSending(TRIED, UNREACHABLE), [
    { on: 'send.not_sent', attempt: 2, reason: UNREACHABLE.reason },
  ])
  assert.deepEqual(summary(inputsOfSending(TRIED, FAILED)), [['partner.failed', 'closed_account', true]])
  assert.deepEqual(summary(inputsOfSending(TRIED, CONFIRMED)), ['send.accepted', ['partner.confirmed', false, true]])
  assert.deepEqual(summary(inputsOfSending(TRIED, RETURNED)), [
    'send.accepted',
    ['partner.confirmed', false, true],
    ['partner.returned', 'D1', true],
    ['partner.returned', 'D2', true],
  ])
  const contradicted = { kind: 'CONTRADICTED', reason: 'other pixKey' } as const
  assert.deepEqual(summary(inputsOfSending(TRIED, { ...contradicted, payout: payout('PROCESSING') })), [
    'send.contradicted',
  ])
  assert.deepEqual(summary(inputsOfSending(TRIED, { ...contradicted, payout: CONFIRMED.payout })), [
    ['partner.confirmed', true, true],
  ])
  const endless = { ...REJECTED, errorCode: 'x'.repeat(100) }
  assert.deepEqual(inputsOfSending(TRIED, endless), [
    { on: 'send.rejected', attempt: 2, errorCode: 'x'.repeat(64), errorMessage: 'too much' },
  ])
})

test('[P5] money that left for another order is not this one’s', () => {
  const answer = { kind: 'CONTRADICTED', reason: 'other id', payout: CONFIRMED.payout } as const
  assert.deepEqual(summary(inputsOfSending({ ...TRIED, id: 'another' }, answer)), ['send.contradicted'])
})

test('[P5] what the answer to a question means; a question that failed is asked again', () => {
  assert.deepEqual(inputsOfAsking(ASKED, NOT_FOUND, 86_400_000), [
    { on: 'partner.not_found', windowMs: 86_400_000, askedAt: 7 },
    INPUTS['work.done'],
  ])
  assert.deepEqual(inputsOfAsking(ASKED, NOT_FOUND, 0)[0], {
    on: 'partner.not_found',
    windowMs: 0,
    askedAt: 7,
  })
  assert.deepEqual(summary(inputsOfAsking(ASKED, PROCESSING, 0)), ['send.accepted', 'work.done'])
  assert.deepEqual(inputsOfAsking(ASKED, TIMEOUT, 0)[1], { on: 'work.done', isUnanswered: true })
  assert.deepEqual(summary(inputsOfAsking(ASKED, UNREACHABLE, 0)), ['send.unknown', 'work.done'])
})

test('[partner.2] [P2] [P1] the claim is committed and nothing is open while the bank is called', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await shop.reserve()
  const seen: unknown[] = []
  shop.partner.whileCalled = async () => {
    const { status, facts } = await shop.read(id)
    seen.push([await openTransactions(shop.database), status, facts.attempts])
  }
  await shop.later(0)
  await shop.later(5 * SECOND)
  assert.deepEqual(shop.partner.asked, ['PUT', 'GET', 'PUT'])
  const nothing = { transactions: 0n, locks: 0n }
  assert.deepEqual(seen, [
    [nothing, 'DISPATCHED', 1],
    [nothing, 'PROVIDER_RESULT_UNKNOWN', 1],
    [nothing, 'PROVIDER_RESULT_UNKNOWN', 2],
  ])
})

test('[CO-40] the bank’s connector is told until when a payout may leave', async (t) => {
  const shop = await workshop(t)
  await shop.reserve()
  await shop.later(0)
  assert.deepEqual(
    shop.partner.windows.map((window) => typeof window?.isOver),
    ['function'],
  )
})

/** Puts the clock forward by steps until the bank is told to pay again. */
async function laterUntilSent(shop: Workshop, times: number): Promise<void> {
  for (let minute = 0; minute < 15; minute++) {
    if (shop.partner.told.length === times) return
    await shop.later(MINUTE)
  }
  assert.equal(shop.partner.told.length, times)
}

test('[partner.1] [cash-out.unknown.1] every attempt carries the same id and the same request', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await shop.reserve()
  await shop.later(0)
  await laterUntilSent(shop, 2)
  await laterUntilSent(shop, 3)
  for (const [sentId, request] of shop.partner.told) {
    assert.equal(sentId, id)
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
    const shop = await workshop(t, { query })
    const id = await shop.reserve()
    await shop.commands.apply(id, [{ on: 'send.claimed', leaseMs: 5_500 }])
    await shop.later(5 * SECOND)
    assert.deepEqual(shop.partner.asked, [], 'it may still be at work')
    await shop.later(SECOND)
    assert.deepEqual(shop.partner.asked, ['GET', 'PUT'])
    assert.deepEqual((await shop.read(id)).facts.attempts, 2)
    assert.deepEqual(await balances(shop.database), { available: 70_00n, reserved: 30_00n, settlement: -100_00n })
  })
}

test('[CO-42] [P6] beyond the bank’s window nothing is sent again, and the proof ends it', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND, idempotencyWindowMs: 20 * MINUTE })
  const id = await shop.reserve()
  await shop.later(0)
  for (let minute = 0; minute < 19; minute++) await shop.later(MINUTE)
  const sent = shop.partner.told.length
  assert.ok(sent > 10)
  assert.deepEqual(await cases(shop.database), ['result_missing'])
  for (let minute = 0; minute < 7; minute++) await shop.later(MINUTE)
  assert.equal(shop.partner.told.length, sent)
  const { status, facts } = await shop.read(id)
  assert.deepEqual([status, facts.failureCode], ['FAILED', 'not_found'])
  assert.deepEqual(await cases(shop.database), ['result_missing (closed)'])
  await assertBooks(shop.database)
})

test('[CO-42] [CO-24] nothing is sent again while the switch is off', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND })
  await shop.reserve()
  await shop.later(0)
  await switchPayouts(shop.database, false)
  for (let minute = 0; minute < 5; minute++) await shop.later(MINUTE)
  assert.equal(shop.partner.told.length, 1)
  await switchPayouts(shop.database, true)
  shop.partner.put = CONFIRMED
  await shop.later(MINUTE)
  assert.equal(shop.partner.told.length, 2)
})

test('[CO-43] [cash-out.unknown.8] [P6] what is refused the second time may be carried out from the first: it stays reserved', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await shop.reserve()
  await shop.later(0)
  shop.partner.put = REJECTED
  await shop.later(5 * SECOND)
  await shop.later(SECOND)
  assert.equal((await shop.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  assert.equal((await balances(shop.database)).reserved, 30_00n)
  // The first attempt arrives after all.
  shop.partner.query = CONFIRMED
  await shop.later(MINUTE)
  assert.equal((await shop.read(id)).status, 'CONFIRMED')
  assert.equal(shop.partner.told.length, 2)
  await assertBooks(shop.database)
})

test('[CO-43] [P6] what was refused and never arrived is given back by the proof, and not sent a third time', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await shop.reserve()
  await shop.later(0)
  shop.partner.put = REJECTED
  for (let minute = 0; minute < 8; minute++) await shop.later(MINUTE)
  const { status, facts } = await shop.read(id)
  assert.deepEqual([status, facts.failureCode, shop.partner.told.length], ['FAILED', 'limit', 2])
  await assertBooks(shop.database)
})

test('[cash-out.unknown.6] a bank without idempotent payouts is never told twice: proven not there, the money is free', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND, capabilities: new Set(['query-payout']) })
  const id = await shop.reserve()
  await shop.later(0)
  for (let minute = 0; minute < 10; minute++) await shop.later(MINUTE)
  assert.equal(shop.partner.told.length, 1)
  const { status, facts } = await shop.read(id)
  assert.deepEqual([status, facts.failureCode], ['FAILED', 'not_found'])
  assert.deepEqual(await told(shop.database), ['PAID', 'FAILED'])
  await assertBooks(shop.database)
})

test('[CO-10] [cash-out.states.8] what never left is tried again with longer waits, and paid once the bank is back', async (t) => {
  const shop = await workshop(t, { put: UNREACHABLE })
  const id = await shop.reserve()
  await shop.later(0)
  for (const seconds of [1, 2, 4, 8]) {
    const before = shop.partner.told.length
    await shop.later(seconds * SECOND - 500)
    assert.equal(shop.partner.told.length, before)
    await shop.later(500)
    assert.equal(shop.partner.told.length, before + 1)
  }
  assert.deepEqual(new Set(shop.partner.asked), new Set(['PUT']), 'nothing is asked about what never left')
  shop.partner.put = CONFIRMED
  await shop.later(16 * SECOND)
  assert.equal((await shop.read(id)).status, 'CONFIRMED')
  await assertBooks(shop.database)
})

test('[CO-24] [cash-out.work] a switch that is off keeps payouts waiting; questions go on', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: CONFIRMED })
  const open = await shop.reserve('open')
  await shop.later(0)
  const waiting = await shop.reserve('waiting')
  await switchPayouts(shop.database, false)
  await shop.later(5 * SECOND)
  assert.deepEqual(shop.partner.asked, ['PUT', 'GET'])
  assert.deepEqual([(await shop.read(open)).status, (await shop.read(waiting)).status], ['CONFIRMED', 'RESERVED'])
})

test('[CO-24] [CO-7] [cash-out.states.3] what waited is sent when the switch is on again, or given back after a day while it is off', async (t) => {
  const shop = await workshop(t, { put: CONFIRMED })
  const first = await shop.reserve('first')
  await switchPayouts(shop.database, false)
  await shop.later(HOUR)
  assert.deepEqual([(await shop.read(first)).status, shop.partner.asked], ['RESERVED', []])
  await switchPayouts(shop.database, true)
  await shop.later(0)
  assert.equal((await shop.read(first)).status, 'CONFIRMED')

  const second = await shop.reserve('second')
  await switchPayouts(shop.database, false)
  await shop.later(24 * HOUR - MINUTE)
  assert.equal((await shop.read(second)).status, 'RESERVED')
  await shop.later(MINUTE)
  assert.equal((await shop.read(second)).status, 'RELEASED')
  assert.equal(shop.partner.told.length, 1)
  assert.deepEqual(await told(shop.database), ['PAID', 'CONFIRMED', 'FAILED'])
  assert.deepEqual(await balances(shop.database), { available: 70_00n, settlement: -70_00n })
})

test('[CO-10] [cash-out.states.10] what never left is given back after half an hour, also while nothing may be sent', async (t) => {
  let sends = 64
  const shop = await workshop(t, { put: UNREACHABLE, sendsWanted: () => sends })
  const id = await shop.reserve()
  await shop.later(0)
  sends = 0
  await shop.later(29 * MINUTE)
  assert.equal((await shop.read(id)).status, 'DISPATCHED')
  await shop.later(MINUTE)
  assert.equal((await shop.read(id)).status, 'RELEASED')
  assert.deepEqual(await told(shop.database), ['PAID', 'FAILED'])
  await assertBooks(shop.database)
})

test('[CO-21] [cash-out.work.2] two processes that see the same payout send it once', async (t) => {
  const shop = await workshop(t)
  const other = shop.another()
  for (let round = 0; round < 3; round++) await shop.reserve(`p${round}`)
  await Promise.all([shop.jobs.processNext(), other.jobs.processNext()])
  assert.equal(shop.partner.told.length, 3)
  assert.equal(new Set(shop.partner.told.map(([id]) => id)).size, 3)
  assert.equal((await movesBy(shop.database, 'send.claimed'))?.moves, 3n)
})

test('[CO-18] a confirmation that overtakes the answer counts; the answer fills in what is missing', async (t) => {
  const shop = await workshop(t)
  const id = await shop.reserve()
  const movement = { ...INPUTS['partner.confirmed'].movement, occurredAt: 1_700_000_000_000 }
  shop.partner.whileCalled = async () => {
    await shop.commands.apply(id, [{ ...INPUTS['partner.confirmed'], movement, isVerified: false }])
  }
  await shop.later(0)
  const { status, transactionId, facts, dueAt } = await shop.read(id)
  assert.deepEqual([status, transactionId, facts.isAccepted, dueAt], ['CONFIRMED', 'tx', true, null])
  assert.deepEqual(await told(shop.database), ['PAID', 'CONFIRMED'])
  await assertBooks(shop.database)
})

test('[CO-15] [CO-44] [cash-out.states.9] an answer about something else leaves a doubt, a case, and the money reserved', async (t) => {
  const contradicted = { kind: 'CONTRADICTED', reason: 'other valueCents', payout: payout('PROCESSING') } as const
  const shop = await workshop(t, { put: contradicted, query: contradicted })
  const id = await shop.reserve()
  await shop.later(0)
  await shop.later(0)
  await shop.later(24 * HOUR)
  const { status, dueAt } = await shop.read(id)
  assert.deepEqual([status, dueAt, shop.partner.asked], ['RECONCILIATION_REQUIRED', null, ['PUT', 'GET']])
  assert.deepEqual(await cases(shop.database), ['send_contradicted'])
  assert.equal((await balances(shop.database)).reserved, 30_00n)
})

test('[CO-44] [cash-out.states.9] what a contradicting answer calls our order, a later event may call it too', async (t) => {
  const shop = await workshop(t)
  const id = await shop.reserve()
  const told = payout('PROCESSING', { id, transactionId: 'tx-9', valueCents: 29_00n })
  shop.partner.put = { kind: 'CONTRADICTED', reason: 'other valueCents', payout: told }
  shop.partner.query = { kind: 'ACCEPTED', payout: payout('PROCESSING', { id, transactionId: 'tx-9' }) }
  await shop.later(0)
  assert.equal((await shop.read(id)).transactionId, 'tx-9')
  await shop.later(0)
  assert.deepEqual(shop.partner.asked, ['PUT', 'GET'])
})

test('[CO-17] [CO-16] what the bank executed while nobody listened is found by asking, and booked once', async (t) => {
  const shop = await workshop(t)
  const id = await shop.reserve()
  await shop.commands.apply(id, [INPUTS['send.claimed']])
  const other = shop.another()
  shop.clock.advance(MINUTE)
  await Promise.all([shop.jobs.processNext(), other.jobs.processNext()])
  assert.equal((await shop.read(id)).status, 'CONFIRMED')
  assert.deepEqual(shop.partner.told, [])
  assert.deepEqual(await balances(shop.database), { available: 70_00n, settlement: -70_00n })
  await assertBooks(shop.database)
})

test('[CO-24] [P8] what is proven not there and may not be sent is asked about, until a person is told', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND })
  const id = await shop.reserve()
  await shop.later(0)
  await switchPayouts(shop.database, false)
  for (let minute = 0; minute < 10; minute++) await shop.later(MINUTE)
  assert.equal((await shop.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  assert.equal(shop.partner.asked.length, 11, 'it is asked about each minute')
  for (let minute = 0; minute < 10; minute++) await shop.later(MINUTE)
  const { status, facts } = await shop.read(id)
  assert.deepEqual([status, facts.doubt], ['RECONCILIATION_REQUIRED', 'missing'])
  assert.deepEqual(await cases(shop.database), ['result_missing'])
  assert.equal(shop.partner.told.length, 1)

  await switchPayouts(shop.database, true)
  shop.partner.put = CONFIRMED
  await shop.later(MINUTE)
  assert.equal((await shop.read(id)).status, 'CONFIRMED')
  assert.deepEqual(await cases(shop.database), ['result_missing (closed)'])
  await assertBooks(shop.database)
})

test('[CO-24] [cash-out.states.5] a doubt about what was never sent is asked about while the switch is off', async (t) => {
  const shop = await workshop(t, { query: CONFIRMED })
  const id = await shop.reserve()
  await switchPayouts(shop.database, false)
  const movement = { ...INPUTS['partner.confirmed'].movement, occurredAt: 1_700_000_000_000 }
  await shop.commands.apply(id, [{ ...INPUTS['partner.confirmed'], movement, isVerified: false }])
  assert.equal((await shop.read(id)).facts.doubt, 'unrecorded')
  await shop.later(0)
  assert.deepEqual([(await shop.read(id)).status, shop.partner.asked], ['CONFIRMED', ['GET']])
})
