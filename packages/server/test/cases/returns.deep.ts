import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import { createCashInStore } from '../../src/cash-in/commands.ts'
import { listEntries } from '../../src/ledger/ledger.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { wentBack } from '../cash-in/situations.ts'
import { INPUTS, confirmed as left, returned } from '../cash-out/situations.ts'
import { confirmed as refunded } from '../refund-in/situations.ts'
import { assertBooks, balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { caseWorld, sent } from './engine-fixture.ts'

/** Money that came back, or went back, and that an operator decides whose it is: on a real database. */

test('[cash-out.cases.7] [cases.9] what came back of a payout beyond its value is nobody’s, and a gain', async (t) => {
  const { database, decide, leave, cashOuts, id, clock } = await sent(t)
  await leave('E9', 30_00n)
  for (const [returnId, valueCents] of [
    ['D1', 20_00n],
    ['D2', 15_00n],
  ] as const) {
    await cashOuts.apply(id, [returned({ returnId, valueCents, occurredAt: clock.now() })])
  }
  await assert.rejects(decide('return_in_suspense', 'book'), Refusal)
  assert.equal((await decide('return_in_suspense', 'write_off')).status, 'REVERSED')
  assert.deepEqual(await balances(database), {
    available: 88_00n,
    settlement: -105_00n,
    fees: 2_00n,
    losses: 15_00n,
  })
  await assertBooks(database)
})

for (const decision of ['book', 'write_off'] as const) {
  test(`[cash-out.cases.6] [cash-out.reversal.5] a return of a payout without its id, ${decision}: told with its id it is not booked again`, async (t) => {
    const { database, decide, leave, cashOuts, id, clock } = await sent(t)
    await leave('E9', 30_00n)
    const back = (returnId: string) => returned({ returnId, valueCents: 10_00n, occurredAt: clock.now() })
    await cashOuts.apply(id, [{ ...back('unnamed 1'), isUnnamed: true }])
    await assert.rejects(decide('return_in_suspense', 'close'), { code: 'not_possible_in_state' })
    await decide('return_in_suspense', decision)
    await cashOuts.apply(id, [back('D1')])
    await decide('bank_contradicts', 'close')
    const { available, losses, settlement } = await balances(database)
    const expected = decision === 'book' ? [78_00n, undefined] : [68_00n, 10_00n]
    assert.deepEqual([available, losses, settlement], [...expected, -80_00n])
    await assertBooks(database)
  })
}

test('[cash-in.cases.10] a return that nobody explained is no refund of ours: it is the bank’s own, and its case closes', async (t) => {
  const { database, decide, charge, pay, refund, refunds, cashIns, clock } = await caseWorld(t)
  const id = await charge('a')
  await pay(id, 'E1')
  const refundId = await refund(id)
  const settle = async () => {
    const known = await cashIns.apply(id, { on: 'work.requested' })
    assert.ok(known)
    await refunds.settleReturns(known.cashIn)
  }
  const reported = {
    returnId: 'D1',
    valueCents: 40_00n,
    occurredAt: clock.now(),
    transactionId: null,
    endToEndId: 'E1',
  }
  await refunds.applyReturn(id, reported)
  clock.observe(clock.now() + 900_001)
  await settle()
  assert.deepEqual(await balances(database), {
    available: 19_00n,
    reserved: 80_00n,
    settlement: -60_00n,
    fees: 1_00n,
    suspense_out: -40_00n,
  })
  await assert.rejects(decide('return_unexplained', 'close'), { code: 'not_possible_in_state' })
  await decide('return_unexplained', 'book')
  await settle()
  const booked = { available: 19_00n, reserved: 40_00n, settlement: -60_00n, fees: 1_00n }
  assert.deepEqual(await balances(database), booked)
  assert.deepEqual(await cases(database), ['return_unexplained (closed)'])
  await refunds.apply(refundId, [refunded({ returnId: 'D2', valueCents: 40_00n, occurredAt: clock.now() })])
  assert.deepEqual(await balances(database), { available: 19_00n, settlement: -20_00n, fees: 1_00n })
  await assertBooks(database)
})

/** A charge of R$ 100,00 paid with R$ 60,00 by E1, and what the bank tells of what it takes back of that (MED). */
async function paidOtherwise(t: TestContext) {
  const at = await caseWorld(t)
  const id = await at.charge('a')
  await at.pay(id, 'E1', 60_00n)
  const back = (returnId: string, valueCents = 60_00n, endToEndId: string | null = 'E1') =>
    at.refunds.applyReturn(id, { returnId, valueCents, occurredAt: at.clock.now(), transactionId: null, endToEndId })
  return { ...at, id, back }
}

test('[cash-in.refunds.9] [cases.44] [EV-49] a payment of another amount that was accepted and that the bank takes back is the merchant’s to bear, once', async (t) => {
  const { database, decide, back } = await paidOtherwise(t)
  assert.equal((await decide('payment_in_suspense', 'accept', { amountCents: 60_00n })).status, 'PAID')
  for (const cents of [20_00n, 40_00n]) {
    assert.equal(await back(`D${cents}`, cents), 'APPLIED')
    assert.equal(await back(`D${cents}`, cents), 'IGNORED', 'told again it is nothing new')
  }
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)'])
  assert.equal(await back('D2000', 20_01n), 'APPLIED')
  await decide('bank_contradicts', 'close')
  assert.deepEqual(await balances(database), { receivable: -1_00n, fees: 1_00n })
  await assertBooks(database)
})

