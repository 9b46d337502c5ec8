import assert from 'node:assert/strict'
import test from 'node:test'
import { boundsOf, dayAfter, dayOf } from '../../src/platform/sao-paulo.ts'
import { EVENTS_LOST } from '../bank-statement/tampering-bank.ts'
import { balances } from '../support/books.ts'
import { administer } from '../support/database.ts'
import { cases } from '../support/evidence.ts'
import { scrape } from '../support/metrics.ts'
import { minutes } from '../support/stepping.ts'
import type { Answer } from '../support/world.ts'
import { balancesOf, type CloseWorld, closeWorld } from './fixture.ts'

const MINUTE = 60_000

async function list(pix: CloseWorld): Promise<string[]> {
  const { body } = await pix.operator('GET', '/operator/closes?limit=100')
  return body.data.map(({ id }: Answer['body']) => id).reverse()
}

/** Cases that closes have opened. The bank of the tests has others: it does not know what its statement is said to have. */
async function closeCases({ database }: CloseWorld): Promise<string[]> {
  return (await cases(database)).filter((name) => name.startsWith('close_'))
}

test('[close.1] [close.3] a close has balances, movements by kind and what the bank had, and the next day begins with them', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(100_00)
  await pix.cashOut({ value: 30 })
  const { id } = await pix.paid('25.50')
  await pix.refundIn(id, 5.5)
  await minutes(pix, 3)
  const first = await pix.close(await pix.endDay())
  const booked = await balances(pix.database)
  assert.equal(first.status, 'BALANCED')
  assert.deepEqual(balancesOf(first, 'openingCents'), {}, 'the first day begins with nothing')
  assert.deepEqual(
    balancesOf(first, 'closingCents'),
    Object.fromEntries(Object.entries(booked).map(([account, cents]) => [account, Number(cents)])),
  )
  assert.deepEqual(
    first.journals.map(({ journal, count }: Answer['body']) => [journal, count]),
    [
      ['cash_in_paid', 2],
      ['cash_out_confirmed', 1],
      ['cash_out_reserved', 1],
      ['refund_in_confirmed', 1],
      ['refund_in_reserved', 1],
    ],
  )
  const [paid] = first.journals
  assert.deepEqual(paid.accounts, [
    { account: 'available', cents: 125_50 },
    { account: 'settlement', cents: -125_50 },
  ])
  assert.deepEqual(first.bank, { closingCents: 90_00 })
  assert.deepEqual([first.booksCents, first.differenceCents, first.unexplainedCents], [90_00, 0, 0])

  const second = await pix.close(await pix.endDay())
  assert.deepEqual(second.journals, [], 'a day without movements is closed too')
  assert.deepEqual(balancesOf(second, 'openingCents'), balancesOf(first, 'closingCents'))
  assert.deepEqual(balancesOf(second, 'closingCents'), balancesOf(first, 'closingCents'))
  assert.deepEqual(await cases(pix.database), [])
})

test('[close.2] a day begins at 03:00 UTC, and what is booked then is the next day’s', async (t) => {
  assert.deepEqual(boundsOf('2026-11-22'), {
    from: Date.parse('2026-11-22T03:00:00Z'),
    to: Date.parse('2026-11-23T03:00:00Z'),
  })
  assert.deepEqual(
    ['2026-11-23T02:59:59.999Z', '2026-11-23T03:00:00Z'].map((at) => dayOf(Date.parse(at))),
    ['2026-11-22', '2026-11-23'],
  )
  assert.equal(
    boundsOf('2018-11-04').from,
    Date.parse('2018-11-04T03:00:00Z'),
    'daylight saving time began at midnight',
  )
  assert.equal(boundsOf('2018-11-05').from, Date.parse('2018-11-05T02:00:00Z'))

  const pix = await closeWorld(t)
  const day = pix.today()
  pix.clock.advance(boundsOf(day).to - 1 - pix.clock.now())
  await pix.balance(10_00)
  pix.clock.advance(1)
  await pix.balance(5_00)
  await pix.closing()
  const close = await pix.close(day)
  assert.deepEqual(balancesOf(close, 'closingCents'), { available: 10_00, settlement: -10_00 })
  assert.deepEqual([close.status, close.bank.closingCents], ['BALANCED', 10_00])
})

test('[close.3] what the bank has on this side of midnight and our books on the other is no difference', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  await pix.behave(EVENTS_LOST)
  const { id } = await pix.charge('7.00')
  await pix.later(MINUTE)
  const day = pix.today()
  pix.clock.advance(boundsOf(day).to - 1_000 - pix.clock.now())
  await pix.bankAction(`charges/${id}/pay`)
  pix.clock.advance(2_000)
  await pix.closing()
  assert.equal((await pix.read(id)).status, 'PAID')
  const close = await pix.close(day)
  assert.deepEqual([close.differenceCents, close.timing, close.status], [7_00, { count: 1, cents: 7_00 }, 'BALANCED'])
})

