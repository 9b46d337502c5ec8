import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { createCashOutModule } from '../../src/cash-out/index.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { createIds } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { balances } from '../support/books.ts'
import { openTestDatabase } from '../support/database.ts'
import { FAILED, PROCESSING } from './bank-answers.ts'
import { BOUNDS, cashOutFixture } from './fixture.ts'
import { confirmed, INPUTS, TERMS } from './situations.ts'

test('[CO-46] [cash-out.states.13] [cash-out.states.14] [partner-inbox.12] a failure that an event reports wakes the worker, which asks; where the bank agrees it is FAILED; and what left is booked', async (t) => {
  const fixture = await cashOutFixture(t, { put: PROCESSING, query: PROCESSING })
  const id = await fixture.reserve()
  await fixture.later(0)
  const connection = openTestDatabase(fixture.databaseUrl, 1)
  t.after(() => connection.close())
  const { clock, partner, database } = fixture
  const ids = createIds(clock)
  const engine = createEngine({ database: connection, clock, ids, pause: realPause, logger: pino({ level: 'silent' }) })
  let woken = 0
  const cashOuts = await createCashOutModule({
    engine,
    database,
    partner,
    clock,
    ids,
    terms: TERMS,
    bounds: BOUNDS,
    holders: { people: async () => [], version: async () => 1n, deactivatedAt: async () => new Map() },
    refunds: { get: async () => undefined, refuse: async () => undefined },
    onReserved: () => woken++,
  })
  const failure = { ...INPUTS['partner.failed'], isVerified: false, transactionId: 'tx' }
  await cashOuts.apply(id, failure)
  assert.equal(woken, 1)
  assert.equal((await balances(database)).reserved, 30_00n, 'the event alone changes nothing')
  await cashOuts.processNext()
  assert.deepEqual([(await fixture.read(id)).status, partner.asked], ['DISPATCHED', ['PUT', 'GET']])

  partner.query = FAILED
  await cashOuts.apply(id, failure)
  assert.equal(woken, 2, 'an answer without an outcome delays no other event')
  await cashOuts.processNext()
  assert.equal((await fixture.read(id)).status, 'FAILED')
  assert.equal((await balances(database)).reserved, undefined)

  const sent = await fixture.reserve('sent')
  const occurredAt = clock.now()
  await cashOuts.apply(sent, INPUTS['send.claimed'])
  await cashOuts.apply(sent, confirmed({ endToEndId: 'E1', occurredAt }))
  const has = (valueCents: bigint, endToEndId = 'E1') =>
    cashOuts.hasBooked(sent, { endToEndId, returnId: null, valueCents })
  assert.deepEqual([await has(30_00n), await has(29_99n), await has(30_00n, 'E2')], [true, false, false])
})