test('[cash-in.refunds.9] [cases.44] [EV-49] a payment of another amount that was written off and that the bank takes back is in suspense with a case, once', async (t) => {
  const { database, decide, back } = await paidOtherwise(t)
  assert.equal((await decide('payment_in_suspense', 'write_off')).status, 'FAILED')
  for (const cents of [20_00n, 40_00n]) {
    assert.equal(await back(`D${cents}`, cents), 'APPLIED')
    assert.equal(await back(`D${cents}`, cents), 'IGNORED', 'told again it is nothing new')
  }
  assert.equal(await back('D2000', 20_01n), 'APPLIED')
  const { settlement, suspense_out } = await balances(database)
  assert.deepEqual([settlement, suspense_out], [undefined, -60_00n], 'the books have what the bank has')
  for (const _ of [1, 2]) assert.equal((await decide('debit_in_suspense', 'write_off')).status, 'FAILED')
  await decide('bank_contradicts', 'close')
  assert.deepEqual(await balances(database), {})
  const known = await cases(database)
  assert.deepEqual(
    known.filter((kind) => !kind.endsWith('(closed)')),
    [],
  )
  await assertBooks(database)
})

test('[cash-in.refunds.9] [cases.6] [EV-49] what the bank takes back of a payment that was attributed is the other charge’s return, by whatever it names', async (t) => {
  const { database, decide, charge, id, back, refunds, clock } = await paidOtherwise(t)
  const other = await charge('b', 60_00n)
  await decide('payment_in_suspense', 'book', { operationId: other })
  assert.equal(await back('D1', 20_00n), 'APPLIED')
  assert.equal(await back('D2', 30_00n, null), 'APPLIED', 'the only payment is meant')
  const told = { occurredAt: clock.now(), transactionId: null, endToEndId: 'E1' }
  assert.equal(await refunds.applyReturn(other, { ...told, returnId: 'D1', valueCents: 20_00n }), 'IGNORED')
  for (const returnId of ['D1', 'D2'])
    assert.equal(await back(returnId, returnId === 'D1' ? 20_00n : 30_00n), 'IGNORED')
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)'])
  assert.deepEqual(await balances(database), { available: 9_40n, settlement: -10_00n, fees: 60n })
  assert.deepEqual(await refundedOf(database, other), wentBack({ D1: 20_00, D2: 30_00 }))
  assert.equal(await refundedOf(database, id), undefined)
  await assertBooks(database)
})

