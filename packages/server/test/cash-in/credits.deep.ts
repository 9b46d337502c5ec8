import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createTripWireStore } from '../../src/bank-statement/trip-wire/store.ts'
import type { CashIn, UnverifiedBound } from '../../src/cash-in/cash-in.ts'
import { reportedPayments } from '../../src/cash-in/reported.ts'
import { unconfirmed } from '../../src/ledger/verify/store.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { tamperedWorld } from '../bank-statement/tampering-bank.ts'
import { assertBooks, balances } from '../support/books.ts'
import { counted } from '../support/counted-credits.ts'
import { administer, planOf, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { cases, cashIns, inbox, notifiedStatuses, unverifiedTotal } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { openHolder } from '../support/waiting-backends.ts'
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

/** What may be booked on the word of events alone in the tests below. */
const MAX_CENTS = 10_000n

/** Processes with an engine each, on one database; and charges, of which events tell. */
async function processes(t: TestContext, count: number) {
  const { url, database } = await testDatabase(t)
  const [first, ...others] = Array.from({ length: count }, () => testEngine(t, url))
  assert.ok(first)
  const { clock, ids, cashIns } = first
  const all = [first, ...others]
  return {
    ...{ url, database, clock, wire: createTripWireStore(database) },
    charge: async (valueCents: bigint) => {
      const id = ids.uuid()
      return (await cashIns.create(cashInRequest({ id, externalId: id, valueCents }))).cashIn
    },
    /** An event tells one of them that a charge was paid; resolves to what the charge is then. */
    tell: async (process: number, { id, valueCents }: CashIn, unverified: Unverified = { maxCents: MAX_CENTS }) => {
      const told = payment({ endToEndId: `E${id}`, valueCents, occurredAt: clock.now() })
      const input = { on: 'partner.confirmed', payment: told, transactionId: 'tx', unverified } as const
      return (await all[process]?.cashIns.apply(id, input))?.cashIn.status
    },
  }
}

type Unverified = UnverifiedBound | 'counted' | 'first'

test('[cash-in.credits.3] what is verified whatever its amount takes nothing of the bound', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [old, charge] = [await pix.charge('10.00'), await pix.charge('20.00')]
  const at = (made: { readonly generateTime: string }, ms: number) =>
    new Date(Date.parse(made.generateTime) + ms).toISOString()
  const endToEndId = 'E99999010202611221315ABCDEFGHIJK'
  await postUnconfirmedEvent(pix, old, { endToEndId, occurredAt: at(old, -300_001) })
  await postUnconfirmedEvent(pix, charge, { occurredAt: at(charge, 400_000) })
  assert.deepEqual(await unverifiedTotal(pix.database), { cents: 0n, sum: 0n })
  await postUnconfirmedEvent(pix, charge, { occurredAt: at(charge, -299_000) })
  assert.deepEqual(await unverifiedTotal(pix.database), { cents: 2_000n, sum: 2_000n })
})

test('[cash-in.credits.3] many small credits in parallel from two processes are never more than the bound, to the centavo', async (t) => {
  const { charge, tell, database } = await processes(t, 2)
  const values = Array.from({ length: 400 }, (_, index) => BigInt(1 + ((index * 37) % 99)))
  const charges = await Promise.all(values.map(charge))
  const statuses = await Promise.all(charges.map((one, index) => tell(index % 2, one)))
  const booked = charges.filter((_, index) => statuses[index] === 'PAID')
  const { cents = 0n, sum } = (await unverifiedTotal(database)) ?? {}
  assert.equal(cents, sum)
  assert.equal(
    booked.reduce((total, { valueCents }) => total + valueCents, 0n),
    cents,
  )
  assert.ok(cents <= MAX_CENTS && cents > MAX_CENTS - 99n, String(cents))
  const rest = MAX_CENTS - cents
  assert.equal(await tell(0, await charge(rest + 1n)), 'PENDING')
  if (rest > 0n) assert.equal(await tell(1, await charge(rest)), 'PAID')
  await assertBooks(database)
})

