import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { pino } from 'pino'
import { createService, type Service } from '../../src/app.ts'
import type { Bank } from '../../src/banks/bank.ts'
import { readConfig } from '../../src/config.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { EVENTS_LOST, tamperedWorld } from '../bank-statement/tampering-bank.ts'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { balances } from '../support/books.ts'
import { cases, inbox, notifiedStatuses, stands, statementEntries } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { minutes } from '../support/stepping.ts'
import { poll } from '../support/until.ts'
import { ADMIN_TOKEN, type Answer, ENVIRONMENT, type World, type WorldOptions, world } from '../support/world.ts'

/** Reports of the same money by the bank's statement, its events and its answers, in every order. */

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const STEPPED = { isStepped: true }
/** As in production, where nothing else is allowed. */
const EVERY_PAYMENT = { PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' }

async function lateEvents(pix: World): Promise<void> {
  const before = (await inbox(pix.database)).length
  const { pending } = (await pix.bank('GET', '/control/book')).body.events
  for (const event of pending) assert.equal(await postEvent(pix, event), 200)
  while ((await inbox(pix.database)).filter(({ isDone }) => isDone).length < before + pending.length) await pix.work()
}

async function adjust(pix: World, valueCents: number): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const order = { valueCents, reason: 'withdrawn by hand' }
  assert.equal((await pix.call('POST', '/operator/adjustments', order, headers)).status, 201)
}

test('[statement.5] [cash-in.credits.2] [PL-10] a lost callback is booked by the statement within two minutes, and its later event changes nothing', async (t) => {
  const pix = await world(t, EVERY_PAYMENT, STEPPED)
  await pix.behave(EVENTS_LOST)
  const { id } = await pix.charge('100.00')
  await minutes(pix, 1)
  await pix.bankAction(`charges/${id}/pay`)
  await minutes(pix, 2)
  assert.equal((await pix.read(id)).status, 'PAID')
  const booked = await balances(pix.database)
  assert.deepEqual(booked, { available: 10_000n, settlement: -10_000n })
  await lateEvents(pix)
  await minutes(pix, 8)
  assert.deepEqual(await balances(pix.database), booked)
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID'] })
  await pix.assertBooksAgree()
})

test('[statement.4] [statement.5] a refund’s line before its event is booked once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const cashIn = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual', ...EVENTS_LOST })
  const { id } = await pix.refundIn(cashIn.id, 30)
  await minutes(pix, 1)
  await pix.bankAction(`refunds/${id}/confirm`)
  await minutes(pix, 2)
  assert.equal((await pix.get(`/api/pix/refund/${id}`)).status, 'CONFIRMED')
  await lateEvents(pix)
  await minutes(pix, 8)
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID', 'CONFIRMED'] })
  await pix.assertBooksAgree()
})

async function hidingWorld(t: TestContext) {
  const pix = await tamperedWorld(t)
  pix.tamper = (call, { status, body }) =>
    call === 'GET /statement' ? { status, body: { ...body, entries: [] } } : undefined
  return { ...pix, show: () => (pix.tamper = () => undefined) }
}

test('[statement.8] [trip-wire.1] [PL-14] a booked credit whose line the bank hides for 20 minutes suspends once, books nothing, and its case closes', async (t) => {
  const pix = await hidingWorld(t)
  await minutes(pix, 1)
  const charge = await pix.charge('100.00')
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  const booked = { available: 10_000n, settlement: -10_000n }
  assert.deepEqual(await balances(pix.database), booked)
  await minutes(pix, 20)
  const missed = { isSuspended: true, cases: ['line_missing'], notified: ['PAID'] }
  assert.deepEqual(await stands(pix), missed)
  pix.show()
  await minutes(pix, 3)
  assert.deepEqual(await stands(pix), { ...missed, cases: ['line_missing (closed)'] })
  assert.deepEqual(await balances(pix.database), booked)
  await pix.assertBooksAgree()
})

test('[cash-in.cases.16] [cases.56] [adjustment.held.10] a reversed credit whose line is listed after all is unexplained money', async (t) => {
  const pix = await hidingWorld(t)
  await minutes(pix, 1)
  const charge = await pix.charge('100.00')
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(charge.id, 40)
  await minutes(pix, 8)
  const { decide } = decidingOver(pix)
  await assert.rejects(decide('line_missing', 'reverse'), { code: 'not_possible_in_state' })
  await pix.bankAction(`refunds/${id}/fail`)
  await pix.until(`/api/pix/refund/${id}`, ({ status }) => status === 'FAILED')
  await decide('line_missing', 'reverse')
  assert.deepEqual(await balances(pix.database), {})
  pix.show()
  await minutes(pix, 4)
  assert.deepEqual(await balances(pix.database), { suspense_in: 10_000n, settlement: -10_000n })
  assert.deepEqual((await cases(pix.database)).toSorted(), ['line_missing (closed)', 'unexplained_credit'])
  await decide('unexplained_credit', 'credit')
  await minutes(pix, 10)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  assert.equal((await pix.read(charge.id)).status, 'FAILED')
  assert.ok(!(await cases(pix.database)).includes('unexplained_credit'))
  await pix.assertBooksAgree()
})

