import assert from 'node:assert/strict'
import test from 'node:test'
import { reportedPayments } from '../../src/cash-in/reported.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer } from '../support/database.ts'
import { cases, cashIns, inbox, notifiedStatuses } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

const STEPPED = { isStepped: true }

/** As in production, where nothing else is allowed. */
const EVERY_PAYMENT = { PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' }

/** Posts the event of a payment that the bank does not confirm; resolves when it is processed. */
async function postUnconfirmedEvent(
  pix: World,
  charge: Parameters<typeof paidEvent>[0],
  given: object = {},
): Promise<void> {
  const before = (await inbox(pix.database)).length
  const event = paidEvent(charge, { endToEndId: `E99999010202611211315${String(before).padStart(11, '0')}`, ...given })
  assert.equal(await postEvent(pix, event), 200)
  await until(async () => (await inbox(pix.database))[before]?.isDone)
}

test('[cash-in.credits.1] [cash-in.credits.2] [EV-42] a payment of R$ 1.000,00 that the bank does not have is not booked', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [small, large] = [await pix.charge('999.99'), await pix.charge('1000.00')]
  for (const charge of [small, large]) await postUnconfirmedEvent(pix, charge)
  await pix.later(0)
  assert.equal((await pix.read(small.id)).status, 'PAID')
  assert.equal((await pix.read(large.id)).status, 'PENDING')
  assert.deepEqual(await balances(pix.database), { available: 99999n, settlement: -99999n })
  await pix.bankAction(`charges/${large.id}/pay`)
  await pix.becomes(large.id, 'PAID')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'PAID'])
  await assertBooks(pix.database)
})

test('[cash-in.credits.5] [ledger.verify.5] of one charge twenty payments that only events report are kept, with one case; the books are right, and what the bank has is booked', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  for (let index = 0; index < 30; index += 1) await postUnconfirmedEvent(pix, charge, { eventId: `forged ${index}` })
  await pix.later(0)
  const [made] = await cashIns(pix.database)
  assert.equal(Object.keys(reportedPayments(made?.facts ?? {})).length, 20)
  assert.deepEqual(await cases(pix.database), ['payment_unconfirmed'])
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
  await assertBooks(pix.database)
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  await assertBooks(pix.database)
})

test('[cash-in.credits.2] [PL-50] where every payment is queried, an event alone books not a centavo', async (t) => {
  const pix = await world(t, EVERY_PAYMENT, STEPPED)
  const charge = await pix.charge('0.01')
  await postUnconfirmedEvent(pix, charge)
  await pix.later(0)
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  await pix.assertBooksAgree()
})

test('[cash-in.credits.4] [EV-43] a payment that the bank does not confirm for 15 minutes is a case, and another one is booked', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  await postUnconfirmedEvent(pix, charge)
  for (const wait of [1_001, 5_001, 15_001, 30_001, 60_001]) await pix.later(wait)
  assert.deepEqual(await cases(pix.database), [])
  await pix.later(900_001)
  assert.deepEqual(await cases(pix.database), ['payment_unconfirmed'])
  await pix.bank('PUT', '/control/behavior', { eventDelayMs: 3_600_000 })
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.later(3_600_001)
  assert.equal((await pix.read(charge.id)).status, 'PAID')
  assert.deepEqual(await cases(pix.database), ['payment_unconfirmed'], 'of what the event told nothing is known yet')
  await assertBooks(pix.database)
})

