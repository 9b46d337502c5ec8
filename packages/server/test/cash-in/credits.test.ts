import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createTripWireStore } from '../../src/bank-statement/trip-wire/store.ts'
import { reportedPayments } from '../../src/cash-in/reported.ts'
import { createCashInStore } from '../../src/cash-in/store.ts'
import { createUnverifiedCredits } from '../../src/cash-in/unverified-credits.ts'
import { unconfirmed } from '../../src/ledger/verify/store.ts'
import { tamperedWorld } from '../bank-statement/tampering-bank.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, openTestDatabase, testDatabase } from '../support/database.ts'
import { testEngine } from '../support/engine.ts'
import { cases, cashIns, inbox, notifiedStatuses, unverifiedTotal } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

const STEPPED = { isStepped: true }

/** Posts the event of a payment that the bank does not confirm; resolves when it is processed. */
async function postUnconfirmedEvent(
  pix: World,
  charge: Parameters<typeof paidEvent>[0],
  given: object = {},
): Promise<void> {
  const before = (await inbox(pix.database)).length
  const event = paidEvent(charge, { endToEndId: `E99999010202611211315${String(before).padStart(11, '0')}`, ...given })
  assert.equal(await postEvent(pix, event), 200)
  while (!(await inbox(pix.database))[before]?.isDone);
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

test('[cash-in.credits.1] a large payment that the bank has is booked at once, by its answer', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(250_000)
  await pix.balance(900_000)
  assert.deepEqual(await balances(pix.database), { available: 1_150_000n, settlement: -1_150_000n })
  await pix.assertBooksAgree()
})

test('[cash-in.credits.5] [ledger.verify.5] of one charge twenty payments that only events report are kept, with one case; the books are right, and what the bank has is booked', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  for (let index = 0; index < 30; index += 1) await postUnconfirmedEvent(pix, charge, { eventId: `forged ${index}` })
  await pix.later(0)
  const [made] = await cashIns(pix.database)
  assert.equal(Object.keys(reportedPayments(made?.facts ?? {})).length, 20)
  assert.deepEqual(await cases(pix.database), ['too_many_payments'])
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
  await assertBooks(pix.database)
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  await assertBooks(pix.database)
})

