import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { capturedLog } from '../support/captured-log.ts'
import { bookedMovements, cases, statementEntries, statementMark } from '../support/evidence.ts'
import { pageOf, paymentOf, statementFixture } from './fixture.ts'

const MINUTE = 60_000

test('[statement.1] the statement is read each minute, by one process at a time', async (t) => {
  const fixture = await statementFixture(t)
  const { id } = await fixture.charge()
  await fixture.sweep()
  await fixture.sweep()
  assert.equal(fixture.bank.asked.length, 1)
  fixture.clock.advance(MINUTE)
  let isAnswered: () => void = () => undefined
  const answered = new Promise<void>((resolve) => {
    isAnswered = resolve
  })
  fixture.bank.answer = async () => {
    fixture.bank.answer = () => pageOf([])
    await answered
    return pageOf([])
  }
  const reading = fixture.statements.processNext()
  while (fixture.bank.asked.length < 2) await fixture.read(id)
  assert.equal(await fixture.others.processNext(), false)
  assert.equal(fixture.bank.asked.length, 2)
  isAnswered()
  await reading
})

test('[statement.1] a bank without a statement is never queried for one', async (t) => {
  const fixture = await statementFixture(t)
  const statements = fixture.processOf({ ...fixture.bank, capabilities: new Set(['query-charge']) })
  assert.equal(await statements.processNext(), false)
  assert.equal(fixture.bank.asked.length, 0)
})

test('[statement.3] [PL-13] a process that dies between pages: another reads the window again, and nothing twice', async (t) => {
  const fixture = await statementFixture(t)
  const [first, second] = [await fixture.charge(), await fixture.charge()]
  const entries = [paymentOf(first, 'E1'), paymentOf(second, 'E2')]
  fixture.bank.answer = ({ cursor }) => (cursor === null ? pageOf(entries.slice(0, 1), '1') : pageOf(entries.slice(1)))
  assert.equal(await fixture.statements.processNext(), true)
  assert.deepEqual(await statementEntries(fixture.database), ['PAYMENT_RECEIVED E1 OPEN'])
  assert.equal(await fixture.others.processNext(), false)
  fixture.clock.advance(MINUTE)
  while (await fixture.others.processNext());
  // The first one was only asleep: what it reads now no longer moves the mark.
  const { matchedUntil } = await statementMark(fixture.database)
  while (await fixture.statements.processNext());
  assert.equal((await statementMark(fixture.database)).matchedUntil, matchedUntil)
  await fixture.minutes(2)
  assert.deepEqual(await statementEntries(fixture.database), [
    'PAYMENT_RECEIVED E1 MATCHED',
    'PAYMENT_RECEIVED E2 MATCHED',
  ])
  assert.deepEqual(await bookedMovements(fixture.database), ['E1', 'E2'])
})

test('[statement.3] [PL-13] a bank whose pages repeat moves no mark', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const entries = [paymentOf(charge, 'E1'), paymentOf(charge, 'E2')]
  fixture.bank.answer = () => pageOf(entries.slice(0, 1), '1')
  await fixture.sweep()
  assert.deepEqual(await statementMark(fixture.database), { matchedUntil: null, readAt: null })
  await fixture.minutes(1)
  assert.deepEqual(await statementMark(fixture.database), { matchedUntil: null, readAt: null })
  // The entries read count all the same.
  assert.deepEqual(await bookedMovements(fixture.database), ['E1'])
  fixture.bank.answer = ({ cursor }) => (cursor === null ? pageOf(entries, '1') : pageOf(entries.slice(1)))
  await fixture.minutes(2)
  assert.ok((await statementMark(fixture.database)).readAt)
  assert.deepEqual(await bookedMovements(fixture.database), ['E1', 'E2'])
})

test('[statement.3] an unreadable statement is read again in a minute from the mark', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.charge()
  await fixture.sweep()
  await fixture.minutes(10)
  const { matchedUntil } = await statementMark(fixture.database)
  fixture.bank.answer = () => ({ kind: 'UNKNOWN', reason: 'HTTP 500', httpStatus: 500 })
  await fixture.minutes(30)
  assert.equal(fixture.bank.asked.length, 41)
  assert.equal((await statementMark(fixture.database)).matchedUntil, matchedUntil)
  fixture.bank.answer = () => pageOf([])
  await fixture.minutes(1)
  const { from, to } = fixture.bank.asked.at(-1) ?? assert.fail()
  assert.equal(from, (matchedUntil ?? 0) - 5 * MINUTE)
  assert.ok(to >= fixture.clock.now())
})

