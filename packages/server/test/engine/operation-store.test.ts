import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { isCashIn } from '../../src/cash-in/cash-in.ts'
import { isCashOut } from '../../src/cash-out/cash-out.ts'
import { createOperationStore, type OperationFilter, statusIs } from '../../src/engine/operation-store.ts'
import { createReader } from '../../src/engine/reader.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { isRefundIn } from '../../src/refund-in/refund-in.ts'
import { administer, MANY_OPERATIONS, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'

/** A store, what it stores, and how many ids each of its statements asked for. */
async function storeOf(t: TestContext, count: number) {
  const { url, database } = await testDatabase(t)
  const { cashIns, ids } = testEngine(t, url)
  const stored = Array.from({ length: count }, ids.uuid)
  await Promise.all(stored.map((id) => cashIns.create(cashInRequest({ id, externalId: id }))))
  const asked: number[] = []
  const counting: Database = {
    ...database,
    rows: (query, parameters) => {
      asked.push((parameters[0] as string[]).length)
      return database.rows(query, parameters)
    },
  }
  return { store: createOperationStore(counting, 'cash_in', isCashIn), stored, asked, unknown: ids.uuid() }
}

test('[cash-in.detail.2] reads at the same time share a statement, and each gets its own', async (t) => {
  const { store, stored, asked, unknown } = await storeOf(t, 5)
  const [first = ''] = stored
  const wanted = [...stored.toReversed(), unknown, first, first.toUpperCase()]
  const found = await Promise.all(wanted.map((id) => store.get(id)))
  assert.deepEqual(
    found.map((cashIn) => cashIn?.id),
    [...stored.toReversed(), undefined, first, first],
  )
  assert.deepEqual(asked, [wanted.length])
})

test('[cash-in.detail.2] a single read starts at once; reads that arrive meanwhile share the next one', async (t) => {
  const { store, stored, asked } = await storeOf(t, 3)
  const [first = '', ...others] = stored
  const alone = store.get(first)
  await setImmediate()
  assert.deepEqual(asked, [1])
  const rest = await Promise.all([alone, ...others.map((id) => store.get(id))])
  assert.deepEqual(
    rest.map((cashIn) => cashIn?.id),
    stored,
  )
  assert.deepEqual(asked, [1, 2])
})

test('[cash-in.detail.2] an id of another kind is unknown, and no reference means it', async (t) => {
  const { url, database } = await testDatabase(t)
  const { cashIns, ids } = testEngine(t, url)
  const id = ids.uuid()
  const { cashIn } = await cashIns.create(cashInRequest({ id, externalId: 'order-1' }))
  const references = [cashIn.orderId, 'order-1', id].map((externalId) => ({
    externalId,
    transactionId: null,
    endToEndId: null,
  }))
  const cashOuts = createOperationStore(database, 'cash_out', isCashOut)
  assert.equal(await cashOuts.get(id), undefined)
  assert.deepEqual(await cashOuts.match(references), [[], [], []])
  const [byOrderId, byExternalId, byId] = await createOperationStore(database, 'cash_in', isCashIn).match(references)
  assert.deepEqual(byOrderId, [{ id, by: 'orderId', of: null, isBanks: false }])
  assert.deepEqual(byId, [], 'the bank never had the public id')
  assert.deepEqual(byExternalId, [{ id, by: 'externalId', of: null, isBanks: false }])
})

test('[partner-inbox.12] [EV-34] a payment in suspense is known by its end-to-end id, as a payment that came in', async (t) => {
  const { url, database } = await testDatabase(t)
  const { cashIns, clock, ids } = testEngine(t, url)
  const id = ids.uuid()
  await cashIns.create(cashInRequest({ id, externalId: 'order-1' }))
  const paid = payment({ endToEndId: 'E1', valueCents: 99_00n, occurredAt: clock.now() })
  await cashIns.apply(id, { on: 'partner.confirmed', payment: paid, transactionId: null })
  await administer(url, `INSERT INTO movement VALUES ('out', 'E2', '${id}', 1)`)
  const references = ['E1', 'E2'].map((endToEndId) => ({ endToEndId, transactionId: null, externalId: null }))
  assert.deepEqual(await createOperationStore(database, 'cash_in', isCashIn).match(references), [
    [{ id, by: 'endToEndId', of: null, isBanks: false }],
    [],
  ])
})

test('[database.8] once there are some, single operations are found by what names them, on tables that nobody analysed', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(MANY_OPERATIONS, [])
  const texts: string[] = []
  const noting: Database = {
    ...database,
    rows: async (query) => {
      texts.push(query.text)
      return []
    },
  }
  const stores = [
    createOperationStore(noting, 'cash_in', isCashIn),
    createOperationStore(noting, 'cash_out', isCashOut),
    createOperationStore(noting, 'refund_in', isRefundIn),
  ]
  for (const store of stores) {
    await store.get('id')
    await store.match([])
  }
  await createReader(noting).byExternalIds([])
  await createReader(noting).operations([])
  assert.equal(texts.length, 8)
  for (const text of texts) {
    const used = (await planOf(url, text)).matchAll(/Scan (?:using|on) (operation_\w+)/g)
    const indexes = [...used].map(([, index = '']) => index).filter((name) => !/^operation_\d+$/.test(name))
    assert.ok(indexes.length > 0, text)
    for (const index of indexes) assert.ok(NAMING.has(index), `${index} is used by ${text}`)
  }
})

