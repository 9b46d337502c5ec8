import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { CashInInput, CashInOutcome } from '../../src/cash-in/cash-in.ts'
import { type CashIn, decideCashIn } from '../../src/cash-in/index.ts'
import type { Command } from '../../src/engine/operation.ts'
import { statement } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { LiveRequest } from '../../src/platform/live-request.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine, testEngineThrough } from '../support/engine.ts'
import { ALIVE, lapsing } from '../support/live-request.ts'
import { type TcpProxy, tcpProxy, through } from '../support/tcp-proxy.ts'
import { openHolder } from '../support/waiting-backends.ts'

const OVERLOADED = { code: 'overloaded', retryAfterSeconds: 1 }

const stored = statement<[], { external_id: string; version: number }>(
  'test.stored',
  'SELECT external_id, version FROM operation ORDER BY external_id',
)

/** Two processes on one database, and a cash-in that the first one has in its cache. */
async function world(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  let patienceMs = 60_000
  const pause = {
    ...realPause,
    for: (_ms: number, signal?: AbortSignal) => realPause.for(patienceMs, signal),
  }
  const [one, other] = [testEngine(t, through(proxy, url), undefined, pause), testEngine(t, url)]
  const { cashIn } = await one.cashIns.create(cashInRequest({ id: one.ids.uuid(), externalId: 'a' }))
  const { id } = cashIn
  return {
    url,
    one,
    proxy,
    id,
    stored: () => database.rows(stored, []),
    beImpatient: () => {
      patienceMs = 50
    },
    /** Changes the cash-in behind the back of the first process. */
    changeElsewhere: () => other.cashIns.apply(id, { on: 'charge.accepted', transactionId: 'tx', pixCode: 'code' }),
  }
}

const PAID: CashInInput = { on: 'partner.confirmed', payment: payment({ endToEndId: 'E1' }), transactionId: 'tx' }

/** A request's command that moves a cash-in, and tells how often it was decided. */
function moving(id: string, request: LiveRequest | undefined, onDecide: () => void = () => undefined) {
  const seen = { decisions: 0 }
  const command: Command<CashInOutcome> = {
    reads: [id],
    movements: [{ direction: 'in', id: 'E1' }],
    request,
    decide: (state, now) => {
      seen.decisions += 1
      onDecide()
      return decideCashIn(state.operation(id) as CashIn, PAID, now)
    },
  }
  return { command, seen }
}

test('[engine.17] [PL-5] a command whose request lapses while its batch waits is refused; others of the batch are not', async (t) => {
  const { url, one, id, stored } = await world(t)
  const holder = await openHolder(url)
  await holder.hold(`SELECT FROM operation WHERE id = '${id}' FOR UPDATE`)
  const running = one.cashIns.apply(id, PAID)
  await holder.waiting(1)
  const [live, alive] = [lapsing(), ALIVE]
  const refused = assert.rejects(
    one.cashIns.create(cashInRequest({ id: one.ids.uuid(), externalId: 'lapses', live })),
    OVERLOADED,
  )
  const created = one.cashIns.create(cashInRequest({ id: one.ids.uuid(), externalId: 'waits', live: alive }))
  live.lapse()
  await holder.release()
  await Promise.all([running, refused, created])
  assert.deepEqual(
    (await stored()).map(({ external_id }) => external_id),
    ['a', 'waits'],
  )
})

test('[engine.17] [PL-5] a command that lost its version compare is not decided again once its request lapsed', async (t) => {
  const { one, id, stored, changeElsewhere } = await world(t)
  await changeElsewhere()
  const live = lapsing()
  const { command, seen } = moving(id, live, live.lapse)
  await assert.rejects(one.engine.execute(command), OVERLOADED)
  assert.equal(seen.decisions, 1)
  assert.deepEqual(await stored(), [{ external_id: 'a', version: 2 }])
})

test('[engine.17] [PL-5] a refusal is not decided on the latest rows for a request that lapsed meanwhile', async (t) => {
  const { one, id, stored } = await world(t)
  const live = lapsing()
  const { command, seen } = moving(id, live, () => {
    live.lapse()
    throw new Error('these rows say no')
  })
  await assert.rejects(one.engine.execute(command), OVERLOADED)
  assert.equal(seen.decisions, 1)
  assert.deepEqual(await stored(), [{ external_id: 'a', version: 1 }])
})

test('[engine.17] [PL-5] a decision is not sent if its request lapsed while it waited for a connection', async (t) => {
  const { url, database } = await testDatabase(t)
  const live = lapsing()
  const { cashIns, ids } = testEngineThrough(t, url, (pool) => ({
    ...pool,
    rows: (query, parameters, isWanted) => {
      if (query.name.startsWith('engine.write')) live.lapse()
      return pool.rows(query, parameters, isWanted)
    },
  }))
  const waiting = [
    cashIns.create(cashInRequest({ id: ids.uuid(), externalId: 'lapses', live })),
    cashIns.create(cashInRequest({ id: ids.uuid(), externalId: 'waits', live: ALIVE })),
  ]
  const [lapsed, written] = await Promise.allSettled(waiting)
  assert.equal(lapsed?.status === 'rejected' && lapsed.reason.code, 'overloaded')
  assert.equal(written?.status, 'fulfilled')
  assert.deepEqual(await database.rows(stored, []), [{ external_id: 'waits', version: 1 }])
})

/** The next write does not arrive, and nobody can ask what became of it until everything may pass again. */
function cutFromNextWrite(proxy: TcpProxy): void {
  let isCut = false
  proxy.judge = (direction, bytes) => {
    if (direction === 'request' && bytes.includes('engine.write')) isCut = true
    return isCut && direction === 'request' ? 'cut' : 'pass'
  }
}

/**
 * Moves a cash-in by a write that never arrives, which is to be decided again as soon as that is known.
 * @returns how often it was decided, and what is stored in the end
 */
async function moveByLostWrite(t: TestContext, request: LiveRequest | undefined) {
  const { one, id, proxy, stored, beImpatient, changeElsewhere } = await world(t)
  const { command, seen } = moving(id, request)
  beImpatient()
  cutFromNextWrite(proxy)
  await assert.rejects(one.engine.execute(command), OVERLOADED)
  await changeElsewhere()
  proxy.judge = () => 'pass'
  await one.engine.drained()
  return { decisions: seen.decisions, stored: await stored() }
}

test('[engine.17] [DB-2] a command answered 503 is not decided again when its outcome is known', async (t) => {
  const left = await moveByLostWrite(t, ALIVE)
  assert.deepEqual(left, { decisions: 1, stored: [{ external_id: 'a', version: 2 }] })
})

test('[engine.17] [DB-2] a report of the bank has no request: it is decided again however late', async (t) => {
  const left = await moveByLostWrite(t, undefined)
  assert.deepEqual(left, { decisions: 2, stored: [{ external_id: 'a', version: 3 }] })
})
