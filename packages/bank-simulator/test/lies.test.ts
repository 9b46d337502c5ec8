import assert from 'node:assert/strict'
import test from 'node:test'
import { until } from '../../server/test/support/until.ts'
import { Liar, type Lie, lies } from '../src/lies.ts'
import { becomes, ID, moves, PAYOUT, PAYOUT_ID, REFUND_ID, startBank, type TestBank } from './support/bank.ts'
import { startService } from './support/receiving-gateway.ts'

const OTHER_ID = '0198c0de-8b22-7000-8000-000000000001'

/** Makes a bank tell these lies at every occasion. */
function lie(bank: TestBank, ...names: Lie[]) {
  return bank.call('PUT', '/control/lies', { perThousand: Object.fromEntries(names.map((name) => [name, 1_000])) })
}

async function sentPayout(bank: TestBank): Promise<void> {
  await bank.payout()
  await becomes(bank, `/payouts/${PAYOUT_ID}`, 'CONFIRMED')
}

test('[sandbox.11] the seed decides when a lie applies, the rate how often', () => {
  const drawn = (seed: number, name: Lie = 'falseNotFound') => {
    const liar = new Liar()
    liar.change({ seed, perThousand: { [name]: 300 } })
    return Array.from({ length: 1_000 }, () => liar.tells(name))
  }
  assert.deepEqual(drawn(1), drawn(1))
  assert.notDeepEqual(drawn(1), drawn(2))
  assert.notDeepEqual(drawn(1), drawn(1, 'wrongAmount'))
  const often = drawn(1).filter(Boolean).length
  assert.ok(often > 250 && often < 350, String(often))
})

test('[sandbox.11] a bank without configured lies tells none; an unknown lie gets 400', async (t) => {
  const liar = new Liar()
  for (const name of Object.keys(lies) as Lie[]) assert.equal(liar.tells(name), false)
  const bank = await startBank(t)
  assert.equal((await bank.call('PUT', '/control/lies', { perThousand: { white: 1 } })).status, 400)
  assert.deepEqual((await bank.call('GET', '/control/lies')).body, { told: {} })
})

test('[sandbox.11] a request gets 500 before or after its execution', async (t) => {
  const bank = await startBank(t)
  await lie(bank, 'unavailable')
  assert.equal((await bank.payout()).status, 500)
  assert.deepEqual((await bank.call('GET', '/control/book')).body.payouts, [])
  await lie(bank, 'errorAfterExecuting')
  assert.equal((await bank.payout()).status, 500)
  await lie(bank)
  await becomes(bank, `/payouts/${PAYOUT_ID}`, 'CONFIRMED')
  assert.deepEqual((await bank.call('GET', '/control/lies')).body.told, { unavailable: 1, errorAfterExecuting: 1 })
})

test('[sandbox.11] the balance is R$ 100,00 too low while the statement is correct', async (t) => {
  const bank = await startBank(t)
  await lie(bank, 'balanceShort')
  assert.equal((await bank.call('GET', '/balance')).body.availableCents, -10_000)
  assert.equal((await bank.call('GET', '/statement')).body.closingCents, 0)
})

test('[sandbox.11] an order is executed and refused', async (t) => {
  const bank = await startBank(t)
  await lie(bank, 'falseRefusal')
  const { status, body } = await bank.payout()
  assert.deepEqual([status, body.errorCode], [422, 'payout_refused'])
  await becomes(bank, `/payouts/${PAYOUT_ID}`, 'CONFIRMED')
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4000'], -4_000])
})

test('[sandbox.11] a query responds not found, a failure, a centavo too much or another operation; the book is correct', async (t) => {
  const bank = await startBank(t)
  await sentPayout(bank)
  await bank.payout(OTHER_ID)
  const { body: truth } = await bank.call('GET', `/payouts/${PAYOUT_ID}`)
  const answerUnder = async (name: Lie) => {
    await lie(bank, name)
    return (await bank.call('GET', `/payouts/${PAYOUT_ID}`)).body
  }
  assert.equal((await answerUnder('falseNotFound')).errorCode, 'not_found')
  const { endToEndId: _, occurredAt: __, ...named } = truth
  const failure = { status: 'FAILED', errorCode: 'AC07', errorMessage: 'the account is closed' }
  assert.deepEqual(await answerUnder('falseFailure'), { ...named, ...failure })
  assert.deepEqual(await answerUnder('wrongAmount'), { ...truth, valueCents: 4_001 })
  assert.equal((await answerUnder('foreignAnswer')).id, OTHER_ID)
  assert.deepEqual((await bank.call('GET', '/control/book')).body.payouts[0], truth)
})

test('[sandbox.11] an event arrives before the response', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url })
  await lie(bank, 'early')
  const answered = bank.payout()
  await service.arrived(1)
  assert.equal((await answered).body.status, 'PROCESSING')
})

test('[sandbox.11] an event is lost, doubled, or has no ids of the service, a wrong amount or another operation’s ids', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url })
  await bank.charge()
  const eventsUnder = async (name: Lie, count: number) => {
    await lie(bank, name)
    const before = service.received.length
    await bank.call('POST', `/control/charges/${ID}/pay`)
    return (await service.arrived(before + count)).slice(before).map(({ event }) => event)
  }
  const [one, same] = await eventsUnder('eventDoubled', 2)
  assert.deepEqual(one, same)
  assert.equal((await eventsUnder('eventWithoutOurIds', 1))[0]?.externalId, null)
  assert.equal((await eventsUnder('eventWrongAmount', 1))[0]?.valueCents, 15_001)
  const [failure, success] = await eventsUnder('eventFalseFailure', 2)
  assert.deepEqual([failure?.status, success?.status], ['FAILED', 'CONFIRMED'])
  await bank.charge(OTHER_ID)
  await lie(bank, 'eventForeign')
  const before = service.received.length
  await bank.call('POST', `/control/charges/${OTHER_ID}/pay`)
  assert.equal((await service.arrived(before + 1))[before]?.event.externalId, ID)
  assert.deepEqual(await eventsUnder('eventLost', 0), [])
  const { events } = (await bank.call('GET', '/control/book')).body
  assert.equal(events.delivered.length + events.pending.length, 6)
})

test('[sandbox.12] without idempotent orders each repeated order is a new payout or refund, even after a restart', async (t) => {
  const bank = await startBank(t, { hasIdempotentOrders: false })
  const endToEndId = await bank.paidCharge()
  for (const expected of [1, 2]) {
    await bank.payout()
    await bank.refund(endToEndId, 1_000)
    await until(async () => (await moves(bank))[0].length >= 1 + 2 * expected)
  }
  const { entries } = (await bank.call('GET', '/control/book')).body
  const sent = entries.slice(1).map(({ kind, reference }: { kind: string; reference: string }) => [kind, reference])
  const once = [
    ['PAYOUT_SENT', PAYOUT_ID],
    ['REFUND_SENT', REFUND_ID],
  ]
  assert.deepEqual(sent.sort(), [...once, ...once].sort())
  await bank.stop()
  const again = await startBank(t, { dataDirectory: bank.directory, hasIdempotentOrders: false })
  assert.deepEqual((await again.call('GET', '/control/book')).body.entries, entries)
})

test('[sandbox.12] without idempotent orders another order with the same id is executed too', async (t) => {
  const bank = await startBank(t, { hasIdempotentOrders: false })
  await sentPayout(bank)
  assert.equal((await bank.payout(PAYOUT_ID, { ...PAYOUT, valueCents: 1 })).status, 202)
  await until(async () => (await moves(bank))[1] === -4_001)
})
