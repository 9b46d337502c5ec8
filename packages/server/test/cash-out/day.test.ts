import assert from 'node:assert/strict'
import test from 'node:test'
import { accountingDay, dayAfterRelease, dayAfterReserve } from '../../src/cash-out/day.ts'

const dayOf = (instant: string) => accountingDay(Date.parse(instant))

test('[cash-out.limits.2] a day begins at midnight in São Paulo, three hours after that in UTC', () => {
  assert.equal(dayOf('2026-11-21T02:59:59.999Z'), '2026-11-20')
  assert.equal(dayOf('2026-11-21T03:00:00.000Z'), '2026-11-21')
  assert.equal(dayOf('2027-01-01T02:59:59.999Z'), '2026-12-31')
  assert.equal(dayOf('2018-12-01T02:00:00.000Z'), '2018-12-01', 'an hour earlier while it had summer time')
})

test('[cash-out.limits.2] what is sent adds up within a day and begins anew with the next', () => {
  const first = dayAfterReserve({ day: null, sentCents: 0 }, '2026-11-20', 10_00n)
  assert.deepEqual(first, { day: '2026-11-20', sentCents: 10_00 })
  assert.deepEqual(dayAfterReserve(first, '2026-11-20', 5_00n), { day: '2026-11-20', sentCents: 15_00 })
  assert.deepEqual(dayAfterReserve(first, '2026-11-21', 5_00n), { day: '2026-11-21', sentCents: 5_00 })
})

test('[cash-out.limits.2] a process whose clock is a moment behind does not bring the old day back', () => {
  const today = { day: '2026-11-21', sentCents: 10_00 }
  assert.deepEqual(dayAfterReserve(today, '2026-11-20', 5_00n), { day: '2026-11-21', sentCents: 15_00 })
})

test('[cash-out.limits.2] what is released counts no more on its day; another day is over', () => {
  const today = { day: '2026-11-21', sentCents: 10_00 }
  assert.deepEqual(dayAfterRelease(today, '2026-11-21', 4_00n), { day: '2026-11-21', sentCents: 6_00 })
  assert.deepEqual(dayAfterRelease(today, '2026-11-20', 4_00n), today)
})
