import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { assertBooks, balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { cashOutFixture, type Process } from './fixture.ts'
import { confirmed, INPUTS, returned } from './situations.ts'

const OCCURRED_AT = 1_700_000_000_000
const left = (endToEndId: string) => confirmed({ endToEndId, occurredAt: OCCURRED_AT })
const cameBack = (returnId: string) => returned({ returnId, occurredAt: OCCURRED_AT })

/** Two payouts that were sent, by two processes. */
async function twoPayouts(t: TestContext) {
  const fixture = await cashOutFixture(t)
  const other = fixture.another()
  const payouts = [await fixture.reserve('a'), await fixture.reserve('b')] as const
  const apply = ({ commands }: Pick<Process, 'commands'>, id: string, ...inputs: CashOutInput[]) =>
    commands.apply(id, inputs)
  for (const id of payouts) await apply(fixture, id, INPUTS['send.claimed'])
  return { ...fixture, other, payouts, apply }
}

test('[cash-out.states.16] [engine.14] [CO-47] a payment reported for two payouts in one batch confirms one, and is booked once; of the other there is a case', async (t) => {
  const { database, payouts, apply, ...fixture } = await twoPayouts(t)
  const outcomes = await Promise.all(payouts.map((id) => apply(fixture, id, left('E1'))))
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.cashOut.status),
    ['CONFIRMED', 'RECONCILIATION_REQUIRED'],
  )
  assert.deepEqual(await cases(database), ['movement_elsewhere'])
  assert.deepEqual(await balances(database), {
    available: 40_00n,
    reserved: 30_00n,
    settlement: -70_00n,
  })
  await assertBooks(database)
})

test('[cash-out.confirmed.3] [cash-out.states.16] told again with another amount it is a case, and nothing is booked', async (t) => {
  const { database, payouts, apply, ...fixture } = await twoPayouts(t)
  for (const id of payouts) await apply(fixture, id, left('E1'))
  const before = await balances(database)
  const again = confirmed({ endToEndId: 'E1', valueCents: 29_00n, occurredAt: OCCURRED_AT })
  for (const id of payouts) assert.equal((await apply(fixture, id, again))?.result, 'APPLIED')
  assert.deepEqual(await balances(database), before)
  assert.deepEqual((await cases(database)).sort(), ['bank_contradicts', 'movement_elsewhere'])
  await assertBooks(database)
})

test('[cash-out.states.16] [CO-47] a return reported for two payouts is credited once, also by two processes at the same moment', async (t) => {
  const { database, other, payouts, apply, ...fixture } = await twoPayouts(t)
  await apply(fixture, payouts[0], left('E1'))
  await apply(fixture, payouts[1], left('E2'))
  const outcomes = await Promise.all([
    apply(fixture, payouts[0], cameBack('D1')),
    apply(other, payouts[1], cameBack('D1')),
  ])
  assert.deepEqual(outcomes.map((outcome) => outcome?.cashOut.status).toSorted(), [
    'RECONCILIATION_REQUIRED',
    'REVERSED',
  ])
  assert.deepEqual(await cases(database), ['movement_elsewhere'])
  const { available, suspense_in } = await balances(database)
  assert.deepEqual([available, suspense_in], [50_00n, undefined])
  await assertBooks(database)
})

test('[cash-out.confirmed.5] [CO-45] a second payment of a payout that came back is booked', async (t) => {
  const { database, payouts, apply, ...fixture } = await twoPayouts(t)
  const back = returned({ returnId: 'D1', valueCents: 30_00n, occurredAt: OCCURRED_AT })
  await apply(fixture, payouts[0], left('E1'), back)
  const outcome = await apply(fixture, payouts[0], left('E2'))
  assert.equal(outcome?.cashOut.status, 'RECONCILIATION_REQUIRED')
  assert.equal((await balances(database)).suspense_out, -30_00n)
  assert.deepEqual(await cases(database), ['debit_in_suspense'])
  await assertBooks(database)
})

for (const order of ['without its id, then with it', 'with its id, then without it']) {
  test(`[cash-out.reversal.5] [CO-60] where the bank cannot be asked a return that is reported ${order} came back once`, async (t) => {
    const { database, payouts, apply, ...fixture } = await twoPayouts(t)
    const unnamed = { ...cameBack('unnamed 1'), isUnnamed: true }
    const named = { ...cameBack('D1'), isVerified: true }
    await apply(fixture, payouts[0], left('E1'))
    const both = order.startsWith('without') ? [unnamed, named] : [cameBack('D1'), unnamed]
    for (const input of both) await apply(fixture, payouts[0], input)
    const { settlement } = await balances(database)
    assert.equal(settlement, -80_00n)
    const known = (await cases(database)).filter((kind) => kind === 'bank_contradicts')
    assert.equal(known.length, 1)
    // Told once more it is nothing new; another one is another one.
    for (const input of [named, { ...cameBack('D2'), isVerified: true }]) await apply(fixture, payouts[0], input)
    assert.equal((await balances(database)).settlement, -90_00n)
    assert.equal((await cases(database)).filter((kind) => kind === 'bank_contradicts').length, 1)
    await assertBooks(database)
  })
}
