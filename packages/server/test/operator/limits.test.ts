import assert from 'node:assert/strict'
import test from 'node:test'
import { accountingDay } from '../../src/cash-out/day.ts'
import { createCashOutStore } from '../../src/cash-out/store.ts'
import { assertBooks, balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { operatedProcess } from './fixture.ts'

const EXCEEDED = { code: 'limit_exceeded' }

test('[fees.3] value and fee are set aside together, and both must be there', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url, { fee: { cents: 50n, basisPoints: 100n } })
  await process.adjust(101_49n)
  await assert.rejects(process.payOut(100_00n), { code: 'insufficient_balance' })
  await process.adjust(1n)
  const { valueCents, feeCents } = await process.payOut(100_00n)
  assert.deepEqual([valueCents, feeCents], [100_00n, 1_50n])
  assert.deepEqual(await balances(database), { reserved: 101_50n, settlement: -101_50n })
  await assertBooks(database)
})

test('[cash-out.limits.1] the cap on one cash-out is judged before the balance, and reached exactly', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url, { cashOutMaxCents: 50_00n })
  await assert.rejects(process.payOut(50_01n), EXCEEDED)
  await assert.rejects(process.payOut(50_00n), { code: 'insufficient_balance' })
  await process.adjust(200_00n)
  await assert.rejects(process.payOut(50_01n), EXCEEDED)
  for (let payout = 0; payout < 3; payout++) await process.payOut(50_00n)
  assert.equal((await balances(database)).reserved, 150_00n)
})

test('[cash-out.limits.2] the cap on a day is one for all processes, and counts values without fees', async (t) => {
  const { url, database } = await testDatabase(t)
  const terms = { cashOutDailyMaxCents: 50_00n, fee: { cents: 7n, basisPoints: 0n } }
  const processes = [operatedProcess(t, url, terms), operatedProcess(t, url, terms)]
  await processes[0]?.adjust(1_000_00n)
  const payouts = processes.flatMap((process) => Array.from({ length: 8 }, () => process.payOut(5_00n)))
  const results = await Promise.allSettled(payouts)
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  assert.deepEqual(refused, Array(6).fill('limit_exceeded'))
  assert.equal((await balances(database)).reserved, 10n * 5_07n)
  await assertBooks(database)
})

test('[cash-out.limits.2] what is released the same day no longer counts', async (t) => {
  const { url } = await testDatabase(t)
  const process = operatedProcess(t, url, { cashOutDailyMaxCents: 50_00n })
  await process.adjust(100_00n)
  const payout = await process.payOut(50_00n)
  await assert.rejects(process.payOut(1n), EXCEEDED)
  await process.giveBack(payout)
  await process.payOut(50_00n)
  await assert.rejects(process.payOut(1n), EXCEEDED)
})

test('[cash-out.limits.2] what was accepted before there was a cap counts too', async (t) => {
  const { url, database } = await testDatabase(t)
  const before = operatedProcess(t, url)
  await before.adjust(100_00n)
  await before.payOut(45_00n)
  await before.giveBack(await before.payOut(10_00n))
  await createCashOutStore(database).recountDay(accountingDay(before.clock.now()))
  const process = operatedProcess(t, url, { cashOutDailyMaxCents: 50_00n })
  await assert.rejects(process.payOut(5_01n), EXCEEDED)
  await process.payOut(5_00n)
})

test('[cash-out.limits.2] a day begins at midnight in São Paulo', () => {
  assert.equal(accountingDay(Date.parse('2026-11-21T02:59:59.999Z')), '2026-11-20')
  assert.equal(accountingDay(Date.parse('2026-11-21T03:00:00.000Z')), '2026-11-21')
})
