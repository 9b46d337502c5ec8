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

interface Given {
  /** What is foreseen is read from what this makes of the database. */
  readonly foreseenFrom?: (database: Database) => Database
  /** Called before each of the engine's statements. */
  readonly before?: (statement: string) => Promise<void>
}

const same = (database: Database) => database

/** A database of which the first answer is held, as on a network that is slow. */
function heldDatabase() {
  const [reading, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const foreseenFrom = (database: Database): Database => ({
    ...database,
    rows: async (query, ...rest) => {
      const rows = await database.rows(query, ...rest)
      reading.resolve()
      await held.promise
      return rows
    },
  })
  return { foreseenFrom, reading: reading.promise, release: held.resolve }
}

/** A charge of another process, and an engine whose reads of operations are told apart. */
async function another(t: TestContext, { foreseenFrom = same, before = async () => undefined }: Given = {}) {
  const { url, database: evidence } = await testDatabase(t)
  const maker = testEngine(t, url)
  const { cashIn } = await maker.cashIns.create(cashInRequest({ id: maker.ids.uuid(), externalId: 'a' }))
  const database = openTestDatabase(url, 2)
  t.after(() => database.close())
  const reads = { own: 0, foreseen: 0 }
  const counting = (from: Database, by: keyof typeof reads): Database => ({
    ...from,
    rows: async (query, ...rest) => {
      if (query.name === 'engine.operations' || query.name === 'engine.ordered') reads[by] += 1
      await before(query.name)
      return from.rows(query, ...rest)
    },
  })
  const clock = steppedClock()
  const engine = createEngine({
    database: counting(database, 'own'),
    foreseenFrom: counting(foreseenFrom(database), 'foreseen'),
    ...{ clock, ids: createIds(clock), pause: realPause, logger: pino({ level: 'silent' }) },
  })
  return {
    id: cashIn.id,
    orderId: cashIn.orderId,
    maker,
    cashIns: createCashInCommands(engine, clock, TERMS),
    engine,
    reads,
    evidence,
  }
}

function pay(cashIns: CashInCommands, id: string, endToEndId = 'E1') {
  return cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId }), transactionId: 'tx' })
}

test('[engine.12] what was foreseen is not read when something is written by it, and is foreseen once', async (t) => {
  const { id, orderId, cashIns, engine, reads } = await another(t)
  await engine.foresee([orderId])
  await engine.foresee([orderId])
  assert.equal((await pay(cashIns, id))?.cashIn.status, 'PAID')
  assert.deepEqual(reads, { own: 0, foreseen: 1 })
})

test('[engine.12] what another process moved since it was foreseen is decided by what it is', async (t) => {
  const { id, orderId, maker, cashIns, engine, evidence } = await another(t)
  await engine.foresee([orderId])
  await pay(maker.cashIns, id)
  const outcome = await pay(cashIns, id)
  assert.deepEqual([outcome?.result, outcome?.cashIn.status], ['IGNORED', 'PAID'])
  assert.deepEqual(await balances(evidence), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
  await assertBooks(evidence)
})

test('[engine.12] what is known already is not replaced by what was read before it', async (t) => {
  const { foreseenFrom, reading, release } = heldDatabase()
  const { id, orderId, cashIns, engine, reads } = await another(t, { foreseenFrom })
  const foreseen = engine.foresee([orderId])
  await reading
  assert.equal((await pay(cashIns, id))?.cashIn.status, 'PAID')
  release()
  await foreseen
  assert.equal((await pay(cashIns, id, 'E2'))?.cashIn.status, 'PAID')
  assert.deepEqual(reads, { own: 1, foreseen: 1 })
})

test('[engine.4] [engine.12] what changes nothing is answered by the latest rows, also where older ones are foreseen meanwhile', async (t) => {
  const { foreseenFrom, reading, release } = heldDatabase()
  let foreseen: Promise<void> | undefined
  let looks = 0
  const before = async (name: string) => {
    if (name !== 'engine.accounts') return
    looks += 1
    // The second time everything is read anew, as the first decision changed nothing.
    if (looks === 2) await Promise.resolve(release()).then(() => foreseen)
  }
  const { id, orderId, maker, cashIns, engine, evidence } = await another(t, { foreseenFrom, before })
  foreseen = engine.foresee([orderId])
  await reading
  await pay(maker.cashIns, id)
  const outcome = await pay(cashIns, id)
  assert.deepEqual([outcome?.result, outcome?.cashIn.status, looks], ['IGNORED', 'PAID', 2])
  await assertBooks(evidence)
})

test('[engine.12] what cannot be foreseen is read when it is looked at', async (t) => {
  const foreseenFrom = (database: Database): Database => ({
    ...database,
    rows: async () => {
      throw new DatabaseUnavailable('no connection', false)
    },
  })
  const { id, orderId, cashIns, engine, reads } = await another(t, { foreseenFrom })
  await engine.foresee([orderId])
  assert.equal((await pay(cashIns, id))?.cashIn.status, 'PAID')
  assert.deepEqual(reads, { own: 1, foreseen: 1 })
})