test('[cash-in.credits.2] where nothing may be booked unverified every centavo is verified', async (t) => {
  const pix = await world(t, { PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' }, STEPPED)
  const charge = await pix.charge('0.01')
  await postUnconfirmedEvent(pix, charge)
  await pix.later(0)
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  await pix.assertBooksAgree()
})

test('[cash-in.credits.3] [EV-42] beyond what may be credited unverified every payment is verified, until the statement has them', async (t) => {
  const pix = await world(t, { PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS: '2500' }, STEPPED)
  const charges = await Promise.all(Array.from({ length: 5 }, () => pix.charge('10.00')))
  const statuses = () => Promise.all(charges.map(async ({ id }) => (await pix.read(id)).status))
  await pix.behave({ eventDelayMs: 3_600_000 })
  for (const charge of charges.slice(0, 4)) {
    const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
    assert.equal(await postEvent(pix, paidEvent(charge, { endToEndId })), 200)
  }
  await pix.service.processNext()
  assert.deepEqual(await statuses(), ['PAID', 'PAID', 'PAID', 'PAID', 'PENDING'])
  const unverified = (await cashIns(pix.database)).filter(({ facts }) => facts.isUnverified === true)
  assert.equal(unverified.length, 2, 'the others were verified')
  await pix.later(60_000)
  await postUnconfirmedEvent(pix, charges[4])
  assert.deepEqual((await statuses())[4], 'PAID')
  await assertBooks(pix.database)
})

test('[cash-in.credits.4] [EV-43] a payment that the bank does not confirm for 15 minutes is a case, and another one is booked', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  await postUnconfirmedEvent(pix, charge)
  for (const wait of [1_001, 5_001, 15_001]) await pix.later(wait)
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

test('[desk.48] payments that only events report count together', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('1000.00')
  await postUnconfirmedEvent(pix, charge)
  for (const wait of [1_001, 5_001, 15_001, 900_001]) await pix.later(wait)
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
  assert.deepEqual((await amounts()).at(-1), ['too_many_payments', 2_400_000])
})

test('[cash-in.states.14] [CI-17] a payment dated before its charge is a contradiction once the bank confirms it', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [wrong, right] = [await pix.charge('10.00'), await pix.charge('20.00')]
  const occurredAt = new Date(Date.parse(wrong.generateTime) - 300_001).toISOString()
  await pix.bankAction(`charges/${wrong.id}/pay`, { occurredAt })
  await pix.becomes(wrong.id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['paid_before_charge'])
  assert.deepEqual(await balances(pix.database), { settlement: -1000n, suspense_in: 1000n })
  const inTime = new Date(Date.parse(right.generateTime) - 299_000).toISOString()
  await pix.bankAction(`charges/${right.id}/pay`, { occurredAt: inTime })
  await pix.becomes(right.id, 'PAID')
  await pix.assertBooksAgree()
})

const TERMS = { verifyFromCents: 1_000n, unverifiedMaxCents: 10_000n }

/** Counts as several processes have them, on one database. */
async function counts(t: TestContext, processes: number, terms = TERMS) {
  const { url, database } = await testDatabase(t)
  const { ids, clock } = testEngine(t, url)
  return {
    ...{ database, clock, ids, wire: createTripWireStore(database) },
    credits: Array.from({ length: processes }, () => {
      const connection = openTestDatabase(url, 4)
      t.after(() => connection.close())
      return createUnverifiedCredits(createCashInStore(connection), clock, terms)
    }),
    credit: (valueCents: bigint) => {
      const occurredAt = clock.now()
      return { operationId: ids.uuid(), endToEndId: ids.uuid(), valueCents, occurredAt }
    },
  }
}

test('[cash-in.credits.2] exactly the threshold is verified, and one centavo less is not; what is verified is not counted', async (t) => {
  const { credits, credit, database } = await counts(t, 1)
  assert.equal(await credits[0]?.admit(credit(1_000n)), false)
  assert.equal(await credits[0]?.admit(credit(999n)), true)
  assert.deepEqual(await unverifiedTotal(database), { cents: 999n, sum: 999n })
})

test('[cash-in.credits.3] what is verified whatever its amount takes nothing of the bound', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [old, charge] = [await pix.charge('10.00'), await pix.charge('20.00')]
  const at = (made: { readonly generateTime: string }, ms: number) =>
    new Date(Date.parse(made.generateTime) + ms).toISOString()
  const endToEndId = 'E99999010202611221315ABCDEFGHIJK'
  await postUnconfirmedEvent(pix, old, { endToEndId, occurredAt: at(old, -300_001) })
  const again = { operationId: old.id, endToEndId, valueCents: 1_000n, occurredAt: Date.parse(old.generateTime) }
  const bounds = { maxCents: 10_000n, nowMs: pix.clock.now() }
  assert.deepEqual(await createCashInStore(pix.database).admitUnverified([again], bounds), [], 'to be confirmed')
  await postUnconfirmedEvent(pix, charge, { occurredAt: at(charge, 400_000) })
  assert.deepEqual(await unverifiedTotal(pix.database), { cents: 0n, sum: 0n })
  await postUnconfirmedEvent(pix, charge, { occurredAt: at(charge, -299_000) })
  assert.deepEqual(await unverifiedTotal(pix.database), { cents: 2_000n, sum: 2_000n })
})

