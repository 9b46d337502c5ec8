import assert from 'node:assert/strict'
import test from 'node:test'
import { compareBalance, lastDayEnd } from '../../src/bank-statement/reported-balances/compare.ts'

test('[close.11] [close.12] a list explains a balance that it comes to, with or without what is set aside; else it is judged only where nothing is', () => {
  const compared = (reportedCents: bigint, listedCents: bigint, reservedCents: bigint) =>
    compareBalance({ reportedCents, listedCents, reservedCents })
  assert.deepEqual(compared(100n, 100n, 0n), { cents: 100n, unlistedCents: 0n })
  assert.deepEqual(compared(100n, 100n, 30n), { cents: 100n, unlistedCents: 0n })
  assert.deepEqual(compared(70n, 100n, 30n), { cents: 100n, unlistedCents: 0n })
  assert.deepEqual(compared(70n, 100n, 0n), { cents: 70n, unlistedCents: -30n })
  assert.deepEqual(compared(105n, 100n, 0n), { cents: 105n, unlistedCents: 5n })
  assert.equal(compared(80n, 100n, 30n), undefined)
  assert.equal(compared(105n, 100n, 30n), undefined)
})

test('[close.11] a balance is of the end of the last day of which the bank has booked everything', () => {
  const [midnight, next] = ['2026-11-22T03:00:00Z', '2026-11-23T03:00:00Z'].map((at) => Date.parse(at))
  assert.equal(lastDayEnd(midnight ?? 0), midnight)
  assert.equal(lastDayEnd((next ?? 0) - 1), midnight)
})
