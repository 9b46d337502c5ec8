import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createCashInStore } from '../../src/cash-in/commands.ts'
import { refundableCents } from '../../src/cash-in/returns.ts'
import { codeOf } from '../cash-out/fixture.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { audit, notifiedStatuses } from '../support/evidence.ts'
import { ALIVE } from '../support/live-request.ts'
import { refundOffice } from './fixture.ts'
import { INPUTS } from './situations.ts'

/** Where R$ 60,00 may leave in a day: a charge of R$ 100,00 that was paid, and its refunds. */
async function office(t: TestContext) {
  const { database, store, one, other, paid, request, returned } = await refundOffice(t, { dayCents: 60_00n })
  const cashInId = await paid()
  const refund = async (valueCents: bigint, process = one) =>
    (await process.create(request(cashInId, { valueCents }))).refund
  const refundable = async () => {
    const cashIn = await createCashInStore(database).get(cashInId)
    return cashIn && refundableCents(cashIn)
  }
  const refuse = ({ id }: { readonly id: string }) => one.refuse(id, INPUTS['operator.refused'], ALIVE)
  const claim = async ({ id }: { readonly id: string }, process = one) =>
    (await process.apply(id, [INPUTS['send.claimed']]))?.result
  return { database, store, one, other, cashInId, returned, refund, refundable, refuse, claim }
}

test('[refund-in.refusal.2] what nobody tried to send is refused, also while refunds are off: money, ceiling and limits are free', async (t) => {
  const { database, refund, refundable, refuse, claim } = await office(t)
  const waiting = await refund(60_00n)
  assert.equal(await refundable(), 40_00n)
  await switchPayouts(database, false)
  const after = await refuse(waiting)
  assert.deepEqual([after?.status, after?.facts.failureCode], ['FAILED', 'refused_by_operator'])
  assert.equal(await codeOf(refuse(waiting)), 'not_possible_in_state')
  assert.equal(await refundable(), 100_00n)
  assert.deepEqual(await notifiedStatuses(database), ['PAID', 'FAILED'])
  assert.equal((await balances(database)).reserved ?? 0n, 0n)

  await switchPayouts(database, true)
  assert.equal(await claim(waiting), 'IGNORED')
  const sent = await refund(60_00n)
  assert.equal(await claim(sent), 'APPLIED')
  assert.equal(await codeOf(refuse(sent)), 'not_possible_in_state')
  assert.equal((await balances(database)).reserved, 60_00n)
  await assertBooks(database)
})

test('[refund-in.refusal.3] a refusal is a row in the audit trail, and one that is not possible is none', async (t) => {
  const { database, refund, refuse, claim } = await office(t)
  const [refused, sent] = [await refund(20_00n), await refund(10_00n)]
  await claim(sent)
  await refuse(refused)
  assert.equal(await codeOf(refuse(sent)), 'not_possible_in_state')
  const rows = (await audit(database)).filter(({ action }) => action === 'refund_in.refused')
  const { approver, reason } = INPUTS['operator.refused']
  assert.deepEqual(
    rows.map(({ actor, subject, facts }) => ({ actor, subject, facts })),
    [{ actor: approver.actor, subject: refused.id, facts: { valueCents: 20_00, reason } }],
  )
})

test('[refund-in.refusal.2] of a refusal and a claim for sending at the same moment, in two processes, exactly one wins', async (t) => {
  const { database, store, one, other, refund, refuse, claim } = await office(t)
  const ends: [isRefused: boolean, isClaimed: boolean, status: string | undefined][] = []
  // Half of them are made by the other process, so that both are under way; each is first in turn.
  for (let round = 0; round < 30; round++) {
    const waiting = await refund(1_00n, round % 2 ? other : one)
    const claimedFirst = round % 3 ? claim(waiting, other) : undefined
    const refusal = codeOf(refuse(waiting))
    const [code, result] = await Promise.all([refusal, claimedFirst ?? claim(waiting, other)])
    ends.push([code === undefined, result === 'APPLIED', (await store.get(waiting.id))?.status])
  }
  for (const [isRefused, isClaimed, status] of ends) {
    assert.notEqual(isRefused, isClaimed)
    assert.equal(status, isRefused ? 'FAILED' : 'PENDING')
  }
  const claimed = BigInt(ends.filter(([, isClaimed]) => isClaimed).length)
  assert.equal((await balances(database)).reserved ?? 0n, claimed * 1_00n)
  await assertBooks(database)
})

test('[refund-in.refusal.2] [cash-in.returns.1] a return that the refund might have been is the bank’s own once it is refused', async (t) => {
  const { database, store, one, cashInId, returned, refund, refuse } = await office(t)
  const waiting = await refund(40_00n)
  await one.applyReturn(cashInId, returned())
  await refuse(waiting)
  const refunds = await store.list({ cashInId, skip: 0, limit: 10 })
  assert.deepEqual(refunds.map(({ status, detail }) => [status, detail.origin]).toSorted(), [
    ['CONFIRMED', 'PARTNER'],
    ['FAILED', 'MERCHANT'],
  ])
  await assertBooks(database)
})
