import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { reasonOf } from '../../src/engine/follow.ts'
import { createRefundInModule } from '../../src/refund-in/index.ts'
import { assertBooks, balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { refundTerms } from '../support/limits.ts'
import { refundOffice } from './fixture.ts'
import { INPUTS } from './situations.ts'

/** The module, with a bank that is never called, and a refund of R$ 40,00 that the bank took as `tx-r`. */
async function office(t: TestContext) {
  const { database, store, engine, one, paid, request } = await refundOffice(t)
  const { clock } = engine
  const cashInId = await paid()
  const { id } = (await one.create(request(cashInId))).refund
  await one.apply(id, [INPUTS['send.claimed'], INPUTS['send.accepted']])
  const woken: number[] = []
  const refunds = createRefundInModule({
    ...engine,
    terms: refundTerms(),
    database,
    partner: {
      capabilities: new Set(['query-refund']),
      idempotencyWindowMs: 0,
      allowedSends: () => 0,
      sendRefund: () => assert.fail(),
      getRefund: () => assert.fail(),
    },
    bounds: { callTimeoutMs: 3_000, eventQueries: { take: (wantedNow) => wantedNow } },
    onReserved: () => woken.push(clock.now()),
  })
  return { refunds, store, database, clock, cashInId, paid, id, woken }
}

test('[CO-46] [refund-in.states.9] a failure that an event reports wakes the worker', async (t) => {
  const { refunds, id, woken } = await office(t)
  await refunds.apply(id, { ...INPUTS['partner.failed'], isVerified: false })
  assert.equal(woken.length, 1)
})

test('[cash-in.returns.6] [RF-18] a return that the bank reports of a charge is the refund of that charge which it names, or its own', async (t) => {
  const { refunds, store, database, clock, cashInId, paid, id } = await office(t)
  const another = await paid()
  const returned = (returnId: string) =>
    ({ returnId, valueCents: 40_00n, occurredAt: clock.now(), transactionId: 'tx-r', endToEndId: null }) as const
  await refunds.applyEvent(another, returned('D1'))
  assert.equal((await store.get(id))?.status, 'PENDING', 'a refund of another charge is not meant')
  await refunds.applyEvent(cashInId, returned('D2'))
  assert.equal((await store.get(id))?.facts.returnId, 'D2')
  assert.deepEqual(await balances(database), { available: 118_00n, settlement: -120_00n, fees: 2_00n })
  await assertBooks(database)
})

test('[partner-inbox.12] a return was booked on a refund under its id and with its amount', async (t) => {
  const { refunds, clock, id } = await office(t)
  const returned = { returnId: 'D1', valueCents: 40_00n, occurredAt: clock.now() }
  await refunds.apply(id, { on: 'partner.confirmed', returned, transactionId: null, isVerified: true })
  const has = (valueCents: bigint, returnId: string | null) =>
    refunds.hasBooked(id, { endToEndId: 'E1', returnId, valueCents })
  assert.deepEqual([await has(40_00n, 'D1'), await has(39_99n, 'D1'), await has(40_00n, null)], [true, false, false])
})

test('[refund-in.doubt.2] [RF-18] a return of another amount that names a refund is a case of it, not the bank’s own', async (t) => {
  const { refunds, store, database, clock, cashInId, id } = await office(t)
  const occurredAt = clock.now()
  await refunds.applyEvent(cashInId, { returnId: 'D1', valueCents: 39_99n, occurredAt, transactionId: 'tx-r' })
  assert.deepEqual(await cases(database), ['debit_in_suspense'])
  assert.equal(reasonOf((await store.get(id)) ?? { facts: {} }), 'conflict')
  assert.equal((await balances(database)).suspense_out, -39_99n)
  await assertBooks(database)
})
