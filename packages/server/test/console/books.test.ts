import assert from 'node:assert/strict'
import test from 'node:test'
import type { Database } from '../../src/platform/db/database.ts'
import { caseWorld } from '../cases/fixture.ts'
import { administer, planOf, testDatabase } from '../support/database.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { consoleOn, store } from './fixture.ts'

test('[console.18] an account is read entry by entry, with all sides of each journal and its operation', async (t) => {
  const pix = await caseWorld(t)
  const { entries } = consoleOn(pix.database, pix.clock)
  const { id } = await pix.paid('150')
  const refund = await pix.refundIn(id, 50)
  await pix.until(`/api/pix/refund/${refund.id}`, ({ status }) => status === 'CONFIRMED')
  const available = (await entries()).data
  assert.deepEqual(
    available.map((line: Record<string, unknown>) => [line.shown, line.amountCents, line.balanceAfterCents]),
    [
      ['REFUND_IN', -50_00, 100_00],
      ['REFUND_IN_RELEASE', 50_00, 150_00],
      ['REFUND_IN_RESERVE', -50_00, 100_00],
      ['CASH_IN', 150_00, 150_00],
    ],
  )
  const [paid] = (await entries({ account: 'settlement', operation_id: id })).data
  assert.partialDeepStrictEqual(paid, {
    version: 1,
    amountCents: -150_00,
    journal: 'cash_in_paid',
    operationId: id,
    operation: { kind: 'cash_in' },
    entries: [
      { account: 'available', amountCents: 150_00 },
      { account: 'settlement', amountCents: -150_00 },
    ],
  })
  assert.deepEqual((await entries({ account: 'losses' })).data, [])
})

/** Entries of the settlement account, one each ten minutes. */
async function manyEntries(t: test.TestContext) {
  const { url, database } = await testDatabase(t)
  const [id = ''] = await store(url, [{ kind: 'cash_in' }])
  await administer(
    url,
    `SET session_replication_role = replica;
     INSERT INTO entry SELECT 3, n, -100, -100 * n, '${id}', 'cash_in_paid', 'E' || n, 0, NULL,
            '2026-11-20T03:00:00Z'::timestamptz + n * interval '10 minutes' FROM generate_series(0, 2999) n WHERE n > 0;
     UPDATE account SET version = 2999 WHERE id = 3;
     ANALYZE entry`,
  )
  return { url, database }
}

test('[console.18] entries are paged by cursor and by days of São Paulo', async (t) => {
  const { database } = await manyEntries(t)
  const { entries } = consoleOn(database)
  const versions = ({ data }: { data: { version: number }[] }) => data.map(({ version }) => version)
  const first = await entries({ account: 'settlement', limit: 2 })
  assert.deepEqual(versions(first), [2_999, 2_998])
  const next = await entries({ account: 'settlement', limit: 2, cursor: first.pagination.nextCursor })
  assert.deepEqual(versions(next), [2_997, 2_996])
  const day = { account: 'settlement', from: '2026-11-21', to: '2026-11-21', limit: 100 }
  const page = await entries(day)
  const rest = await entries({ ...day, cursor: page.pagination.nextCursor })
  assert.deepEqual([versions(page)[0], versions(rest).at(-1)], [287, 144])
  assert.deepEqual([page.data.length + rest.data.length, rest.pagination.hasMore], [144, false])
  for (const wrong of [{ cursor: 'eA' }, { from: '2026-13-01' }, { from: '2026-11-21', to: '2026-11-20' }]) {
    await assert.rejects(entries(wrong), { code: 'validation_error' })
  }
})

test('[console.18] a page of entries examines no others, however far the day', async (t) => {
  const { url, database } = await manyEntries(t)
  const read: [text: string, values: readonly unknown[]][] = []
  const noting: Database = {
    ...database,
    rows: (query, values) => {
      read.push([query.text, values])
      return database.rows(query, values)
    },
  }
  await consoleOn(noting).entries({ account: 'settlement', from: '2026-11-21', to: '2026-11-21' })
  const page = read.find(([text]) => text.includes('ORDER BY version DESC'))
  // A minute around the day, as an entry has the time of its batch.
  assert.deepEqual(page?.[1].slice(1, 3), ['143', '288'])
  assert.match(await planOf(url, page?.[0] ?? ''), /Index Scan Backward using entry_pkey/)
})

test('[console.19] the reconciliation has the progress of the statement, what is open, and the last balance of the bank', async (t) => {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  clock.observe(Date.parse('2026-11-21T13:00:00Z'))
  const { reconciliation } = consoleOn(database, clock, { capabilities: new Set(['statement']) })
  const empty = await reconciliation()
  assert.deepEqual(
    [empty.hasStatement, empty.readAt, empty.nextAt, empty.lastBalance, empty.differences.count],
    [true, null, null, null, 0],
  )
  const close = (day: string, bank: object | null) =>
    `INSERT INTO daily_close VALUES ('${day}', now(), '${JSON.stringify({
      ...{ id: day, bank, booksCents: 150_00 },
      differenceCents: bank && -10_00,
      unexplainedCents: bank && -3_00,
    })}');`
  const open = (kind: string, at: string, closedAt = 'NULL') =>
    `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at, closed_at)
     VALUES (gen_random_uuid(), '${kind}', '${kind} ${at}', '{}', 1000, '${at}', ${closedAt});`
  await administer(
    url,
    `SET session_replication_role = replica;
     UPDATE statement_mark SET read_at = '2026-11-21T12:59:00Z', matched_until = '2026-11-21T12:58:30Z',
            read_from = '2026-11-01T00:00:00Z', due_at = '2026-11-21T13:00:00Z', lease_until = '2026-11-21T13:01:00Z';
     INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at)
     VALUES ('in', 'E1', 'PAYMENT_RECEIVED', 'E1', '', 500, '2026-11-21T12:50:00Z', '2026-11-21T12:51:00Z');
     UPDATE account SET balance_cents = -20000 WHERE code = 'settlement';
     ${close('2026-11-19', { closingCents: 140_00 })} ${close('2026-11-20', null)}
     ${open('unexplained_debit', '2026-11-20T10:00:00Z')} ${open('close_differs', '2026-11-19T10:00:00Z')}
     ${open('line_missing', '2026-11-18T10:00:00Z', 'now()')} ${open('event_set_aside', '2026-11-18T10:00:00Z')}`,
  )
  const shown = await reconciliation()
  assert.partialDeepStrictEqual(shown, {
    readAt: '2026-11-21T12:59:00.000Z',
    readUntil: '2026-11-21T12:58:30.000Z',
    nextAt: '2026-11-21T13:00:00.000Z',
    isReading: true,
    unbooked: { count: 1, oldestAt: '2026-11-21T12:51:00.000Z' },
    missing: { count: 0, oldestAt: null },
    booksCents: 200_00,
    lastBalance: {
      ...{ day: '2026-11-19', bankCents: 140_00, booksCents: 150_00 },
      ...{ differenceCents: -10_00, unexplainedCents: -3_00 },
    },
  })
  assert.deepEqual(
    [shown.differences.count, shown.differences.cases.map(({ kind }: { kind: string }) => kind)],
    [2, ['close_differs', 'unexplained_debit']],
  )
})
