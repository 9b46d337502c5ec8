import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { closedPort } from '../banks/pixgate/scripted-bank.ts'
import { bankWithout } from '../support/bank-without.ts'
import { balances } from '../support/books.ts'
import { authorityOf, certificateOf } from '../support/certificates.ts'
import { cases, movesBy, notifiedStatuses } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { minutes, stepUntil } from '../support/stepping.ts'
import { ADMIN_TOKEN, type World, type WorldOptions, world } from '../support/world.ts'

/** A merchant with R$ 100.00 and a bank that does what a test says; payouts move only when time is put forward. */
async function funded(t: TestContext, environment: Record<string, string> = {}, options: WorldOptions = {}) {
  const pix = await world(t, environment, { isStepped: true, ...options })
  await pix.balance(100_00)
  const detail = (id: string) => pix.get(`/api/pix/cash-out/${id}`)
  const becomes = (id: string, status: string, stepMs?: number, steps?: number) =>
    stepUntil(pix, `/api/pix/cash-out/${id}`, status, stepMs, steps)
  return { ...pix, detail, becomes }
}

async function atTheBank({ bank }: Pick<World, 'bank'>) {
  const { body } = await bank('GET', '/control/book')
  return body.entries
    .filter(({ kind }: { kind: string }) => kind.startsWith('PAYOUT'))
    .map(({ sign, valueCents }: { sign: string; valueCents: number }) => `${sign}${valueCents}`)
}

const REST = { available: 10_000n, settlement: -10_000n }

test('[cash-out.states.1] [cash-out.states.11] [CO-1] value and fee are reserved at once, then the money is sent', async (t) => {
  const pix = await funded(t, { PIXGATE_FEE_CASH_OUT_CENTS: '10', PIXGATE_FEE_CASH_OUT_BPS: '100' })
  const created = await pix.cashOut()
  assert.deepEqual([created.status, created.valueCents], ['RESERVED', 3000])
  assert.deepEqual(await balances(pix.database), { available: 6960n, reserved: 3040n, settlement: -10_000n })
  const confirmed = await pix.becomes(created.id, 'CONFIRMED')
  assert.deepEqual([confirmed.max_fee_cents, confirmed.reserved_total_cents, confirmed.feeAmountCents], [40, 3040, 40])
  assert.deepEqual(await balances(pix.database), { available: 6960n, settlement: -7000n, fees: 40n })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
  assert.deepEqual(await atTheBank(pix), ['-3000'])
  await pix.assertBooksAgree()

  const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email' }
  const payout = (externalId: string, value: number) =>
    pix.call('POST', '/api/pix/cash-out', { transaction: { value, externalId }, recipient })
  const { status: tooMuch, body: refused } = await payout('payout-2', 69.61)
  assert.deepEqual([tooMuch, refused.code], [422, 'insufficient_balance'])
  assert.equal((await payout('payout-2', 1)).status, 201, 'nothing was stored: the externalId is free')
  const { status: again, body: existing } = await payout('payout-1', 30)
  assert.deepEqual([again, existing.existing.id, existing.existing.samePayload], [409, created.id, true])
})

test('[cash-out.states.7] [CO-12] a refusal is the end: FAILED, notified once, the money is free', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'reject' })
  const { id } = await pix.cashOut()
  const failed = await pix.becomes(id, 'FAILED')
  assert.equal(typeof failed.failureCode, 'string')
  await pix.later(86_400_000)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  assert.deepEqual(await balances(pix.database), REST)
  assert.deepEqual(await atTheBank(pix), [])
})

test('[cash-out.unknown.3] [CO-11] [CO-16] a lost answer leaves a doubt, which a query ends; the payout was made once', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'lost-response', eventDelayMs: 3_600_000 })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'PROVIDER_RESULT_UNKNOWN')
  assert.deepEqual(await balances(pix.database), { available: 7000n, reserved: 3000n, settlement: -10_000n })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'], 'a doubt is told to nobody')
  await pix.becomes(id, 'CONFIRMED', 5_000)
  assert.deepEqual(await atTheBank(pix), ['-3000'])
  await pix.assertBooksAgree()
})

