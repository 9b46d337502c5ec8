import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBooks, balances } from '../support/books.ts'
import { cases, inbox, movesBy, notifiedStatuses } from '../support/evidence.ts'
import { failedEvent, paidEvent, postEvent } from '../support/partner-events.ts'
import { until } from '../support/until.ts'
import { wallNow } from '../support/wall-clock.ts'
import { type World, world } from '../support/world.ts'

const STEPPED = { isStepped: true }

/** The simulated bank is paid; what it does not say of the payment it makes up. @returns the end-to-end id */
async function pay(pix: World, id: string, order: object = {}): Promise<string> {
  const { status, body } = await pix.bank('POST', `/control/charges/${id}/pay`, order)
  assert.equal(status, 202, JSON.stringify(body))
  return body.endToEndId
}

/** Waits for so many notifications or cases, and compares them. */
async function assertFound(found: () => Promise<string[]>, expected: readonly string[]): Promise<void> {
  await until(async () => (await found()).length >= expected.length)
  assert.deepEqual(await found(), expected)
}

const reading = (at: string | null) => Date.parse(at ?? '')

test('[cash-in.states.7] [cash-in.detail.4] a payment credits value less fee and shows what the bank reported', async (t) => {
  const pix = await world(t, { PIXGATE_FEE_CASH_IN_CENTS: '10', PIXGATE_FEE_CASH_IN_BPS: '100' })
  const { id } = await pix.charge('100.00')
  const settledAt = new Date(pix.clock.now() - 5_000).toISOString()
  const endToEndId = await pay(pix, id, { payerName: 'João', occurredAt: settledAt })
  const detail = await pix.becomes(id, 'PAID')
  assert.deepEqual(
    [detail.endToEndId, detail.payerName, detail.paidAt, detail.feeAmountCents, detail.payerDocument],
    [endToEndId, 'João', settledAt, 110, '***.982.247-**'],
  )
  assert.equal(reading(detail.refundDeadline) - reading(settledAt), 89 * 86_400_000)
  assert.deepEqual(await balances(pix.database), { available: 9890n, settlement: -10000n, fees: 110n })
  await pix.receiver.arrived(1)
  const { event_type, event } = JSON.parse(String(pix.receiver.received[0]?.body))
  assert.equal(event_type, 'pix_cash_in')
  const { created_at, confirmed_at, ...rest } = event
  assert.deepEqual(rest, {
    id,
    correlation_id: detail.correlationId,
    external_id: 'order-1',
    transaction_id: detail.providerTransactionId,
    status: 'PAID',
    value_cents: 10000,
    end_to_end_id: endToEndId,
    payer_name: 'João',
    fee_amount_cents: 110,
  })
  assert.equal(confirmed_at, settledAt.replace('Z', '000000Z'))
  assert.equal(created_at, detail.createdAt.replace('Z', '000000Z'))
  await pix.assertBooksAgree()
})

test('[cash-in.states.8] [EV-13] a payment of another amount is in suspense with a case, and no notification is sent', async (t) => {
  const pix = await world(t, {}, STEPPED)
  for (const [index, valueCents] of [999, 1001].entries()) {
    const { id } = await pix.charge('10.00')
    await pay(pix, id, { valueCents })
    const detail = await pix.becomes(id, 'RECONCILIATION_REQUIRED')
    assert.deepEqual([detail.paidAt, detail.endToEndId, detail.refundableCents], [null, null, 0])
    assert.equal((await cases(pix.database))[index], 'payment_in_suspense')
  }
  assert.deepEqual(await notifiedStatuses(pix.database), [])
  assert.deepEqual(await balances(pix.database), { settlement: -2000n, suspense_in: 2000n })
  const { body } = await pix.call('GET', '/organization/balance')
  assert.equal(body[0].amount, 0)
  await pix.assertBooksAgree()
})

test('[cash-in.paid.4] [EV-19] a second payment is in suspense with a case; the first stands and is notified once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  const first = await pay(pix, id)
  await pix.becomes(id, 'PAID')
  await pay(pix, id)
  await assertFound(() => cases(pix.database), ['payment_in_suspense'])
  await pay(pix, id, { valueCents: 1 })
  await assertFound(() => cases(pix.database), ['payment_in_suspense', 'payment_in_suspense'])
  const detail = await pix.read(id)
  assert.deepEqual([detail.status, detail.endToEndId], ['PAID', first])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -2001n, suspense_in: 1001n })
  await pix.assertBooksAgree()
})

