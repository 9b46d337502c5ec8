import assert from 'node:assert/strict'
import test from 'node:test'
import { EXAMINED_MAX } from '../../src/console/operations.ts'
import { notingTexts, planOf, testDatabase } from '../support/database.ts'
import { audit } from '../support/evidence.ts'
import { copyOperation } from '../support/payout-copies.ts'
import { ANA, consoleOn, payoutTo, store } from './fixture.ts'

const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }) => data.map(({ id }) => id)

const at = (time: string) => ({ created_at: `2026-11-21T${time}Z` })

test('[console.6] all kinds are in one list, newest first, and a cursor continues it', async (t) => {
  const { url, database } = await testDatabase(t)
  const { list } = consoleOn(database)
  const ids = await store(url, [
    { kind: 'cash_in', status: 'PENDING', ...at('10:00:00') },
    { kind: 'refund_in', status: 'PENDING', ...at('10:00:01') },
    { kind: 'adjustment', status: 'CREDITED', ...at('10:00:01') },
    { kind: 'cash_in', status: 'FAILED', ...at('10:00:02') },
  ])
  const [payout] = await store(url, [
    {
      kind: 'cash_out',
      status: 'RESERVED',
      detail: payoutTo('ana@example.com', 'Ana', '52998224725'),
      ...at('10:00:03'),
    },
  ])
  const newest = [payout, ...ids.toReversed()]
  assert.deepEqual(idsOf(await list()), newest)
  const first = await list({ limit: 2 })
  assert.deepEqual([idsOf(first), first.pagination.hasMore], [newest.slice(0, 2), true])
  const second = await list({ limit: 2, cursor: first.pagination.nextCursor })
  const third = await list({ limit: 2, cursor: second.pagination.nextCursor })
  assert.deepEqual([...idsOf(second), ...idsOf(third)], newest.slice(2))
  assert.equal(third.pagination.nextCursor, null)
  const { name, document, pixKey } = first.data[0]
  assert.deepEqual([name, document, pixKey], ['Ana', '***.982.247-**', 'ana@example.com'])
})

test('[console.6] a list is filtered by kind, state as shown, days of São Paulo, and amount', async (t) => {
  const { url, database } = await testDatabase(t)
  const { list } = consoleOn(database)
  const [late = '', overdue = '', paid = ''] = await store(url, [
    {
      ...at('23:30:00'),
      created_at: '2026-11-22T02:30:00Z',
      value_cents: 3_00,
      expires_at: '2100-01-01',
      status: 'PENDING',
      facts: {},
    },
    { created_at: '2026-11-21T10:00:00Z', value_cents: 2_00, expires_at: '2020-01-01', status: 'PENDING', facts: {} },
    {
      created_at: '2026-11-20T10:00:00Z',
      value_cents: 1_00,
      expires_at: '2100-01-01',
      status: 'PAID',
      facts: { paidAt: Date.parse('2026-11-22T02:59:59Z') },
    },
  ])
  const [refund = ''] = await store(url, [{ kind: 'refund_in', created_at: '2026-11-19T10:00:00Z' }])
  const found = async (query: object) => idsOf(await list(query))
  assert.deepEqual(await found({ kind: 'refund_in' }), [refund])
  assert.deepEqual(await found({ status: 'PENDING' }), [late, refund])
  assert.deepEqual(await found({ status: 'EXPIRED' }), [overdue])
  assert.deepEqual(await found({ status: 'RESERVED' }), [])
  assert.deepEqual(await found({ from: '2026-11-21', to: '2026-11-21' }), [late, overdue])
  assert.deepEqual(await found({ paid_from: '2026-11-21', paid_to: '2026-11-21' }), [paid])
  assert.deepEqual(await found({ paid_from: '2026-11-22' }), [])
  assert.deepEqual(await found({ min_cents: 2_00, kind: 'cash_in' }), [late, overdue])
  assert.deepEqual(await found({ max_cents: 2_00, status: 'PENDING' }), [refund])
  assert.equal((await list({ status: 'EXPIRED' })).data[0].status, 'EXPIRED')
})

