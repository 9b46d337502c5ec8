import assert from 'node:assert/strict'
import test from 'node:test'
import { createRefundInCommands } from '../../../src/modules/refund-in/commands.ts'
import { createRefundInModule } from '../../../src/modules/refund-in/index.ts'
import { createRefundInStore } from '../../../src/modules/refund-in/store.ts'
import { sha256 } from '../../../src/platform/crypto.ts'
import { testDatabase } from '../../support/database.ts'
import { cashInRequest, payment, testEngine } from '../../support/engine.ts'
import { INPUTS } from './situations.ts'

test('[CO-46] [refund-in.states.9] a failure that an event tells wakes the worker', async (t) => {
  const { url, database } = await testDatabase(t)
  const engine = testEngine(t, url)
  const { cashIns, clock, ids } = engine
  const cashInId = ids.uuid()
  await cashIns.create(cashInRequest({ id: cashInId, externalId: cashInId }))
  const paid = payment({ endToEndId: 'E1', occurredAt: clock.now() })
  await cashIns.apply(cashInId, { on: 'partner.confirmed', transactionId: cashInId, payment: paid })
  const commands = createRefundInCommands({ ...engine, store: createRefundInStore(database) })
  const id = ids.uuid()
  const wanted = { id, cashInId, externalId: id, valueCents: 40_00n, reason: null, correlationId: 'test' }
  await commands.create({ ...wanted, idempotencyKey: null, bodyHash: sha256(id) })
  await commands.apply(id, [INPUTS['send.claimed'], INPUTS['send.accepted']])
  let woken = 0
  const refunds = createRefundInModule({
    ...engine,
    database,
    partner: {
      capabilities: new Set(['query-refund']),
      idempotencyWindowMs: 0,
      sendsWanted: () => 0,
      sendRefund: () => assert.fail(),
      getRefund: () => assert.fail(),
    },
    bounds: { callTimeoutMs: 3_000, eventQueries: { take: (wantedNow) => wantedNow } },
    onReserved: () => woken++,
  })
  await refunds.apply(id, { ...INPUTS['partner.failed'], isVerified: false })
  assert.equal(woken, 1)
})