test('[cash-in.credits.3] many small credits in parallel from two processes are never more than the bound, to the centavo', async (t) => {
  const { credits, credit, database } = await counts(t, 2)
  const admitted = await Promise.all(
    Array.from({ length: 400 }, (_, index) => credits[index % 2]?.admit(credit(BigInt(1 + ((index * 37) % 99))))),
  )
  const { cents = 0n, sum } = (await unverifiedTotal(database)) ?? {}
  assert.equal(cents, sum)
  assert.ok(cents <= TERMS.unverifiedMaxCents && cents > TERMS.unverifiedMaxCents - 99n, String(cents))
  assert.ok(admitted.some((isAdmitted) => isAdmitted === false))
  const rest = TERMS.unverifiedMaxCents - cents
  assert.equal(await credits[0]?.admit(credit(rest + 1n)), false)
  if (rest > 0n) assert.equal(await credits[1]?.admit(credit(rest)), true)
})

test('[cash-in.credits.3] the same credit again, at either process and at the same time, is counted once', async (t) => {
  const { credits, credit, database } = await counts(t, 2)
  const one = credit(600n)
  await Promise.all(credits.flatMap((process) => [process.admit(one), process.admit(one)]))
  assert.equal(await credits[1]?.admit(one), true)
  assert.deepEqual(await unverifiedTotal(database), { cents: 600n, sum: 600n })
})

test('[cash-in.credits.3] an event that never booked what it was counted for counts half an hour, at most', async (t) => {
  const { credits, credit, database, wire, clock } = await counts(t, 1)
  await credits[0]?.admit(credit(600n))
  await wire.confirmCredits(clock.now() + 29 * 60_000)
  assert.deepEqual(await unverifiedTotal(database), { cents: 600n, sum: 600n })
  await wire.confirmCredits(clock.now() + 31 * 60_000)
  assert.deepEqual(await unverifiedTotal(database), { cents: 0n, sum: 0n })
})

test('[cash-in.credits.3] [EV-42] what the statement does not have counts for as long as it does not, whatever else it has', async (t) => {
  const pix = await world(t, { PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS: '2500' }, STEPPED)
  const [forged, real, ...others] = await Promise.all(Array.from({ length: 5 }, () => pix.charge('10.00')))
  await postUnconfirmedEvent(pix, forged)
  await pix.bankAction(`charges/${real.id}/pay`)
  await pix.becomes(real.id, 'PAID')
  for (let minute = 0; minute < 40; minute += 1) await pix.later(60_000)
  for (const charge of others) await postUnconfirmedEvent(pix, charge)
  const statuses = await Promise.all(others.map(async ({ id }) => (await pix.read(id)).status))
  assert.deepEqual(statuses, ['PAID', 'PENDING', 'PENDING'])
})

for (const [kind, told] of [
  ['credit_denied', undefined],
  ['statement_missing', { status: 502, body: {} }],
] as const) {
  test(`[cash-in.credits.3] [ledger.verify.6] a credit whose case (${kind}) an operator has closed counts no longer, and one whose case is open does`, async (t) => {
    const pix = await tamperedWorld(t)
    const forged = await Promise.all([pix.charge('10.00'), pix.charge('20.00')])
    await pix.later(60_000)
    for (const charge of forged) await postUnconfirmedEvent(pix, charge)
    pix.tamper = (call) => (call.startsWith('GET /charges/') ? told : undefined)
    for (let minute = 0; minute < 8; minute += 1) await pix.later(60_000)
    assert.deepEqual(await cases(pix.database), [kind, kind])
    assert.deepEqual(await unverifiedTotal(pix.database), { cents: 3_000n, sum: 3_000n })
    assert.partialDeepStrictEqual(await unconfirmed(pix.database), { count: 2, cents: 3_000n })
    await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now() WHERE facts ->> 'valueCents' = '1000'`)
    await pix.later(60_000)
    assert.deepEqual(await unverifiedTotal(pix.database), { cents: 2_000n, sum: 2_000n })
    assert.partialDeepStrictEqual(await unconfirmed(pix.database), { count: 1, cents: 2_000n })
  })
}

test('[cash-in.credits.3] [EV-45] a forged event that names an earlier payment, of another charge, credits nothing a second time', async (t) => {
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
