import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { ExternalIdTaken } from '../../src/engine/engine.ts'
import type { Command } from '../../src/engine/operation.ts'
import { statement } from '../../src/platform/db/database.ts'
import { assertBooks, balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine } from '../support/engine.ts'

const statuses = statement<[], { external_id: string; status: string; version: number }>(
  'test.statuses',
  'SELECT external_id, status, version FROM operation ORDER BY external_id',
)
const count = statement<[], { moves: bigint; entries: bigint; notifications: bigint; batches: bigint }>(
  'test.count',
  `SELECT (SELECT count(*) FROM move) AS moves, (SELECT count(*) FROM entry) AS entries,
          (SELECT count(*) FROM notification) AS notifications,
          (SELECT count(DISTINCT batch_id) FROM move) AS batches`,
)

function paid(endToEndId: string, valueCents = 100_00n) {
  return { on: 'partner.confirmed', payment: payment({ endToEndId, valueCents }), transactionId: 'tx' } as const
}

async function create({ cashIns, ids }: TestEngine, externalId: string, valueCents = 100_00n) {
  return (await cashIns.create(cashInRequest({ id: ids.uuid(), externalId, valueCents }))).cashIn
}

/** Spends from the available balance, as a payout does: what a hot balance is about. */
function spend({ ids }: TestEngine, externalId: string, valueCents: bigint): Command<'reserved'> {
  const id = ids.uuid()
  return {
    reads: [],
    creates: { kind: 'cash_out', externalId, idempotencyKey: null },
    decide: (state, now) => {
      if (state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
      return {
        creates: [
          {
            operation: {
              id,
              kind: 'cash_out',
              externalId,
              status: 'RESERVED',
              valueCents,
              feeCents: 0n,
              correlationId: 'test',
              bodyHash: Buffer.alloc(32),
              idempotencyKey: null,
              expiresAt: null,
              dueAt: now,
              transactionId: null,
              endToEndId: null,
              detail: {},
              facts: {},
            },
          },
        ],
        journals: [{ operationId: id, kind: 'cash_out_reserved', reference: '', amounts: { v: valueCents, f: 0n } }],
        outcome: 'reserved',
      }
    },
  }
}

test('[engine.2] several inputs to one operation in one batch leave one row and every move', async (t) => {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url)
  const { id } = await create(one, 'a')
  await Promise.all([
    one.cashIns.apply(id, { on: 'charge.accepted', transactionId: 'tx', pixCode: 'code' }),
    one.cashIns.apply(id, paid('E1')),
    one.cashIns.apply(id, paid('E1')),
    one.cashIns.apply(id, paid('E2')),
  ])
  assert.deepEqual(await database.rows(statuses, []), [{ external_id: 'a', status: 'PAID', version: 4 }])
  // Ten entries would be wrong: J1 has four, the second payment's J10 two; the repeated one books nothing.
  assert.deepEqual(await database.rows(count, []), [{ moves: 4n, entries: 6n, notifications: 1n, batches: 2n }])
  assert.deepEqual(await balances(database), {
    available: 99_00n,
    settlement: -200_00n,
    fees: 1_00n,
    suspense_in: 100_00n,
  })
  await assertBooks(database)
})

test('[engine.3] an external id is taken once, in one batch, in two, and in two processes', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  const results = await Promise.allSettled([create(one, 'a'), create(one, 'a'), create(other, 'a'), create(other, 'a')])
  await assert.rejects(create(one, 'a'), ({ code }: Refusal) => code === 'duplicate_external_id')
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of results) {
    if (result.status === 'rejected') assert.equal((result.reason as Refusal).code, 'duplicate_external_id')
  }
  assert.equal((await database.rows(statuses, [])).length, 1)
})

