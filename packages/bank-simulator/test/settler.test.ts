import assert from 'node:assert/strict'
import test from 'node:test'
import { systemChance } from '../src/chance.ts'
import { type Clock, systemClock } from '../src/clock.ts'
import { becomes, moves, PAYOUT_ID, settledEvents, startBank } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'
import { startService } from './support/receiving-gateway.ts'

/** A clock whose sleeps end only when the bank stops. */
const standing: Clock = {
  ...systemClock,
  sleep: (_, signal) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
}

test('[partner-protocol] an order accepted before a restart settles once after it, under the behaviour at acceptance', async (t) => {
  const bank = await startBank(t, { clock: standing })
  const endToEndId = await bank.paidCharge()
  await bank.payout('auto')
  await bank.refund(endToEndId, 1_000)
  await bank.behave({ cashOut: 'fail' })
  await bank.payout('fail')
  await bank.behave({ cashOut: 'manual' })
  await bank.payout('manual')
  await bank.stop()

  const service = await startService(t)
  const again = await startBank(t, { dataDirectory: bank.directory, eventsUrl: service.url })
  await becomes(again, '/payouts/auto', 'CONFIRMED')
  await becomes(again, '/payouts/fail', 'FAILED')
  await becomes(again, '/refunds/0198c0de-9c33-7000-8000-3d4e5f6a7b8c', 'CONFIRMED')
  assert.equal((await again.call('GET', '/payouts/manual')).body.status, 'PROCESSING')
  assert.equal((await settledEvents(again)).length, 4)
  await again.stop()

  const later = await startBank(t, { dataDirectory: bank.directory, clock: steppedClock(), eventsUrl: service.url })
  assert.equal((await later.call('GET', '/payouts/manual')).body.status, 'PROCESSING')
  const [moved, balanceCents] = await moves(later)
  assert.deepEqual(
    [moved.sort(), balanceCents],
    [['PAYMENT_RECEIVED +15000', 'PAYOUT_SENT -4000', 'REFUND_SENT -1000'], 10_000],
  )
  assert.equal(service.received.length, 4)
})

test('[sandbox.5] a control that settles an order first decides its outcome', async (t) => {
  const service = await startService(t)
  const alarms: { ms: number; wake: () => void }[] = []
  const clock: Clock = { ...systemClock, sleep: (ms) => new Promise((wake) => alarms.push({ ms, wake })) }
  const chance = { ...systemChance, below: (limit: number) => limit - 1 }
  const bank = await startBank(t, { clock, chance, eventsUrl: service.url })
  await bank.payout()
  assert.equal((await bank.call('POST', `/control/payouts/${PAYOUT_ID}/fail`)).status, 202)
  const [alarm] = alarms
  assert.equal(alarm?.ms, 100)
  alarm.wake()
  await settledEvents(bank)
  assert.equal((await bank.call('GET', `/payouts/${PAYOUT_ID}`)).body.status, 'FAILED')
  assert.deepEqual(await moves(bank), [[], 0])
})
