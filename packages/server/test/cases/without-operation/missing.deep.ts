import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { pageOf, paymentOf } from '../../bank-statement/fixture.ts'
import { assertBooks, balances } from '../../support/books.ts'
import { payment } from '../../support/engine.ts'
import { caseFacts, cases } from '../../support/evidence.ts'
import { type CaseFixture, caseFixture, shapeOf } from './fixture.ts'

/** Money that the books have and the bank does not, or has otherwise. */

/** A charge that is paid here alone. */
async function missing(t: TestContext) {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  const entry = paymentOf(charge, 'E1', { occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E1', occurredAt: entry.occurredAt }),
    transactionId: 'tx',
  })
  await fixture.minutes(10)
  assert.deepEqual(await open(fixture), ['line_missing'])
  return { ...fixture, charge, entry }
}

async function open({ database }: Pick<CaseFixture, 'database'>): Promise<string[]> {
  return (await cases(database)).filter((kind) => !kind.endsWith('(closed)'))
}

const BOOKED = { available: 99_00n, settlement: -100_00n, fees: 1_00n }

const DECISIONS = [
  ['reverse', {}],
  ['write_off', { available: 99_00n, fees: 1_00n, losses: -100_00n }],
] as const

for (const [decision, expected] of DECISIONS) {
  test(`[cases.54] [PL-3] a credit that the bank does not have: ${decision} makes the books equal`, async (t) => {
    const fixture = await missing(t)
    assert.deepEqual(await fixture.offered('line_missing'), ['reverse', 'write_off'])
    const order = await fixture.order('line_missing', decision)
    const dry = await fixture.send({ ...order, dryRun: true })
    assert.deepEqual(shapeOf((await fixture.send(order)).effects), shapeOf(dry.effects))
    assert.equal(dry.effects?.amountCents, 100_00)
    assert.deepEqual(await balances(fixture.database), expected)
    await fixture.minutes(10)
    assert.deepEqual(await balances(fixture.database), expected)
    assert.deepEqual(await open(fixture), [])
    await assertBooks(fixture.database)
  })

  test(`[cases.56] [PL-16] a movement that the bank tells after ${decision} is new unexplained money`, async (t) => {
    const fixture = await missing(t)
    await fixture.decide('line_missing', decision)
    fixture.bank.answer = () => pageOf([{ ...fixture.entry, occurredAt: fixture.clock.now() }])
    await fixture.minutes(3)
    assert.deepEqual(await open(fixture), ['unexplained_credit'])
    const held = { ...expected, settlement: -100_00n, suspense_in: 100_00n }
    assert.deepEqual(await balances(fixture.database), held, 'nothing is undone in silence')
    await fixture.decide('unexplained_credit', 'credit')
    await fixture.minutes(10)
    const { suspense_in: _, ...settled } = {
      ...held,
      available: ('available' in expected ? expected.available : 0n) + 100_00n,
    }
    assert.deepEqual(await balances(fixture.database), settled)
    assert.deepEqual(await open(fixture), [])
    await assertBooks(fixture.database)
  })
}

test('[cases.51] a decision about a movement that the statement has by then is refused', async (t) => {
  const fixture = await missing(t)
  const order = await fixture.order('line_missing', 'write_off')
  fixture.bank.answer = () => pageOf([{ ...fixture.entry, occurredAt: fixture.clock.now() }])
  await fixture.minutes(2)
  await assert.rejects(fixture.send(order), { code: 'case_changed' })
  assert.deepEqual(await balances(fixture.database), BOOKED)
})