test('[cash-in.credits.3] what comes together is booked as far as it fits, in its order', async (t) => {
  const { charge, tell, database } = await processes(t, 1)
  const charges = [await charge(6_000n), await charge(5_000n), await charge(4_000n)]
  assert.deepEqual(await Promise.all(charges.map((one) => tell(0, one))), ['PAID', 'PENDING', 'PAID'])
  assert.deepEqual(await unverifiedTotal(database), { cents: 10_000n, sum: 10_000n })
})

test('[cash-in.credits.3] the same credit again, at either process and at the same time, is counted once', async (t) => {
  const { charge, tell, database } = await processes(t, 2)
  const one = await charge(600n)
  await Promise.all([0, 0, 1, 1].map((process) => tell(process, one)))
  assert.equal(await tell(1, one), 'PAID')
  assert.deepEqual(await unverifiedTotal(database), { cents: 600n, sum: 600n })
})

test('[cash-in.credits.3] where nothing fits each is verified, at every process, until something counts no longer', async (t) => {
  const { charge, tell, database, url } = await processes(t, 2)
  assert.equal(await tell(0, await charge(9_999n)), 'PAID')
  for (const process of [0, 1, 1, 0]) assert.equal(await tell(process, await charge(2n)), 'PENDING')
  assert.deepEqual(await unverifiedTotal(database), { cents: 9_999n, sum: 9_999n })
  await administer(url, 'UPDATE unverified_credit SET settled_at = now(); UPDATE unverified_total SET cents = 0')
  for (const process of [1, 0]) assert.equal(await tell(process, await charge(5_000n)), 'PAID')
  assert.deepEqual(await unverifiedTotal(database), { cents: 10_000n, sum: 10_000n })
})

test('[cash-in.credits.3] what was to be verified before is verified when it is told again, and takes nothing of the bound', async (t) => {
  const { charge, tell, database } = await processes(t, 1)
  const one = await charge(600n)
  assert.equal(await tell(0, one, 'first'), 'PENDING')
  assert.equal(await tell(0, one), 'PENDING')
  assert.deepEqual(await unverifiedTotal(database), { cents: 0n, sum: 0n })
})

test('[cash-in.credits.3] nobody but what counts says that a payment may be booked unverified', async (t) => {
  const { charge, tell, database } = await processes(t, 1)
  assert.equal(await tell(0, await charge(1n), 'counted'), 'PENDING')
  assert.deepEqual(await unverifiedTotal(database), { cents: 0n, sum: 0n })
})

test('[cash-in.credits.3] a payment that goes to suspense on the word of an event counts', async (t) => {
  const { charge, tell, database } = await processes(t, 1)
  const one = await charge(600n)
  assert.equal(await tell(0, { ...one, valueCents: 700n }), 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await unverifiedTotal(database), { cents: 700n, sum: 700n })
})

test('[cash-in.credits.3] what a process of the version before counted and did not book is booked, and counts once; what ceased to count counts again', async (t) => {
  const gateway = await processes(t, 1)
  const [known, ceased] = [await gateway.charge(600n), await gateway.charge(700n)]
  await counted(gateway, known.id, `E${known.id}`, 600n)
  await counted(gateway, ceased.id, `E${ceased.id}`, 700n, true)
  assert.deepEqual(await unverifiedTotal(gateway.database), { cents: 600n, sum: 600n })
  for (const one of [known, ceased]) assert.equal(await gateway.tell(0, one), 'PAID')
  assert.deepEqual(await unverifiedTotal(gateway.database), { cents: 1_300n, sum: 1_300n })
})

