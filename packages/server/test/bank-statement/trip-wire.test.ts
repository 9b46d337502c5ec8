import assert from 'node:assert/strict'
import test from 'node:test'
import { createTripWire } from '../../src/bank-statement/trip-wire.ts'
import type { StatementEntry, StatementQuery } from '../../src/banks/port.ts'
import { decideAdjustment, decideSwitch } from '../../src/controls/commands.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { balances } from '../support/books.ts'
import { capturedLog } from '../support/captured-log.ts'
import { payment } from '../support/engine.ts'
import { audit, caseFacts, cases, payoutSwitch, statementEntries } from '../support/evidence.ts'
import { MADE_BY } from '../support/limits.ts'
import { type FixtureOptions, pageOf, paymentOf, type StatementFixture, statementFixture } from './fixture.ts'

const MINUTE = 60_000
const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const OPERATOR = { actor: 'admin', address: '127.0.0.1' }

async function isSuspended(database: Database): Promise<boolean> {
  return (await payoutSwitch(database)).isSuspended
}

/** How often the wire suspended, by the audit trail. */
async function trips(database: Database): Promise<number> {
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

/** A payment that only an event reported. */
async function forge(fixture: StatementFixture, endToEndId: string) {
  const charge = await fixture.charge()
  const occurredAt = fixture.clock.now()
  const told = {
    payment: payment({ endToEndId, occurredAt }),
    transactionId: 'tx',
    unverified: 'book',
  } as const
  await fixture.apply(charge.id, { on: 'partner.confirmed', ...told })
  return charge
}

/** An operator's adjustment for money that was moved by hand. */
async function adjust({ engine, ids }: StatementFixture, valueCents: bigint): Promise<void> {
  const id = ids.uuid()
  const request = { id, valueCents, reason: 'by hand', correlationId: id, bodyHash: Buffer.alloc(32) }
  await engine.execute({
    reads: [],
    creates: { kind: 'adjustment', externalId: id, idempotencyKey: null },
    decide: (state, now) => decideAdjustment({ ...request, idempotencyKey: null, madeBy: MADE_BY }, state, now),
  })
}

/** A payout without an order of ours, a minute ago. */
function debit(fixture: StatementFixture, movementId: string, given: Partial<StatementEntry> = {}): StatementEntry {
  const moved = { movementId, endToEndId: movementId, reference: STRANGER, valueCents: 5_000n }
  return { kind: 'PAYOUT_SENT', direction: 'out', ...moved, occurredAt: fixture.clock.now() - MINUTE, ...given }
}

test('[trip-wire.1] [PL-50] a credit that the bank does not have suspends payouts with the second reading that misses it, once', async (t) => {
  const log = capturedLog()
  const fixture = await statementFixture(t, log.logger)
  await fixture.sweep()
  const { id } = await forge(fixture, 'E1')
  await fixture.minutes(5)
  assert.equal(await isSuspended(fixture.database), false, 'missing in one reading')
  await fixture.minutes(1)
  assert.equal(await isSuspended(fixture.database), true)
  const [trip] = await audit(fixture.database)
  assert.partialDeepStrictEqual(trip, {
    actor: 'trip-wire',
    action: 'cash_out_switch.set',
    facts: { enabled: false, cases: ['line_missing in E1'] },
  })
  assert.deepEqual(await cases(fixture.database), ['line_missing'])
  const [facts] = await caseFacts(fixture.database, 'line_missing')
  assert.partialDeepStrictEqual(facts, { operationId: id, valueCents: 100_00, movementId: 'E1' })
  assert.equal(log.lines.filter(({ level, event }) => level === 'error' && event === 'trip_wire.suspended').length, 1)
  await fixture.minutes(10)
  assert.equal(await trips(fixture.database), 1)
})

test('[trip-wire.5] [PL-51] a difference seen by an operator does not suspend again; a new one does', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  await forge(fixture, 'E1')
  await fixture.minutes(7)
  await lift(fixture)
  await fixture.minutes(30)
  assert.equal(await isSuspended(fixture.database), false)
  await forge(fixture, 'E2')
  await fixture.minutes(7)
  assert.equal(await isSuspended(fixture.database), true)
  assert.equal(await trips(fixture.database), 2)
})

test('[trip-wire.5] [CO-30] an «on» requested before the wire found more is refused', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  await forge(fixture, 'E1')
  await fixture.minutes(7)
  const { version: seen } = await payoutSwitch(fixture.database)
  await forge(fixture, 'E2')
  await fixture.minutes(7)
  const late = fixture.engine.execute({
    reads: [],
    controls: ['cash_out_switch'],
    decide: (state, now) => decideSwitch({ enabled: true, reason: 'late' }, seen, OPERATOR, state, now),
  })
  await assert.rejects(late, { code: 'version_conflict' })
  assert.equal(await isSuspended(fixture.database), true)
})

