import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createStatementStore } from '../../src/bank-statement/store.ts'
import type { Expectation, Proof } from '../../src/bank-statement/trip-wire/listed/look.ts'
import { createListedStore } from '../../src/bank-statement/trip-wire/listed/store.ts'
import { administer, testDatabase } from '../support/database.ts'
import { audit } from '../support/evidence.ts'

/** What balances a minute apart are held against. */

const MINUTE = 60_000
const SKEW = 5
const START = Date.parse('2030-01-15T12:00:00Z')
const NOTHING: Expectation = { base: null, rising: null, shortSince: null }

async function lists(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const [store, statements] = [createListedStore(database), createStatementStore(database)]
  let names = 0

  /** The lists tell what moved at a minute. */
  async function tell(direction: 'in' | 'out', valueCents: bigint, minute: number, shownAt: number): Promise<void> {
    names += 1
    const named = { movementId: `E${names}`, endToEndId: `E${names}`, reference: 'reference' }
    const kind = direction === 'in' ? 'PAYMENT_RECEIVED' : 'PAYOUT_SENT'
    const entry = { kind, direction, ...named, valueCents, occurredAt: START + minute * MINUTE } as const
    await statements.keep([entry], START + shownAt * MINUTE)
  }

  const readBeside = (minute: number) =>
    store.beside({ readAt: START + minute * MINUTE }, { skewMs: SKEW * MINUTE, awaitedSince: START })

  /** A look at the balance of a minute, which leaves this behind. */
  async function look(minute: number, next: Expectation = NOTHING) {
    const { counted, ...beside } = await readBeside(minute)
    await store.noteExpectation(next, counted)
    return beside
  }

  return { url, database, store, tell, look }
}

const proof = (minute: number, cents = 0n): Proof => ({ cents, at: START + minute * MINUTE, listedSinceCents: 0n })

test('[trip-wire.11] a tariff is taken once of what came in, however close the balances are, and of what is listed late too', async (t) => {
  const { tell, look } = await lists(t)
  await tell('in', 1n, 20, 0)
  await tell('in', 10n, 25, 0)
  await tell('out', 5_000n, 25, 0)
  await look(0)
  const received = async (minute: number) => (await look(minute)).receivedCents
  const counted: [number, bigint][] = []
  for (let minute = 1; minute < 60; minute += 1) {
    if (minute === 40) await tell('in', 100n, 30, 40)
    if (minute === 50) await tell('in', 1_000n, 54, 50)
    const cents = await received(minute)
    if (cents > 0n) counted.push([minute, cents])
  }
  assert.deepEqual(counted, [
    [16, 1n],
    [21, 10n],
    [40, 100n],
    [50, 1_000n],
  ])
  await tell('in', 10_000n, 80, 60)
  assert.equal(await received(90), 10_000n, 'where balances were not read for long')
  assert.equal(await received(90), 0n, 'nor where the same one is looked at again')
})

test('[trip-wire.11] what the lists tell of the time before a proof is told once, with what went out of it surely before', async (t) => {
  const { tell, look } = await lists(t)
  await tell('in', 1n, 10, 0)
  await look(20, { base: proof(20), rising: proof(40), shortSince: null })
  const since = async (minute: number) =>
    (await look(minute, { base: proof(20), rising: proof(40), shortSince: null })).listedSince
  assert.deepEqual(await since(60), { baseCents: 0n, risingCents: 0n })
  await tell('in', 2n, 24, 61)
  await tell('in', 4n, 25, 61)
  await tell('in', 8n, 45, 61)
  await tell('out', 10n, 14, 61)
  await tell('out', 100n, 15, 61)
  await tell('out', 1_000n, 35, 61)
  assert.deepEqual(await since(62), { baseCents: 2n - 10n, risingCents: 6n - 110n })
  assert.deepEqual(await since(63), { baseCents: 0n, risingCents: 0n })
})

test('[trip-wire.11] what our books have and no list yet is told apart by its direction', async (t) => {
  const { url, look } = await lists(t)
  const gap = (direction: string, id: string, cents: number, missedAt: string, filledAt = 'NULL') =>
    administer(
      url,
      `INSERT INTO statement_gap (direction, id, operation_id, value_cents, missed_at, filled_at)
       VALUES ('${direction}', '${id}', gen_random_uuid(), ${cents}, '${missedAt}', ${filledAt})`,
    )
  const [later, before] = ['2030-01-15T12:00:00Z', '2030-01-15T11:59:59Z']
  await gap('in', 'D1', 1, later)
  await gap('in', 'D2', 10, before)
  await gap('in', 'D3', 100, later, 'now()')
  await gap('out', 'E1', 2, later)
  await gap('out', 'E2', 20, before)
  const { unlistedCents, awaitedCents } = await look(60)
  assert.deepEqual({ unlistedCents, awaitedCents }, { unlistedCents: 1n, awaitedCents: 2n })
})

test('[trip-wire.11] what is expected is remembered, and ordinary looks leave nothing in the audit trail', async (t) => {
  const { database, store, tell, look } = await lists(t)
  assert.deepEqual(await store.expectation(), NOTHING)
  const risen = { base: null, rising: proof(0, 7_000n), shortSince: null }
  await look(0, risen)
  assert.deepEqual(await store.expectation(), risen)
  const listed = { ...proof(0, 7_000n), listedSinceCents: -5n }
  await look(1, { base: listed, rising: null, shortSince: null })
  await tell('in', 1_000n, 6, 2)
  await look(2, { base: { ...listed, cents: 6_000n }, rising: proof(2, 6_500n), shortSince: null })
  const kept = {
    base: { ...listed, cents: 6_500n },
    rising: { ...proof(3, 9_000n), listedSinceCents: -1n },
    shortSince: null,
  }
  await look(3, kept)
  assert.deepEqual(await store.expectation(), kept)
  assert.deepEqual(await audit(database), [])
  await look(4, { ...kept, shortSince: START })
  assert.equal((await store.expectation()).shortSince, START)
  assert.deepEqual(
    (await audit(database)).map(({ action }) => action),
    ['bank_shortfall.noted'],
  )
})
