import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { assertBooks, balances } from '../../support/books.ts'
import { administer, testDatabase } from '../../support/database.ts'
import { audit } from '../../support/evidence.ts'
import { OPERATOR, operatedProcess } from './workshop.ts'

const SUSPENDED = { code: 'cash_out_suspended' }

test('[operator.switch.1] payouts are enabled until they are suspended; then it tells why and since when', async (t) => {
  const { url } = await testDatabase(t)
  const { store, switchCashOuts } = operatedProcess(t, url)
  assert.deepEqual(await store.readSwitch(), { enabled: true, reason: null, changedAt: null })
  const off = await switchCashOuts(false, 'Incident «42»')
  assert.deepEqual(off, { enabled: false, reason: 'Incident «42»', changedAt: off.changedAt })
  assert.deepEqual(await store.readSwitch(), off)
  const on = await switchCashOuts(true, 'over')
  assert.deepEqual(await store.readSwitch(), on)
})

test('[operator.switch.3] every setting is audited, also one that changes nothing', async (t) => {
  const { url, database } = await testDatabase(t)
  const { switchCashOuts } = operatedProcess(t, url)
  const settings = [
    { enabled: false, reason: 'Incident 42' },
    { enabled: false, reason: 'still' },
    { enabled: true, reason: 'over' },
  ]
  const set: (number | null)[] = []
  for (const { enabled, reason } of settings) set.push((await switchCashOuts(enabled, reason)).changedAt)
  assert.deepEqual(
    await audit(database),
    settings.map((facts, index) => ({
      ...OPERATOR,
      at: set[index],
      action: 'cash_out_switch.set',
      subject: 'cash_out_switch',
      facts,
    })),
  )
})

test('[operator.switch.3] without its audit row the switch is not set', async (t) => {
  const { url } = await testDatabase(t)
  const { store, switchCashOuts } = operatedProcess(t, url)
  await administer(url, 'REVOKE INSERT ON audit FROM pixgate_app')
  await assert.rejects(switchCashOuts(false))
  assert.equal((await store.readSwitch()).enabled, true)
})

test('[operator.switch.2] a process that believes payouts enabled refuses them, and one that believes them off takes them', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  await one.adjust(100_00n)
  for (const process of [one, other]) await process.payOut(1_00n)

  await one.switchCashOuts(false)
  for (const process of [other, one]) await assert.rejects(process.payOut(1_00n), SUSPENDED)
  assert.deepEqual(await balances(database), { available: 98_00n, reserved: 2_00n, settlement: -100_00n })

  await one.switchCashOuts(true)
  for (const process of [other, one]) await process.payOut(1_00n)
  assert.deepEqual(await balances(database), { available: 96_00n, reserved: 4_00n, settlement: -100_00n })
  await assertBooks(database)
})

test('[operator.switch.2] [CO-24] what was accepted before is not claimed for sending while the switch is off', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  await one.adjust(100_00n)
  const payout = await other.payOut(1_00n)
  await one.switchCashOuts(false)
  const claim = () => other.payouts.apply(payout.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  assert.equal((await claim())?.result, 'IGNORED')
  await one.switchCashOuts(true)
  assert.equal((await claim())?.result, 'APPLIED')
  await assertBooks(database)
})

test('[operator.switch.2] a payout on its way into the database when the switch is set is refused', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  await process.adjust(100_00n)
  await process.payOut(1_00n)

  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query(`SELECT FROM control WHERE name = 'cash_out_switch' FOR UPDATE`)
  // Both wait for the row, the setting before the payout.
  const setting = process.switchCashOuts(false)
  await waitingBackends(holder, 1)
  const refused = assert.rejects(process.payOut(1_00n), SUSPENDED)
  await waitingBackends(holder, 2)
  await holder.query('COMMIT')
  await holder.end()

  await Promise.all([setting, refused])
  assert.equal((await balances(database)).reserved, 1_00n)
})

/** Resolves when so many backends wait for a lock. */
async function waitingBackends(observer: pg.Client, wanted: number): Promise<void> {
  for (;;) {
    const { rows } = await observer.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    )
    if (rows[0].waiting >= wanted) return
  }
}
