import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestDatabase } from '../support/database.ts'
import { orderIdOf } from '../support/order-ids.ts'
import { backupOf, openCaseFacts } from '../support/restored-database.ts'
import { minutes } from '../support/stepping.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

async function payoutsAtBank({ bank }: World): Promise<string[]> {
  const { body } = await bank('GET', '/control/book')
  return body.payouts.map((payout: { id: string }) => payout.id).sort()
}

const SWITCH = '/operator/cash-out-switch'

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` }

async function readSwitch({ call }: World) {
  return (await call('GET', SWITCH, undefined, ADMIN)).body
}

async function enable(restored: World): Promise<void> {
  const { version } = await readSwitch(restored)
  const order = { enabled: true, reason: 'the statement was read, and its cases are settled', version }
  assert.equal((await restored.call('PUT', SWITCH, order, ADMIN)).status, 200)
}

test('[DB-10] [statement.14] a restored database sends nothing and takes no payout until an operator has looked, and learns from the statement what it lacks', async (t) => {
  const before = await world(t, {}, { isStepped: true })
  const { id: paidFor } = await before.charge('200')
  await before.bankAction(`charges/${paidFor}/pay`)
  await before.until(`/api/pix/cash-in/${paidFor}`, ({ status }) => status === 'PAID')
  const waiting = await before.cashOut()
  const backup = await backupOf(t, before.databaseUrl)

  // Missing in the backup: the dispatch of this one, and another one altogether.
  const lost = await before.cashOut()
  for (const { id } of [waiting, lost]) {
    await before.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
  }
  const sent = [waiting.id, lost.id].sort()
  assert.deepEqual(await payoutsAtBank(before), sent)

  const restored = await world(t, {}, { isStepped: true, bankUrl: before.bankUrl, reach: async () => backup })
  const { enabled, reason } = await readSwitch(restored)
  assert.deepEqual([enabled, /restored/.test(reason)], [false, true])
  await restored.work()
  assert.equal((await restored.get(`/api/pix/cash-out/${waiting.id}`)).status, 'RESERVED')
  const refused = await restored.call('POST', '/api/pix/cash-out', {
    transaction: { value: 30, externalId: 'payout-2' },
    recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
  })
  assert.deepEqual([refused.status, refused.body.code], [503, 'cash_out_suspended'])

  await minutes(restored, 8)
  // The bank has carried out what the books have no record of sending: a case, and never sent.
  assert.equal((await restored.get(`/api/pix/cash-out/${waiting.id}`)).status, 'RECONCILIATION_REQUIRED')
  const database = openTestDatabase(backup)
  t.after(() => database.close())
  const cases = await openCaseFacts(database)
  const kinds = cases.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['debit_in_suspense', 'outcome_unknown', 'unexplained_debit'])
  const unexplained = cases.find(({ kind }) => kind === 'unexplained_debit')?.facts
  assert.equal(unexplained?.reference, await before.orderIdOf(lost.id))
  assert.ok(unexplained?.recipient?.name, 'an operator sees who was paid')

  await enable(restored)
  await restored.later(60_000)
  assert.equal((await readSwitch(restored)).enabled, true, 'nobody suspends again what is known')
  const next = await restored.cashOut({ externalId: 'payout-3' })
  await restored.work()
  assert.deepEqual(
    await payoutsAtBank(before),
    [...sent, await orderIdOf(database, next.id)].sort(),
    'nothing was sent twice',
  )
})