test('[cash-in.paid.3] [EV-8b] a payment restated with another amount is a case and not booked again', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  assert.equal(await postEvent(pix, paidEvent(charge)), 200)
  await pix.becomes(charge.id, 'PAID')
  // Under another word of the same meaning it is another event, not a repetition.
  assert.equal(await postEvent(pix, paidEvent(charge, { valueCents: 900, status: 'CONCLUIDA' })), 200)
  await assertFound(() => cases(pix.database), ['bank_contradicts'])
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
  await assertBooks(pix.database)
})

test('[cash-in.paid.3] [EV-8c] an event with another amount than the bank’s answer is a case', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  await pix.behave({ eventDelayMs: 60_000 })
  const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
  assert.equal(await postEvent(pix, paidEvent(charge, { endToEndId, valueCents: 100_001 })), 200)
  await pix.becomes(charge.id, 'PAID')
  assert.deepEqual(await cases(pix.database), ['bank_contradicts'])
  assert.deepEqual(await balances(pix.database), { available: 100_000n, settlement: -100_000n })
  await pix.assertBooksAgree()
})

test('[cash-in.states.10] [sandbox.3] a failure ends the charge and is notified once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  await pix.call('POST', `/sandbox/cash-in/${id}/fail`)
  const detail = await pix.becomes(id, 'FAILED')
  assert.deepEqual([detail.failureCode, detail.failureReason], ['removed_by_bank', 'the bank removed the charge'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
  await pix.assertBooksAgree()
})

test('[cash-in.states.10] [EV-40] a failure that only an event reports changes nothing, and the payment after it counts', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  assert.equal(await postEvent(pix, failedEvent(charge)), 200)
  await until(async () => (await inbox(pix.database))[0]?.isDone)
  await pix.work()
  await pix.later(60_000)
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  assert.ok(((await movesBy(pix.database, 'work.claimed'))?.moves ?? 0n) >= 2n, 'the bank was asked, and once more')
  await pay(pix, charge.id)
  await pix.becomes(charge.id, 'PAID')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[cash-in.paid.5] [EV-17] a failure that only an event reports after the payment changes nothing', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  await pay(pix, charge.id)
  await pix.becomes(charge.id, 'PAID')
  assert.equal(await postEvent(pix, failedEvent(charge)), 200)
  await until(async () => (await inbox(pix.database))[1]?.isDone)
  await pix.work()
  await pix.later(60_000)
  assert.equal((await pix.read(charge.id)).status, 'PAID')
  assert.deepEqual((await movesBy(pix.database, 'work.claimed'))?.moves, 1n, 'the bank was asked')
  assert.deepEqual([await cases(pix.database), await notifiedStatuses(pix.database)], [[], ['PAID']])
  await pix.assertBooksAgree()
})

test('[cash-in.failed.2] [EV-16] a payment after the failure is in suspense, and a case opens for an operator', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  await pix.bankAction(`charges/${charge.id}/fail`)
  await pix.becomes(charge.id, 'FAILED')
  // The simulated bank takes no payment of what has failed; another may.
  assert.equal(await postEvent(pix, paidEvent(charge)), 200)
  await pix.becomes(charge.id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
  assert.deepEqual(await balances(pix.database), { settlement: -1000n, suspense_in: 1000n })
  await assertBooks(pix.database)
})

test('[cash-in.detail.3] [cash-in.states.11] [EX-1] a charge reads as EXPIRED at once and is EXPIRED once the bank was asked', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00', { expirationTime: 60 })
  pix.clock.advance(50_000)
  assert.equal((await pix.read(id)).status, 'PENDING')
  pix.clock.advance(10_001)
  const computed = await pix.read(id)
  assert.equal(computed.status, 'EXPIRED')
  await pix.later(2_000)
  const written = await pix.read(id)
  assert.equal(written.status, 'EXPIRED')
  assert.notEqual(written.updatedAt, computed.updatedAt, 'now the move was written')
  assert.deepEqual(await notifiedStatuses(pix.database), [])
  await pix.assertBooksAgree()
})

test('[cash-in.states.11] [EX-6] a charge that is over here is cancelled at a bank whose clock is behind', async (t) => {
  const behind = { now: () => wallNow() - 60_000, sleep: async () => undefined }
  const pix = await world(t, {}, { ...STEPPED, bankClock: behind })
  const { id } = await pix.charge('10.00', { expirationTime: 10 })
  await pix.later(12_001)
  assert.equal((await pix.read(id)).status, 'EXPIRED')
  const { body } = await pix.bank('GET', `/charges/${id}`)
  assert.equal(body.status, 'CANCELLED')
  // Somebody had sent the money before: it is what settled that counts, not what was cancelled.
  await pay(pix, id)
  await pix.becomes(id, 'PAID')
  await pix.assertBooksAgree()
})

