import assert from 'node:assert/strict'
import test from 'node:test'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses, statementMark } from '../support/evidence.ts'
import { wallNow } from '../support/wall-clock.ts'
import { world } from '../support/world.ts'
import { EVENTS_LOST, NOT_FOUND, tamperedWorld } from './tampering-bank.ts'

const MINUTE = 60_000

test('[statement.5] [EV-0] [PL-3] a payment whose event is lost is found within a minute, with the payer that the bank names', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.behave(EVENTS_LOST)
  const { id } = await pix.charge('100.00')
  await pix.later(MINUTE)
  const { endToEndId } = await pix.bankAction(`charges/${id}/pay`, { payerName: 'João' })
  await pix.later(MINUTE)
  const detail = await pix.until(`/api/pix/cash-in/${id}`, ({ status }) => status === 'PAID')
  assert.deepEqual([detail.endToEndId, detail.payerName], [endToEndId, 'João'])
  await pix.later(MINUTE)
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[statement.5] [PL-10] a charge paid in time, its event lost and denied at its expiry, is paid by the statement', async (t) => {
  const pix = await tamperedWorld(t)
  await pix.behave(EVENTS_LOST)
  const { id, pixCode } = await pix.charge('100.00', { expirationTime: 3_600 })
  assert.ok(pixCode)
  const orderId = await pix.orderIdOf(id)
  pix.tamper = (call) => (call === `GET /charges/${orderId}` ? NOT_FOUND : undefined)
  pix.clock.advance(3_590_000)
  const { endToEndId } = await pix.bankAction(`charges/${id}/pay`)
  await pix.later(MINUTE)
  assert.equal((await pix.read(id)).status, 'EXPIRED')
  await pix.later(MINUTE)
  await pix.later(MINUTE)
  const detail = await pix.read(id)
  assert.deepEqual([detail.status, detail.endToEndId, detail.payerName], ['PAID', endToEndId, null])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await balances(pix.database), { available: 10000n, settlement: -10000n })
  await pix.later(10 * MINUTE)
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[statement.5] [PL-10] a payout that the bank denies is confirmed by the statement', async (t) => {
  const pix = await tamperedWorld(t)
  await pix.balance(100_00)
  await pix.behave({ cashOut: 'manual', ...EVENTS_LOST })
  const { id } = await pix.cashOut()
  await pix.later(MINUTE)
  const { endToEndId } = await pix.bankAction(`payouts/${id}/confirm`)
  const orderId = await pix.orderIdOf(id)
  pix.tamper = (call) => (call === `GET /payouts/${orderId}` ? { status: 503, body: {} } : undefined)
  for (let minutes = 0; minutes < 3; minutes += 1) await pix.later(MINUTE)
  const detail = await pix.get(`/api/pix/cash-out/${id}`)
  assert.deepEqual([detail.status, detail.endToEndId], ['CONFIRMED', endToEndId])
  await pix.assertBooksAgree()
})

test('[statement.5] [PL-10] a payout’s return whose event is lost is credited from the statement', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.balance(100_00)
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
  await pix.later(MINUTE)
  await pix.behave(EVENTS_LOST)
  await pix.bankAction(`payouts/${id}/reverse`, { valueCents: 10_00 })
  for (let minutes = 0; minutes < 3; minutes += 1) await pix.later(MINUTE)
  const detail = await pix.get(`/api/pix/cash-out/${id}`)
  assert.deepEqual([detail.status, detail.reversedCents], ['REVERSED', 10_00])
  await pix.assertBooksAgree()
})

test('[statement.5] [PL-10] a refund and a return by the bank whose events are lost are booked from the statement', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { id } = await pix.paid('100.00')
  await pix.balance(100_00)
  await pix.behave({ refundIn: 'manual', ...EVENTS_LOST })
  const refund = await pix.refundIn(id, 30)
  await pix.later(MINUTE)
  await pix.bankAction(`refunds/${refund.id}/confirm`)
  await pix.bankAction(`charges/${id}/return`, { valueCents: 20_00 })
  for (let minutes = 0; minutes < 4; minutes += 1) await pix.later(MINUTE)
  assert.equal((await pix.get(`/api/pix/refund/${refund.id}`)).status, 'CONFIRMED')
  assert.equal((await pix.read(id)).refundedCents, 50_00)
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[statement.5] [PL-41] a return of a second payment whose event was lost is debited from suspense', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { id } = await pix.paid('100.00')
  await pix.bankAction(`charges/${id}/pay`)
  while ((await balances(pix.database)).suspense_in === undefined) await pix.work()
  await pix.bankAction(`charges/${id}/return`, { valueCents: 100_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ refundedCents }) => refundedCents === 100_00)
  await pix.later(MINUTE)
  await pix.behave(EVENTS_LOST)
  await pix.bankAction(`charges/${id}/return`, { valueCents: 60_00 })
  for (let minutes = 0; minutes < 8; minutes += 1) await pix.later(MINUTE)
  assert.equal((await balances(pix.database)).suspense_in, 40_00n)
  assert.deepEqual(
    await cases(pix.database),
    ['payment_in_suspense'],
    'what is left of the second payment is still to be decided',
  )
  await pix.assertBooksAgree()
})

for (const [name, offsetMs] of [
  ['behind', -4 * MINUTE],
  ['ahead of', 4 * MINUTE],
] as const) {
  test(`[statement.2] [PL-12] the statement of a bank whose time is four minutes ${name} ours is read all the same`, async (t) => {
    let now = wallNow
    const pix = await world(t, {}, { isStepped: true, bankClock: { now: () => now(), sleep: realPause.for } })
    now = () => pix.clock.now() + offsetMs
    const { id } = await pix.charge('100.00', { expirationTime: 7_200 })
    for (let minutes = 0; minutes < 7; minutes += 1) await pix.later(MINUTE)
    await pix.behave(EVENTS_LOST)
    await pix.bankAction(`charges/${id}/pay`)
    await pix.later(MINUTE)
    await pix.later(MINUTE)
    assert.equal((await pix.read(id)).status, 'PAID')
    await pix.assertBooksAgree()
  })
}

test('[statement.3] [PL-13] while the bank answers 500 or garbage nothing is lost: entries are found when it answers again', async (t) => {
  const pix = await tamperedWorld(t)
  await pix.behave(EVENTS_LOST)
  const { id } = await pix.charge('100.00', { expirationTime: 7_200 })
  await pix.bankAction(`charges/${id}/pay`)
  for (const wrong of [{ status: 500, body: {} }, { status: 200, body: { entries: 'none' } }, NOT_FOUND]) {
    pix.tamper = (call) => (call === 'GET /statement' ? wrong : undefined)
    for (let minutes = 0; minutes < 5; minutes += 1) await pix.later(MINUTE)
  }
  assert.equal((await pix.read(id)).status, 'PENDING')
  assert.equal((await statementMark(pix.database)).readAt, null)
  pix.tamper = () => undefined
  await pix.later(MINUTE)
  await pix.later(MINUTE)
  assert.equal((await pix.read(id)).status, 'PAID')
  await pix.assertBooksAgree()
})
