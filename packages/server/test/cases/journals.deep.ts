import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { createCashInStore } from '../../src/cash-in/commands.ts'
import { INPUTS, returned } from '../cash-out/situations.ts'
import { confirmed as refunded } from '../refund-in/situations.ts'
import { assertBooks, balances } from '../support/books.ts'
import { decideCase, openCaseOf } from '../support/deciding.ts'
import { cases, notifiedStatuses } from '../support/evidence.ts'
import { caseWorld, paidTwice, sent } from './engine-fixture.ts'

/** Decisions of operators on a real database: the books are true after each. */

test('[cases.1] [CO-25] a second payment is not accepted: the charge has its payment', async (t) => {
  const { database, decide } = await paidTwice(t)
  await assert.rejects(decide('payment_in_suspense', 'accept', { amountCents: 100_00n }), {
    code: 'not_possible_in_state',
  })
  assert.deepEqual(await notifiedStatuses(database), ['PAID'])
  await assertBooks(database)
})

test('[cash-in.cases.3] a second payment goes back to its payer by a refund, the fee of which is none; told again by the bank that is nothing new', async (t) => {
  const { database, decide, refunds, id, clock } = await paidTwice(t)
  const newId = randomUUID()
  await decide('payment_in_suspense', 'return_to_payer', { amountCents: 100_00n, newId })
  const before = { available: 99_00n, settlement: -200_00n, fees: 1_00n, suspense_in: 100_00n }
  assert.deepEqual(await balances(database), before, 'nothing is booked before the bank confirms it')
  const back = { returnId: 'D2', valueCents: 100_00n, occurredAt: clock.now() }
  await refunds.apply(newId, [INPUTS['send.claimed'], refunded(back)])
  assert.deepEqual(await balances(database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
  const told = { ...back, transactionId: null, endToEndId: 'E2' }
  assert.equal(await refunds.applyReturn(id, told), 'IGNORED')
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)'])
  await assertBooks(database)
})

test('[cases.6] a second payment pays the charge that it was meant for; told again for either it is nothing new', async (t) => {
  const { database, decide, charge, pay, id } = await paidTwice(t)
  const other = await charge('b')
  await decide('payment_in_suspense', 'book', { operationId: other })
  assert.deepEqual(await balances(database), { available: 198_00n, settlement: -200_00n, fees: 2_00n })
  const outcomes = [await pay(other, 'E2'), await pay(id, 'E2')]
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.result),
    ['IGNORED', 'IGNORED'],
  )
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.cashIn.status),
    ['PAID', 'PAID'],
  )
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)'])
  assert.deepEqual(await notifiedStatuses(database), ['PAID', 'PAID'])
  const named = { transactionId: null, externalId: null, endToEndId: 'E2' }
  const [matches = []] = await createCashInStore(database).match([named])
  assert.deepEqual(
    new Set(matches.map((match) => match.id)),
    new Set([other]),
    'what is told of it is told of that charge',
  )
  await assertBooks(database)
})

test('[cases.3] of two decisions on one case in one batch the first counts, and the other is refused', async (t) => {
  const { database, engine, id } = await paidTwice(t)
  const { openCase } = await openCaseOf(database, 'payment_in_suspense')
  const order = {
    caseId: openCase.id,
    newId: randomUUID(),
    operatorId: 'Ana',
    approverId: null,
    reason: 'twice',
    evidence: {},
    amountCents: 100_00n,
  }
  const outcomes = await Promise.allSettled(
    (['return_to_payer', 'write_off'] as const).map((decision) =>
      decideCase({ engine, database }, id, openCase, { ...order, decision }),
    ),
  )
  const failed = outcomes.filter(({ status }) => status === 'rejected')
  assert.equal(failed.length, 1)
  assert.ok(failed.every((it) => it.status === 'rejected' && it.reason instanceof Refusal))
  await assertBooks(database)
})

test('[cases.7] what the bank has taken back meanwhile is neither returned nor written off: its case is closed', async (t) => {
  const { database, engine, refunds, id, clock } = await paidTwice(t)
  const { openCase } = await openCaseOf(database, 'payment_in_suspense')
  const told = { returnId: 'D2', valueCents: 100_00n, occurredAt: clock.now(), transactionId: null, endToEndId: 'E2' }
  await refunds.applyReturn(id, told)
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)'])
  for (const decision of ['return_to_payer', 'write_off'] as const) {
    const order = { caseId: openCase.id, newId: randomUUID(), operatorId: 'Ana', approverId: null, reason: 'late' }
    const late = { ...order, decision, evidence: {}, amountCents: 100_00n }
    await assert.rejects(decideCase({ engine, database }, id, openCase, late), { code: 'not_possible_in_state' })
  }
  assert.deepEqual(await balances(database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
  await assertBooks(database)
})

test('[cash-in.paid.3] [cases.44] told again with another amount after its case was decided, a payment is a case and not booked again', async (t) => {
  const { database, decide, charge, pay } = await caseWorld(t)
  const id = await charge('a')
  await pay(id, 'E1', 60_00n)
  await decide('payment_in_suspense', 'accept', { amountCents: 60_00n })
  const before = await balances(database)
  const again = await pay(id, 'E1', 61_00n)
  assert.equal(again?.result, 'APPLIED')
  assert.deepEqual(await balances(database), before)
  assert.deepEqual(await cases(database), ['payment_in_suspense (closed)', 'bank_contradicts'])
  await assertBooks(database)
})

test('[cases.1] [ledger.recover] what left of a payout beyond all that is there is owed, and what an operator accepts repays it', async (t) => {
  const { database, decide, leave, pay, charge } = await sent(t)
  await pay(await charge('b', 90_00n), 'E2')
  await leave('E9', 120_00n)
  await decide('debit_in_suspense', 'executed')
  const owing = { settlement: -80_00n, fees: 2_00n, suspense_in: 100_00n, receivable: -22_00n }
  assert.deepEqual(await balances(database), owing)
  await decide('payment_in_suspense', 'accept', { amountCents: 100_00n })
  assert.deepEqual(await balances(database), { available: 77_10n, settlement: -80_00n, fees: 2_90n })
  await assertBooks(database)
})

test('[cases.1] what came back of a payout in doubt is credited before its second payment is decided', async (t) => {
  const { database, decide, leave, cashOuts, id, clock } = await sent(t)
  await leave('E9', 30_00n)
  await leave('E8', 5_00n)
  await cashOuts.apply(id, [returned({ returnId: 'D9', valueCents: 10_00n, occurredAt: clock.now() })])
  await decide('return_in_suspense', 'book', { evidence: { endToEndId: 'E9' } })
  assert.equal((await decide('debit_in_suspense', 'write_off')).status, 'REVERSED')
  const { available, losses, settlement } = await balances(database)
  assert.deepEqual([available, losses, settlement], [78_00n, -5_00n, -75_00n])
  await assertBooks(database)
})