test('[statement.2] [cash-in.expired.4] a payment without an event, whose line the bank hides for 20 minutes, is booked in the end', async (t) => {
  const pix = await hidingWorld(t)
  await pix.behave(EVENTS_LOST)
  const { id } = await pix.charge('100.00', { expirationTime: 3_600 })
  await minutes(pix, 1)
  await pix.bankAction(`charges/${id}/pay`)
  await minutes(pix, 20)
  assert.equal((await pix.read(id)).status, 'PENDING')
  pix.show()
  await minutes(pix, 42)
  assert.equal((await pix.read(id)).status, 'PAID')
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID'] })
  await pix.assertBooksAgree()
})

for (const [bank, options, waitMinutes] of [
  ['pixgate', {}, 5],
  ['api-pix', { standard: 'api-pix' }, 65],
] as const satisfies readonly [string, WorldOptions, number][])
  test(`[statement.5] [api-pix.9] at ${bank}: a return of a payment of a month ago, without an event, is debited once`, async (t) => {
    const pix = await world(t, {}, { ...STEPPED, ...options })
    const cashIn = await pix.paid('100.00')
    await minutes(pix, 2)
    pix.clock.advance(30 * DAY)
    await minutes(pix, 2)
    await pix.behave(EVENTS_LOST)
    await pix.bankAction(`charges/${cashIn.id}/return`, { valueCents: 4_000 })
    await minutes(pix, waitMinutes)
    assert.deepEqual(await balances(pix.database), { available: 6_000n, settlement: -6_000n })
    assert.equal((await pix.read(cashIn.id)).refundedCents, 4_000)
    assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID', 'CONFIRMED'] })
    await pix.assertBooksAgree()
  })

test('[cash-in.returns.1] [trip-wire.2] a return by the bank that may be a refund with an unknown outcome suspends nothing', async (t) => {
  const pix = await tamperedWorld(t)
  const cashIn = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual', ...EVENTS_LOST })
  const { id } = await pix.refundIn(cashIn.id, 40)
  pix.tamper = (call) => (call.startsWith('GET /refunds') ? { status: 500, body: {} } : undefined)
  await minutes(pix, 1)
  await pix.bankAction(`charges/${cashIn.id}/return`, { valueCents: 4_000 })
  await minutes(pix, 12)
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID'] })
  pix.tamper = () => undefined
  await pix.bankAction(`refunds/${id}/confirm`)
  await minutes(pix, 4)
  assert.deepEqual(await balances(pix.database), { available: 2_000n, settlement: -2_000n })
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID', 'CONFIRMED', 'CONFIRMED'] })
  await pix.assertBooksAgree()
})

test('[trip-wire.1] [statement.8] [PL-50] a forged credit that the sandbox believes suspends once; undone, it leaves nothing, and an «on» stays', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(20_000)
  await minutes(pix, 2)
  const charge = await pix.charge('100.00')
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent(charge, { occurredAt })), 200)
  await pix.becomes(charge.id, 'PAID')
  await minutes(pix, 8)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: true, cases: ['line_missing'] })
  await decidingOver(pix).decide('line_missing', 'reverse')
  const { status, failureCode, refundableCents } = await pix.read(charge.id)
  assert.deepEqual([status, failureCode, refundableCents], ['FAILED', 'reversed_by_operator', 0])
  assert.deepEqual((await notifiedStatuses(pix.database)).toSorted(), ['FAILED', 'PAID', 'PAID'])
  assert.deepEqual(await balances(pix.database), { available: 20_000n, settlement: -20_000n })
  const on = { enabled: true, reason: 'the secret was changed' }
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  assert.equal((await pix.call('PUT', '/operator/cash-out-switch', on, headers)).status, 200)
  await minutes(pix, 10)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: ['line_missing (closed)'] })
  await pix.assertBooksAgree()
})

test('[statement.9] [trip-wire.2] a withdrawal adjusted beforehand opens no case and suspends nothing; the next one does', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(90_000)
  await minutes(pix, 2)
  await adjust(pix, -40_000)
  await minutes(pix, 3)
  await pix.bank('POST', '/control/debits', { valueCents: 40_000 })
  await minutes(pix, 10)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: [] })
  await pix.assertBooksAgree()
  await pix.bank('POST', '/control/debits', { valueCents: 40_000 })
  await minutes(pix, 8)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: true, cases: ['unexplained_debit'] })
  assert.deepEqual(await balances(pix.database), { available: 50_000n, settlement: -50_000n })
})

test('[trip-wire.2] [statement.6] [PL-52] in a shared account a foreign debit is only a case, and the merchant bears it if an operator decides so', async (t) => {
  const pix = await world(t, { PIXGATE_BANK_ACCOUNT_SHARED: 'true' }, STEPPED)
  await pix.balance(90_000)
  await minutes(pix, 2)
  await pix.bank('POST', '/control/debits', { valueCents: 40_000 })
  await minutes(pix, 8)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: ['unexplained_debit'] })
  assert.deepEqual(await balances(pix.database), { available: 90_000n, settlement: -90_000n })
  await decidingOver(pix).decide('unexplained_debit', 'debit')
  await minutes(pix, 8)
  assert.deepEqual(await balances(pix.database), { available: 50_000n, settlement: -50_000n })
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: ['unexplained_debit (closed)'] })
  await pix.assertBooksAgree()
})

