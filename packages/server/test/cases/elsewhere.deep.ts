import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { INPUTS, confirmed as left, returned } from '../cash-out/situations.ts'
import { confirmed as refunded } from '../refund-in/situations.ts'
import { assertBooks, balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { caseWorld, sent } from './engine-fixture.ts'

/** One movement of the bank that is reported of two operations: it is booked on the first one only, on a real database. */

/** Two payouts of R$ 30,00, both told to have left by E9; the second one has a case. */
async function reportedTwice(t: TestContext) {
  const at = await sent(t)
  const other = await at.payout('other')
  const tell = (id: string, endToEndId: string, valueCents = 30_00n) =>
    at.cashOuts.apply(id, [left({ endToEndId, valueCents, occurredAt: at.clock.now() })])
  await tell(at.id, 'E9')
  await tell(other, 'E9')
  return { ...at, other, tell }
}

for (const end of ['executed', 'not_executed'] as const) {
  test(`[cash-out.cases.9] [cases.14] a payout that was told to have left by another’s payment is held, with a case, until it ends: ${end}`, async (t) => {
    const { database, decide, other, tell, clock } = await reportedTwice(t)
    const held = { available: 37_00n, reserved: 31_00n, settlement: -70_00n, fees: 2_00n }
    assert.deepEqual(await balances(database), held, 'it is not booked a second time')
    assert.equal((await decide('movement_elsewhere', 'close')).status, 'RECONCILIATION_REQUIRED')
    assert.deepEqual(await cases(database), ['movement_elsewhere (closed)', 'outcome_unknown'])
    await tell(other, 'E9')
    await tell(other, 'E9', 29_00n)
    assert.deepEqual(await balances(database), held, 'told again it is not booked either')
    clock.observe(clock.now() + 301_000)
    await assert.rejects(decide('outcome_unknown', 'executed', { evidence: { endToEndId: 'E9' } }), {
      code: 'not_possible_in_state',
    })
    await decide('outcome_unknown', end, end === 'executed' ? { evidence: { endToEndId: 'E10' } } : {})
    const after = { executed: [37_00n, -40_00n, 3_00n], not_executed: [68_00n, -70_00n, 2_00n] }[end]
    const { available, reserved, settlement, fees } = await balances(database)
    assert.deepEqual([available, settlement, fees, reserved], [...after, undefined])
    await assertBooks(database)
  })
}

test('[cash-out.cases.11] [cases.14] a payout that nobody has approved yet waits for that after its case, and is not dispatched', async (t) => {
  const { database, decide, cashOuts, tell, unsent } = await reportedTwice(t)
  await decide('movement_elsewhere', 'close')
  const id = await unsent('waiting')
  await tell(id, 'E9')
  const { status, facts } = await decide('movement_elsewhere', 'close')
  assert.deepEqual([status, facts.attempts], ['RESERVED', undefined])
  const sending = await cashOuts.apply(id, [INPUTS['send.claimed']])
  assert.deepEqual([sending?.result, sending?.cashOut.status], ['IGNORED', 'RESERVED'])
  await assertBooks(database)
})

test('[cash-out.cases.9] a return that another payout has is credited once', async (t) => {
  const { database, decide, cashOuts, id, other, tell, clock } = await reportedTwice(t)
  await decide('movement_elsewhere', 'close')
  await tell(other, 'E10')
  const back = returned({ returnId: 'D1', valueCents: 10_00n, occurredAt: clock.now() })
  for (const payout of [id, other]) await cashOuts.apply(payout, [back])
  assert.equal((await decide('movement_elsewhere', 'close')).status, 'CONFIRMED')
  await cashOuts.apply(other, [back])
  assert.deepEqual(await balances(database), { available: 47_00n, settlement: -50_00n, fees: 3_00n })
  await assertBooks(database)
})

/** Refunds of two charges, both told to have gone back by D1; the second one has a case. */
async function refundsReportedTwice(t: TestContext) {
  const at = await caseWorld(t)
  const charges = [await at.charge('a'), await at.charge('b')] as const
  await at.pay(charges[0], 'E1')
  await at.pay(charges[1], 'E2')
  const refunds = [await at.refund(charges[0]), await at.refund(charges[1])] as const
  const reported = refunded({ returnId: 'D1', valueCents: 40_00n, occurredAt: at.clock.now() })
  for (const id of refunds) await at.refunds.apply(id, [reported])
  const goneFrom = async (id: string) => (await at.cashIns.apply(id, { on: 'work.requested' }))?.cashIn.facts.returns
  return { ...at, charges, ids: refunds, reported, goneFrom }
}

test('[refund-in.cases.7] [cases.14] a refund that was told to have gone back by another’s return counts as no return of its charge, and is held until it ends', async (t) => {
  const { database, decide, refunds, charges, ids, reported, goneFrom, clock } = await refundsReportedTwice(t)
  assert.equal(await goneFrom(charges[1]), undefined)
  assert.equal((await decide('movement_elsewhere', 'close')).status, 'PENDING')
  assert.deepEqual(await cases(database), ['movement_elsewhere (closed)', 'outcome_unknown'])
  const held = { available: 118_00n, reserved: 40_00n, settlement: -160_00n, fees: 2_00n }
  await refunds.apply(ids[1], [reported])
  assert.deepEqual(await balances(database), held, 'told again it is not booked either')
  clock.observe(clock.now() + 301_000)
  assert.equal((await decide('outcome_unknown', 'not_executed')).status, 'FAILED')
  assert.deepEqual(await balances(database), { available: 158_00n, settlement: -160_00n, fees: 2_00n })
  await assertBooks(database)
})

test('[cash-in.cases.13] a return that another charge has is not booked a second time', async (t) => {
  const { database, decide, refunds, charges, clock } = await refundsReportedTwice(t)
  await decide('movement_elsewhere', 'close')
  const reported = {
    returnId: 'D1',
    valueCents: 40_00n,
    occurredAt: clock.now(),
    transactionId: null,
    endToEndId: 'E2',
  }
  await refunds.applyReturn(charges[1], reported)
  await decide('movement_elsewhere', 'close')
  const { settlement, suspense_out } = await balances(database)
  assert.deepEqual([settlement, suspense_out], [-160_00n, undefined])
  await assertBooks(database)
})
