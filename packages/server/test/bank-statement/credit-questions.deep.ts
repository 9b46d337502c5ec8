import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { ChargeQueryAnswer } from '../../src/banks/port.ts'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import { decideSwitch } from '../../src/operator/switch.ts'
import { charge, NOT_FOUND, PIX_CODE, TIMEOUT, UNREACHABLE } from '../cash-in/fixture.ts'
import { counted } from '../support/counted-credits.ts'
import { payment } from '../support/engine.ts'
import { audit, caseFacts, cases, payoutSwitch, unverifiedTotal } from '../support/evidence.ts'
import { type FixtureOptions, pageOf, paymentOf, type StatementFixture, statementFixture } from './fixture.ts'

/** What was credited on the word of an event is asked about at the bank, before its statement can be believed. */

const SECOND = 1_000
const OPERATOR = { actor: 'admin', address: '127.0.0.1' }

function opened(t: TestContext, given: FixtureOptions = {}): Promise<StatementFixture> {
  return statementFixture(t, undefined, { canAsk: true, stands: true, ...given })
}

/** Any that an event tells is booked on its word. */
const UNVERIFIED = { maxCents: 1_000_000_000n }

/** A charge that was credited on the word of an event; `made`: what the bank said when it made it. */
async function forge(
  fixture: StatementFixture,
  endToEndId: string,
  valueCents = 100_00n,
  made?: { readonly transactionId: string; readonly pixCode: string },
): Promise<CashIn> {
  const charge = await fixture.charge(valueCents)
  if (made) await fixture.apply(charge.id, { on: 'charge.accepted', ...made })
  const told = payment({ endToEndId, valueCents, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, {
    on: 'partner.confirmed',
    payment: told,
    transactionId: 'tx',
    unverified: UNVERIFIED,
  })
  return charge
}

/** The clock goes on, second by second as the worker does, but without the seconds in which nothing is due. */
async function later({ clock, statements }: StatementFixture, seconds: number): Promise<void> {
  clock.advance(seconds * SECOND)
  await statements.askAboutCredits()
}

async function isSuspended({ database }: StatementFixture): Promise<boolean> {
  return (await payoutSwitch(database)).isSuspended
}

/** How often the wire suspended, by the audit trail. */
async function trips({ database }: StatementFixture): Promise<number> {
  return (await audit(database)).filter(({ actor }) => actor === 'trip-wire').length
}

/** An operator who has looked puts payouts on again. */
async function lift({ engine, database }: StatementFixture): Promise<void> {
  const { version: seen } = await payoutSwitch(database)
  await engine.execute({
    reads: [],
    controls: ['cash_out_switch'],
    decide: (state, now) => decideSwitch({ enabled: true, reason: 'looked' }, seen, OPERATOR, state, now),
  })
}

const paidBy = (id: string, endToEndId: string, valueCents = 100_00n): ChargeQueryAnswer => ({
  kind: 'FINAL',
  charge: charge('PAID', { id, payments: [payment({ endToEndId, valueCents })] }),
})

const DENIALS: Readonly<Record<string, (id: string) => ChargeQueryAnswer>> = {
  'does not know the charge, and never told that it made it': () => NOT_FOUND,
  'says that it is not paid': (id) => ({ kind: 'ACCEPTED', charge: charge('ACTIVE', { id }) }),
  'says that it ended unpaid': (id) => ({ kind: 'FINAL', charge: charge('EXPIRED', { id }) }),
  'has another charge under our id, unpaid': (id) => ({
    kind: 'CONTRADICTED',
    reason: 'other valueCents',
    charge: charge('ACTIVE', { id }),
  }),
  'has another payment': (id) => paidBy(id, 'E2'),
  'has less': (id) => paidBy(id, 'E1', 99_99n),
}

for (const [name, denial] of Object.entries(DENIALS)) {
  test(`[trip-wire.9] [PL-54] a credit of an event suspends payouts 40 seconds later, where the bank ${name}`, async (t) => {
    const fixture = await opened(t)
    const { id } = await forge(fixture, 'E1')
    fixture.bank.charge = denial
    await later(fixture, 9)
    assert.deepEqual(fixture.bank.askedCharges, [], 'too early')
    await later(fixture, 1)
    await later(fixture, 29)
    assert.deepEqual(fixture.bank.askedCharges, [id])
    assert.equal(await isSuspended(fixture), false, 'denied once')
    await later(fixture, 1)
    assert.equal(await isSuspended(fixture), true)
    assert.deepEqual(await cases(fixture.database), ['credit_denied'])
    const [facts] = await caseFacts(fixture.database, 'credit_denied')
    assert.partialDeepStrictEqual(facts, { operationId: id, valueCents: 100_00, movementId: 'E1', direction: 'in' })
    const [trip] = await audit(fixture.database)
    assert.partialDeepStrictEqual(trip, {
      actor: 'trip-wire',
      facts: { enabled: false, cases: ['credit_denied in E1'] },
    })
    await later(fixture, 60)
    assert.equal(fixture.bank.askedCharges.length, 2)
    assert.equal(await trips(fixture), 1)
  })
}

const SILENCES: Readonly<Record<string, () => ChargeQueryAnswer>> = {
  'does not answer in time': () => TIMEOUT,
  'cannot be reached': () => UNREACHABLE,
  'answers about another charge': () => ({ kind: 'CONTRADICTED', reason: 'other id', charge: charge('ACTIVE') }),
}

for (const [name, silence] of Object.entries(SILENCES)) {
  test(`[trip-wire.9] [PL-54] where the bank ${name} nothing is suspended, and it is asked again for an hour`, async (t) => {
    const fixture = await opened(t)
    await forge(fixture, 'E1')
    fixture.bank.charge = silence
    for (let looks = 0; looks < 5; looks += 1) await later(fixture, 20)
    assert.equal(fixture.bank.askedCharges.length, 5)
    fixture.bank.charge = () => NOT_FOUND
    await later(fixture, 20)
    fixture.bank.charge = silence
    await later(fixture, 30)
    assert.equal(await isSuspended(fixture), false, 'denied once only')
    await later(fixture, 3_600)
    const asked = fixture.bank.askedCharges.length
    await later(fixture, 60)
    assert.equal(fixture.bank.askedCharges.length, asked)
    assert.deepEqual(await cases(fixture.database), [])
  })
}

test('[trip-wire.9] [PL-54] a bank that answers half a minute behind its own events suspends nothing', async (t) => {
  const fixture = await opened(t)
  await forge(fixture, 'E1')
  fixture.bank.charge = DENIALS['says that it is not paid'] ?? assert.fail()
  await later(fixture, 10)
  fixture.bank.charge = (id) => paidBy(id, 'E1')
  await later(fixture, 30)
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 60)
  assert.equal(fixture.bank.askedCharges.length, 2, 'nothing was left to be asked')
  assert.deepEqual(await cases(fixture.database), [])
})

