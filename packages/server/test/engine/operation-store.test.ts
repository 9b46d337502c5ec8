import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createOperationStore } from '../../src/engine/operation-store.ts'
import type { CashIn } from '../../src/modules/cash-in/cash-in.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, testEngine } from '../support/engine.ts'

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
  return { store: createOperationStore<CashIn>(counting, 'cash_in'), stored, asked, unknown: ids.uuid() }
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

test('[cash-in.detail.2] a read alone waits for nobody; who comes while one runs is in the next', async (t) => {
  const { store, stored, asked } = await storeOf(t, 3)
  const [first = '', ...others] = stored
  const alone = store.get(first)
  await Promise.resolve()
  await Promise.resolve()
  assert.deepEqual(asked, [1])
  const rest = await Promise.all([alone, ...others.map((id) => store.get(id))])
  assert.deepEqual(
    rest.map((cashIn) => cashIn?.id),
    stored,
  )
  assert.deepEqual(asked, [1, 2])
})
