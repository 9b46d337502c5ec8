import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type CaseOfOperation, Refusal } from '@pixgate/spec'
import { ExclusiveKeyTaken, ExternalIdTaken } from '../../src/engine/batch.ts'
import type { Command } from '../../src/engine/operation.ts'
import { statement } from '../../src/platform/db/database.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, testDatabase } from '../support/database.ts'
import {
  CREDITED_AND_SUSPENDED,
  cashInRequest,
  payment,
  releasing,
  type TestEngine,
  testEngine,
} from '../support/engine.ts'
import { cases } from '../support/evidence.ts'
import { createOperation, moveOperation } from '../support/machine-operations.ts'

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

/** Two processes on one database. */
async function processes(t: TestContext) {
  const { url, database } = await testDatabase(t)
  return { url, database, one: testEngine(t, url), other: testEngine(t, url) }
}

/** Spends from the available balance, as a payout does: what a hot balance is about. */
function spend(
  { ids }: TestEngine,
  externalId: string,
  valueCents: bigint,
  exclusiveKey: string | null = null,
  id = ids.uuid(),
): Command<'reserved'> {
  return {
    reads: [],
    creates: { kind: 'cash_out', externalId, idempotencyKey: null, exclusiveKey },
    decide: (state, now) => {
      if (state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
      return {
        creates: [
          {
            operation: {
              id,
              kind: 'cash_out',
              externalId,
              orderId: `order of ${externalId}`,
              status: 'RESERVED',
              valueCents,
              feeCents: 0n,
              correlationId: 'test',
              bodyHash: Buffer.alloc(32),
              idempotencyKey: null,
              exclusiveKey,
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

test('[engine.2] several inputs to one operation in one batch write one row and every move', async (t) => {
  const { database, one } = await processes(t)
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
  assert.deepEqual(await balances(database), CREDITED_AND_SUSPENDED)
  await assertBooks(database)
})

test('[engine.3] an external id is used once, in one batch, in two, and in two processes', async (t) => {
  const { database, one, other } = await processes(t)
  const results = await Promise.allSettled([create(one, 'a'), create(one, 'a'), create(other, 'a'), create(other, 'a')])
  await assert.rejects(create(one, 'a'), ({ code }: Refusal) => code === 'duplicate_external_id')
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of results) {
    if (result.status === 'rejected') assert.equal((result.reason as Refusal).code, 'duplicate_external_id')
  }
  assert.equal((await database.rows(statuses, [])).length, 1)
})

test('[engine.3] a duplicate fails no other command of the batch', async (t) => {
  const { database, one, other } = await processes(t)
  await create(other, 'b')
  const results = await Promise.allSettled(['a', 'b', 'c'].map((externalId) => create(one, externalId)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((await database.rows(statuses, [])).length, 3)
})

test('[engine.4] a retry of a payout whose answer was lost finds it, even if it drained the balance', async (t) => {
  const { one } = await processes(t)
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

test('[engine.4] a refusal is decided on the latest rows, not on cached ones', async (t) => {
  const { database, one, other } = await processes(t)
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

test('[engine.6] [EV-6] a command whose version compare fails is decided again on fresh rows', async (t) => {
  const { database, one, other } = await processes(t)
  const { id } = await create(one, 'a')
  await other.cashIns.apply(id, { on: 'work.requested' })
  // `one` still believes in version 1.
  const outcome = await one.cashIns.apply(id, paid('E1'))
  assert.equal(outcome?.cashIn.version, 3)
  await assertBooks(database)
})

test('[engine.6] a command that changes nothing is decided on fresh rows too', async (t) => {
  const { one, other } = await processes(t)
  const { id } = await create(one, 'a')
  await one.cashIns.apply(id, {
    on: 'partner.failed',
    errorCode: 'x',
    errorMessage: null,
    transactionId: null,
    occurredAt: null,
    isVerified: true,
  })
  await other.cashIns.apply(id, { on: 'clock.expired', isSwept: true })
  assert.equal((await one.cashIns.apply(id, { on: 'clock.expired', isSwept: true }))?.result, 'IGNORED')
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

test('[engine.8] [DB-5] two processes that lock in opposite orders do not deadlock', async (t) => {
  const { database, one, other } = await processes(t)
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

test('[engine.9] a string that the database refuses fails no other command', async (t) => {
  const { database, one } = await processes(t)
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
  const { database, one } = await processes(t)
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

test('[engine.9] [NO-16] a notification that cannot be serialized fails its own move only', async (t) => {
  const { database, one } = await processes(t)
  const { id } = await create(one, 'a')
  const unwritable = paid('E1')
  const name = {
    toJSON: () => {
      throw new Error('this cannot be written')
    },
  }
  Object.assign(unwritable.payment.payer, { name })
  const results = await Promise.allSettled([one.cashIns.apply(id, unwritable), create(one, 'b')])
  assert.match(String((results[0] as PromiseRejectedResult).reason), /this cannot be written/)
  assert.equal(results[1].status, 'fulfilled')
  assert.deepEqual(await database.rows(statuses, []), [
    { external_id: 'a', status: 'PENDING', version: 1 },
    { external_id: 'b', status: 'PENDING', version: 1 },
  ])
  assert.deepEqual(await balances(database), {})
  assert.equal((await one.cashIns.apply(id, paid('E1')))?.cashIn.status, 'PAID')
  await assertBooks(database)
})

test('[engine.10] the database refuses a move that no state table has', async (t) => {
  const { one } = await processes(t)
  const { id } = await create(one, 'a')
  const wrong: Command<void> = {
    reads: [id],
    decide: () => ({ moves: [{ operationId: id, trigger: 'x', to: 'REVERSED' }], outcome: undefined }),
  }
  await assert.rejects(one.engine.execute(wrong), /move not allowed: cash_in from PENDING to REVERSED/)
})

test('[engine.10] the database refuses a journal that was posted before, and takes another of the same kind', async (t) => {
  const { url, one } = await processes(t)
  const { id } = await create(one, 'a')
  await one.cashIns.apply(id, paid('E1'))
  const again = (reference: string) =>
    administer(
      url,
      `INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
       SELECT account_id, version + 100, amount_cents, balance_after_cents, operation_id, journal, ${reference}, posting, at
         FROM entry WHERE operation_id = '${id}' AND version < 100`,
    )
  await assert.rejects(again('reference'), /"entry_journal_key"/)
  await again(`reference || '2'`)
})

test('[engine.11] a full queue refuses commands and executes those it holds', async (t) => {
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

test('[engine.12] more operations than the cache holds are handled correctly', async (t) => {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url, { batchMax: 8, queueMax: 1_000, cachedOperations: 3 })
  const created = await Promise.all(Array.from({ length: 30 }, (_, index) => create(one, `a${index}`)))
  await Promise.all(created.map(({ id }, index) => one.cashIns.apply(id, paid(`E${index}`))))
  assert.deepEqual(await balances(database), { available: 2970_00n, settlement: -3000_00n, fees: 30_00n })
  await assertBooks(database)
})

/** Two processes and money to spend. */
async function funded(t: TestContext) {
  const { database, one, other } = await processes(t)
  const { id } = await create(one, 'funds', 1_000_00n)
  await one.cashIns.apply(id, paid('E1', 1_000_00n))
  return { database, one, other }
}

test('[engine.3] an exclusive key is given to one operation, in one batch, in two, and in two processes', async (t) => {
  const { database, one, other } = await funded(t)
  const first = one.ids.uuid()
  assert.equal(await one.engine.execute(spend(one, 'p0', 1_00n, 'location', first)), 'reserved')
  for (const engine of [one, other]) {
    await assert.rejects(engine.engine.execute(spend(engine, 'p1', 1_00n, 'location')), (error: unknown) => {
      assert.ok(error instanceof ExclusiveKeyTaken)
      assert.equal(error.operation.id, first)
      return true
    })
  }
  const results = await Promise.allSettled(
    [one, one, other, other].map((engine, index) =>
      engine.engine.execute(spend(engine, `q${index}`, 1_00n, 'another')),
    ),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of results) if (result.status === 'rejected') assert.ok(result.reason instanceof ExclusiveKeyTaken)
  assert.equal((await database.rows(statuses, [])).length, 3, 'the funds and two payouts')
  assert.equal((await balances(database)).reserved, 2_00n)
  await assertBooks(database)
})

test('[engine.3] a command for an exclusive key in use fails no other command of the batch', async (t) => {
  const { one, other } = await funded(t)
  await other.engine.execute(spend(other, 'p0', 1_00n, 'location'))
  const keys = [null, 'location', 'free', null]
  const results = await Promise.allSettled(
    keys.map((key, index) => one.engine.execute(spend(one, `q${index}`, 1_00n, key))),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

test('[engine.3] a released exclusive key can be taken, in the same batch or later', async (t) => {
  const { database, one, other } = await funded(t)
  const release = (id: string) => releasing(id, 1_00n)
  const [first, second] = [one.ids.uuid(), one.ids.uuid()]
  await one.engine.execute(spend(one, 'p0', 1_00n, 'location', first))
  await one.engine.execute(release(first))
  assert.equal(await other.engine.execute(spend(other, 'p1', 1_00n, 'location', second)), 'reserved')

  const [, together] = await Promise.allSettled([
    other.engine.execute(release(second)),
    other.engine.execute(spend(other, 'p2', 1_00n, 'location')),
  ])
  // The row that gives it up and the one that wants it are written at once: it may be too early, never twice.
  if (together.status === 'rejected') {
    assert.ok(together.reason instanceof ExclusiveKeyTaken)
    await other.engine.execute(spend(other, 'p2', 1_00n, 'location'))
  }
  assert.deepEqual(
    (await database.rows(statuses, [])).filter(({ external_id }) => external_id !== 'funds'),
    [
      { external_id: 'p0', status: 'RELEASED', version: 2 },
      { external_id: 'p1', status: 'RELEASED', version: 2 },
      { external_id: 'p2', status: 'RESERVED', version: 1 },
    ],
  )
  await assertBooks(database)
})

const CONTROLS = statement<[], { name: string; version: bigint; value: unknown }>(
  'test.controls',
  'SELECT name, version, value FROM control ORDER BY name',
)

/** Spends, and counts in the control what was spent. */
function spendCounted(engine: TestEngine, externalId: string): Command<'reserved'> {
  const plain = spend(engine, externalId, 1_00n)
  return {
    ...plain,
    controls: ['cash_out_switch'],
    decide: (state, now) => {
      const { sentCents = 0 } = state.control('cash_out_switch')
      if (Number(sentCents) >= 50_00) throw new Refusal('insufficient_balance')
      return {
        ...plain.decide(state, now),
        controls: { cash_out_switch: { enabled: true, sentCents: Number(sentCents) + 1_00 } },
      }
    },
  }
}

test('[engine.6] a counter of two processes never exceeds its limit and loses no increment', async (t) => {
  const { database, one, other } = await funded(t)
  const results = await Promise.allSettled(
    Array.from({ length: 80 }, (_, index) => {
      const engine = index % 2 === 0 ? one : other
      return engine.engine.execute(spendCounted(engine, `p${index}`))
    }),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 50)
  for (const result of results) {
    if (result.status === 'rejected') assert.equal((result.reason as Refusal).code, 'insufficient_balance')
  }
  const control = (await database.rows(CONTROLS, [])).find(({ name }) => name === 'cash_out_switch')
  assert.deepEqual(control?.value, { enabled: true, sentCents: 50_00 })
  assert.equal((await balances(database)).reserved, 50_00n)
  await assertBooks(database)
})

test('[engine.6] a changed control has the next version; a control that was only read keeps its version', async (t) => {
  const { database, one } = await funded(t)
  const before = await database.rows(CONTROLS, [])
  await one.engine.execute(spendCounted(one, 'p0'))
  await one.engine.execute({ ...spend(one, 'p1', 1_00n), controls: ['cash_out_switch'] })
  assert.deepEqual(await database.rows(CONTROLS, []), [
    before[0],
    { name: 'cash_out_switch', version: 2n, value: { enabled: true, sentCents: 1_00 } },
    ...before.slice(2),
  ])
})

test('[ledger.recover] processes that credit at the same time repay every debt once, the oldest first', async (t) => {
  const { database, one, other } = await processes(t)
  // The bank takes 10.00 three times from a merchant who has nothing; a payment brings 9.93.
  for (const engine of [one, other, one]) await createOperation(engine, 'refund_in', 'CONFIRMED')
  assert.deepEqual(await balances(database), { settlement: 30_00n, receivable: -30_00n })
  const pay = async (engine: TestEngine) => {
    const id = (await createOperation(engine, 'cash_in', 'PENDING')) ?? assert.fail()
    await moveOperation(engine, id, (rows) => rows.find(({ to }) => to === 'PAID'), 'E1')
  }
  await Promise.all([pay(one), pay(other)])
  assert.deepEqual(await balances(database), {
    settlement: 10_00n,
    fees: 14n,
    receivable: -10_14n,
  })
  await Promise.all([pay(one), pay(other), pay(one)])
  assert.deepEqual(await balances(database), { available: 19_65n, settlement: -20_00n, fees: 35n })
  await assertBooks(database)
})

/** An operation about which cases are opened and closed. */
async function oneCashIn(t: TestContext) {
  const { database, one, other } = await processes(t)
  const id = one.ids.uuid()
  await one.cashIns.create(cashInRequest({ id, externalId: 'a' }))
  const moves = [{ operationId: id, trigger: 'test', to: 'PENDING' as const }]
  const opening = (kind: CaseOfOperation, reference = ''): Command<void> => ({
    reads: [id],
    decide: () => ({
      moves,
      cases: [{ operationId: id, kind, reference, facts: { rule: 'test.1' } }],
      outcome: undefined,
    }),
  })
  /** Closes what is open of these kinds; tells its kinds. */
  const closing = (...kinds: readonly string[]): Command<string[]> => ({
    reads: [id],
    decide: (state) => {
      const meant = state.operation(id)?.openCases?.filter(({ kind }) => kinds.includes(kind)) ?? []
      return { moves, closes: meant.map((open) => open.id), outcome: meant.map(({ kind }) => kind) }
    },
  })
  return { database, one: one.engine, other: other.engine, opening, closing }
}

test('[engine.19] a case closes by its id while others of the same operation, and of the same kind, stay open', async (t) => {
  const { database, one, opening, closing } = await oneCashIn(t)
  await one.execute(opening('charge_unclear'))
  await one.execute(opening('payment_in_suspense', 'E1'))
  await one.execute(opening('payment_in_suspense', 'E2'))
  assert.deepEqual(await one.execute(closing('charge_unclear')), ['charge_unclear'])
  assert.deepEqual(await cases(database), ['charge_unclear (closed)', 'payment_in_suspense', 'payment_in_suspense'])
})

test('[engine.19] a closed case reopens when its doubt returns, and closes again', async (t) => {
  const { database, one, other, opening, closing } = await oneCashIn(t)
  await one.execute(opening('charge_unclear'))
  await one.execute(closing('charge_unclear'))
  assert.deepEqual(await cases(database), ['charge_unclear (closed)'])
  await one.execute(opening('charge_unclear'))
  assert.deepEqual(await cases(database), ['charge_unclear'])
  for (const engine of [one, other]) {
    await engine.execute(closing('charge_unclear'))
    assert.deepEqual(await cases(database), ['charge_unclear (closed)'])
    await engine.execute(opening('charge_unclear'))
  }
})

test('[engine.19] a case that is opened and closed in one batch is closed; opened after that it is open', async (t) => {
  const { database, one, opening, closing } = await oneCashIn(t)
  const [, closed] = await Promise.all([one.execute(opening('charge_unclear')), one.execute(closing('charge_unclear'))])
  assert.deepEqual([closed, await cases(database)], [['charge_unclear'], ['charge_unclear (closed)']])
  const again = () => [one.execute(opening('charge_unclear')), one.execute(closing('charge_unclear'))]
  await Promise.all([...again(), one.execute(opening('charge_unclear'))])
  assert.deepEqual(await cases(database), ['charge_unclear'])
  await Promise.all([...again(), ...again()])
  assert.deepEqual(await cases(database), ['charge_unclear (closed)'])
  const batches = await database.rows(count, [])
  assert.deepEqual(batches, [{ moves: 10n, entries: 0n, notifications: 0n, batches: 4n }], 'none was run item by item')
})

test('[engine.19] a case that another process opens between reading and writing is not closed unseen', async (t) => {
  const { database, one, other, opening, closing } = await oneCashIn(t)
  await one.execute(opening('charge_unclear'))
  await other.execute(closing())
  await one.execute(opening('payment_in_suspense', 'E1'))
  let decided = 0
  const closingAll: Command<string[]> = {
    ...closing('charge_unclear', 'payment_in_suspense'),
    decide: (state, now) => {
      decided += 1
      return closing('charge_unclear', 'payment_in_suspense').decide(state, now)
    },
  }
  assert.deepEqual((await other.execute(closingAll)).toSorted(), ['charge_unclear', 'payment_in_suspense'])
  assert.equal(decided, 2, 'what its cache believed was decided again')
  assert.deepEqual(await cases(database), ['charge_unclear (closed)', 'payment_in_suspense (closed)'])
})

test('[engine.5] a batch decided on old rows closes no case', async (t) => {
  const { database, one, other, opening, closing } = await oneCashIn(t)
  await one.execute(opening('charge_unclear'))
  await other.execute(closing())
  await one.execute(closing())
  let decided = 0
  const closingOnce: Command<unknown> = {
    ...closing('charge_unclear'),
    decide: (state, now) => (decided++ === 0 ? closing('charge_unclear').decide(state, now) : { outcome: undefined }),
  }
  await other.execute(closingOnce)
  assert.ok(decided > 1)
  assert.deepEqual(await cases(database), ['charge_unclear'])
})

test('[engine.19] a case without an operation closes by its id, and one of an operation that was not compared does not', async (t) => {
  const { database, one, other, opening } = await oneCashIn(t)
  const unmatched = {
    operationId: null,
    kind: 'event_set_aside',
    reference: 'hash',
    facts: { rule: 'test.1' },
  } as const
  await one.execute({ reads: [], decide: () => ({ cases: [unmatched], outcome: undefined }) })
  await one.execute(opening('charge_unclear'))
  const ids = (await database.rows(caseIds, [])).map(({ id }) => id)
  await other.execute({ reads: [], decide: () => ({ closes: ids, outcome: undefined }) })
  assert.deepEqual(await cases(database), ['event_set_aside (closed)', 'charge_unclear'])
})

const caseIds = statement<[], { id: string }>('test.case_ids', 'SELECT id FROM "case"')