test('[cash-in.states.11] [EV-0] [EX-3] a payment that nobody reported is found when the charge would expire', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.bank('PUT', '/control/behavior', { eventDelayMs: 3_600_000 })
  const { id } = await pix.charge('10.00', { expirationTime: 10 })
  await pay(pix, id)
  pix.clock.advance(11_000)
  assert.equal((await pix.read(id)).status, 'EXPIRED', 'as far as anybody knows')
  await pix.later(1_001)
  assert.equal((await pix.read(id)).status, 'PAID')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[cash-in.expired.2] [EV-15] what settled within 60 s of the expiry pays, however late it is reported', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id, expirationDate } = await pix.charge('10.00', { expirationTime: 10 })
  await pix.later(12_001)
  assert.equal((await pix.read(id)).status, 'EXPIRED')
  pix.clock.advance(3_600_000)
  const occurredAt = new Date(Date.parse(expirationDate) + 60_000).toISOString()
  await pay(pix, id, { occurredAt })
  const detail = await pix.becomes(id, 'PAID')
  assert.equal(detail.paidAt, occurredAt)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[cash-in.states.9] [EV-15] what settled later is in suspense with a case, before and after the move to EXPIRED', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [unmoved, moved] = [
    await pix.charge('10.00', { expirationTime: 60 }),
    await pix.charge('20.00', { expirationTime: 10 }),
  ]
  await pix.later(12_001)
  pix.clock.advance(110_000)
  for (const { id, expirationDate } of [unmoved, moved]) {
    const occurredAt = new Date(Date.parse(expirationDate) + 60_001).toISOString()
    await pay(pix, id, { occurredAt })
    await pix.becomes(id, 'RECONCILIATION_REQUIRED')
  }
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense', 'payment_in_suspense'])
  assert.deepEqual(await notifiedStatuses(pix.database), [])
  assert.deepEqual(await balances(pix.database), { settlement: -3000n, suspense_in: 3000n })
  await pix.assertBooksAgree()
})

test('[cash-in.expired.2] [EV-18] a failure of an expired charge is nothing; a payment after it still counts', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00', { expirationTime: 10 })
  await pix.later(12_001)
  assert.equal(await postEvent(pix, failedEvent(charge)), 200)
  await pay(pix, charge.id)
  await pix.becomes(charge.id, 'PAID')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[cash-in.expired.3] [EV-18] a failure of a charge that reads as EXPIRED before that was written is nothing either', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00', { expirationTime: 60 })
  pix.clock.advance(61_000)
  assert.equal((await pix.read(charge.id)).status, 'EXPIRED')
  assert.equal(await postEvent(pix, failedEvent(charge)), 200)
  await until(async () => (await inbox(pix.database))[0]?.isDone)
  assert.equal((await pix.read(charge.id)).status, 'EXPIRED')
  await pay(pix, charge.id)
  await pix.becomes(charge.id, 'PAID')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[cash-in.reconciliation.2] [cash-in.reconciliation.3] money that arrives in doubt is in suspense, each once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  await pay(pix, id, { valueCents: 900 })
  await pix.becomes(id, 'RECONCILIATION_REQUIRED')
  await pay(pix, id)
  await assertFound(() => cases(pix.database), ['payment_in_suspense', 'payment_in_suspense'])
  assert.deepEqual(await balances(pix.database), { settlement: -1900n, suspense_in: 1900n })
  assert.equal((await pix.read(id)).status, 'RECONCILIATION_REQUIRED')
  await pix.assertBooksAgree()
})

test('[sandbox.5] [EV-8] events three times each, shuffled and late, book every payment once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.bank('PUT', '/control/behavior', { eventCopies: 3, eventsShuffled: true, eventDelayMs: 50 })
  const charges = await Promise.all(Array.from({ length: 10 }, () => pix.charge('10.00')))
  for (const { id } of charges) await pay(pix, id)
  for (const { id } of charges) await pix.becomes(id, 'PAID')
  const delivered = async () => (await pix.bank('GET', '/control/book')).body.events.delivered
  await until(async () => (await delivered()).length >= charges.length)
  assert.deepEqual(await notifiedStatuses(pix.database), Array(10).fill('PAID'))
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})
