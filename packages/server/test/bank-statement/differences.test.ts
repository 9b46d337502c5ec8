import assert from 'node:assert/strict'
import test from 'node:test'
import { openEntries } from '../../src/bank-statement/lines.ts'
import { createStatementStore } from '../../src/bank-statement/store.ts'
import type { StatementEntry } from '../../src/banks/port.ts'
import { createCashOutStore } from '../../src/cash-out/commands.ts'
import { cashOutRequest, confirmed, INPUTS } from '../cash-out/situations.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { payment } from '../support/engine.ts'
import { bookedMovements, caseFacts, cases, payoutSwitch, statementEntries } from '../support/evidence.ts'
import { pageOf, paymentOf, type StatementFixture, statementFixture } from './fixture.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

/** Lets a charge take a payment of its value from elsewhere. */
function pay({ apply }: StatementFixture, id: string, endToEndId: string, occurredAt: number): Promise<unknown> {
  return apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId, occurredAt }), transactionId: 'tx' })
}

test('[statement.6] [PL-11] incoming money that names no operation of ours is held in suspense after a minute, with a case, once', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', { reference: STRANGER })])
  await fixture.sweep()
  assert.deepEqual(await cases(fixture.database), [])
  await fixture.minutes(1)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit'])
  const [facts] = await caseFacts(fixture.database, 'unexplained_credit')
  assert.partialDeepStrictEqual(facts, {
    entry: 'PAYMENT_RECEIVED',
    movementId: 'E1',
    reference: STRANGER,
    valueCents: 100_00,
  })
  await fixture.minutes(10)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit'])
  assert.partialDeepStrictEqual(await balances(fixture.database), { suspense_in: 100_00n, settlement: -100_00n })
  await assertBooks(fixture.database)
})

test('[statement.6] its case closes by itself once our books have it', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1', { reference: STRANGER })
  fixture.bank.answer = () => pageOf([entry])
  await fixture.sweep()
  await fixture.minutes(6)
  await pay(fixture, charge.id, 'E1', entry.occurredAt)
  await fixture.minutes(1)
  assert.deepEqual(await balances(fixture.database), { available: 99_00n, fees: 1_00n, settlement: -100_00n })
  await assertBooks(fixture.database)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit (closed)'])
  assert.deepEqual(await statementEntries(fixture.database), ['PAYMENT_RECEIVED E1 MATCHED'])
})

test('[statement.6] a movement that its operation refuses is a case as well', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const future = { occurredAt: fixture.clock.now() + 86_400_000 }
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', future)])
  await fixture.sweep()
  await fixture.minutes(6)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit'])
  const [facts] = await caseFacts(fixture.database, 'unexplained_credit')
  assert.partialDeepStrictEqual(facts, { operationId: charge.id, reason: 'not accepted by its operation: IMPLAUSIBLE' })
})

test('[statement.7] [PL-11] a movement that our books have with another amount is a case, and booked as it was', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1', { valueCents: 99_00n })
  await pay(fixture, charge.id, 'E1', entry.occurredAt)
  fixture.bank.answer = () => pageOf([entry])
  await fixture.sweep()
  await fixture.minutes(4)
  assert.deepEqual(await cases(fixture.database), [])
  await fixture.minutes(10)
  assert.deepEqual(await cases(fixture.database), ['line_differs'])
  const [facts] = await caseFacts(fixture.database, 'line_differs')
  assert.partialDeepStrictEqual(facts, { valueCents: 99_00, booked: { operationId: charge.id, valueCents: 100_00 } })
  assert.deepEqual(await bookedMovements(fixture.database), ['E1'])
})

test('[statement.5] [statement.7] [cases.14] a payout named by a debit is not held once the debit is booked on another', async (t) => {
  const fixture = await statementFixture(t)
  const { cashOuts, clock, ids } = fixture
  const charge = await fixture.charge()
  await pay(fixture, charge.id, 'E1', clock.now())
  const order = async () => {
    const id = ids.uuid()
    const { cashOut } = await cashOuts.create(cashOutRequest({ id, externalId: id }))
    await cashOuts.apply(id, [INPUTS['send.claimed']])
    return cashOut
  }
  const [named, booked] = [await order(), await order()]
  const left = { endToEndId: 'E2', occurredAt: clock.now(), valueCents: 30_00n }
  const debit = paymentOf(charge, 'E2', { ...left, reference: named.orderId, kind: 'PAYOUT_SENT', direction: 'out' })
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1'), debit])
  const isShown = async () => (await createCashOutStore(fixture.database).get(named.id))?.facts.isShown
  await fixture.sweep()
  assert.equal(await isShown(), true)
  await cashOuts.apply(booked.id, [confirmed(left)])
  await fixture.minutes(1)
  assert.equal(await isShown(), false)
})

