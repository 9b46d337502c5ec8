import assert from 'node:assert/strict'
import test from 'node:test'
import { notifiedStatuses } from '../support/evidence.ts'
import { type World, world } from '../support/world.ts'

/**
 * A failure that an event reports, of each kind of operation. The clock stands: whatever would wait for a schedule, be it a
 * second, never happens here.
 */

const STEPPED = { isStepped: true }

/** Lets an operation fail at the bank, whose own event reports it, and does what is due until it is FAILED here. */
async function failsAtOnce(pix: World, action: string, path: string): Promise<void> {
  const before = pix.clock.now()
  await pix.bankAction(action)
  const { updatedAt } = await pix.until(path, ({ status }) => status === 'FAILED')
  assert.ok(Date.parse(updatedAt) - before <= 1_000, 'within a second')
  assert.equal(pix.clock.now(), before, 'nothing was waited for')
}

test('[cash-in.work.5] [EV-40] a charge that the bank’s event and its answer call failed is FAILED within a second', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  await failsAtOnce(pix, `charges/${id}/fail`, `/api/pix/cash-in/${id}`)
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
})

test('[cash-out.work.4] [CO-46] so is a payout, and its money is free', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(100_00)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ transactionId }) => transactionId !== null)
  await failsAtOnce(pix, `payouts/${id}/fail`, `/api/pix/cash-out/${id}`)
  assert.equal((await pix.get('/organization/balance'))[0].amount, 100)
})

test('[cash-out.work.4] [CO-46] so is a refund', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id: cashInId } = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(cashInId, 40)
  await pix.until(`/api/pix/refund/${id}`, ({ transactionId }) => transactionId !== null)
  await failsAtOnce(pix, `refunds/${id}/fail`, `/api/pix/refund/${id}`)
  assert.equal((await pix.get('/organization/balance'))[0].amount, 100)
})