test('[engine.3] a duplicate does not fail its neighbours in the batch', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  await create(other, 'b')
  const results = await Promise.allSettled(['a', 'b', 'c'].map((externalId) => create(one, externalId)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((await database.rows(statuses, [])).length, 3)
})

test('[engine.4] a payout that drained the balance and lost its answer is told that it exists', async (t) => {
  const { url } = await testDatabase(t)
  const one = testEngine(t, url)
  const { id } = await create(one, 'a')
  await one.cashIns.apply(id, paid('E1'))
  const payout = spend(one, 'payout', 99_00n)
  assert.equal(await one.engine.execute(payout), 'reserved')
  await assert.rejects(one.engine.execute(spend(one, 'payout', 99_00n)), ExternalIdTaken)
  await assert.rejects(
    one.engine.execute(spend(one, 'another', 1n)),
    ({ code }: Refusal) => code === 'insufficient_balance',
  )
})

test('[engine.4] a refusal is decided on the latest rows, not on what a cache believes', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  await assert.rejects(one.engine.execute(spend(one, 'too early', 1_00n)), { code: 'insufficient_balance' })
  const { id } = await create(other, 'a')
  await other.cashIns.apply(id, paid('E1'))
  assert.equal(await one.engine.execute(spend(one, 'now', 1_00n)), 'reserved')
  await assertBooks(database)
})

test('[engine.5] two processes never spend the same money', async (t) => {
  const { url, database } = await testDatabase(t)
  const engines = [testEngine(t, url), testEngine(t, url)]
  const [one] = engines as [TestEngine]
  const { id } = await create(one, 'a')
  await one.cashIns.apply(id, paid('E1'))
  const spends = Array.from({ length: 300 }, (_, index) => {
    const engine = engines[index % 2] as TestEngine
    return engine.engine.execute(spend(engine, `p${index}`, 1_00n))
  })
  const results = await Promise.allSettled(spends)
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 99)
  for (const result of results) {
    if (result.status === 'rejected') assert.equal((result.reason as Refusal).code, 'insufficient_balance')
  }
  assert.deepEqual(await balances(database), { reserved: 99_00n, settlement: -100_00n, fees: 1_00n })
  await assertBooks(database)
})

test('[engine.6] [EV-6] a lost compare is decided again on the fresh rows', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  const { id } = await create(one, 'a')
  await other.cashIns.apply(id, { on: 'work.requested' })
  // `one` still believes in version 1.
  const outcome = await one.cashIns.apply(id, paid('E1'))
  assert.equal(outcome?.cashIn.version, 3)
  await assertBooks(database)
})

test('[engine.6] what changes nothing is decided on the fresh rows as well', async (t) => {
  const { url } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  const { id } = await create(one, 'a')
  await one.cashIns.apply(id, {
    on: 'partner.failed',
    errorCode: 'x',
    errorMessage: null,
    transactionId: null,
    occurredAt: null,
  })
  await other.cashIns.apply(id, { on: 'clock.expired' })
  assert.equal((await one.cashIns.apply(id, { on: 'clock.expired' }))?.result, 'IGNORED')
})

test('[engine.7] the busier of two processes starves neither itself nor the other', async (t) => {
  const { url, database } = await testDatabase(t)
  const [busy, quiet] = [testEngine(t, url), testEngine(t, url)]
  const { id } = await create(busy, 'hot')
  let isBusy = true
  const load = Array.from({ length: 32 }, async (_, caller) => {
    for (let turn = 0; turn < 20; turn++) {
      const { id: own } = await create(busy, `b${caller}-${turn}`)
      await busy.cashIns.apply(own, paid(`E${caller}-${turn}`))
      await busy.cashIns.apply(id, { on: 'work.requested' })
    }
  })
  const all = Promise.all(load).then(() => {
    isBusy = false
  })
  let turns = 0
  while (isBusy) {
    const { id: own } = await create(quiet, `q${turns}`)
    await quiet.cashIns.apply(own, paid(`EQ${turns}`))
    await quiet.cashIns.apply(id, { on: 'work.requested' })
    turns++
  }
  await all
  assert.ok(turns > 0)
  await assertBooks(database)
})

