import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { statement } from '../../src/platform/db/database.ts'
import { assertBooks, balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine } from '../support/engine.ts'

const selectMovements = statement<[], { direction: string; id: string; operation_id: string; value_cents: bigint }>(
  'test.movements',
  'SELECT direction, id, operation_id, value_cents FROM movement',
)

const selectCases = statement<[], { operation_id: string; kind: string; reference: string }>(
  'test.cases',
  'SELECT operation_id, kind, reference FROM "case" WHERE closed_at IS NULL',
)

/** Two processes on one database, with a charge each. */
async function twoCharges(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  const ids = [one.ids.uuid(), other.ids.uuid()] as const
  await one.cashIns.create(cashInRequest({ id: ids[0], externalId: 'a' }))
  await other.cashIns.create(cashInRequest({ id: ids[1], externalId: 'b' }))
  const pay = ({ cashIns }: TestEngine, id: string, endToEndId = 'E1') =>
    cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId }), transactionId: 'tx' })
  return { database, one, other, ids, pay }
}

test('[engine.14] [cash-in.states.13] [EV-45] a payment told for two charges in one batch is credited once; the other waits in suspense', async (t) => {
  const { database, one, ids, pay } = await twoCharges(t)
  const told = await Promise.all(ids.map((id) => pay(one, id)))
  assert.deepEqual(
    told.map((outcome) => outcome?.cashIn.status),
    ['PAID', 'RECONCILIATION_REQUIRED'],
  )
  assert.deepEqual(await database.rows(selectMovements, []), [
    { direction: 'in', id: 'E1', operation_id: ids[0], value_cents: 100_00n },
  ])
  assert.deepEqual(await database.rows(selectCases, []), [
    { operation_id: ids[1], kind: 'movement_elsewhere', reference: 'E1' },
  ])
  assert.deepEqual(await balances(database), {
    available: 99_00n,
    settlement: -200_00n,
    fees: 1_00n,
    suspense_in: 100_00n,
  })
  await assertBooks(database)
})

test('[engine.14] [EV-45] two processes that book one payment on two charges at the same moment book it on one', async (t) => {
  const { database, one, other, ids, pay } = await twoCharges(t)
  for (let round = 1; round <= 8; round++) {
    const endToEndId = `E${round}`
    await Promise.all([pay(one, ids[0], endToEndId), pay(other, ids[1], endToEndId)])
  }
  const movements = await database.rows(selectMovements, [])
  assert.equal(movements.length, 8)
  const elsewhere = (await database.rows(selectCases, [])).filter(({ kind }) => kind === 'movement_elsewhere')
  assert.equal(elsewhere.length, 8)
  for (const { reference, operation_id } of elsewhere) {
    assert.notEqual(movements.find(({ id }) => id === reference)?.operation_id, operation_id)
  }
  await assertBooks(database)
})

test('[engine.14] the same payment told again for its own charge is nothing new', async (t) => {
  const { database, one, other, ids, pay } = await twoCharges(t)
  const told = await Promise.all([pay(one, ids[0]), pay(other, ids[0]), pay(one, ids[0])])
  assert.deepEqual(told.map((outcome) => outcome?.result).sort(), ['APPLIED', 'IGNORED', 'IGNORED'])
  assert.equal((await database.rows(selectMovements, [])).length, 1)
  await assertBooks(database)
})

const DAY_MS = 86_400_000

test('[idempotency.1] [engine.3] one key at two processes at the same moment is used once, also around midnight UTC', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  await Promise.all([one, other].map(({ engine }) => engine.execute({ reads: [], decide: () => ({ outcome: 0 }) })))
  const midnight = Math.ceil(one.clock.now() / DAY_MS) * DAY_MS
  // The clocks of two processes differ by a moment.
  one.clock.observe(midnight - 1_000)
  other.clock.observe(midnight + 1_000)
  const create = ({ cashIns, ids }: TestEngine, externalId: string) =>
    cashIns.create(cashInRequest({ id: ids.uuid(), externalId, idempotencyKey: 'key' }))
  const told = await Promise.allSettled([create(one, 'a'), create(other, 'b')])
  assert.deepEqual(told.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const [{ operations } = { operations: 0n }] = await database.rows(
    statement<[], { operations: bigint }>('test.operations', 'SELECT count(*) AS operations FROM operation'),
    [],
  )
  assert.equal(operations, 1n)
})