test('[statement.7] [PL-11] a movement that our books have as another operation’s is a case', async (t) => {
  const fixture = await statementFixture(t)
  const [right, wrong] = [await fixture.charge(), await fixture.charge()]
  const entry = paymentOf(right, 'E1')
  await pay(fixture, wrong.id, 'E1', entry.occurredAt)
  fixture.bank.answer = () => pageOf([entry])
  await fixture.sweep()
  await fixture.minutes(6)
  assert.deepEqual(await cases(fixture.database), ['line_differs'])
  const [facts] = await caseFacts(fixture.database, 'line_differs')
  assert.partialDeepStrictEqual(facts, { reference: right.orderId, booked: { operationId: wrong.id } })
})

test('[statement.4] [statement.7] an entry reported twice is kept once; reported otherwise, it is a case with both', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1')
  fixture.bank.answer = () => pageOf([entry, entry])
  await fixture.sweep()
  await fixture.minutes(3)
  assert.deepEqual(await statementEntries(fixture.database), ['PAYMENT_RECEIVED E1 MATCHED'])
  assert.deepEqual(await cases(fixture.database), [])
  fixture.bank.answer = () => pageOf([{ ...entry, valueCents: 1n }])
  await fixture.minutes(2)
  assert.deepEqual(await cases(fixture.database), ['line_differs'])
  const [facts] = await caseFacts(fixture.database, 'line_differs')
  assert.partialDeepStrictEqual(facts, { valueCents: 1, before: { valueCents: 100_00 } })
})

test('[statement.8] [PL-14] a movement of our books that two readings lack is a case, closed when the statement has it', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  const entry = paymentOf(charge, 'E1')
  await pay(fixture, charge.id, 'E1', entry.occurredAt)
  await fixture.minutes(5)
  assert.deepEqual(await cases(fixture.database), [], 'missing in one reading')
  await fixture.minutes(1)
  assert.deepEqual(await cases(fixture.database), ['line_missing'])
  const [facts] = await caseFacts(fixture.database, 'line_missing')
  assert.partialDeepStrictEqual(facts, {
    direction: 'in',
    movementId: 'E1',
    operationId: charge.id,
    valueCents: 100_00,
  })
  await fixture.minutes(5)
  fixture.bank.answer = () => pageOf([entry])
  await fixture.minutes(1)
  assert.deepEqual(await cases(fixture.database), ['line_missing (closed)'])
  await fixture.minutes(10)
  assert.deepEqual(await cases(fixture.database), ['line_missing (closed)'])
})

test('[statement.8] a credit that the statement lacks is searched at its time of payment, less often with its age, until its case is closed', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const charge = await fixture.charge()
  fixture.clock.advance(DAY)
  await pay(fixture, charge.id, 'E1', charge.createdAt + MINUTE)
  await fixture.sweep()
  fixture.bank.asked.length = 0
  const rereads = () => fixture.bank.asked.filter(({ from, to }) => from <= charge.createdAt && charge.createdAt < to)
  await fixture.minutes(20)
  const young = rereads().length
  fixture.bank.asked.length = 0
  await fixture.minutes(20)
  const old = rereads().length
  assert.ok(old > 0 && young > old, `${young}, then ${old}`)
  await administer(fixture.url, 'UPDATE "case" SET closed_at = now()')
  fixture.bank.asked.length = 0
  await fixture.minutes(60)
  assert.deepEqual(rereads(), [])
})

test('[statement.8] [PL-14] a booking from before the first reading is not reported as missing', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  await pay(fixture, charge.id, 'E1', charge.createdAt + 1_000)
  fixture.clock.advance(3 * 86_400_000)
  await fixture.sweep()
  await fixture.minutes(10)
  assert.deepEqual(await cases(fixture.database), [])
})

test('[statement.8] [PL-50] any credit is searched by its time of booking, not by its event’s time', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  fixture.clock.advance(3 * 86_400_000)
  await fixture.sweep()
  await fixture.minutes(2)
  await pay(fixture, charge.id, 'E1', charge.createdAt + 1_000)
  await fixture.minutes(6)
  assert.deepEqual(await cases(fixture.database), ['line_missing'])
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, true)
})

test('[statement.8] a window that was not read completely reports nothing missing', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  await pay(fixture, charge.id, 'E1', charge.createdAt + 1_000)
  fixture.bank.answer = () => ({ kind: 'NOT_SENT', reason: 'ECONNREFUSED' })
  await fixture.minutes(20)
  assert.deepEqual(await cases(fixture.database), [])
})

test('[statement.8] [PL-14] while past windows are read nothing is reported missing that later ones have', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  fixture.clock.advance(20 * 3_600_000)
  const entry = paymentOf(charge, 'E1', { occurredAt: fixture.clock.now() })
  await pay(fixture, charge.id, 'E1', entry.occurredAt)
  fixture.clock.advance(3_600_000)
  fixture.bank.answer = ({ from, to }) => pageOf(from <= entry.occurredAt && entry.occurredAt < to ? [entry] : [])
  await fixture.sweep()
  assert.ok(fixture.bank.asked.length > 3)
  await fixture.minutes(3)
  // The charge was paid after its expiry: that is what its one case is about.
  assert.deepEqual(await cases(fixture.database), ['payment_in_suspense'])
})