test('[statement.2] after a week without a reading the windows follow each other at once, six hours at a time', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.charge()
  await fixture.sweep()
  fixture.clock.advance(7 * 24 * 60 * MINUTE)
  await fixture.sweep()
  const windows = fixture.bank.asked.slice(1)
  assert.ok(windows.length > 28 && windows.length < 31, String(windows.length))
  for (const [index, { from, to }] of windows.entries()) {
    assert.ok(to - from <= 6 * 60 * MINUTE)
    assert.ok(from <= (windows[index - 1]?.to ?? from), 'nothing between two windows is left out')
  }
  assert.ok((windows.at(-1)?.to ?? 0) > fixture.clock.now())
})

test('[statement.2] [PL-10] the mark stays before an entry that waits to be handed to its operation', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  await fixture.minutes(10)
  const charge = await fixture.charge()
  fixture.clock.advance(10 * MINUTE)
  const entry = paymentOf(charge, 'E1')
  fixture.bank.answer = () => pageOf([entry])
  await fixture.sweep()
  assert.deepEqual(await bookedMovements(fixture.database), [])
  const { matchedUntil } = await statementMark(fixture.database)
  assert.ok((matchedUntil ?? 0) <= entry.occurredAt)
  await fixture.minutes(1)
  assert.deepEqual(await bookedMovements(fixture.database), ['E1'])
  assert.ok(((await statementMark(fixture.database)).matchedUntil ?? 0) > entry.occurredAt)
})

test('[statement.4] [PL-11] a movement is booked once, in any order, repetition and number of pages', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.sweep()
  let told = 0
  const expected: string[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      async (pages) => {
        const charges = await Promise.all([0, 1, 2, 3].map(() => fixture.charge()))
        const entries = charges.map((charge, index) => paymentOf(charge, `E${String(told + index).padStart(4, '0')}`))
        told += charges.length
        const paged = pages.map((page) => page.flatMap((index) => entries[index] ?? []))
        const all = [...new Set(paged.flat())]
        expected.push(...all.map(({ movementId }) => movementId))
        fixture.bank.answer = ({ cursor }) => {
          const index = Number(cursor ?? 0)
          return pageOf(paged[index] ?? [], index + 1 < pages.length ? String(index + 1) : null)
        }
        await fixture.minutes(3)
        assert.deepEqual(await bookedMovements(fixture.database), [...expected].sort())
      },
    ),
    { numRuns: 15 },
  )
  assert.deepEqual(await cases(fixture.database), [])
})

test('[statement.1] a process that outlives its lease stops reading: another one has begun anew', async (t) => {
  const fixture = await statementFixture(t)
  await fixture.charge()
  let pages = 0
  fixture.bank.answer = () => {
    pages += 1
    return pageOf([], `page ${pages}`)
  }
  assert.equal(await fixture.statements.processNext(), true)
  fixture.clock.advance(61_000)
  assert.equal(await fixture.others.processNext(), true)
  assert.equal(await fixture.statements.processNext(), false)
  assert.equal(await fixture.statements.processNext(), false)
  assert.equal(pages, 3)
})

test('[logs.3] an unreadable statement is logged with the times of its window', async (t) => {
  const log = capturedLog()
  const fixture = await statementFixture(t, log.logger)
  await fixture.charge()
  await fixture.sweep()
  fixture.bank.answer = () => ({ kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined })
  await fixture.minutes(1)
  const { level, reason, ...line } = await log.line('', { event: 'statement.read_failed' })
  assert.deepEqual([level, reason], ['warn', 'timeout'])
  for (const at of [line.from, line.to, line.lastReadAt]) assert.match(String(at), /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
})

test('[api-pix.9] movements from before the first reading are ignored in a list that reaches further back', async (t) => {
  const fixture = await statementFixture(t)
  const charge = await fixture.charge()
  const old = { reference: 'somebody', occurredAt: fixture.clock.now() - 10 * 86_400_000 }
  const entries = [paymentOf(charge, 'OLD', old), paymentOf(charge, 'NEW')]
  fixture.bank.answer = () => ({ kind: 'READ', page: { entries, nextCursor: null, reachesBeforeWindow: true } })
  await fixture.minutes(10)
  assert.deepEqual(
    (await statementEntries(fixture.database)).filter((line) => line.includes('OLD')),
    [],
  )
  assert.deepEqual([await bookedMovements(fixture.database), await cases(fixture.database)], [['NEW'], []])
})
