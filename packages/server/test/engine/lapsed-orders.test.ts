import assert from 'node:assert/strict'
import test from 'node:test'
import { statement } from '../../src/platform/db/database.ts'
import type { LiveRequest } from '../../src/platform/live-request.ts'
import { createRefundInCommands, createRefundInStore } from '../../src/refund-in/commands.ts'
import { cashOutRequest } from '../cash-out/situations.ts'
import { operatedProcess } from '../controls/fixture.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment } from '../support/engine.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { ALIVE } from '../support/live-request.ts'

const LAPSED: LiveRequest = { hasLapsed: () => true }

const NAMES = { correlationId: 'test', idempotencyKey: null, bodyHash: Buffer.alloc(32) } as const

const changes = statement<[], { changes: bigint }>(
  'test.changes',
  `SELECT (SELECT count(*) FROM operation) + (SELECT count(*) FROM move) + (SELECT sum(version) FROM control)::bigint
     + (SELECT count(*) FROM entry) AS changes`,
)

test('[engine.17] [PL-5] [PL-6] no order of a client or an operator is carried out once its request has lapsed', async (t) => {
  const { url, database } = await testDatabase(t)
  const pix = operatedProcess(t, url)
  const { ids, clock, cashIns, payouts } = pix
  const refunds = createRefundInCommands({ ...pix, terms: refundTerms(), store: createRefundInStore(database) })
  const cashInId = ids.uuid()
  await cashIns.create(cashInRequest({ id: cashInId, externalId: 'paid' }))
  const paid = payment({ endToEndId: 'E1', occurredAt: clock.now() })
  await cashIns.apply(cashInId, { on: 'partner.confirmed', payment: paid, transactionId: 'tx' })
  const orders: Readonly<Record<string, (live: LiveRequest) => Promise<unknown>>> = {
    charge: (live) => cashIns.create({ ...cashInRequest({ id: ids.uuid(), externalId: 'charge' }), live }),
    payout: (live) => payouts.create({ ...cashOutRequest({ id: ids.uuid(), externalId: 'payout' }), live }),
    refund: (live) => {
      const content = { cashInId, valueCents: 1_00n, externalId: 'refund', reason: null }
      return refunds.create({ ...NAMES, madeBy: MADE_BY, id: ids.uuid(), ...content, live })
    },
    adjustment: (live) => pix.adjust(1_00n, { live }),
    switch: (live) => pix.switchCashOuts(false, 'test', { live }),
  }
  const count = async () => (await database.rows(changes, []))[0]?.changes
  for (const [what, order] of Object.entries(orders)) {
    const before = await count()
    await assert.rejects(order(LAPSED), { code: 'overloaded' }, what)
    assert.equal(await count(), before, what)
    await order(ALIVE)
    assert.notEqual(await count(), before, what)
  }
})
