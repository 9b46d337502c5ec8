import assert from 'node:assert/strict'
import test from 'node:test'
import { sha256 } from '../../src/platform/crypto.ts'
import { createRefundInCommands, createRefundInStore } from '../../src/refund-in/commands.ts'
import { assertBooks, balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { cases } from '../support/evidence.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { confirmed, INPUTS } from './situations.ts'

test('[refund-in.doubt.9] [engine.14] [CO-47] one return reported for refunds of two payments confirms one, and is booked once; the other stays pending with a case', async (t) => {
  const { url, database } = await testDatabase(t)
  const engine = testEngine(t, url)
  const { cashIns, clock, ids } = engine
  const refunds = createRefundInCommands({ ...engine, terms: refundTerms(), store: createRefundInStore(database) })
  const made = await Promise.all(
    ['E1', 'E2'].map(async (endToEndId) => {
      const cashInId = ids.uuid()
      await cashIns.create(cashInRequest({ id: cashInId, externalId: cashInId }))
      const paid = payment({ endToEndId, occurredAt: clock.now() })
      await cashIns.apply(cashInId, { on: 'partner.confirmed', transactionId: cashInId, payment: paid })
      const id = ids.uuid()
      const wanted = { id, cashInId, externalId: id, valueCents: 40_00n, reason: null, correlationId: 'test' }
      await refunds.create({ ...wanted, idempotencyKey: null, madeBy: MADE_BY, bodyHash: sha256(id) })
      await refunds.apply(id, [INPUTS['send.claimed']])
      return id
    }),
  )
  const reported = confirmed({ valueCents: 40_00n, occurredAt: clock.now() })
  const outcomes = await Promise.all(made.map((id) => refunds.apply(id, [reported])))
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.refund.status),
    ['CONFIRMED', 'PENDING'],
  )
  assert.deepEqual(await cases(database), ['movement_elsewhere'])
  const { reserved, suspense_out } = await balances(database)
  assert.deepEqual([reserved, suspense_out], [40_00n, undefined])
  await assertBooks(database)
})