test('[statement.8] [PL-42] a return that has no id but ours is not reported as missing: it has its own case', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1')
  await pay(fixture, charge.id, 'E1', entry.occurredAt)
  fixture.bank.answer = () => pageOf([entry])
  const returned = { returnId: 'unnamed 1', valueCents: 1n, occurredAt: entry.occurredAt, endToEndId: 'E1' }
  await fixture.refunds.applyReturn(charge.id, { ...returned, transactionId: null, isUnnamed: true })
  await fixture.sweep()
  await fixture.minutes(8)
  assert.deepEqual(await cases(fixture.database), ['debit_in_suspense'])
})

test('[statement.8] [PL-50] a credit is searched under any name that its event gave it', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  await pay(fixture, charge.id, 'unnamed 1', charge.createdAt + 1_000)
  await fixture.minutes(8)
  assert.deepEqual(await cases(fixture.database), ['line_missing'])
})

/** A payment that names nothing of ours. */
function stray(fixture: StatementFixture, valueCents: bigint): StatementEntry {
  const named = { movementId: 'E1', endToEndId: 'E1', reference: STRANGER }
  return { kind: 'PAYMENT_RECEIVED', direction: 'in', ...named, valueCents, occurredAt: fixture.clock.now() }
}

/** A return of it by the bank. */
function givenBack(fixture: StatementFixture, movementId: string, valueCents: bigint): StatementEntry {
  const of = { ...stray(fixture, valueCents), movementId }
  return { ...of, kind: 'PAYMENT_TAKEN_BACK', direction: 'out' }
}

test('[statement.10] [trip-wire.2] a payment without an operation that the bank returns suspends nothing, and its case closes', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const came = stray(fixture, 100n)
  fixture.bank.answer = () => pageOf([came])
  await fixture.minutes(8)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit'])
  const back = [givenBack(fixture, 'D1', 40n), givenBack(fixture, 'D2', 60n)]
  fixture.bank.answer = () => pageOf([came, ...back])
  await fixture.minutes(8)
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, false)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit (closed)'])
})

test('[statement.10] [trip-wire.2] a return beyond its payment is an unknown debit', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const back = [givenBack(fixture, 'D1', 60n), givenBack(fixture, 'D2', 60n)]
  const came = stray(fixture, 100n)
  fixture.bank.answer = () => pageOf([came, ...back])
  await fixture.minutes(8)
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, true)
})

test('[statement.10] [PL-50] an event of a payment that was returned meanwhile books money that the bank does not have', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const entries = [stray(fixture, 100_00n), givenBack(fixture, 'D1', 100_00n)]
  fixture.bank.answer = () => pageOf(entries)
  await fixture.minutes(8)
  assert.deepEqual(await cases(fixture.database), [])
  const charge = await fixture.charge()
  await pay(fixture, charge.id, 'E1', fixture.clock.now())
  await fixture.minutes(8)
  assert.deepEqual(await cases(fixture.database), ['line_missing'])
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, true)
})

test('[statement.4] two entries that share an id are two where their kinds differ', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1')
  fixture.bank.answer = () => pageOf([entry, { ...entry, kind: 'PAYOUT_RETURNED' }])
  await fixture.sweep()
  const kept = (await statementEntries(fixture.database)).map((line) => line.split(' ').slice(0, 2).join(' '))
  assert.deepEqual(kept.toSorted(), ['PAYMENT_RECEIVED E1', 'PAYOUT_RETURNED E1'])
})

test('[database.8] on a young table the bookings of an entry are looked up by its end-to-end id', async (t) => {
  const { url } = await testDatabase(t)
  await administer(
    url,
    `INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail, facts,
                            end_to_end_id, created_at, updated_at)
     SELECT gen_random_uuid(), 'cash_in', n::text, md5(n::text), 'PAID', 1, 100, 0, n::text, '', '{}', '{}', n::text, now(), now()
       FROM generate_series(1, 20000) n`,
  )
  const plan = await planOf(url, openEntries('s.direction = $1'))
  assert.match(plan, /operation_end_to_end_id/)
  assert.doesNotMatch(plan, /BitmapAnd/, 'and not by its kind')
})

test('[database.8] on tables without statistics one scan of the books finds all that the bank lacks', async (t) => {
  const { url, database } = await testDatabase(t)
  const { texts, noting } = notingTexts(database)
  await createStatementStore(noting).noteGaps(0, 0, 0)
  const [text = ''] = texts
  const known = String.raw`\(InitPlan \d+\)\.col1\)`
  const byKnownValues = new RegExp(
    `Index Cond: \\(\\(account_id = ${known} AND \\(version > ${known} AND \\(version < ${known}`,
  )
  assert.match(await planOf(url, text), byKnownValues, 'nothing is looked up anew for each entry')
})
