import assert from 'node:assert/strict'
import test from 'node:test'
import { cases } from '../support/evidence.ts'
import { EVENTS_LOST, NOT_FOUND, type TamperedWorld, tamperedWorld } from './tampering-bank.ts'

const SECOND = 1_000
const STEP = 15 * SECOND

/** A bank whose orders must not be sent again, that loses its answers, and denies the orders that it has. */
const ONCE = { PIXGATE_PARTNER_IDEMPOTENT_ORDERS: 'false' }
const LOST = { status: 502, body: {} }

/** Steps of 15 s: the statement is read with each fourth of them. */
async function steps(pix: TamperedWorld, count: number) {
  for (let step = 0; step < count; step += 1) await pix.later(STEP)
}

/** From now on answers to orders are lost, and all that is asked about them is denied. */
async function denyOrders(pix: TamperedWorld, path: string) {
  await pix.behave({ cashOut: 'manual', refundIn: 'manual', ...EVENTS_LOST })
  pix.tamper = (call) => (call.includes(path) ? (call.startsWith('PUT') ? LOST : NOT_FOUND) : undefined)
}

test('[PL-15] [P6] [statement.5] [cash-out.unknown.6] a payout that the statement shows is not given back because the bank denies it', async (t) => {
  const pix = await tamperedWorld(t, {}, ONCE)
  await pix.balance(100_00)
  await denyOrders(pix, ' /payouts/')
  await steps(pix, 4)
  const { id } = await pix.cashOut()
  const status = async () => (await pix.get(`/api/pix/cash-out/${id}`)).status
  await steps(pix, 18)
  await pix.bankAction(`payouts/${id}/confirm`)
  // The statement shows it, and the bank is asked once more: five minutes after the attempt its word would be the proof.
  await steps(pix, 4)
  assert.equal(await status(), 'PROVIDER_RESULT_UNKNOWN')
  await steps(pix, 8)
  assert.equal(await status(), 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[PL-15] [P6] [statement.5] a payout that the statement shows is not given back because the bank calls it failed', async (t) => {
  const pix = await tamperedWorld(t, {}, ONCE)
  await pix.balance(100_00)
  await pix.behave({ cashOut: 'manual', ...EVENTS_LOST })
  const { id } = await pix.cashOut()
  await pix.later(SECOND)
  const read = pix.asked.filter((call) => call === 'GET /statement').length
  const isShown = () => pix.asked.filter((call) => call === 'GET /statement').length > read
  const orderId = await pix.orderIdOf(id)
  pix.tamper = (call, { body }) => {
    if (call !== `GET /payouts/${orderId}`) return undefined
    const { id: ours, transactionId, valueCents } = body
    const told = isShown() ? { status: 'FAILED', errorCode: 'internal' } : { status: 'PROCESSING' }
    return { status: 200, body: { id: ours, transactionId, valueCents, ...told } }
  }
  await pix.bankAction(`payouts/${id}/confirm`)
  const seen = new Set<string>()
  for (let looks = 0; looks < 16; looks += 1) {
    seen.add((await pix.get(`/api/pix/cash-out/${id}`)).status)
    await pix.later(10 * SECOND)
  }
  assert.deepEqual([...seen], ['DISPATCHED', 'CONFIRMED'])
  await pix.assertBooksAgree()
})

test('[PL-15] [P6] [statement.5] [refund-in.unknown.3] a refund that the statement shows is not given back because the bank denies it', async (t) => {
  const pix = await tamperedWorld(t, {}, ONCE)
  const { id: cashInId } = await pix.paid('100.00')
  await denyOrders(pix, ' /refunds/')
  await steps(pix, 4)
  const { id } = await pix.refundIn(cashInId, 30)
  const status = async () => (await pix.get(`/api/pix/refund/${id}`)).status
  await steps(pix, 18)
  await pix.bankAction(`refunds/${id}/confirm`)
  await steps(pix, 4)
  assert.equal(await status(), 'PENDING')
  await steps(pix, 8)
  assert.equal(await status(), 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})