for (const isFirstOtherwise of [false, true]) {
  const first = isFirstOtherwise ? 'told so at first' : 'told after it was matched'
  test(`[cases.56] [PL-16] a shortage, ${first}, that was written off and ends is a case with what is left, and is booked once`, async (t) => {
    const fixture = await caseFixture(t)
    const charge = await fixture.charge()
    const entry = (valueCents: bigint) => paymentOf(charge, 'E1', { valueCents })
    await fixture.apply(charge.id, {
      on: 'partner.confirmed',
      payment: payment({ endToEndId: 'E1', occurredAt: entry(0n).occurredAt }),
      transactionId: 'tx',
    })
    const tell = async (valueCents: bigint) => {
      fixture.bank.answer = () => pageOf([{ ...entry(valueCents), occurredAt: fixture.clock.now() }])
      await fixture.minutes(7)
    }
    if (!isFirstOtherwise) await tell(100_00n)
    await tell(90_00n)
    await fixture.decide('line_differs', 'write_off')
    const short = { available: 99_00n, settlement: -90_00n, fees: 1_00n, losses: -10_00n }
    for (let reading = 0; reading < 2; reading++) {
      await tell(90_00n)
      assert.deepEqual([await open(fixture), await balances(fixture.database)], [[], short], 'it does not come back')
    }
    await tell(100_00n)
    assert.deepEqual(await open(fixture), ['line_differs'], 'nothing is undone in silence')
    assert.deepEqual(await balances(fixture.database), short)
    await fixture.decide('line_differs', 'write_off')
    for (let reading = 0; reading < 2; reading++) {
      await tell(100_00n)
      assert.deepEqual([await open(fixture), await balances(fixture.database)], [[], BOOKED])
    }
    await assertBooks(fixture.database)
  })
}

const DIFFERENCES = [
  [90_00n, 'debit', { available: 89_00n, settlement: -90_00n, fees: 1_00n }],
  [90_00n, 'write_off', { available: 99_00n, settlement: -90_00n, fees: 1_00n, losses: -10_00n }],
  [110_00n, 'credit', { available: 109_00n, settlement: -110_00n, fees: 1_00n }],
  [110_00n, 'write_off', { available: 99_00n, settlement: -110_00n, fees: 1_00n, losses: 10_00n }],
] as const

for (const [valueCents, decision, expected] of DIFFERENCES) {
  test(`[cases.54] [PL-3] a payment of 10000 that the bank has as ${valueCents}: ${decision} books the difference`, async (t) => {
    const fixture = await caseFixture(t)
    const charge = await fixture.charge()
    const entry = paymentOf(charge, 'E1', { valueCents })
    await fixture.apply(charge.id, {
      on: 'partner.confirmed',
      payment: payment({ endToEndId: 'E1', occurredAt: entry.occurredAt }),
      transactionId: 'tx',
    })
    fixture.bank.answer = () => pageOf([entry])
    await fixture.sweep()
    await fixture.minutes(6)
    await fixture.decide('line_differs', decision)
    await fixture.minutes(10)
    assert.deepEqual(await balances(fixture.database), expected)
    assert.deepEqual(await open(fixture), [])
    await assertBooks(fixture.database)
  })
}

test('[cases.56] a movement that the bank told otherwise twice is decided by what it told last, also where the books differ from both', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  const entry = (valueCents: bigint) => paymentOf(charge, 'E1', { valueCents })
  await fixture.apply(charge.id, {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E1', occurredAt: entry(0n).occurredAt }),
    transactionId: 'tx',
  })
  const tell = async (valueCents: bigint, minutes: number) => {
    fixture.bank.answer = () => pageOf([{ ...entry(valueCents), occurredAt: fixture.clock.now() }])
    await fixture.minutes(minutes)
  }
  const shownCents = async () => {
    const [facts, ...more] = (await caseFacts(fixture.database, 'line_differs')) as { valueCents: number }[]
    assert.equal(more.length, 0)
    return facts?.valueCents
  }
  await tell(90_00n, 2)
  assert.deepEqual(await open(fixture), [], 'what is booked may be a part yet')
  await tell(80_00n, 2)
  assert.equal(await shownCents(), 80_00)
  // It is in no window any more when what the books have is held against what was told first.
  fixture.bank.answer = () => pageOf([])
  await fixture.minutes(7)
  assert.equal(await shownCents(), 80_00, 'what was told first does not come back')
  await tell(90_00n, 2)
  assert.equal(await shownCents(), 90_00, 'told again as at first')
  await tell(80_00n, 2)
  const { effects } = await fixture.decide('line_differs', 'write_off')
  assert.equal(effects?.amountCents, 20_00)
  assert.equal((await balances(fixture.database)).settlement, -80_00n)
  await assertBooks(fixture.database)
})