test('[trip-wire.9] that a bank does not know a charge which it made says nothing of the payment', async (t) => {
  const fixture = await opened(t)
  const { id } = await forge(fixture, 'E1', 100_00n, { transactionId: 'tx', pixCode: PIX_CODE })
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 10)
  await later(fixture, 30)
  await later(fixture, 30)
  assert.deepEqual(fixture.bank.askedCharges, [id, id, id])
  assert.deepEqual(await cases(fixture.database), [])
})

test('[trip-wire.9] a payment of an answer that contradicts otherwise is one all the same', async (t) => {
  const fixture = await opened(t)
  await forge(fixture, 'E1')
  const payments = [payment({ endToEndId: 'E2' }), payment({ endToEndId: 'E1' })]
  fixture.bank.charge = (id) => ({
    kind: 'CONTRADICTED',
    reason: 'other expiresAt',
    charge: charge('ACTIVE', { id, payments }),
  })
  await later(fixture, 10)
  await later(fixture, 40)
  assert.equal(fixture.bank.askedCharges.length, 1)
  assert.deepEqual(await cases(fixture.database), [])
})

test('[trip-wire.9] what is in suspense, or not booked yet, is not asked about', async (t) => {
  const fixture = await opened(t)
  fixture.bank.charge = () => NOT_FOUND
  const charge = await forge(fixture, 'E1', 50_00n)
  const second = payment({ endToEndId: 'E2', valueCents: 50_00n, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, {
    on: 'partner.confirmed',
    payment: second,
    transactionId: 'tx',
    unverified: UNVERIFIED,
  })
  const unbooked = await fixture.charge()
  await counted(fixture, unbooked.id, 'E3', 100_00n)
  await later(fixture, 10)
  await later(fixture, 30)
  assert.deepEqual(fixture.bank.askedCharges, [charge.id, charge.id])
  assert.equal((await caseFacts(fixture.database, 'credit_denied')).length, 1)
})

test('[trip-wire.9] [trip-wire.5] what the bank denied and its statement lacks is one difference, and suspends once', async (t) => {
  const fixture = await opened(t)
  await fixture.sweep()
  await forge(fixture, 'E1')
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 10)
  await later(fixture, 30)
  await lift(fixture)
  await fixture.minutes(10)
  assert.equal(await isSuspended(fixture), false)
  assert.deepEqual(await cases(fixture.database), ['credit_denied'])
})

test('[trip-wire.9] [trip-wire.5] what the statement lacks and the bank denies afterwards is one difference too', async (t) => {
  const fixture = await opened(t)
  await fixture.sweep()
  await forge(fixture, 'E1')
  await fixture.minutes(7)
  await lift(fixture)
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 20)
  await later(fixture, 30)
  assert.equal(fixture.bank.askedCharges.length, 2)
  assert.equal(await isSuspended(fixture), false)
  assert.deepEqual(await cases(fixture.database), ['statement_missing'])
})

