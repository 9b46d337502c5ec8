import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { bookedMovements, cases, statementEntries, statementMark } from '../support/evidence.ts'
import { pageOf, paymentOf, workshop } from './fixture.ts'

const MINUTE = 60_000

test('[statement.1] it is read each minute, by one process at a time', async (t) => {
  const shop = await workshop(t)
  const { id } = await shop.charge()
  await shop.sweep()
  await shop.sweep()
  assert.equal(shop.bank.asked.length, 1)
  shop.clock.advance(MINUTE)
  let isAnswered: () => void = () => undefined
  const answered = new Promise<void>((resolve) => {
    isAnswered = resolve
  })
  shop.bank.answer = async () => {
    shop.bank.answer = () => pageOf([])
    await answered
    return pageOf([])
  }
  const reading = shop.statements.processNext()
  while (shop.bank.asked.length < 2) await shop.read(id)
  assert.equal(await shop.others.processNext(), false)
  assert.equal(shop.bank.asked.length, 2)
  isAnswered()
  await reading
})

test('[statement.1] a bank that has no statement is never asked for one', async (t) => {
  const shop = await workshop(t)
  const statements = shop.processOf({ ...shop.bank, capabilities: new Set(['query-charge']) })
  assert.equal(await statements.processNext(), false)
  assert.equal(shop.bank.asked.length, 0)
})

test('[statement.3] [PL-13] a process that dies between pages: another reads the window again, and nothing twice', async (t) => {
  const shop = await workshop(t)
  const [first, second] = [await shop.charge(), await shop.charge()]
  const entries = [paymentOf(first, 'E1'), paymentOf(second, 'E2')]
  shop.bank.answer = ({ cursor }) =>
    cursor === null ? pageOf(entries.slice(0, 1), '1', entries) : pageOf(entries.slice(1), null, entries)
  assert.equal(await shop.statements.processNext(), true)
  assert.deepEqual(await statementEntries(shop.database), ['PAYMENT_RECEIVED E1 OPEN'])
  assert.equal(await shop.others.processNext(), false)
  shop.clock.advance(MINUTE)
  while (await shop.others.processNext());
  // The first one was only asleep: what it reads now no longer moves the mark.
  const { matchedUntil } = await statementMark(shop.database)
  while (await shop.statements.processNext());
  assert.equal((await statementMark(shop.database)).matchedUntil, matchedUntil)
  await shop.minutes(2)
  assert.deepEqual(await statementEntries(shop.database), [
    'PAYMENT_RECEIVED E1 MATCHED',
    'PAYMENT_RECEIVED E2 MATCHED',
  ])
  assert.deepEqual(await bookedMovements(shop.database), ['E1', 'E2'])
})

test('[statement.3] [PL-13] a page that shifts while it is read, or goes round in circles, moves no mark', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const entries = [paymentOf(charge, 'E1'), paymentOf(charge, 'E2')]
  // A newer entry came in between, so that the second page begins one too late.
  shop.bank.answer = ({ cursor }) =>
    cursor === null ? pageOf(entries.slice(0, 1), '1', entries) : pageOf([], null, entries)
  await shop.sweep()
  assert.deepEqual(await statementMark(shop.database), { matchedUntil: null, readAt: null })
  shop.bank.answer = () => pageOf(entries.slice(0, 1), '1', entries)
  await shop.minutes(1)
  assert.deepEqual(await statementMark(shop.database), { matchedUntil: null, readAt: null })
  // What was read counts all the same.
  assert.deepEqual(await bookedMovements(shop.database), ['E1'])
  shop.bank.answer = ({ cursor }) =>
    pageOf(cursor === null ? entries : entries.slice(1), cursor === null ? '1' : null, entries)
  await shop.minutes(2)
  assert.ok((await statementMark(shop.database)).readAt)
  assert.deepEqual(await bookedMovements(shop.database), ['E1', 'E2'])
})