test('[cases.48] payments that only events report count together', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  await postUnconfirmedEvent(pix, charge)
  for (const wait of [1_001, 5_001, 15_001, 30_001, 60_001, 900_001]) await pix.later(wait)
  const amounts = async () => {
    const { body } = await pix.call('GET', '/operator/cases', undefined, { authorization: `Bearer ${ADMIN_TOKEN}` })
    return body.data.map(({ kind, amountCents }: { kind: string; amountCents: number }) => [kind, amountCents])
  }
  assert.deepEqual(await amounts(), [['payment_unconfirmed', 100_000]])
  await postUnconfirmedEvent(pix, charge, { eventId: 'another', valueCents: 900_000 })
  assert.deepEqual(await amounts(), [['payment_unconfirmed', 1_000_000]], 'another one, while the case is open')
  const many = await pix.charge('1000.00')
  for (let index = 0; index < 20; index += 1) {
    await postUnconfirmedEvent(pix, many, { eventId: `many ${index}`, valueCents: index === 0 ? 500_000 : 100_000 })
  }
  await pix.later(0)
  assert.deepEqual((await amounts()).at(-1), ['payment_unconfirmed', 2_400_000])
})

test('[cash-in.states.14] [CI-17] a payment dated before its charge is a contradiction once the bank confirms it', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [wrong, right] = [await pix.charge('10.00'), await pix.charge('20.00')]
  const occurredAt = new Date(Date.parse(wrong.generateTime) - 300_001).toISOString()
  await pix.bankAction(`charges/${wrong.id}/pay`, { occurredAt })
  await pix.becomes(wrong.id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
  assert.deepEqual(await balances(pix.database), { settlement: -1000n, suspense_in: 1000n })
  const inTime = new Date(Date.parse(right.generateTime) - 299_000).toISOString()
  await pix.bankAction(`charges/${right.id}/pay`, { occurredAt: inTime })
  await pix.becomes(right.id, 'PAID')
  await pix.assertBooksAgree()
})

test('[cash-in.credits.1] [EV-45] a forged event that names an earlier payment, of another charge, credits nothing a second time', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [paid, other] = [await pix.paid('500.00'), await pix.charge('500.00')]
  await postUnconfirmedEvent(pix, other, { endToEndId: paid.endToEndId })
  const replayed = paidEvent(
    { ...paid, providerTransactionId: paid.providerTransactionId },
    { endToEndId: paid.endToEndId },
  )
  assert.equal(await postEvent(pix, { ...replayed, externalId: other.id }), 200)
  for (let step = 0; step < 4; step += 1) await pix.later(30_000)
  assert.notEqual((await pix.read(other.id)).status, 'PAID')
  assert.equal((await balances(pix.database)).available, 50_000n)
})

test('[cash-in.credits.2] a payment that the bank does not have yet is asked for again after 1, 5, 15, 30 and 60 s', async (t) => {
  const pix = await world(t, EVERY_PAYMENT, STEPPED)
  await pix.behave({ eventDelayMs: 3_600_000 })
  const waits = [1_001, 5_001, 15_001, 30_001, 60_001]
  for (const [index, wait] of waits.entries()) {
    const charge = await pix.charge('10.00')
    await postUnconfirmedEvent(pix, charge)
    await pix.work()
    for (const before of waits.slice(0, index)) await pix.later(before)
    await pix.bankAction(`charges/${charge.id}/pay`)
    assert.equal((await pix.read(charge.id)).status, 'PENDING', 'nobody has asked since')
    await pix.later(wait)
    assert.equal((await pix.read(charge.id)).status, 'PAID')
  }
  await pix.assertBooksAgree()
})

test('[cash-in.credits.2] [partner.7] however many end-to-end ids events name, a pending charge has one query in flight', async (t) => {
  const pix = await world(t, EVERY_PAYMENT, STEPPED)
  const [flooded, paid] = [await pix.charge('10.00'), await pix.charge('20.00')]
  await pix.behave({ eventDelayMs: 3_600_000 })
  await pix.bankAction(`charges/${paid.id}/pay`)
  for (let event = 0; event < 250; event++) await postUnconfirmedEvent(pix, flooded, { eventId: `flood ${event}` })
  await postUnconfirmedEvent(pix, paid)
  await pix.becomes(paid.id, 'PAID')
  assert.equal((await pix.read(flooded.id)).status, 'PENDING')
  await assertBooks(pix.database)
})
