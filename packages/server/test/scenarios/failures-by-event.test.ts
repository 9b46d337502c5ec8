import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { inbox, notifiedStatuses } from '../support/evidence.ts'
import { until } from '../support/until.ts'
import { type World, world } from '../support/world.ts'

/** A failure that an event reports, of each kind of operation. The clock stands, but for the second that it is given. */

const STEPPED = { isStepped: true }

/** Lets an operation fail at the bank, whose own event reports it, and does what is due within the next second. */
async function failsWithinASecond(pix: World, action: string, path: string): Promise<void> {
  const before = (await inbox(pix.database)).length
  await pix.bankAction(action)
  await until(async () => (await inbox(pix.database)).length !== before)
  for (let passedMs = 0; passedMs < 1_000; passedMs += 100) await pix.later(100)
  assert.equal((await pix.get(path)).status, 'FAILED')
}

test('[cash-in.work.5] [EV-40] a charge that the bank’s event and its answer call failed is FAILED within a second', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  await failsWithinASecond(pix, `charges/${id}/fail`, `/api/pix/cash-in/${id}`)
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
})

test('[cash-out.states.13] [cash-out.work.4] [CO-19] [CO-46] so is a payout, and its money is released', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(100_00)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ transactionId }) => transactionId !== null)
  await failsWithinASecond(pix, `payouts/${id}/fail`, `/api/pix/cash-out/${id}`)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  await pix.assertBooksAgree()
})

test('[refund-in.states.8] [cash-out.work.4] [RF-7] [CO-46] so is a refund', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id: cashInId } = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(cashInId, 40)
  await pix.until(`/api/pix/refund/${id}`, ({ transactionId }) => transactionId !== null)
  await failsWithinASecond(pix, `refunds/${id}/fail`, `/api/pix/refund/${id}`)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  await pix.assertBooksAgree()
})