for (const [name, options, isExpected] of [
  ['suspends', {}, true],
  ['is a case only, where the account is shared', { isAccountShared: true }, false],
] as const satisfies readonly [string, FixtureOptions, boolean][]) {
  test(`[statement.6] [trip-wire.2] [PL-52] an unknown debit ${name}`, async (t) => {
    const fixture = await statementFixture(t, undefined, options)
    await fixture.sweep()
    const entry = debit(fixture, 'E1')
    fixture.bank.answer = () => pageOf([entry])
    await fixture.minutes(5)
    assert.equal(await isSuspended(fixture.database), false)
    await fixture.minutes(2)
    assert.equal(await isSuspended(fixture.database), isExpected)
    assert.deepEqual(await cases(fixture.database), ['unexplained_debit'])
    assert.deepEqual(await balances(fixture.database), {})
    await fixture.minutes(10)
    assert.equal(await trips(fixture.database), isExpected ? 1 : 0)
  })
}

test('[statement.4] [trip-wire.2] unknown incoming money and a tariff of no payout of ours suspend nothing', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  const tariff = debit(fixture, 'T1', { kind: 'TARIFF', valueCents: 50n })
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', { reference: STRANGER }), tariff])
  await fixture.minutes(10)
  assert.equal(await isSuspended(fixture.database), false)
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit'], 'the tariff is nobody’s case')
  assert.deepEqual(
    (await statementEntries(fixture.database)).filter((line) => line.startsWith('TARIFF')),
    [`TARIFF ${STRANGER} KEPT`],
  )
})

test('[trip-wire.1] a payment of which the bank has less than our books suspends', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  const charge = await forge(fixture, 'E1')
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', { valueCents: 1n })])
  await fixture.minutes(7)
  assert.equal(await isSuspended(fixture.database), true)
  assert.deepEqual(await cases(fixture.database), ['line_differs'])
})

test('[trip-wire.2] [statement.9] an adjustment explains a withdrawal by hand, each adjustment once', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  await adjust(fixture, 20_000n)
  await adjust(fixture, -5_000n)
  const [first, second] = [debit(fixture, 'E1'), debit(fixture, 'E2')]
  fixture.bank.answer = () => pageOf([first])
  await fixture.minutes(10)
  assert.deepEqual([await isSuspended(fixture.database), await cases(fixture.database)], [false, []])
  fixture.bank.answer = () => pageOf([first, second])
  await fixture.minutes(7)
  assert.deepEqual([await isSuspended(fixture.database), await cases(fixture.database)], [true, ['unexplained_debit']])
})

test('[trip-wire.8] a bank that cannot be read suspends nothing', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  await forge(fixture, 'E1')
  await fixture.minutes(5)
  fixture.bank.answer = () => ({ kind: 'UNKNOWN', reason: 'HTTP 500', httpStatus: 500 })
  await fixture.minutes(60)
  assert.equal(await isSuspended(fixture.database), false)
  fixture.bank.answer = () => pageOf([])
  await fixture.minutes(1)
  assert.equal(await isSuspended(fixture.database), true)
})

test('[trip-wire.5] [PL-50] two processes with the same finding, and one that died before recording it, suspend once', async (t) => {
  const fixture = await statementFixture(t)
  const difference = {
    kind: 'line_missing' as const,
    reference: 'in E1',
    facts: { rule: 'statement.8', valueCents: 1 },
    isDanger: true,
  }
  let isFirst = true
  // The first process is overtaken between reading and suspending.
  const overtaken: Database = {
    ...fixture.database,
    rows: async (query, ...given) => {
      const rows = await fixture.database.rows(query, ...given)
      if (isFirst && query.name === 'trip_wire.suspended_for') {
        isFirst = false
        await wireOf(fixture.database).report([difference])
      }
      return rows
    },
  }
  const wireOf = (database: Database) =>
    createTripWire({ database, engine: fixture.engine, logger: capturedLog().logger })
  await wireOf(overtaken).report([difference])
  await Promise.all([1, 2, 3].map(() => wireOf(fixture.database).report([difference])))
  assert.equal(await trips(fixture.database), 1)
  await lift(fixture)
  await wireOf(fixture.database).report([difference])
  assert.equal(await isSuspended(fixture.database), false)
  assert.equal(await trips(fixture.database), 1)
})

/** A bank whose book is these entries, each booked when it moved, and shown so much later. */
function trueBank(fixture: StatementFixture, lagMs: number) {
  const book: (StatementEntry & { readonly bookedAt: number })[] = []
  fixture.bank.answer = ({ from, to }: StatementQuery) =>
    pageOf(
      book
        .filter(({ bookedAt }) => bookedAt + lagMs <= fixture.clock.now())
        .filter(({ bookedAt }) => from <= bookedAt && bookedAt < to),
    )
  return { move: (entry: StatementEntry) => void book.push({ ...entry, bookedAt: fixture.clock.now() }) }
}

for (const lagMs of [0, 4 * MINUTE]) {
  test(`[trip-wire.1] [trip-wire.2] in ordinary operation nothing is suspended, at a bank that shows movements ${lagMs / MINUTE} minutes late`, async (t) => {
    const fixture = await statementFixture(t)
    const bank = trueBank(fixture, lagMs)
    await fixture.charge()
    await fixture.sweep()
    for (let minute = 0; minute < 30; minute += 1) {
      const charge = await forge(fixture, `E${minute}`)
      bank.move(paymentOf(charge, `E${minute}`, { occurredAt: fixture.clock.now() }))
      bank.move(debit(fixture, charge.id, { kind: 'TARIFF', endToEndId: `E${minute}`, valueCents: 50n }))
      await fixture.minutes(1)
    }
    assert.deepEqual([await isSuspended(fixture.database), await cases(fixture.database)], [false, []])
  })
}
