import assert from 'node:assert/strict'
import test from 'node:test'
import { createCashInStore } from '../../src/cash-in/store.ts'
import { createUnverifiedCredits } from '../../src/cash-in/unverified-credits.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { cases, inbox, notifiedStatuses } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { type World, world } from '../support/world.ts'

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

/** Says that the bank's statement was matched up to an instant. */
const statementMatched = (until: Date) => `UPDATE statement_mark SET matched_until = '${until.toISOString()}'`

test('[cash-in.credits.3] [EV-42] beyond what may be credited unverified every payment is verified, until the statement is matched', async (t) => {
  const pix = await world(t, { PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS: '2500' }, STEPPED)
  const charges = await Promise.all(Array.from({ length: 5 }, () => pix.charge('10.00')))
  for (const charge of charges.slice(0, 4)) {
    await postUnconfirmedEvent(pix, charge)
    pix.clock.advance(1_001)
  }
  const statuses = () => Promise.all(charges.map(async ({ id }) => (await pix.read(id)).status))
  assert.deepEqual(await statuses(), ['PAID', 'PAID', 'PENDING', 'PENDING', 'PENDING'])
  await administer(pix.databaseUrl, statementMatched(new Date(pix.clock.now())))
  pix.clock.advance(1_001)
  await postUnconfirmedEvent(pix, charges[4])
  assert.deepEqual(await statuses(), ['PAID', 'PAID', 'PENDING', 'PENDING', 'PAID'])
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

/** A database that answers by script, and a clock. */
function counted(terms: { verifyFromCents: bigint; unverifiedMaxCents: bigint }) {
  const bank = { now: 0, mark: null as number | null, cents: 0n, isTooMany: false, asked: [] as bigint[] }
  const store = {
    statementMark: async () => bank.mark,
    unverifiedCredits: async (afterVersion: bigint) => {
      bank.asked.push(afterVersion)
      const { cents, isTooMany } = bank
      return { cents, version: afterVersion + 1n, isTooMany }
    },
  }
  return { bank, credits: createUnverifiedCredits(store, { now: () => bank.now }, terms) }
}

const TERMS = { verifyFromCents: 1_000n, unverifiedMaxCents: 2_000n }

test('[cash-in.credits.3] what this process is booking counts at once, what it has booked is read from the database', async () => {
  const { bank, credits } = counted(TERMS)
  const ends = await Promise.all([credits.admit(900n), credits.admit(900n), credits.admit(900n)])
  assert.deepEqual(ends.map(Boolean), [true, true, false])
  for (const end of ends) end?.()
  assert.equal(await credits.admit(201n), undefined)
  bank.now = 1_000
  bank.cents = 900n
  assert.ok(await credits.admit(999n), 'of the two only one was booked')
  assert.deepEqual(bank.asked, [0n, 1n], 'only what was added is read')
})

test('[cash-in.credits.3] what was exceeded stays so until the statement is matched again; too much to be read is exceeded', async () => {
  const { bank, credits } = counted(TERMS)
  bank.isTooMany = true
  assert.equal(await credits.admit(1n), undefined)
  Object.assign(bank, { isTooMany: false, now: 1_000 })
  assert.equal(await credits.admit(1n), undefined)
  Object.assign(bank, { mark: 500, now: 2_000 })
  assert.ok(await credits.admit(1n))
  assert.deepEqual(bank.asked, [0n, 0n], 'from the beginning of the new window')
})

test('[cash-in.credits.2] what is always verified is not counted, nor is anything read for it', async () => {
  const { bank, credits } = counted(TERMS)
  assert.equal(await credits.admit(1_000n), undefined)
  assert.deepEqual(bank.asked, [])
})

test('[cash-in.credits.3] only credits without verification are counted', async (t) => {
  const { url, database } = await testDatabase(t)
  const { cashIns, clock, ids } = testEngine(t, url)
  const store = createCashInStore(database)
  const paid = async (externalId: string, more: object) => {
    const id = ids.uuid()
    await cashIns.create(cashInRequest({ id, externalId }))
    const given = payment({ endToEndId: externalId, occurredAt: clock.now() })
    await cashIns.apply(id, { on: 'partner.confirmed', payment: given, transactionId: null, ...more })
    return (await store.unverifiedCredits(0n, null)).cents
  }
  assert.deepEqual([await paid('a', {}), await paid('b', { unverified: 'counted' })], [0n, 100_00n])
})
