import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { bankWithout } from '../support/bank-without.ts'
import { assertBooks, balances } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { postEvent } from '../support/partner-events.ts'
import { type WorldOptions, world } from '../support/world.ts'

/** Returns that meet a second payment, a payment to be verified, or the same return told without its id. */

const HOUR = 3_600_000

async function setUp(t: TestContext, environment: Record<string, string> = {}, options: WorldOptions = {}) {
  const pix = await world(t, environment, { isStepped: true, ...options })
  const iso = () => new Date(pix.clock.now()).toISOString()
  const sendEvent = async (event: string, fields: object) => {
    const body = { event, eventId: 'event-1', status: 'CONFIRMED', occurredAt: iso(), ...fields }
    assert.equal(await postEvent(pix, body), 200)
    await pix.later(0)
  }
  return {
    ...pix,
    iso,
    sendEvent,
    last: async () => (await inbox(pix.database)).map(({ state, outcome }) => `${state} ${outcome}`).at(-1),
    paidAgain: async (chargeId: string): Promise<string> => {
      const { endToEndId } = await pix.bankAction(`charges/${chargeId}/pay`)
      while (!(await balances(pix.database)).suspense_in) await pix.work()
      return endToEndId
    },
    /** An event out of its time makes us ask the bank about the charge. */
    asked: async (transactionId: string) => {
      const event = { event: 'CashIn', eventId: 'stale', status: 'CONFIRMED', transactionId }
      const timestamp = String(pix.clock.now() - HOUR)
      assert.equal(await postEvent(pix, { ...event, occurredAt: iso() }, { timestamp }), 401)
      for (let step = 0; step < 3; step++) await pix.later(100)
    },
  }
}

test('[cash-in.returns.6] [EV-33] what the bank answers about the credited payment is not ambiguous because of a second one', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.behave({ eventDelayMs: HOUR })
  await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 3_000 })
  await pix.behave({ eventDelayMs: 0 })
  await pix.paidAgain(charge.id)
  await pix.behave({ eventDelayMs: HOUR })
  await pix.asked(charge.providerTransactionId)
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -17_000n, suspense_in: 10_000n })
  assert.equal((await pix.read(charge.id)).refundedCents, 3_000)
  await pix.assertBooksAgree()
})

test('[refund-in.doubt.3] [EV-33] a refund that is confirmed by a return which is in suspense here leaves the books once', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.paidAgain(charge.id)
  await pix.behave({ refundIn: 'manual', eventDelayMs: HOUR })
  const { id } = await pix.refundIn(charge.id, 30)
  await pix.later(1_000)
  const { returnId } = await pix.bankAction(`refunds/${id}/confirm`)
  // By the payment's reference, and by no end-to-end id: one of two payments.
  await pix.sendEvent('CashInReversal', { transactionId: charge.providerTransactionId, returnId, valueCents: 3_000 })
  for (let step = 0; step < 20; step++) await pix.later(60_000)
  assert.equal((await balances(pix.database)).settlement, -17_000n, 'R$ 30,00 left, once')
  await assertBooks(pix.database)
})

test('[cash-in.refunds.10] [EV-37] a return reported without its id and then with it left once', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.behave({ eventDelayMs: HOUR })
  const { returnId } = await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 3_000 })
  const movement = { transactionId: charge.providerTransactionId, endToEndId: charge.endToEndId, valueCents: 3_000 }
  await pix.sendEvent('CashInReversal', movement)
  await pix.sendEvent('CashInReversal', { ...movement, returnId })
  await pix.asked(charge.providerTransactionId)
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  // Another one is another one.
  await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 3_000 })
  await pix.asked(charge.providerTransactionId)
  assert.deepEqual(await balances(pix.database), { available: 4_000n, settlement: -4_000n })
  await assertBooks(pix.database)
})

test('[cash-in.refunds.10] [RF-60] the case of a return without its id closes when that is known, and no other one', async (t) => {
  const pix = await setUp(t, {}, bankWithout('query-charge'))
  const charge = await pix.paid('100.00')
  const movement = { transactionId: charge.providerTransactionId, endToEndId: charge.endToEndId, valueCents: 3_000 }
  await pix.sendEvent('CashInReversal', movement)
  // Perhaps that one, perhaps another.
  await pix.sendEvent('CashInReversal', { ...movement, status: 'DEVOLVIDO' })
  await pix.sendEvent('CashInReversal', { ...movement, returnId: 'D1' })
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense (closed)', 'bank_contradicts'])
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  await assertBooks(pix.database)
})

test('[cash-in.refunds.10] [EV-37] a return reported with its id and then without left once, suspended as it is', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  const endToEndId = await pix.paidAgain(charge.id)
  const movement = { transactionId: charge.providerTransactionId, endToEndId, valueCents: 10_000 }
  await pix.sendEvent('CashInReversal', { ...movement, returnId: 'D1' })
  await pix.sendEvent('CashInReversal', movement)
  await pix.sendEvent('CashInReversal', { ...movement, status: 'DEVOLVIDO', endToEndId: null })
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  await assertBooks(pix.database)
})

test('[cash-in.refunds.9] [cash-in.credits.1] a return of a payment that is to be verified is not debited from the merchant', async (t) => {
  const pix = await setUp(t, IMPATIENT)
  const charge = await pix.paid('1000.00')
  await pix.behave({ eventDelayMs: HOUR })
  const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.behave({ latencyMs: TOO_LATE_MS })
  const movement = { transactionId: charge.providerTransactionId, valueCents: 100_000 }
  await pix.sendEvent('CashIn', { ...movement, externalId: charge.id, endToEndId })
  assert.deepEqual(await balances(pix.database), { available: 100_000n, settlement: -100_000n }, 'to be verified')
  await pix.sendEvent('CashInReversal', { ...movement, returnId: 'D1' })
  assert.equal((await balances(pix.database)).available, 100_000n, 'it may be of the payment that was never credited')
  await pix.behave({ latencyMs: 0 })
  for (const wait of [1_001, 5_001, 30_001, 60_001]) await pix.later(wait)
  assert.deepEqual(await balances(pix.database), {
    available: 100_000n,
    settlement: -100_000n,
    suspense_in: 100_000n,
    suspense_out: -100_000n,
  })
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense', 'debit_in_suspense'])
  await assertBooks(pix.database)
})

test('[cash-in.credits.1] [EV-31] what the bank is to verify is not credited by another event that reports it otherwise', async (t) => {
  const pix = await setUp(t)
  const [dated, dear] = [await pix.charge('100.00'), await pix.charge('200.00')]
  const datedPayment = {
    transactionId: dated.providerTransactionId,
    externalId: dated.id,
    endToEndId: 'E1',
    valueCents: 10_000,
  }
  const before = new Date(Date.parse(dated.generateTime) - HOUR).toISOString()
  await pix.sendEvent('CashIn', { ...datedPayment, occurredAt: before })
  const dearPayment = { transactionId: dear.providerTransactionId, externalId: dear.id, endToEndId: 'E2' }
  await pix.sendEvent('CashIn', { ...dearPayment, valueCents: 200_000 })
  for (let minute = 0; minute < 30; minute++) await pix.later(60_000)
  assert.deepEqual(await cases(pix.database), ['payment_unconfirmed', 'payment_unconfirmed'])
  await pix.sendEvent('CashIn', datedPayment)
  await pix.sendEvent('CashIn', { ...dearPayment, valueCents: 20_000 })
  for (let step = 0; step < 3; step++) await pix.later(1_001)
  assert.deepEqual(await balances(pix.database), {}, 'the bank, asked, has no such payments')
  await assertBooks(pix.database)
})