test('[close.4] a day waits until the statement was read past its end, and missed days are closed one after the other', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  const day = pix.today()
  pix.clock.advance(boundsOf(day).to - pix.clock.now() + 11 * MINUTE)
  await pix.service.closeDays()
  assert.deepEqual(await list(pix), [], 'nobody read the statement')
  pix.clock.advance(2 * 86_400_000)
  await pix.closing()
  assert.deepEqual(await list(pix), [day, dayAfter(day), dayAfter(day, 2)])
})

test('[close.3] a difference that an open case explains is explained; one that none explains is a case', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  await pix.endDay()
  await pix.bank('POST', '/control/debits', { valueCents: 3_00 })
  await minutes(pix, 8)
  const explained = await pix.close(await pix.endDay())
  assert.deepEqual([explained.status, explained.differenceCents, explained.unexplainedCents], ['EXPLAINED', -3_00, 0])
  assert.partialDeepStrictEqual(explained.explained, {
    count: 1,
    cents: -3_00,
    cases: [{ kind: 'unexplained_debit', cents: -3_00 }],
  })
  const [oldest] = explained.openCases.cases
  assert.deepEqual([oldest.kind, oldest.amountCents, oldest.operationId], ['unexplained_debit', 3_00, null])

  // Somebody closes it, and the money is still in no book.
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
  const differs = await pix.close(await pix.endDay())
  assert.deepEqual([differs.status, differs.unexplainedCents], ['DIFFERS', -3_00])
  assert.equal(differs.caseReference, differs.id)
  assert.deepEqual(await closeCases(pix), ['close_differs'])
  const next = await pix.close(await pix.endDay())
  assert.deepEqual([next.status, next.caseReference], ['DIFFERS', null], 'the same is no news')

  const entryId = explained.explained.cases[0].reference.split(' ')[1]
  await administer(
    pix.databaseUrl,
    `UPDATE statement_entry SET outcome = 'KEPT', settled_at = now() WHERE id = '${entryId}'`,
  )
  const kept = await pix.close(await pix.endDay())
  assert.deepEqual([kept.status, kept.kept], ['BALANCED', { count: 1, cents: -3_00 }])
  assert.deepEqual(await closeCases(pix), ['close_differs (closed)'])
})

test('[close.7] what becomes known later rewrites no close, and is in the next one', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  const day = await pix.endDay()
  const first = await pix.close(day)
  await administer(
    pix.databaseUrl,
    `INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at, outcome, settled_at)
     VALUES ('out', 'late', 'TARIFF', 'E9', 'late', 40, '${first.from}', now(), 'KEPT', now())`,
  )
  const second = await pix.close(await pix.endDay())
  assert.deepEqual([second.status, second.kept], ['DIFFERS', { count: 1, cents: -40 }])
  assert.deepEqual(await pix.close(day), first)
  await assert.rejects(administer(pix.databaseUrl, `UPDATE daily_close SET content = '{}'`), /append-only/)
})

test('[close.1] [close.5] two workers at once close a day once, with one row in the audit trail', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  const day = pix.today()
  pix.clock.advance(boundsOf(day).to - pix.clock.now())
  await minutes(pix, 12)
  await Promise.all(Array.from({ length: 4 }, () => pix.closer().processNext()))
  assert.deepEqual(await list(pix), [day])
  const rows = await pix.database.rows(
    { name: 'test.audited', text: `SELECT facts ->> 'hash' AS hash FROM audit WHERE action = 'day.closed'` },
    [],
  )
  assert.deepEqual(rows, [{ hash: (await pix.close(day)).hash }])
})

test('[close.8] closes are listed newest first by cursor, and a day that is not closed is 404', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  const days = [await pix.endDay(), await pix.endDay(), await pix.endDay()]
  const first = (await pix.operator('GET', '/operator/closes?limit=2')).body
  assert.deepEqual(
    first.data.map(({ id }: Answer['body']) => id),
    [days[2], days[1]],
  )
  const { nextCursor } = first.pagination
  const second = (await pix.operator('GET', `/operator/closes?limit=2&cursor=${nextCursor}`)).body
  assert.deepEqual(
    second.data.map(({ id }: Answer['body']) => id),
    [days[0]],
  )
  assert.equal(second.pagination.hasMore, false)
  for (const path of [
    '2026-02-30',
    'no-day',
    '2020-01-01',
    // The day before the first one, one that is not over, and one to come.
    dayAfter(days[0] ?? '', -1),
    pix.today(),
    dayAfter(pix.today(), 40),
    `${pix.today()}/ofx`,
    '2020-01-01/csv',
    '2020-01-01/ofx',
  ]) {
    const { status, body } = await pix.operator('GET', `/operator/closes/${path}`)
    assert.deepEqual([status, body.code], [404, 'not_found'], path)
  }
})

test('[close.10] how long ago the last closed day ended is measured', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  assert.equal((await scrape(pix))('pixgate_closes'), 0)
  const day = await pix.endDay()
  assert.deepEqual(await list(pix), [day])
  pix.clock.advance(10_000)
  const figures = await scrape(pix)
  assert.equal(figures('pixgate_closes'), 1)
  assert.equal(figures('pixgate_database_up'), 1)
  assert.ok(Number.isFinite(figures('pixgate_close_age_seconds')))
})