test('[console.6] faults of a filter name it', async (t) => {
  const { database } = await testDatabase(t)
  const { list } = consoleOn(database)
  const faults = [
    [{ from: '2026-11-22', to: '2026-11-21' }, 'to'],
    [{ from: '0001-01-01' }, 'from'],
    [{ document: '111' }, 'document'],
    [{ cursor: 'x' }, 'cursor'],
  ] as const
  for (const [query, field] of faults) {
    await assert.rejects(list(query), (error: { code: string; fields: { field: string }[] }) => {
      return error.code === 'validation_error' && error.fields[0]?.field === field
    })
  }
})

test('[console.6] payouts to a key are listed whether they were paid, failed or came back, and leave a row in the audit trail', async (t) => {
  const { url, database } = await testDatabase(t)
  const { list } = consoleOn(database)
  const detail = payoutTo('+5511987654321', null, '52998224725')
  const ids = await store(
    url,
    [
      ['CONFIRMED', {}, '10:00:00'],
      ['FAILED', {}, '10:00:01'],
      ['REVERSED', { returns: { D1: 1_00 } }, '10:00:02'],
    ].map(([status, facts, time]) => ({ kind: 'cash_out', detail, status, facts, ...at(String(time)) })),
  )
  const newest = ids.toReversed()
  assert.deepEqual(idsOf(await list({ key: '(11) 98765-4321' })), newest)
  assert.deepEqual(idsOf(await list({ document: '529.982.247-25', status: 'FAILED' })), [newest[1]])
  const rows = await audit(database)
  assert.deepEqual(
    rows.map(({ actor, action, facts }) => [actor, action, facts]),
    [
      [ANA.id, 'operation.searched', { by: 'pix_key' }],
      [ANA.id, 'operation.searched', { by: 'document' }],
    ],
  )
  assert.ok(rows.every(({ subject }) => /^[0-9a-f]{16}$/.test(subject)))
})

test('[console.6] a page examines a bounded number of rows, and continues where it ended', async (t) => {
  const { url, database } = await testDatabase(t)
  const { list } = consoleOn(database)
  const [old = ''] = await store(url, [{ value_cents: 7_77, created_at: '2026-01-01T00:00:00Z' }])
  const [other = ''] = await store(url, [{ created_at: '2026-02-01T00:00:00Z' }])
  await copyOperation(url, other, EXAMINED_MAX, {})
  const first = await list({ min_cents: 7_77 })
  assert.deepEqual([idsOf(first), first.pagination.hasMore], [[], true])
  const second = await list({ min_cents: 7_77, cursor: first.pagination.nextCursor })
  assert.deepEqual([idsOf(second), second.pagination.nextCursor], [[old], null])
})

test('[console.6] every list is read in the order of an index', async (t) => {
  const { url, database } = await testDatabase(t)
  const [id = ''] = await store(url, [{ kind: 'cash_out', detail: payoutTo('ana@example.com', 'Ana', '52998224725') }])
  await copyOperation(url, id, 3_000, { created_at: "created_at + generate_series * interval '1 second'" })
  await copyOperation(url, id, 3_000, {
    kind: `'cash_in'`,
    status: `'PAID'`,
    facts: `jsonb_build_object('paidAt', generate_series)`,
    detail: `'{}'`,
  })
  const wanted: [query: object, index: RegExp][] = [
    [{}, /Index Only Scan Backward using operation_list on/],
    [{ status: 'FAILED' }, /Index Only Scan Backward using operation_list_by_status on/],
    [{ from: '2026-11-21', min_cents: 5 }, /Index Only Scan Backward using operation_list on/],
    [{ paid_from: '1970-01-01', status: 'PAID' }, /Index Scan Backward using operation_paid_at on/],
    [
      { key: 'ana@example.com' },
      /Index Scan Backward using operation_paid_to .*Index Scan Backward using operation_not_paid_to/s,
    ],
    [{ document: '52998224725' }, /Index Scan Backward using operation_person_document on/],
  ]
  for (const [query, index] of wanted) {
    const { texts, noting } = notingTexts(database)
    await consoleOn(noting).list(query)
    for (const text of texts.filter((text) => text.startsWith('SELECT id, at'))) {
      const plan = await planOf(url, text)
      assert.match(plan, index, text)
      assert.doesNotMatch(plan, /Seq Scan|Bitmap/, text)
    }
  }
})
