import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import { createCashOutCommands } from '../../src/cash-out/commands.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { TERMS as CASH_OUT_TERMS, cashOutRequest, confirmed, INPUTS } from '../cash-out/situations.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine, testEngineThrough } from '../support/engine.ts'
import { type Fate, tcpProxy, through } from '../support/tcp-proxy.ts'

const OCCURRED_AT = 1_700_000_000_000

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

test('[engine.14] [cash-in.states.13] [EV-45] a payment reported for two charges in one batch is booked once; of the other there is a case', async (t) => {
  const { database, one, ids, pay } = await twoCharges(t)
  const outcomes = await Promise.all(ids.map((id) => pay(one, id)))
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.cashIn.status),
    ['PAID', 'RECONCILIATION_REQUIRED'],
  )
  assert.deepEqual(await database.rows(selectMovements, []), [
    { direction: 'in', id: 'E1', operation_id: ids[0], value_cents: 100_00n },
  ])
  assert.deepEqual(await database.rows(selectCases, []), [
    { operation_id: ids[1], kind: 'movement_elsewhere', reference: 'E1' },
  ])
  assert.deepEqual(await balances(database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
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

test('[ledger.movements] [CO-47] a payout to a charge of our own has one end-to-end id in both directions', async (t) => {
  const { database, one, ids, pay } = await twoCharges(t)
  await pay(one, ids[0], 'E1')
  const cashOuts = createCashOutCommands(one.engine, CASH_OUT_TERMS)
  const { cashOut } = await cashOuts.create(cashOutRequest({ id: one.ids.uuid(), externalId: 'c' }))
  const left = confirmed({ endToEndId: 'E2', occurredAt: OCCURRED_AT })
  await cashOuts.apply(cashOut.id, [INPUTS['send.claimed'], left])
  const paid = await one.cashIns.apply(ids[1], {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E2' }),
    transactionId: 'tx',
  })
  assert.equal(paid?.cashIn.status, 'PAID')
  const movements = await database.rows(selectMovements, [])
  assert.deepEqual(movements.map(({ direction, id }) => `${direction} ${id}`).toSorted(), ['in E1', 'in E2', 'out E2'])
  await assertBooks(database)
})

/** An engine that may hold rows, or not; `turn` sets the switch, as somebody who is faster does. */
function aProcess(t: TestContext, url: string, mayHold: boolean, jittered?: () => Promise<unknown>) {
  const through = (pool: Database) =>
    mayHold ? pool : { ...pool, transaction: () => assert.fail('it holds the rows') }
  const { engine } = testEngineThrough(t, url, through, jittered)
  /** Which operation has a movement, told by a change that is decided on it. */
  const ownerOf = (id: string) =>
    engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      movements: [{ direction: 'in', id }],
      decide: (state) => {
        const owner = state.movement({ direction: 'in', id })?.operationId
        return { controls: { cash_out_switch: { enabled: true, owner: owner ?? null } }, outcome: owner }
      },
    })
  return { ownerOf }
}

test('[engine.14] [engine.7] movements are read anew for each decision, also while the rows are held', async (t) => {
  const { url, database } = await testDatabase(t)
  const maker = testEngine(t, url)
  const id = maker.ids.uuid()
  await maker.cashIns.create(cashInRequest({ id, externalId: 'a' }))
  const turn = () => administer(url, `UPDATE control SET version = version + 1 WHERE name = 'cash_out_switch'`)
  const plain = aProcess(t, url, false)
  const holding = aProcess(t, url, true, turn)
  assert.deepEqual([await plain.ownerOf('E1'), await holding.ownerOf('E1')], [undefined, undefined])
  await maker.cashIns.apply(id, {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E1' }),
    transactionId: 'tx',
  })
  assert.equal(await plain.ownerOf('E1'), id)
  await turn()
  assert.equal(await holding.ownerOf('E1'), id)
  await assertBooks(database)
})

const DAY_MS = 86_400_000

for (const [edge, afterMs] of [
  ['midnight', 0],
  ['noon', DAY_MS / 2],
] as const)
  test(`[idempotency.1] [engine.3] one key at two processes at the same moment is used once, also around ${edge} UTC`, async (t) => {
    const { url, database } = await testDatabase(t)
    const [one, other] = [testEngine(t, url), testEngine(t, url)]
    await Promise.all([one, other].map(({ engine }) => engine.execute({ reads: [], decide: () => ({ outcome: 0 }) })))
    const at = Math.ceil(one.clock.now() / DAY_MS) * DAY_MS + afterMs
    // The clocks of two processes differ by a moment.
    one.clock.observe(at - 1_000)
    other.clock.observe(at + 1_000)
    const create = ({ cashIns, ids }: TestEngine, externalId: string) =>
      cashIns
        .create(cashInRequest({ id: ids.uuid(), externalId, idempotencyKey: 'key' }))
        .catch((error: Error) => error.message)
    const outcomes = await Promise.all([create(one, 'a'), create(other, 'b')])
    const refused = outcomes.filter((outcome) => typeof outcome === 'string')
    assert.deepEqual(refused, [new Refusal('idempotency_key_reused').message])
    const [{ operations } = { operations: 0n }] = await database.rows(
      statement<[], { operations: bigint }>('test.operations', 'SELECT count(*) AS operations FROM operation'),
      [],
    )
    assert.equal(operations, 1n)
  })

test('[engine.14] a read-only answer sees no movement that is newer than its operation', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  const [one, other] = [testEngine(t, through(proxy, url)), testEngine(t, url)]
  const id = other.ids.uuid()
  await other.cashIns.create(cashInRequest({ id, externalId: 'a' }))
  const movement = { direction: 'in', id: 'E1' } as const
  const look = () =>
    one.engine.execute({
      reads: [id],
      movements: [movement],
      decide: (state) => ({ outcome: [state.operation(id)?.status, state.movement(movement)?.operationId] }),
    })
  assert.deepEqual(await look(), ['PENDING', undefined])

  // What changes nothing is looked at anew; in the midst of that the payment is booked by another process.
  let looks = 0
  proxy.judge = async (direction, bytes): Promise<Fate> => {
    if (direction !== 'request' || !bytes.includes('engine.movements')) return 'pass'
    looks += 1
    const paid = { on: 'partner.confirmed', payment: payment({ endToEndId: 'E1' }), transactionId: 'tx' } as const
    if (looks === 2) await other.cashIns.apply(id, paid)
    return 'pass'
  }
  assert.deepEqual(await look(), ['PAID', id])
  assert.equal(looks, 2)
})

test('[engine.21] accounts added by a later version do not disturb this one', async (t) => {
  const { url, database } = await testDatabase(t)
  await administer(url, "INSERT INTO account (id, code) VALUES (99, 'of_a_later_version')")
  const { cashIns, ids } = testEngine(t, url)
  const id = ids.uuid()
  await cashIns.create(cashInRequest({ id, externalId: 'a' }))
  await cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId: 'E1' }), transactionId: 'tx' })
  assert.deepEqual(await balances(database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
})