test('[engine.8] [DB-5] opposite orders in two processes never wait for each other in a circle', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  const created = await Promise.all(Array.from({ length: 40 }, (_, index) => create(one, `a${index}`)))
  const forwards = created.map(({ id }) => id)
  const backwards = [...forwards].reverse()
  for (let round = 0; round < 15; round++) {
    const names = forwards.map((_, index) => `r${round}-${index}`)
    await Promise.all([
      ...forwards.map((id) => one.cashIns.apply(id, { on: 'work.requested' })),
      ...backwards.map((id) => other.cashIns.apply(id, { on: 'work.requested' })),
      ...names.map((name) => create(one, name).catch(() => undefined)),
      ...[...names].reverse().map((name) => create(other, name).catch(() => undefined)),
    ])
  }
  const deadlocks = statement<[], { deadlocks: bigint }>(
    'test.deadlocks',
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  assert.deepEqual(await database.rows(deadlocks, []), [{ deadlocks: 0n }])
  assert.equal((await database.rows(statuses, [])).length, 40 + 15 * 40)
  await assertBooks(database)
})

test('[engine.9] one string that the database refuses fails nobody else', async (t) => {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url)
  // Half a surrogate: an edge that lets it through must not take the whole batch down.
  const results = await Promise.allSettled(['a', 'b\u0000', 'c'].map((externalId) => create(one, externalId)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(
    (await database.rows(statuses, [])).map(({ external_id }) => external_id),
    ['a', 'c'],
  )
})

test('[engine.9] a decision that breaks an invariant fails alone and changes nothing', async (t) => {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url)
  const { id } = await create(one, 'a')
  const unbalanced: Command<void> = {
    reads: [id],
    decide: () => ({
      moves: [{ operationId: id, trigger: 'partner.confirmed', to: 'PAID' }],
      journals: [{ operationId: id, kind: 'cash_out_reserved', reference: '', amounts: { v: 1n, f: 0n } }],
      outcome: undefined,
    }),
  }
  const results = await Promise.allSettled([
    one.engine.execute(unbalanced),
    create(one, 'b'),
    one.cashIns.apply(id, { on: 'work.requested' }),
  ])
  assert.match(String((results[0] as PromiseRejectedResult).reason), /available would go below zero/)
  assert.deepEqual(
    results.slice(1).map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  )
  await assertBooks(database)
})

test('[engine.10] the database itself refuses a move that no table has', async (t) => {
  const { url } = await testDatabase(t)
  const one = testEngine(t, url)
  const { id } = await create(one, 'a')
  const wrong: Command<void> = {
    reads: [id],
    decide: () => ({ moves: [{ operationId: id, trigger: 'x', to: 'REVERSED' }], outcome: undefined }),
  }
  await assert.rejects(one.engine.execute(wrong), /move not allowed: cash_in from PENDING to REVERSED/)
})

test('[engine.11] a queue that is full refuses, and what waits is carried out', async (t) => {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url, { batchMax: 2, queueMax: 4, cachedOperations: 2 })
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => create(one, `a${index}`)))
  const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
  assert.ok(refused.length > 0)
  for (const { reason } of refused) {
    assert.equal((reason as Refusal).code, 'overloaded')
    assert.equal((reason as Refusal).retryAfterSeconds, 1)
  }
  assert.equal((await database.rows(statuses, [])).length, 10 - refused.length)
})

test('[engine.12] more operations than the cache holds are as right as few', async (t) => {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url, { batchMax: 8, queueMax: 1_000, cachedOperations: 3 })
  const created = await Promise.all(Array.from({ length: 30 }, (_, index) => create(one, `a${index}`)))
  await Promise.all(created.map(({ id }, index) => one.cashIns.apply(id, paid(`E${index}`))))
  assert.deepEqual(await balances(database), { available: 2970_00n, settlement: -3000_00n, fees: 30_00n })
  await assertBooks(database)
})
