import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { pino } from 'pino'
import { type CashInCommands, createCashInCommands } from '../../src/cash-in/commands.ts'
import { createEngine } from '../../src/engine/engine.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { createIds } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertBooks, balances } from '../support/books.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, TERMS, testEngine } from '../support/engine.ts'
import { steppedClock } from '../support/stepped-clock.ts'

/** A charge of another process, and an engine whose reads of operations are told apart. */
async function another(t: TestContext, foreseenFrom: (database: Database) => Database = (database) => database) {
  const { url, database: evidence } = await testDatabase(t)
  const maker = testEngine(t, url)
  const { cashIn } = await maker.cashIns.create(cashInRequest({ id: maker.ids.uuid(), externalId: 'a' }))
  const database = openTestDatabase(url, 2)
  t.after(() => database.close())
  const reads = { own: 0, foreseen: 0 }
  const counting = (from: Database, by: keyof typeof reads): Database => ({
    ...from,
    rows: (query, ...rest) => {
      if (query.name === 'engine.operations') reads[by] += 1
      return from.rows(query, ...rest)
    },
  })
  const clock = steppedClock()
  const engine = createEngine({
    database: counting(database, 'own'),
    foreseenFrom: counting(foreseenFrom(database), 'foreseen'),
    ...{ clock, ids: createIds(clock), pause: realPause, logger: pino({ level: 'silent' }) },
  })
  return { id: cashIn.id, maker, cashIns: createCashInCommands(engine, clock, TERMS), engine, reads, evidence }
}

function pay(cashIns: CashInCommands, id: string, endToEndId = 'E1') {
  return cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId }), transactionId: 'tx' })
}

test('[engine.12] what was foreseen is not read when something is written by it, and is foreseen once', async (t) => {
  const { id, cashIns, engine, reads } = await another(t)
  await engine.foresee([id])
  await engine.foresee([id])
  assert.equal((await pay(cashIns, id))?.cashIn.status, 'PAID')
  assert.deepEqual(reads, { own: 0, foreseen: 1 })
})

test('[engine.12] what another process moved since it was foreseen is decided by what it is', async (t) => {
  const { id, maker, cashIns, engine, evidence } = await another(t)
  await engine.foresee([id])
  await pay(maker.cashIns, id)
  const outcome = await pay(cashIns, id)
  assert.deepEqual([outcome?.result, outcome?.cashIn.status], ['IGNORED', 'PAID'])
  assert.deepEqual(await balances(evidence), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
  await assertBooks(evidence)
})

test('[engine.12] what is known already is not replaced by what was read before it', async (t) => {
  const [reading, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = (database: Database): Database => ({
    ...database,
    rows: async (query, ...rest) => {
      const rows = await database.rows(query, ...rest)
      reading.resolve()
      await held.promise
      return rows
    },
  })
  const { id, cashIns, engine, reads } = await another(t, slow)
  const foreseen = engine.foresee([id])
  await reading.promise
  assert.equal((await pay(cashIns, id))?.cashIn.status, 'PAID')
  held.resolve()
  await foreseen
  assert.equal((await pay(cashIns, id, 'E2'))?.cashIn.status, 'PAID')
  assert.deepEqual(reads, { own: 1, foreseen: 1 })
})

test('[engine.12] what cannot be foreseen is read when it is looked at', async (t) => {
  const failing = (database: Database): Database => ({
    ...database,
    rows: async () => {
      throw new DatabaseUnavailable('no connection', false)
    },
  })
  const { id, cashIns, engine, reads } = await another(t, failing)
  await engine.foresee([id])
  assert.equal((await pay(cashIns, id))?.cashIn.status, 'PAID')
  assert.deepEqual(reads, { own: 1, foreseen: 1 })
})
