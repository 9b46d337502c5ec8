import assert from 'node:assert/strict'
import test from 'node:test'
import { type BankDriver, drivers, tinyDriver } from '../support/bank-drivers.ts'
import { balances } from '../support/books.ts'
import { cases, inbox, notifiedStatuses } from '../support/evidence.ts'

/** Behaviour at every bank, whatever its messages, as far as it is capable of it. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Does what is due, again and again, until something holds; time goes on in steps. */
async function until({ pix }: BankDriver, stepMs: number, holds: () => Promise<boolean>): Promise<void> {
  for (let steps = 0; steps < 100; steps++) {
    if (await holds()) return
    await pix.later(stepMs)
  }
  assert.fail('it never came to that')
}

async function becomes(bank: BankDriver, path: string, status: string, stepMs = 1_000): Promise<void> {
  await until(bank, stepMs, async () => (await bank.pix.get(path)).status === status)
}

async function paidCharge(bank: BankDriver) {
  const charge = await bank.pix.charge('100')
  await bank.pay(charge.id)
  await becomes(bank, `/api/pix/cash-in/${charge.id}`, 'PAID')
  return charge
}

for (const [name, open] of Object.entries(drivers)) {
  test(`[cash-in.states.7] at ${name}: a charge is created, paid, booked and notified`, async (t) => {
    const bank = await open(t)
    const { id, status, pixCode } = await bank.pix.charge('100')
    assert.deepEqual([status, typeof pixCode], ['PENDING', 'string'])
    await bank.pay(id)
    await becomes(bank, `/api/pix/cash-in/${id}`, 'PAID')
    assert.deepEqual(await balances(bank.pix.database), { available: 10_000n, settlement: -10_000n })
    assert.deepEqual(await notifiedStatuses(bank.pix.database), ['PAID'])
    assert.deepEqual(await cases(bank.pix.database), [])
    await bank.assertBooksAgree()
  })

  test(`[cash-in.unknown.2] [CI-6] at ${name}: a charge whose answer was lost is found, and exists once`, async (t) => {
    const bank = await open(t)
    await bank.loseNextAnswer()
    const { id } = await bank.pix.charge('100')
    await until(bank, 5_001, async () => (await bank.pix.read(id)).pixCode !== null)
    assert.equal((await bank.made()).charges, 1)
    await bank.pay(id)
    await becomes(bank, `/api/pix/cash-in/${id}`, 'PAID')
    await bank.assertBooksAgree()
  })

  test(`[cash-in.expired.1] [EX-1] at ${name}: an unpaid charge expires, and one whose payment was not reported does not`, async (t) => {
    const bank = await open(t)
    const anHour = { expirationTime: HOUR_MS / 1_000 }
    const [unpaid, unheard] = [await bank.pix.charge('100', anHour), await bank.pix.charge('100', anHour)]
    await bank.pay(unheard.id, true)
    await bank.pix.later(HOUR_MS - MINUTE_MS)
    assert.equal((await bank.pix.read(unpaid.id)).status, 'PENDING')
    await becomes(bank, `/api/pix/cash-in/${unheard.id}`, 'PAID', MINUTE_MS)
    await becomes(bank, `/api/pix/cash-in/${unpaid.id}`, 'EXPIRED', MINUTE_MS)
    await bank.assertBooksAgree()
  })

  test(`[cash-in.cancel.4] [cash-in.cancel.5] at ${name}: a charge is cancelled at a bank that can, unless its payment was faster`, async (t) => {
    const bank = await open(t)
    const cancel = (id: string) => bank.pix.call('POST', `/api/pix/cash-in/${id}/cancel`)
    const unpaid = await bank.pix.charge('100')
    const { status, body } = await cancel(unpaid.id)
    if (!bank.capabilities.has('cancel-charge')) {
      assert.deepEqual([status, body.code], [422, 'not_supported_by_bank'])
      return
    }
    assert.deepEqual([status, body.status, body.failureCode], [200, 'FAILED', 'cancelled_by_merchant'])
    const paid = await bank.pix.charge('100')
    await bank.pay(paid.id, true)
    const refused = await cancel(paid.id)
    assert.deepEqual([refused.status, refused.body.existing], [409, { id: paid.id, status: 'PAID' }])
    assert.deepEqual(await notifiedStatuses(bank.pix.database), ['FAILED', 'PAID'])
    assert.deepEqual(await cases(bank.pix.database), [])
    await bank.assertBooksAgree()
  })

  test(`[refund-in.states.7] at ${name}: a part of a payment goes back, is booked and notified`, async (t) => {
    const bank = await open(t)
    const charge = await paidCharge(bank)
    const { id } = await bank.pix.refundIn(charge.id, 30)
    await until(bank, 1, async () => (await bank.made()).refunds === 1)
    await bank.settleRefund(id)
    await becomes(bank, `/api/pix/refund/${id}`, 'CONFIRMED')
    assert.deepEqual(await balances(bank.pix.database), { available: 7_000n, settlement: -7_000n })
    assert.deepEqual(await notifiedStatuses(bank.pix.database), ['PAID', 'CONFIRMED'])
    await bank.assertBooksAgree()
  })

  test(`[refund-in.unknown.2] [P6] at ${name}: a refund whose answer was lost exists once, and its money is held until that is known`, async (t) => {
    const bank = await open(t)
    const charge = await paidCharge(bank)
    await bank.loseNextAnswer()
    const { id } = await bank.pix.refundIn(charge.id, 30)
    await until(bank, 1, async () => (await bank.made()).refunds === 1)
    assert.deepEqual(await balances(bank.pix.database), { available: 7_000n, reserved: 3_000n, settlement: -10_000n })
    if (name === 'tiny') await bank.settleRefund(id)
    await becomes(bank, `/api/pix/refund/${id}`, 'CONFIRMED', 5_001)
    assert.equal((await bank.made()).refunds, 1)
    await bank.assertBooksAgree()
  })

  test(`[partner.10] [PL-60] at ${name}: a payout is made at a bank that makes payouts, and else refused at its creation`, async (t) => {
    const bank = await open(t)
    await paidCharge(bank)
    const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email' }
    const transaction = { value: 30, externalId: 'payout' }
    const { status, body } = await bank.pix.call('POST', '/api/pix/cash-out', { transaction, recipient })
    if (bank.capabilities.has('payout')) {
      assert.equal(status, 201)
      await becomes(bank, `/api/pix/cash-out/${body.id}`, 'CONFIRMED')
    } else {
      assert.deepEqual([status, body.code], [422, 'not_supported_by_bank'])
      assert.deepEqual((await bank.pix.get('/api/pix/cash-out')).data, [])
    }
    await bank.assertBooksAgree()
  })
}