test('[database.8] a charge with the end-to-end id of a movement is found by that id, not among all charges', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(MANY_OPERATIONS, [])
  const more = `INSERT INTO operation SELECT (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(),
    'external_id', n || '-' || o.external_id, 'order_id', md5(n || o.order_id)))).* FROM operation o, generate_series(1, 5) n`
  await administer(url, more)
  const { texts, noting } = notingTexts(database)
  await createOperationStore(noting, 'cash_in', isCashIn).match([])
  const [text = ''] = texts
  const plan = await planOf(url, text)
  assert.doesNotMatch(plan, /Index Cond: \(kind = o_1.kind\)/)
  assert.equal(plan.match(/Index Cond: \(end_to_end_id = /g)?.length, 2, plan)
})

test('[cash-in.list.6] [database.8] charges by time of payment are found by their index and in its order, whatever the other filters', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(MANY_OPERATIONS, [])
  await administer(url, `UPDATE operation SET facts = '{"paidAt": 1}', version = version + 1 WHERE kind = 'cash_in'`)
  const { texts, noting } = notingTexts(database)
  const store = createOperationStore(noting, 'cash_in', isCashIn)
  for (const paid of [{ from: 1 }, { to: 1 }, { from: 1, to: 2 }]) {
    const page = { skip: 0, limit: 20, paid }
    await store.list(page)
    await store.list({ ...page, status: statusIs('PAID'), from: 1, after: { at: 1, id: 'id' } })
    await store.list({ ...page, skip: 100_000 })
    await store.count(page, 10)
  }
  assert.equal(texts.length, 12)
  for (const text of texts) {
    const plan = await planOf(url, text)
    assert.match(plan, /operation_paid_at/, text)
    if (!text.includes('count(*)'))
      assert.match(plan, /Presorted Key|Index Scan Backward using operation_paid_at/, text)
  }
})

