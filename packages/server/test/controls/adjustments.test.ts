import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBooks, balances } from '../support/books.ts'
import { administer, testDatabase } from '../support/database.ts'
import { audit, notifiedStatuses } from '../support/evidence.ts'
import { createOperation } from '../support/machine-operations.ts'
import { OPERATOR, operatedProcess } from './fixture.ts'

test('[adjustment.create.1] [adjustment.states.1] [adjustment.states.2] what came in and went out is booked', async (t) => {
  const { url, database } = await testDatabase(t)
  const { adjust } = operatedProcess(t, url)
  const { adjustment, isReplayed } = await adjust(100_00n)
  assert.deepEqual(
    [adjustment.status, adjustment.detail, isReplayed],
    ['CREDITED', { reason: 'Opening balance' }, false],
  )
  const { adjustment: withdrawn } = await adjust(-30_00n, { reason: 'To the vault' })
  assert.deepEqual(
    [withdrawn.status, withdrawn.valueCents, withdrawn.feeCents, withdrawn.dueAt],
    ['DEBITED', 30_00n, 0n, null],
  )
  assert.deepEqual(await balances(database), { available: 70_00n, settlement: -70_00n })
  assert.deepEqual(await notifiedStatuses(database), [])
  await assertBooks(database)
})

test('[adjustment.states.1] what came in repays a debt first', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  // The bank takes 10.00 from a merchant who has nothing.
  await createOperation(process, 'refund_in', 'CONFIRMED')
  await process.adjust(25_00n)
  assert.deepEqual(await balances(database), { available: 15_00n, settlement: -15_00n })
  await assertBooks(database)
})

test('[adjustment.create.2] more than is free is not taken out, whichever process was asked', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  await one.adjust(100_00n)
  const results = await Promise.allSettled([one.adjust(-60_00n), other.adjust(-60_00n)])
  assert.deepEqual(
    results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : [])),
    ['insufficient_balance'],
  )
  assert.deepEqual(await balances(database), { available: 40_00n, settlement: -40_00n })
  await assertBooks(database)
})

test('[adjustment.create.3] the order leaves who, when, from where, how much and why, and names what was booked', async (t) => {
  const { url, database } = await testDatabase(t)
  const { adjust, clock } = operatedProcess(t, url)
  const before = clock.now()
  const { adjustment } = await adjust(100_00n)
  const [row] = await audit(database)
  assert.ok(row && row.at >= before && row.at <= clock.now())
  const facts = { valueCents: 100_00, reason: 'Opening balance' }
  const expected = { ...OPERATOR, actorName: null, action: 'adjustment.ordered', subject: adjustment.id, facts }
  assert.deepEqual(row, { ...expected, at: row.at })
})

test('[adjustment.create.3] an order that was refused or replayed leaves its row too', async (t) => {
  const { url, database } = await testDatabase(t)
  const { adjust } = operatedProcess(t, url)
  await assert.rejects(adjust(-1n), { code: 'insufficient_balance' })
  await adjust(5n, { idempotencyKey: 'k' })
  await adjust(5n, { idempotencyKey: 'k' })
  assert.deepEqual(
    (await audit(database)).map(({ facts }) => facts),
    [-1, 5, 5].map((valueCents) => ({ valueCents, reason: 'Opening balance' })),
  )
})

test('[adjustment.create.3] nothing is booked without its audit row', async (t) => {
  const { url, database } = await testDatabase(t)
  await administer(url, 'REVOKE INSERT ON audit FROM pixgate_app')
  await assert.rejects(operatedProcess(t, url).adjust(1n))
  assert.deepEqual(await balances(database), {})
})

test('[adjustment.create.3] [cases.45] an operator who was deactivated meanwhile adjusts nothing', async (t) => {
  const { url, database } = await testDatabase(t)
  const { adjust } = operatedProcess(t, url)
  const gone = { actor: '0198c0de-7a11-7000-8000-00000000000b', actorName: 'Rui' }
  await assert.rejects(adjust(100n, {}, gone), { code: 'unauthorized' })
  assert.deepEqual(await balances(database), {})
})

test('[idempotency.2] [idempotency.3] an order whose answer was lost is booked once, wherever it is sent again', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  const order = { idempotencyKey: 'admin createAdjustment k' }
  const answers = await Promise.all([one, other, one].map((process) => process.adjust(100_00n, order)))
  assert.equal(answers.filter(({ isReplayed }) => !isReplayed).length, 1)
  assert.equal(new Set(answers.map(({ adjustment }) => adjustment.id)).size, 1)
  await assert.rejects(other.adjust(100_01n, order), { code: 'idempotency_key_reused' })
  assert.deepEqual(await balances(database), { available: 100_00n, settlement: -100_00n })
})