test('[cash-out.unknown.7] [CO-9] [CO-11] [CO-42] an order that never arrived is sent again under the same id once the bank, queried, does not know it', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'timeout' })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'PROVIDER_RESULT_UNKNOWN')
  await pix.behave({ cashOut: 'auto' })
  assert.equal((await pix.bank('GET', `/payouts/${id}`)).status, 404)
  await pix.later(6_000)
  assert.equal((await pix.bank('GET', `/payouts/${id}`)).status, 200)
  await pix.becomes(id, 'CONFIRMED')
  assert.deepEqual(await atTheBank(pix), ['-3000'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
  await pix.assertBooksAgree()
})

test('[cash-out.unknown.5] [CO-11] a bank without an answer for fifteen minutes is a case; its answer closes it', async (t) => {
  // Its statement would show what left, where it is read before the bank falls silent.
  const pix = await funded(t, IMPATIENT, bankWithout('statement'))
  await pix.behave({ cashOut: 'lost-response', eventDelayMs: 3_600_000 })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'PROVIDER_RESULT_UNKNOWN')
  await pix.behave({ latencyMs: TOO_LATE_MS })
  await pix.becomes(id, 'RECONCILIATION_REQUIRED', 30_000)
  assert.deepEqual(await cases(pix.database), ['outcome_unknown'])
  assert.equal((await balances(pix.database)).reserved, 3000n, 'a timeout never releases money')
  await pix.behave({ latencyMs: 0 })
  await pix.becomes(id, 'CONFIRMED', 60_000)
  assert.deepEqual(await cases(pix.database), ['outcome_unknown (closed)'])
  await pix.assertBooksAgree()
})

test('[cash-out.states.14] [CO-19] a failure that only an event reports frees nothing', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  const { transactionId } = await pix.becomes(id, 'DISPATCHED').then(() => sent(pix, id))
  await sendByHand(pix, { event: 'CashOut', transactionId, externalId: id, status: 'FAILED', valueCents: 3000 })
  for (let second = 0; second < 5; second++) await pix.later(1_000)
  assert.equal((await pix.detail(id)).status, 'DISPATCHED')
  assert.equal((await balances(pix.database)).reserved, 3000n)
  await pix.bankAction(`payouts/${id}/confirm`)
  await pix.becomes(id, 'CONFIRMED')
  await pix.assertBooksAgree()
})

test('[cash-out.states.10] [cash-out.states.3] [CO-7] [CO-10] a bank that cannot be reached costs no money', async (t) => {
  const pix = await world(
    t,
    { PIXGATE_PARTNER_CREATE_BUDGET_MS: '100' },
    { isStepped: true, bankUrl: await closedPort() },
  )
  const charge = await pix.charge('100.00')
  await postEvent(pix, paidEvent(charge))
  await pix.becomes(charge.id, 'PAID')
  const status = async (id: string) => (await pix.get(`/api/pix/cash-out/${id}`)).status
  const payout = async () => (await pix.cashOut()).id
  const tried = await payout()
  for (let second = 0; second < 20; second++) await pix.later(1_000)
  assert.equal(await status(tried), 'DISPATCHED')
  const waiting = [await payout(), await payout()]
  const states = () => Promise.all([tried, ...waiting].map(status))
  await minutes(pix, 29)
  assert.deepEqual(
    await states(),
    ['DISPATCHED', 'RESERVED', 'RESERVED'],
    'one is enough to see whether the bank is back',
  )
  await minutes(pix, 3)
  assert.deepEqual(await states(), ['RELEASED', 'DISPATCHED', 'RESERVED'])
  await pix.later(86_400_000)
  assert.deepEqual(await states(), ['RELEASED', 'RELEASED', 'RELEASED'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED', 'FAILED', 'FAILED'])
  assert.deepEqual(await balances(pix.database), REST)
})

test('[cash-out.reversal.1] [EV-24] [EV-25] each return is credited once and notified once', async (t) => {
  const pix = await funded(t)
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'CONFIRMED')
  await pix.behave({ eventCopies: 3 })
  await pix.bankAction(`payouts/${id}/reverse`, { valueCents: 1000 })
  const first = await pix.becomes(id, 'REVERSED')
  assert.equal(first.reversedCents, 1000)
  await pix.bankAction(`payouts/${id}/reverse`)
  while ((await pix.detail(id)).reversedCents !== 3000) await pix.later(100)
  assert.deepEqual(await balances(pix.database), REST)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED', 'REVERSED', 'REVERSED'])
  assert.deepEqual(await atTheBank(pix), ['-3000', '+1000', '+2000'])
  await pix.assertBooksAgree()
})

test('[cash-out.reversal.1] [EV-22] a reversal that overtakes the confirmation waits for it, and both are booked in order', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'manual', eventDelayMs: 3_600_000 })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'DISPATCHED')
  const { transactionId } = await sent(pix, id)
  await pix.bankAction(`payouts/${id}/confirm`)
  const { returnId } = await pix.bankAction(`payouts/${id}/reverse`)
  const { body: payout } = await pix.bank('GET', `/payouts/${id}`)
  await sendByHand(pix, {
    event: 'CashOutReversal',
    transactionId,
    externalId: id,
    status: 'CONFIRMED',
    endToEndId: payout.endToEndId,
    returnId: returnId ?? payout.returns[0].returnId,
    valueCents: 3000,
  })
  await pix.becomes(id, 'REVERSED')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED', 'REVERSED'])
  await pix.later(60_000)
  assert.deepEqual(await balances(pix.database), REST)
  await pix.assertBooksAgree()
})

