import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { statement } from '../../src/platform/db/database.ts'
import { type Pause, realPause } from '../../src/platform/jobs/pause.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { type Direction, type TcpProxy, tcpProxy } from '../support/tcp-proxy.ts'
import { openHolder } from '../support/waiting-backends.ts'

/** Every message that carries out the engine's statement names it. */
const WRITE = 'engine.write'

const batches = statement<[], { batches: bigint; moves: bigint }>(
  'test.batches',
  'SELECT count(DISTINCT batch_id) AS batches, count(*) AS moves FROM move',
)

/** A database that the engine reaches through a proxy, and an engine on it with one cash-in. */
async function world(t: TestContext, pause: Partial<Pause> = {}) {
  const { url, database } = await testDatabase(t)
  const direct = new URL(url)
  const proxy = await tcpProxy(t, Number(direct.port))
  const through = new URL(url)
  through.port = String(proxy.port)
  const one = testEngine(t, through.href, undefined, { ...realPause, ...pause })
  const { cashIn } = await one.cashIns.create(cashInRequest({ id: one.ids.uuid(), externalId: 'a' }))
  const { id } = cashIn
  const pay = () =>
    one.cashIns.apply(id, {
      on: 'partner.confirmed',
      payment: payment({ endToEndId: 'E1' }),
      transactionId: 'tx',
    })
  return { url, database, proxy, one, id, pay }
}

/** Cuts the connection once: at the next write on its way, or at the answer that comes back for it. */
function cutOnce(proxy: TcpProxy, at: Direction): void {
  let armed = true
  let written = false
  proxy.judge = (direction, bytes) => {
    if (direction === 'request' && bytes.includes(WRITE)) written = true
    if (!armed || !written || direction !== at) return 'pass'
    armed = false
    return 'cut'
  }
}

test('[engine.13] [DB-2] a write that never arrived is given up, decided again, and happens once', async (t) => {
  const { database, proxy, pay } = await world(t)
  cutOnce(proxy, 'request')
  assert.equal((await pay())?.cashIn.status, 'PAID')
  assert.deepEqual(await database.rows(batches, []), [{ batches: 2n, moves: 2n }])
  await assertBooks(database)
})

test('[engine.13] [DB-2] a commit whose answer was lost is found and not repeated', async (t) => {
  const { database, proxy, pay } = await world(t)
  cutOnce(proxy, 'response')
  assert.equal((await pay())?.cashIn.status, 'PAID')
  assert.deepEqual(await database.rows(batches, []), [{ batches: 2n, moves: 2n }])
  assert.deepEqual(await balances(database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
  await assertBooks(database)
})

test('[engine.13] [DB-2] our own row, found after a lost answer, is a success and no duplicate', async (t) => {
  const { database, proxy, one } = await world(t)
  cutOnce(proxy, 'response')
  const request = cashInRequest({ id: one.ids.uuid(), externalId: 'b' })
  assert.equal((await one.cashIns.create(request)).cashIn.id, request.id)
  await assert.rejects(one.cashIns.create({ ...request, id: one.ids.uuid() }), { code: 'duplicate_external_id' })
  await assertBooks(database)
})

test('[engine.13] [DB-2] a backend that still waits when its client is gone commits once, not twice', async (t) => {
  const { url, database, proxy, id, pay } = await world(t)
  // Somebody holds the operation, so that the first backend waits for it while its connection is cut.
  const holder = await openHolder(url)
  await holder.hold(`SELECT FROM operation WHERE id = '${id}' FOR UPDATE`)
  let writes = 0
  proxy.judge = (direction, bytes) => {
    if (direction === 'request' && bytes.includes(WRITE)) writes += 1
    return 'pass'
  }
  const paying = pay()
  await holder.waiting(1)
  proxy.cutAll()
  // The first one was given up; what was decided again waits behind it.
  await holder.waiting(2)
  await holder.release()
  assert.equal((await paying)?.cashIn.status, 'PAID')
  assert.equal(writes, 2)
  assert.deepEqual(await database.rows(batches, []), [{ batches: 2n, moves: 2n }])
  await assertBooks(database)
})

test('[engine.13] [DB-2] callers get 503 after a bounded wait, and find what was committed when they retry', async (t) => {
  let patienceMs = 60_000
  const { proxy, one, database } = await world(t, { for: (_ms, signal) => realPause.for(patienceMs, signal) })
  patienceMs = 50
  proxy.judge = (direction) => (direction === 'response' ? 'cut' : 'pass')
  const request = cashInRequest({ id: one.ids.uuid(), externalId: 'b' })
  const waiting = [one.cashIns.create(request), one.cashIns.create({ ...request, id: one.ids.uuid(), externalId: 'c' })]
  for (const caller of waiting) await assert.rejects(caller, { code: 'overloaded' })
  const later = one.cashIns.create({ ...request, id: one.ids.uuid(), externalId: 'd' })
  await assert.rejects(later, { code: 'overloaded' })
  proxy.judge = () => 'pass'
  await one.engine.drained()
  patienceMs = 60_000
  await assert.rejects(one.cashIns.create({ ...request, id: one.ids.uuid() }), { code: 'duplicate_external_id' })
  await assertBooks(database)
})

/** What follows a failover that is under way: new sessions find a server that only reads. */
async function promote(url: string, isPromoted: boolean): Promise<void> {
  const [database, cluster] = [new URL(url).pathname.slice(1), new URL('/postgres', url)]
  const change = isPromoted ? 'RESET default_transaction_read_only' : 'SET default_transaction_read_only = on'
  await administer(cluster.href, `ALTER DATABASE ${database} ${change}`)
}

test('[engine.13] [DB-7] the outcome of a write at a failover is learnt from the new primary', async (t) => {
  let refusals = 0
  const { url, database, proxy, pay } = await world(t, {
    jittered: async () => {
      refusals += 1
      if (refusals === 3) await promote(url, true)
    },
  })
  await promote(url, false)
  cutOnce(proxy, 'response')
  assert.equal((await pay())?.cashIn.status, 'PAID')
  assert.equal(refusals, 3)
  assert.deepEqual(await database.rows(batches, []), [{ batches: 2n, moves: 2n }])
})

test('[DB-7] a server that only reads is no success, and needs no new start when it is the primary', async (t) => {
  const { url, database } = await testDatabase(t)
  await promote(url, false)
  const one = testEngine(t, url)
  const request = cashInRequest({ id: one.ids.uuid(), externalId: 'a' })
  await assert.rejects(one.cashIns.create(request), { code: 'overloaded' })
  await promote(url, true)
  assert.equal((await one.cashIns.create(request)).cashIn.id, request.id)
  await assertBooks(database)
})