test('[cash-in.list.6] [database.8] of two ranges the index of the much shorter one is read', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(MANY_OPERATIONS, [])
  const { texts, noting } = notingTexts(database)
  const store = createOperationStore(noting, 'cash_in', isCashIn)
  const indexesOf = async (filter: Pick<OperationFilter, 'from' | 'to' | 'paid'>) => {
    texts.splice(0)
    await store.list({ ...filter, skip: 0, limit: 20 })
    await store.list({ ...filter, skip: 0, limit: 20, after: { at: 1, id: 'id' } })
    await store.list({ ...filter, skip: 100_000, limit: 20 })
    await store.count(filter as OperationFilter, 10)
    const plans = await Promise.all(texts.map((text) => planOf(url, text)))
    return plans.map((plan) => /operation_(?:list|paid_at)\b/.exec(plan)?.[0])
  }
  const [byCreation, byPayment] = ['operation_list', 'operation_paid_at'].map((index) => Array(4).fill(index))
  assert.deepEqual(await indexesOf({ from: 5, to: 6, paid: { from: 1, to: 9 } }), byCreation)
  assert.deepEqual(await indexesOf({ from: 5, to: 6, paid: { from: 0 } }), byCreation)
  assert.deepEqual(await indexesOf({ from: 5, to: 7, paid: { from: 1, to: 9 } }), byPayment)
  assert.deepEqual(await indexesOf({ from: 1, to: 9, paid: { from: 5, to: 6 } }), byPayment)
  assert.deepEqual(await indexesOf({ from: 1, to: 9, paid: { from: 8 } }), byPayment)
  assert.deepEqual(await indexesOf({ from: 5, paid: { from: 1, to: 9 } }), byPayment)
})

test('[database.8] payments to a Pix key, and movements, are found by their keys on tables without statistics', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(MANY_OPERATIONS, [])
  await administer(
    url,
    `INSERT INTO movement SELECT 'in', n::text, gen_random_uuid(), 1 FROM generate_series(1, 500) n`,
  )
  const { texts, noting } = notingTexts(database)
  const reader = createReader(noting)
  await reader.recipients([{ pixKey: 'joao@example.com', newForMs: 0 }], 0)
  await reader.movements([{ direction: 'in', id: '1' }])
  const [ofKey = '', ofMovement = ''] = texts
  assert.match(await planOf(url, ofKey), /Scan using operation_paid_to on operation/)
  assert.match(await planOf(url, ofMovement), /Scan using movement_pkey on movement/)
})

test('payments to a Pix key are looked up once for a batch', async (t) => {
  const { database } = await testDatabase(t)
  const asked: unknown[] = []
  const noting: Database = {
    ...database,
    rows: async (query, values) => {
      asked.push(values)
      return database.rows(query, values)
    },
  }
  const wanted = ['joao@example.com', 'ana@example.com', 'joao@example.com'].map((pixKey) => ({ pixKey, newForMs: 5 }))
  const recipients = await createReader(noting).recipients(wanted, 1_005)
  assert.deepEqual(asked, [
    [
      ['joao@example.com', 'ana@example.com'],
      [1_000, 1_000],
    ],
  ])
  assert.deepEqual([...recipients.keys()], ['joao@example.com', 'ana@example.com'])
})

test('[lists.3] a page is read in the order of an index, of all statuses and of one', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(MANY_OPERATIONS, [])
  // Were all of one status, either index would do.
  await administer(
    url,
    `INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail, facts,
                            created_at, updated_at)
     SELECT gen_random_uuid(), kind, status || external_id, md5(status || kind || external_id), status, 1, 100, 0, external_id, '', '{}', '{}', now(), now()
       FROM (SELECT kind, external_id, unnest(ARRAY['FAILED', 'EXPIRED']) AS status FROM operation) AS more`,
  )
  await administer(url, 'ANALYZE operation')
  const { texts, noting } = notingTexts(database)
  const { list } = createOperationStore(noting, 'cash_in', isCashIn)
  await list({ skip: 0, limit: 50 })
  await list({ status: statusIs('PENDING'), skip: 0, limit: 50 })
  const [all = '', ofOne = ''] = await Promise.all(texts.map((text) => planOf(url, text)))
  assert.match(all, /Scan Backward using operation_list on operation/)
  assert.match(ofOne, /Scan Backward using operation_list_by_status on operation/)
  assert.doesNotMatch(all + ofOne, /Sort/)
})

/** Indexes that few rows share an entry of. */
const NAMING = new Set([
  'operation_pkey',
  'operation_external_id_key',
  'operation_order_id_key',
  'operation_transaction_id',
  'operation_end_to_end_id',
])
