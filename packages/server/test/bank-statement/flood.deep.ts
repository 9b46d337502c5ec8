import assert from 'node:assert/strict'
import test from 'node:test'
import type { StatementEntry } from '../../src/banks/port.ts'
import { payment } from '../support/engine.ts'
import { bookedMovements, caseFacts, cases, payoutSwitch, statementMark } from '../support/evidence.ts'
import { pageOf, paymentOf, type StatementFixture, statementFixture } from './fixture.ts'

/** An attacker hides a large difference behind thousands of small ones. */

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const MANY = 10_000
const LARGE_CENTS = 900_000n

/** A movement that our books do not have; what a test cares about is given. */
function strange({ clock }: StatementFixture, movementId: string, given: Partial<StatementEntry>): StatementEntry {
  const named = { movementId, endToEndId: movementId, reference: STRANGER }
  return { kind: 'PAYOUT_SENT', direction: 'out', valueCents: 1n, ...named, occurredAt: clock.now() - 60_000, ...given }
}

function centavos(fixture: StatementFixture, given: Partial<StatementEntry>): StatementEntry[] {
  return Array.from({ length: MANY }, (_, index) => strange(fixture, `E${index}`, given))
}

/** A charge that was paid by our books. */
async function paid(fixture: StatementFixture, endToEndId: string, valueCents: bigint) {
  const charge = await fixture.charge()
  const told = payment({ endToEndId, valueCents, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  return charge
}

/** Our books have many returns of one centavo that the bank does not: they are no danger, and many. */
async function giveBack(fixture: StatementFixture): Promise<StatementEntry[]> {
  const charges = await Promise.all(Array.from({ length: 100 }, (_, index) => paid(fixture, `E${index}`, 100_00n)))
  const { now } = fixture.clock
  const returns = charges.flatMap(({ id }, index) =>
    Array.from({ length: MANY / 100 }, (_, place) => ({ id, returnId: `D${index}x${place}`, endToEndId: `E${index}` })),
  )
  for (let from = 0; from < returns.length; from += 1_000) {
    const told = returns
      .slice(from, from + 1_000)
      .map(({ id, ...returned }) =>
        fixture.refunds.applyReturn(id, { ...returned, valueCents: 1n, occurredAt: now(), transactionId: null }),
      )
    await Promise.all(told)
  }
  return charges.map((charge, index) => paymentOf(charge, `E${index}`, { occurredAt: now() }))
}

test('[statement.11] [PL-53] 10,000 debits of one centavo do not hide one of R$ 9.000,00: it is a case with the first possible reading', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const small = centavos(fixture, {})
  fixture.bank.answer = () => pageOf(small)
  await fixture.minutes(1)
  fixture.bank.answer = () => pageOf([...small, strange(fixture, 'E5000x', { valueCents: LARGE_CENTS })])
  await fixture.minutes(6)
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, true)
  const told = (await caseFacts(fixture.database, 'unexplained_debit')) as { readonly movementId: string }[]
  assert.ok(told.some(({ movementId }) => movementId === 'E5000x'))
})

test('[statement.11] [PL-53] 10,000 payments without an operation do not delay an unknown debit, and each is a case in the end', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const small = centavos(fixture, { kind: 'PAYMENT_RECEIVED', direction: 'in' })
  const large = strange(fixture, 'Z0', { valueCents: LARGE_CENTS })
  fixture.bank.answer = () => pageOf([...small, large])
  await fixture.minutes(2)
  const { matchedUntil } = await statementMark(fixture.database)
  assert.ok((matchedUntil ?? 0) <= large.occurredAt, 'what was not looked at holds the mark')
  await fixture.minutes(4)
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, true)
  assert.equal((await cases(fixture.database)).length, MANY + 1)
})

test('[statement.11] [trip-wire.1] [PL-53] 10,000 forged returns of one centavo do not delay a forged credit of R$ 9.000,00', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const entries = await giveBack(fixture)
  fixture.bank.answer = () => pageOf(entries)
  await fixture.minutes(1)
  assert.equal((await bookedMovements(fixture.database)).length, MANY + 100)
  await paid(fixture, 'Z0', LARGE_CENTS)
  await fixture.minutes(6)
  assert.equal((await payoutSwitch(fixture.database)).isSuspended, true)
})

test('[statement.11] [PL-53] thousands of returns of one payment are booked, a part of them with each reading', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const charge = await paid(fixture, 'E0', 100_00n)
  const given = { kind: 'PAYMENT_TAKEN_BACK', endToEndId: 'E0', reference: charge.id } as const
  const returns = Array.from({ length: 2_000 }, (_, index) => strange(fixture, `D${index}`, given))
  const entries = [paymentOf(charge, 'E0', { occurredAt: fixture.clock.now() }), ...returns]
  fixture.bank.answer = () => pageOf(entries)
  await fixture.minutes(3)
  assert.equal((await bookedMovements(fixture.database)).length, returns.length + 1)
  assert.deepEqual(await cases(fixture.database), [])
})

test('[statement.11] cases are checked in turn: an explanation of the last one closes it', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const small = centavos(fixture, { kind: 'PAYMENT_RECEIVED', direction: 'in' }).slice(0, 2_500)
  fixture.bank.answer = () => pageOf(small)
  await fixture.minutes(7)
  const last =
    small
      .map(({ movementId }) => movementId)
      .toSorted()
      .at(-1) ?? ''
  await paid(fixture, last, 1n)
  await fixture.minutes(2)
  const open = (await cases(fixture.database)).filter((kind) => kind === 'unexplained_credit (closed)')
  assert.equal(open.length, 1)
})