test('[cash-in.cases.8] [cash-in.refunds.9] a return of the credited part waits for the refunds in flight, and a debit for those to the payer', async (t) => {
  const { database, decide, charge, pay, refund, refunds, clock } = await caseWorld(t)
  const id = await charge('a')
  await pay(id, 'E1', 150_00n)
  await decide('payment_in_suspense', 'accept', { amountCents: 100_00n })
  const refundId = await refund(id)
  const at = { occurredAt: clock.now(), transactionId: null, endToEndId: 'E1' }
  await refunds.applyReturn(id, { returnId: 'D1', valueCents: 100_00n, ...at })
  await refunds.apply(refundId, [refunded({ returnId: 'D2', valueCents: 40_00n })])
  await decide('debit_in_suspense', 'debit')
  assert.deepEqual(await balances(database), {
    fees: 1_00n,
    receivable: -1_00n,
    settlement: -10_00n,
    suspense_in: 10_00n,
  })
  await assertBooks(database)
})

for (const rest of ['is in suspense', 'was written off'] as const) {
  test(`[cash-in.cases.8] of R$ 150 the merchant accepted 100, the bank takes back 150, and the rest ${rest}: the merchant bears 100`, async (t) => {
    const { database, decide, charge, pay, refunds, clock } = await caseWorld(t)
    const id = await charge('a')
    await pay(id, 'E1', 150_00n)
    await decide('payment_in_suspense', 'accept', { amountCents: 100_00n })
    if (rest === 'was written off') await decide('payment_in_suspense', 'write_off')
    const gone = { returnId: 'D1', valueCents: 150_00n, occurredAt: clock.now(), transactionId: null, endToEndId: 'E1' }
    await refunds.applyReturn(id, gone)
    if (rest === 'is in suspense') {
      const again = decide('payment_in_suspense', 'return_to_payer', { amountCents: 50_00n })
      await assert.rejects(again, { code: 'not_possible_in_state' })
    }
    await decide('debit_in_suspense', 'debit')
    assert.deepEqual(await balances(database), { fees: 1_00n, receivable: -1_00n })
    assert.equal((await cases(database)).filter((kind) => !kind.endsWith('(closed)')).length, 0)
    await assertBooks(database)
  })
}

test('[cash-in.refunds.9] [cash-in.returns.1] a refund of the other charge, which the bank tells of the first one, is not booked as its own return', async (t) => {
  const { database, decide, charge, back, refund, refunds, clock } = await paidOtherwise(t)
  const other = await charge('b', 60_00n)
  await decide('payment_in_suspense', 'book', { operationId: other })
  const refundId = await refund(other)
  assert.equal(await back('D1', 40_00n), 'APPLIED')
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)'], 'it is awaited')
  await refunds.apply(refundId, [refunded({ returnId: 'D1', valueCents: 40_00n, occurredAt: clock.now() })])
  assert.equal(await back('D1', 40_00n), 'IGNORED')
  assert.deepEqual(await balances(database), { available: 19_40n, settlement: -20_00n, fees: 60n })
  await assertBooks(database)
})

test('[cash-in.refunds.10] [EV-49] a return of a decided payment that is told without its id, and then with it, is in suspense once', async (t) => {
  const { database, decide, refunds, id, back, clock } = await paidOtherwise(t)
  await decide('payment_in_suspense', 'write_off')
  const unnamed = {
    valueCents: 60_00n,
    occurredAt: clock.now(),
    transactionId: null,
    endToEndId: 'E1',
    isUnnamed: true,
  }
  await refunds.applyReturn(id, { ...unnamed, returnId: 'unnamed 1' })
  await back('D1')
  assert.deepEqual(await cases(database), [
    'payment_in_suspense (closed)',
    'debit_in_suspense (closed)',
    'debit_in_suspense',
  ])
  await decide('debit_in_suspense', 'write_off')
  assert.deepEqual(await balances(database), {})
  await assertBooks(database)
})