test('[cash-out.states.12] [EV-14] another amount than the payout is in suspense, and the reservation stays', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'DISPATCHED')
  await pix.bankAction(`payouts/${id}/confirm`, { valueCents: 2999 })
  await pix.becomes(id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense'])
  assert.deepEqual(await balances(pix.database), {
    available: 7000n,
    reserved: 3000n,
    settlement: -7001n,
    suspense_out: -2999n,
  })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[cash-out.ended.2] [EV-20] money sent after a failure is held again as far as available', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'fail' })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'FAILED')
  await pix.behave({ cashOut: 'manual' })
  await pix.cashOut({ value: 85 })
  await pix.bankAction(`payouts/${id}/confirm`, { despiteFailure: true })
  await pix.becomes(id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense'])
  assert.deepEqual(await balances(pix.database), { reserved: 10_000n, settlement: -7000n, suspense_out: -3000n })
  await pix.assertBooksAgree()
})

test('[cash-out.states.14] [EV-21] [CO-26] an event of a failure after the confirmation causes a query and changes nothing', async (t) => {
  const pix = await funded(t)
  const { id } = await pix.cashOut()
  const { transactionId } = await pix.becomes(id, 'CONFIRMED')
  const asked = (await movesBy(pix.database, 'work.claimed'))?.moves ?? 0n
  await sendByHand(pix, { event: 'CashOut', transactionId, externalId: id, status: 'FAILED', valueCents: 3000 })
  await pix.work()
  await pix.later(60_000)
  assert.equal((await pix.detail(id)).status, 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), [])
  assert.equal((await movesBy(pix.database, 'work.claimed'))?.moves, asked + 1n, 'the bank was asked, once')
})

test('[cash-out.confirmed.4] [EV-21] [CO-26] a failure after the confirmation releases nothing', async (t) => {
  const pix = await funded(t)
  const { id } = await pix.cashOut()
  const { transactionId } = await pix.becomes(id, 'CONFIRMED')
  await pix.bank('PUT', '/control/lies', { perThousand: { falseFailure: 1_000 } })
  await sendByHand(pix, { event: 'CashOut', transactionId, externalId: id, status: 'FAILED', valueCents: 3000 })
  await pix.becomes(id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['bank_contradicts'])
  assert.deepEqual(await balances(pix.database), { available: 7000n, settlement: -7000n })
  await pix.assertBooksAgree()
})

