import assert from 'node:assert/strict'
import test from 'node:test'
import { createReportedBalanceStore } from '../../src/bank-statement/reported-balances/store.ts'
import { administer, testDatabase } from '../support/database.ts'

const MINUTE = 60_000
const AT = Date.parse('2026-11-22T15:00:00Z')

/** An entry of the bank's list, so many minutes after the moment that is looked at. */
function entry(minutes: number, direction: 'in' | 'out', cents: number): string {
  const at = new Date(AT + minutes * MINUTE).toISOString()
  return `INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at)
          VALUES ('${direction}', 'E${minutes}', 'PAYMENT_RECEIVED', 'E', '', ${cents}, '${at}', now());`
}

test('[close.12] what a list comes to is known at a moment around which nothing moved, and from one at which nothing was set aside', async (t) => {
  const { url, database } = await testDatabase(t)
  const store = createReportedBalanceStore(database)
  const moment = { from: AT - 5 * MINUTE, to: AT + 5 * MINUTE }
  const listed = (cents: bigint, reservedCents = 0n) => store.listedAt(moment, { cents, reservedCents })
  await administer(url, entry(-10, 'in', 500) + entry(10, 'out', 200))
  assert.equal(await listed(900n, 1n), undefined, 'what was there before is not known, and does not follow')
  assert.equal(await listed(900n), 900n, 'what was there before is 400')
  assert.equal(await listed(70n, 3n), 900n)
  await administer(url, entry(5, 'out', 100))
  assert.equal(await listed(900n), 900n, 'it moved after the moment')
  await administer(url, entry(-5, 'out', 100))
  assert.equal(await listed(800n), undefined)
})

test('[close.11] of a day the first balance that was told is kept, and the first one that the list explains', async (t) => {
  const { url, database } = await testDatabase(t)
  const store = createReportedBalanceStore(database)
  await administer(url, entry(1, 'in', 500) + entry(20, 'in', 50))
  const balances = [
    [900n, -30n],
    [800n, -40n],
    [950n, 0n],
    [990n, 0n],
    [700n, -30n],
  ] as const
  for (const [cents, unlistedCents] of balances) await store.keep(AT, { cents, unlistedCents }, AT + 10 * MINUTE, AT)
  await store.keep(AT + 15 * MINUTE, { cents: 900n, unlistedCents: 0n }, null, AT)
  const rows = await database.rows<[], { cents: bigint; unlisted_cents: bigint }>(
    {
      name: 'test.reported',
      text: 'SELECT cents, unlisted_cents FROM reported_balance ORDER BY day_end, reported_at, is_listed',
    },
    [],
  )
  assert.deepEqual(rows, [
    { cents: 400n, unlisted_cents: -30n },
    { cents: 450n, unlisted_cents: 0n },
    { cents: 850n, unlisted_cents: 0n },
  ])
})