/** What went back of a charge, as it knows it. */
async function refundedOf(database: Database, id: string) {
  return (await createCashInStore(database).get(id))?.facts.returns
}

/** A payout of R$ 30,00 that was sent, and what comes back of it. */
async function payoutWithReturns(t: TestContext) {
  const at = await sent(t)
  const back = async (returnId: string, valueCents: bigint) => {
    const reported = returned({ returnId, valueCents, occurredAt: at.clock.now() })
    return (await at.cashOuts.apply(at.id, [reported]))?.cashOut.status
  }
  const booked = async () => {
    const { available, losses, settlement } = await balances(at.database)
    return [available, losses, settlement]
  }
  return { ...at, back, booked }
}

/** It left as E9, and a second time as E8. */
async function leftTwiceAsPayout(t: TestContext) {
  const at = await payoutWithReturns(t)
  await at.leave('E9', 30_00n)
  await at.leave('E8', 30_00n)
  return at
}
for (const parts of [[30_00n], [10_00n, 20_00n]]) {
  test(`[cash-out.reversal.2] [cash-out.cases.7] [cases.18] what comes back of a payout of which a second payment was written off pays back that loss first: in ${parts.length} parts`, async (t) => {
    const { database, decide, back, booked } = await leftTwiceAsPayout(t)
    await decide('debit_in_suspense', 'write_off')
    for (const [index, cents] of parts.entries()) {
      assert.equal(await back(`D${index}`, cents), 'RECONCILIATION_REQUIRED')
      assert.equal((await balances(database)).available, 68_00n, 'the merchant paid for one payment')
      assert.equal((await decide('return_in_suspense', 'write_off')).status, 'CONFIRMED')
    }
    assert.deepEqual(await booked(), [68_00n, undefined, -70_00n])
    assert.equal(await back('D9', 30_00n), 'REVERSED', 'the loss is paid back: what comes back now is the payout')
    assert.deepEqual(await booked(), [98_00n, undefined, -100_00n])
    await assertBooks(database)
  })
}

test('[cash-out.cases.6] [cases.18] what came back while a second payment was written off is credited only as the payout that the operator names', async (t) => {
  const { database, decide, back, booked } = await leftTwiceAsPayout(t)
  await decide('debit_in_suspense', 'write_off')
  await back('D1', 30_00n)
  await assert.rejects(decide('return_in_suspense', 'book'), { code: 'validation_error' })
  await assert.rejects(decide('return_in_suspense', 'book', { evidence: { endToEndId: 'E8' } }), {
    code: 'validation_error',
  })
  assert.equal((await decide('return_in_suspense', 'book', { evidence: { endToEndId: 'E9' } })).status, 'REVERSED')
  assert.deepEqual(await booked(), [98_00n, -30_00n, -70_00n])
  await assertBooks(database)
})

test('[cash-out.cases.6] [cash-out.cases.7] [cases.18] the same where it came back before the second payment was decided', async (t) => {
  const { database, decide, back, booked } = await leftTwiceAsPayout(t)
  assert.equal(await back('D1', 30_00n), 'RECONCILIATION_REQUIRED')
  await assert.rejects(decide('return_in_suspense', 'book'), { code: 'validation_error' })
  await decide('return_in_suspense', 'write_off')
  await decide('debit_in_suspense', 'write_off')
  assert.deepEqual(await booked(), [68_00n, undefined, -70_00n])
  assert.equal(await back('D2', 30_00n), 'REVERSED', 'nothing is lost: what comes back now is the payout')
  assert.deepEqual(await booked(), [98_00n, undefined, -100_00n])
  await assertBooks(database)
})

test('[cases.18] what was credited before a second payment was known stays credited, and what comes back then pays back its loss', async (t) => {
  const { back, booked, ...at } = await payoutWithReturns(t)
  await at.leave('E9', 30_00n)
  assert.equal(await back('D1', 30_00n), 'REVERSED')
  await at.leave('E8', 30_00n)
  assert.equal((await at.decide('debit_in_suspense', 'write_off')).status, 'REVERSED')
  assert.deepEqual(await booked(), [98_00n, -30_00n, -70_00n])
  assert.equal(await back('D2', 30_00n), 'RECONCILIATION_REQUIRED')
  assert.equal((await at.decide('return_in_suspense', 'write_off')).status, 'REVERSED')
  assert.deepEqual(await booked(), [98_00n, undefined, -100_00n])
  await assertBooks(at.database)
})