/** A bank that reports a refund by its own ids, and answers the order so much later. */
async function overtaking(t: TestContext) {
  const bankIs = { answersAfterMs: 0 }
  const carriedOut = (): Promise<Answer['body']> =>
    poll(
      async () => (await pix.bank('GET', '/control/book')).body.refunds.at(-1),
      ({ status }) => status === 'CONFIRMED',
    )
  const tell = async () => {
    const { transactionId, returnId, valueCents, endToEndId = cashIn.endToEndId } = await carriedOut()
    const named = { event: 'CashInReversal', eventId: `event of ${returnId}`, status: 'CONFIRMED' }
    const occurredAt = new Date(pix.clock.now()).toISOString()
    const moved = { transactionId, returnId, valueCents, endToEndId, occurredAt }
    assert.equal(await postEvent(pix, { ...named, ...moved }), 200)
  }
  const bank = (simulated: Bank): Bank => ({
    ...simulated,
    sendRefund: async (...order) => {
      const answer = await simulated.sendRefund(...order)
      await tell()
      await realPause.for(bankIs.answersAfterMs)
      return answer
    },
  })
  const pix = await world(t, {}, { ...STEPPED, bank })
  const cashIn: Answer['body'] = await pix.paid('100.00')
  await pix.behave(EVENTS_LOST)
  return { ...pix, cashIn, bankIs }
}

test('[RF-12] [cash-in.returns.1] [cash-in.returns.2] of two open refunds of one amount each is overtaken by its own event by 0, 3, 10 and 50 ms, and goes back once', async (t) => {
  const pix = await overtaking(t)
  for (const ms of [0, 3, 10, 50]) {
    pix.bankIs.answersAfterMs = ms
    const made = [await pix.refundIn(pix.cashIn.id, 10), await pix.refundIn(pix.cashIn.id, 10)]
    for (let second = 0; second < 15; second += 1) await pix.later(1_000)
    for (const { id } of made) assert.equal((await pix.get(`/api/pix/refund/${id}`)).status, 'CONFIRMED', `${ms} ms`)
  }
  await minutes(pix, 20)
  const { data } = await pix.get(`/api/pix/refund?cash_in_id=${pix.cashIn.id}`)
  assert.deepEqual(
    data.map(({ origin, status }: Record<string, string>) => `${origin} ${status}`),
    Array(8).fill('MERCHANT CONFIRMED'),
  )
  assert.deepEqual(await balances(pix.database), { available: 2_000n, settlement: -2_000n })
  const notified = ['PAID', ...Array(8).fill('CONFIRMED')]
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified })
  assert.ok((await inbox(pix.database)).every(({ isDone }) => isDone))
  await pix.assertBooksAgree()
})

async function secondProcess(t: TestContext, { databaseUrl, bankUrl, clock }: World): Promise<Service> {
  const addresses = { DATABASE_URL: databaseUrl, PIXGATE_PARTNER_URL: bankUrl }
  const config = readConfig({ ...ENVIRONMENT, ...addresses })
  const logger = pino({ level: 'silent' })
  const service = await createService({ config, clock, pause: realPause, random: Math.random, logger })
  t.after(() => service.stop())
  return service
}

test('[statement.1] [statement.4] [trip-wire.5] two processes that read one statement book each line once, and suspend once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const other = await secondProcess(t, pix)
  const pass = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) {
      pix.clock.advance(MINUTE)
      await Promise.all([pix.service.processNext(), other.processNext(), pix.service.processNext()])
    }
  }
  await pix.balance(90_000)
  await pass(2)
  await pix.behave({ cashOut: 'manual', ...EVENTS_LOST })
  const charges = [await pix.charge('10.00'), await pix.charge('20.00')]
  const payout = await pix.cashOut()
  await pass(3)
  for (const { id } of charges) await pix.bankAction(`charges/${id}/pay`)
  await pix.bankAction(`payouts/${payout.id}/confirm`, { feeCents: 35 })
  await pass(3)
  const booked = { available: 90_000n, settlement: -89_965n, partner_fees: -35n }
  assert.deepEqual(await balances(pix.database), booked)
  await pix.assertBooksAgree()
  await pix.bank('POST', '/control/debits', { valueCents: 5_000 })
  await pass(8)
  assert.deepEqual(await balances(pix.database), booked)
  const notified = ['PAID', 'PAID', 'PAID', 'CONFIRMED']
  const { notified: told, ...wire } = await stands(pix)
  assert.deepEqual(told.toSorted(), notified.toSorted())
  assert.deepEqual(wire, { isSuspended: true, cases: ['unexplained_debit'] })
  assert.equal((await statementEntries(pix.database)).length, 6)
})