test('[partner-inbox.15] [EV-47] at tiny: a forged event changes nothing and only causes a query', async (t) => {
  const { pix, bank, callBack, assertBooksAgree } = await tinyDriver(t)
  const charge = await pix.charge('100')
  const before = bank.heard.length
  assert.equal(await callBack(`PIX ${await pix.orderIdOf(charge.id)} E-made-up`, 'PIX nobody E1', 'MONEY for you'), 204)
  await pix.later(0)
  assert.deepEqual(bank.heard.slice(before), [`VER ${await pix.orderIdOf(charge.id)}`])
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  for (const wait of [1_001, 5_001, 30_001, 60_001, 300_001, 900_001]) await pix.later(wait)
  assert.deepEqual((await inbox(pix.database)).map(({ outcome }) => outcome).toSorted(), [
    'ASKED',
    'UNPROVEN',
    'UNPROVEN',
  ])
  assert.deepEqual(await cases(pix.database), [])
  await assertBooksAgree()
})

test('[partner-inbox.16] [EV-48] at tiny: one callback reports several payments, and some of them twice', async (t) => {
  const { pix, bank, callBack, assertBooksAgree } = await tinyDriver(t)
  const charges = [await pix.charge('10'), await pix.charge('20'), await pix.charge('30')]
  const [one = '', two = '', three = ''] = (await Promise.all(charges.map(({ id }) => pix.orderIdOf(id)))).map((id) =>
    bank.pay(id),
  )
  assert.equal(await callBack(one, two), 204)
  assert.equal(await callBack(two, three, one), 204)
  await pix.later(0)
  for (const { id } of charges) assert.equal((await pix.read(id)).status, 'PAID')
  assert.equal((await inbox(pix.database)).length, 3)
  await assertBooksAgree()
})

test('[refund-in.states.10] [P6] at tiny: a refund that the bank did not carry out gives its money back, by the bank’s answer', async (t) => {
  const bank = await tinyDriver(t)
  const charge = await paidCharge(bank)
  const { id } = await bank.pix.refundIn(charge.id, 30)
  const orderId = await bank.pix.orderIdOf(id)
  await until(bank, 1, async () => bank.bank.made.refunds === 1)
  assert.equal(await bank.callBack(`DEV ${orderId} NAO_REALIZADO`), 204)
  await bank.pix.later(0)
  assert.equal((await bank.pix.get(`/api/pix/refund/${id}`)).status, 'PENDING', 'only the callback says so')
  assert.equal(await bank.callBack(`${bank.bank.settle(orderId, 'NAO_REALIZADO')} indeed`), 204)
  await becomes(bank, `/api/pix/refund/${id}`, 'FAILED')
  assert.deepEqual(await balances(bank.pix.database), { available: 10_000n, settlement: -10_000n })
  await bank.assertBooksAgree()
})