test('[cases.14] a payout that left otherwise than asked for is written off: what is set aside has a case, and is free once the bank lets it fail', async (t) => {
  const { database, decide, leave, cashOuts, id } = await sent(t)
  await leave('E9', 29_00n)
  await decide('debit_in_suspense', 'write_off')
  assert.deepEqual(await cases(database), ['debit_in_suspense (closed)', 'outcome_unknown'])
  assert.equal((await balances(database)).reserved, 31_00n)
  const failed = await cashOuts.apply(id, [INPUTS['partner.failed']])
  assert.equal(failed?.cashOut.status, 'FAILED')
  assert.deepEqual(await cases(database), ['debit_in_suspense (closed)', 'outcome_unknown (closed)'])
  const { available, losses, settlement } = await balances(database)
  assert.deepEqual([available, losses, settlement], [99_00n, -29_00n, -71_00n])
  await assertBooks(database)
})

for (const leftCents of [9_00n, 40_00n]) {
  test(`[CO-62] [cases.44] [cash-out.reversal.2] a payout confirmed by ${leftCents} centavos: the bank’s answer repeats what was decided, and what left comes back whole`, async (t) => {
    const { database, decide, cashOuts, id, clock } = await sent(t)
    // The bank’s own answer contradicts the order in every telling, and names who was paid.
    const repeated = () =>
      left({ endToEndId: 'E9', valueCents: leftCents, occurredAt: clock.now(), recipientDiffers: true })
    await cashOuts.apply(id, [repeated()])
    assert.equal((await decide('debit_in_suspense', 'executed')).status, 'CONFIRMED')
    const back = returned({ returnId: 'D1', valueCents: leftCents, occurredAt: clock.now() })
    const reversed = await cashOuts.apply(id, [repeated(), back])
    assert.deepEqual([reversed?.result, reversed?.cashOut.status], ['APPLIED', 'REVERSED'])
    assert.equal((await cashOuts.apply(id, [repeated(), back]))?.cashOut.status, 'REVERSED')
    assert.deepEqual(await cases(database), ['debit_in_suspense (closed)'])
    assert.deepEqual(await balances(database), { available: 98_00n, settlement: -100_00n, fees: 2_00n })
    await assertBooks(database)
  })
}

test('[ledger.entries] what is held again of a refund that left after its failure, and is free again, is called a refund’s', async (t) => {
  const { database, decide, charge, pay, refund, refunds, clock } = await caseWorld(t)
  const cashInId = await charge('a')
  await pay(cashInId, 'E1')
  const id = await refund(cashInId)
  await refunds.apply(id, [{ ...INPUTS['send.rejected'], attempt: 1 }])
  await refunds.apply(id, [refunded({ returnId: 'D1', valueCents: 40_00n, occurredAt: clock.now() })])
  await decide('debit_in_suspense', 'write_off')
  const any = { before: null, type: null, operation: null, referenceId: id, from: null, to: null, limit: 9 }
  const entries = await listEntries(database, any)
  assert.deepEqual(
    entries.map(({ operation, amount_cents }) => `${operation} ${amount_cents}`),
    ['REFUND_IN_RELEASE 4000', 'REFUND_IN_RESERVE -4000', 'REFUND_IN_RELEASE 4000', 'REFUND_IN_RESERVE -4000'],
  )
  assert.equal((await listEntries(database, { ...any, operation: 'REFUND_IN_RELEASE' })).length, 2)
  assert.equal((await listEntries(database, { ...any, operation: 'CASH_OUT_RELEASE' })).length, 0)
  await assertBooks(database)
})