test('[trip-wire.9] [cash-in.credits.3] the case closes, and the credit counts no longer, when the statement has it', async (t) => {
  const fixture = await opened(t)
  await fixture.sweep()
  const charge = await forge(fixture, 'E1')
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 10)
  await later(fixture, 30)
  assert.equal((await unverifiedTotal(fixture.database))?.cents, 100_00n)
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1')])
  await fixture.minutes(1)
  assert.deepEqual(await cases(fixture.database), ['credit_denied (closed)'])
  assert.equal((await unverifiedTotal(fixture.database))?.cents, 0n)
})

test('[trip-wire.10] what the statement has is not asked about', async (t) => {
  const fixture = await opened(t)
  const charge = await forge(fixture, 'E1')
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1')])
  await fixture.sweep()
  await later(fixture, 60)
  assert.deepEqual(fixture.bank.askedCharges, [])
})

test('[trip-wire.10] [PL-54] a look asks about 20 of the largest and 20 of the oldest, whatever waits, and no process about the same ones', async (t) => {
  const fixture = await opened(t)
  const small: CashIn[] = []
  for (let index = 0; index < 100; index += 1) small.push(await forge(fixture, `E${index}`, 1n))
  fixture.clock.advance(SECOND)
  const large = await forge(fixture, 'L1', 999_00n)
  fixture.bank.charge = (id) => ({ kind: 'ACCEPTED', charge: charge('ACTIVE', { id }) })
  await later(fixture, 10)
  const first = new Set(fixture.bank.askedCharges)
  assert.ok(first.has(large.id), 'the one that came last')
  assert.ok(
    small.slice(0, 20).every(({ id }) => first.has(id)),
    'those that came first',
  )
  assert.ok(first.size <= 40)
  await fixture.others.askAboutCredits()
  assert.equal(new Set(fixture.bank.askedCharges).size, fixture.bank.askedCharges.length)
  assert.equal(await isSuspended(fixture), false)
  const before = fixture.bank.askedCharges.length
  await later(fixture, 30)
  // What was denied once has questions of its own, the largest first: the flood delays none of them.
  assert.equal(await isSuspended(fixture), true)
  assert.ok(fixture.bank.askedCharges.length - before <= 60)
  const told = (await caseFacts(fixture.database, 'credit_denied')) as { readonly movementId: string }[]
  assert.equal(told.length, 20)
  assert.ok(told.some(({ movementId }) => movementId === 'L1'))
})

test('[trip-wire.10] a bank that does not answer is asked about the 16 largest in a look, and about the others in the next ones', async (t) => {
  const fixture = await opened(t)
  const charges: CashIn[] = []
  for (let index = 0; index < 60; index += 1) charges.push(await forge(fixture, `E${index}`, BigInt(index + 1)))
  const ids = (from: number, to: number) => charges.slice(from, to).map(({ id }) => id)
  fixture.bank.charge = () => TIMEOUT
  await later(fixture, 10)
  assert.deepEqual(fixture.bank.askedCharges.toSorted(), ids(44, 60).toSorted())
  for (let second = 0; second < 3; second += 1) await later(fixture, 1)
  assert.deepEqual(fixture.bank.askedCharges.toSorted(), ids(0, 60).toSorted(), 'each once')
})

test('[trip-wire.10] [PL-54] what was counted and is not booked is not asked about, and delays no question', async (t) => {
  const fixture = await opened(t)
  const flooded = await fixture.charge(1n)
  for (let index = 0; index < 60; index += 1) await counted(fixture, flooded.id, `O${index}`, BigInt(90_000 + index))
  fixture.clock.advance(SECOND)
  const { id } = await forge(fixture, 'E1', 50_00n)
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 10)
  assert.deepEqual(fixture.bank.askedCharges, [id])
  await later(fixture, 30)
  assert.equal(await isSuspended(fixture), true)
})

test('[trip-wire.10] [PL-54] an answer that says nothing definite is one: charges that the bank forgot delay no question', async (t) => {
  const fixture = await opened(t)
  const made = { transactionId: 'tx', pixCode: PIX_CODE }
  for (let index = 0; index < 19; index += 1) {
    await forge(fixture, `L${index}`, 900_00n, { ...made, transactionId: `tx${index}` })
  }
  const { id } = await forge(fixture, 'E1', 50_00n)
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 10)
  assert.equal(fixture.bank.askedCharges.length, 20)
  assert.ok(fixture.bank.askedCharges.includes(id))
})

test('[trip-wire.9] a bank that cannot be asked about a charge is not asked: its statement decides', async (t) => {
  const fixture = await opened(t, { canAsk: false })
  await forge(fixture, 'E1')
  fixture.bank.charge = () => NOT_FOUND
  await later(fixture, 10)
  await later(fixture, 30)
  assert.deepEqual(fixture.bank.askedCharges, [])
  assert.equal(await isSuspended(fixture), false)
})