test('[statement.3] a bank that cannot be read, or answers rubbish, is asked again in a minute from where the mark is', async (t) => {
  const shop = await workshop(t)
  await shop.charge()
  await shop.sweep()
  await shop.minutes(10)
  const { matchedUntil } = await statementMark(shop.database)
  shop.bank.answer = () => ({ kind: 'UNKNOWN', reason: 'HTTP 500', httpStatus: 500 })
  await shop.minutes(30)
  assert.equal(shop.bank.asked.length, 41)
  assert.equal((await statementMark(shop.database)).matchedUntil, matchedUntil)
  shop.bank.answer = () => pageOf([])
  await shop.minutes(1)
  const { from, to } = shop.bank.asked.at(-1) ?? assert.fail()
  assert.equal(from, (matchedUntil ?? 0) - 5 * MINUTE)
  assert.ok(to >= shop.clock.now())
})

test('[statement.2] after a week without a reading the windows follow each other at once, six hours at a time', async (t) => {
  const shop = await workshop(t)
  await shop.charge()
  await shop.sweep()
  shop.clock.advance(7 * 24 * 60 * MINUTE)
  await shop.sweep()
  const windows = shop.bank.asked.slice(1)
  assert.ok(windows.length > 28 && windows.length < 31, String(windows.length))
  for (const [index, { from, to }] of windows.entries()) {
    assert.ok(to - from <= 6 * 60 * MINUTE)
    assert.ok(from <= (windows[index - 1]?.to ?? from), 'nothing between two windows is left out')
  }
  assert.ok((windows.at(-1)?.to ?? 0) > shop.clock.now())
})

test('[statement.2] [PL-10] the mark stays before what waits to be handed to its operation', async (t) => {
  const shop = await workshop(t)
  await shop.sweep()
  await shop.minutes(10)
  const charge = await shop.charge()
  shop.clock.advance(10 * MINUTE)
  const entry = paymentOf(charge, 'E1')
  shop.bank.answer = () => pageOf([entry])
  await shop.sweep()
  assert.deepEqual(await bookedMovements(shop.database), [])
  const { matchedUntil } = await statementMark(shop.database)
  assert.ok((matchedUntil ?? 0) <= entry.occurredAt)
  await shop.minutes(1)
  assert.deepEqual(await bookedMovements(shop.database), ['E1'])
  assert.ok(((await statementMark(shop.database)).matchedUntil ?? 0) > entry.occurredAt)
})

test('[statement.4] [PL-11] in whatever order, however often and on however many pages it is told, a movement is booked once', async (t) => {
  const shop = await workshop(t)
  await shop.sweep()
  let told = 0
  const expected: string[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      async (pages) => {
        const charges = await Promise.all([0, 1, 2, 3].map(() => shop.charge()))
        const entries = charges.map((charge, index) => paymentOf(charge, `E${String(told + index).padStart(4, '0')}`))
        told += charges.length
        const paged = pages.map((page) => page.flatMap((index) => entries[index] ?? []))
        const all = [...new Set(paged.flat())]
        expected.push(...all.map(({ movementId }) => movementId))
        shop.bank.answer = ({ cursor }) => {
          const index = Number(cursor ?? 0)
          return pageOf(paged[index] ?? [], index + 1 < pages.length ? String(index + 1) : null, all)
        }
        await shop.minutes(3)
        assert.deepEqual(await bookedMovements(shop.database), [...expected].sort())
      },
    ),
    { numRuns: 15 },
  )
  assert.deepEqual(await cases(shop.database), [])
})

test('[statement.1] who was too slow for its lease reads no further: another process has begun anew', async (t) => {
  const shop = await workshop(t)
  await shop.charge()
  let pages = 0
  shop.bank.answer = () => {
    pages += 1
    return pageOf([], `page ${pages}`)
  }
  assert.equal(await shop.statements.processNext(), true)
  shop.clock.advance(61_000)
  assert.equal(await shop.others.processNext(), true)
  assert.equal(await shop.statements.processNext(), false)
  assert.equal(await shop.statements.processNext(), false)
  assert.equal(pages, 3)
})