test('[cash-out.states.15] [CO-22] [CO-41] a bank that has the order and reports no outcome is queried each minute; after a day a case opens', async (t) => {
  const pix = await funded(t)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await pix.becomes(id, 'DISPATCHED')
  for (let quarter = 0; quarter < 95; quarter++) await pix.later(900_000)
  assert.deepEqual(await cases(pix.database), [])
  for (let quarter = 0; quarter < 4; quarter++) await pix.later(900_000)
  assert.deepEqual(await cases(pix.database), ['outcome_unknown'])
  assert.equal((await pix.detail(id)).status, 'DISPATCHED')
  await pix.bankAction(`payouts/${id}/confirm`)
  await pix.becomes(id, 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), ['outcome_unknown (closed)'])
})

async function sent({ bank }: Pick<World, 'bank'>, id: string) {
  return (await bank('GET', `/payouts/${id}`)).body
}

/** Has the bank send an event by hand, whatever is true. */
async function sendByHand(
  { bank, clock }: Pick<World, 'bank' | 'clock'>,
  event: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { status, body } = await bank('POST', '/control/events', {
    endpoint: 'cash-out',
    event: { eventId: 'by-hand', occurredAt: new Date(clock.now()).toISOString(), ...event },
  })
  assert.ok(status < 300, JSON.stringify(body))
}

/** A merchant with R$ 100.00 and a bank with which TLS fails. */
async function fundedAt(t: TestContext, bank: Server, environment: Record<string, string> = {}) {
  await once(bank.listen(0, '127.0.0.1'), 'listening')
  t.after(() => bank.close())
  const bankUrl = `https://localhost:${(bank.address() as AddressInfo).port}`
  const pix = await world(t, environment, { isStepped: true, bankUrl })
  const deposit = { valueCents: 10_000, reason: 'opening balance' }
  const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  assert.equal((await pix.call('POST', '/operator/adjustments', deposit, asAdmin)).status, 201)
  return pix
}

test('[cash-out.states.8] [production.6] nothing is sent to a bank whose certificate does not verify: the money stays reserved, and is released after 30 minutes', async (t) => {
  const certificate = certificateOf(t, 'localhost')
  let requests = 0
  const bank = createServer(certificate, (_, response) => {
    requests += 1
    response.end('{}')
  })
  const pix = await fundedAt(t, bank)
  const { id } = await pix.cashOut()
  const status = async () => (await pix.get(`/api/pix/cash-out/${id}`)).status
  await minutes(pix, 29)
  assert.equal(await status(), 'DISPATCHED')
  assert.deepEqual(await balances(pix.database), { available: 7000n, reserved: 3000n, settlement: -10_000n })
  await minutes(pix, 3)
  assert.equal(await status(), 'RELEASED')
  assert.deepEqual(await balances(pix.database), REST)
  assert.deepEqual([requests, await cases(pix.database)], [0, []])
})

test('[partner.11] [cash-out.states.8] no payout is sent to a bank that requires a client certificate and gets none, and the money stays reserved', async (t) => {
  const authority = authorityOf(t, 'authority.example')
  for (const [version, status, statusLater] of [
    ['TLSv1.2', 'DISPATCHED', 'RELEASED'],
    // Refused after our side of the handshake is done: the outcome is unknown, so the money is never released by itself.
    ['TLSv1.3', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'],
  ] as const) {
    let requests = 0
    const wanting = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true } as const
    const bank = createServer({ ...authority.issue('localhost'), ...wanting, ca: authority.cert }, (_, response) => {
      requests += 1
      response.end('{}')
    })
    const pix = await fundedAt(t, bank, { PIXGATE_PARTNER_CA_BUNDLE_FILE: authority.path })
    const { id } = await pix.cashOut()
    const now = async () => (await pix.get(`/api/pix/cash-out/${id}`)).status
    await minutes(pix, 10)
    assert.equal(await now(), status)
    assert.deepEqual(await balances(pix.database), { available: 7000n, reserved: 3000n, settlement: -10_000n })
    await minutes(pix, 30)
    assert.deepEqual([await now(), requests], [statusLater, 0])
    const { reserved } = await balances(pix.database)
    assert.equal(reserved, statusLater === 'RELEASED' ? undefined : 3000n)
  }
})