test('[cash-in.credits.3] what a process of the version before counted and nobody booked counts half an hour, at most', async (t) => {
  const gateway = await processes(t, 1)
  const { wire, clock, database } = gateway
  await counted(gateway, (await gateway.charge(600n)).id, 'E1', 600n)
  await wire.confirmCredits(clock.now() + 29 * 60_000)
  assert.deepEqual(await unverifiedTotal(database), { cents: 600n, sum: 600n })
  await wire.confirmCredits(clock.now() + 31 * 60_000)
  assert.deepEqual(await unverifiedTotal(database), { cents: 0n, sum: 0n })
})

/** Holds rows of a gateway's database until it is released, or the test ends. */
async function holding(t: TestContext, url: string, query: string) {
  const holder = await openHolder(url)
  let isHeld = true
  const release = async () => {
    if (isHeld) await holder.release()
    isHeld = false
  }
  t.after(release)
  await holder.hold(query)
  return { waiting: holder.waiting, release }
}

test('[cash-in.credits.3] while it is looked for what counts no longer, payments are booked and counted', async (t) => {
  const { charge, tell, wire, clock, url, database } = await processes(t, 1)
  const one = await charge(600n)
  const holder = await holding(t, url, 'LOCK TABLE statement_gap')
  const confirming = Promise.allSettled([wire.confirmCredits(clock.now())])
  await holder.waiting(1)
  assert.equal(await tell(0, one), 'PAID')
  await holder.release()
  await confirming
  assert.deepEqual(await unverifiedTotal(database), { cents: 600n, sum: 600n })
})

test('[cash-in.credits.3] what is booked, or counted again, by the time the sum is held goes on counting', async (t) => {
  const gateway = await processes(t, 1)
  const { wire, clock, url, database } = gateway
  await counted(gateway, (await gateway.charge(600n)).id, 'E1', 600n)
  const holder = await holding(t, url, 'SELECT FROM unverified_total FOR UPDATE')
  const confirming = Promise.allSettled([wire.confirmCredits(clock.now() + 31 * 60_000)])
  await holder.waiting(1)
  await administer(url, `UPDATE unverified_credit SET admitted_at = admitted_at + interval '31 minutes'`)
  await holder.release()
  assert.deepEqual(await confirming, [{ status: 'fulfilled', value: undefined }])
  assert.deepEqual(await unverifiedTotal(database), { cents: 600n, sum: 600n })
})

test('[cash-in.credits.3] [database.8] under the lock nothing is looked at but what was found, by its key', async (t) => {
  const { clock, url, database } = await processes(t, 1)
  // When it was last counted nothing waited: a scan of all that does looks cheap.
  await administer(
    url,
    `INSERT INTO unverified_credit (operation_id, end_to_end_id, value_cents, admitted_at, settled_at)
     SELECT gen_random_uuid(), 'E' || n, 1, now(), now() FROM generate_series(1, 2000) n;
     ANALYZE unverified_credit`,
  )
  const texts: string[] = []
  const transaction: Database['transaction'] = (work) =>
    database.transaction((queries) =>
      work({
        rows: (query, parameters) => {
          texts.push(query.text)
          return queries.rows(query, parameters)
        },
      }),
    )
  await createTripWireStore({ ...database, transaction }).confirmCredits(clock.now())
  const plan = await planOf(url, texts[1] ?? '')
  const found = plan.slice(plan.indexOf('CTE found'), plan.indexOf('CTE settled'))
  assert.match(found, /Index Scan using unverified_credit_pkey/)
  assert.doesNotMatch(plan, /hashed SubPlan/)
})

test('[cash-in.credits.3] however many count no longer, one look finds them all', async (t) => {
  const { wire, clock, url, database } = await processes(t, 1)
  await administer(
    url,
    `INSERT INTO unverified_credit (operation_id, end_to_end_id, value_cents, admitted_at)
     SELECT gen_random_uuid(), 'E' || n, 1, to_timestamp(${clock.now()} / 1000.0) FROM generate_series(1, 2500) n;
     UPDATE unverified_total SET cents = 2500`,
  )
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
