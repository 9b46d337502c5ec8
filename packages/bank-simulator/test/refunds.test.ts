import assert from 'node:assert/strict'
import test from 'node:test'
import { isReturnId } from '@pixgate/brcode'
import { becomes, ID, moves, REFUND_ID, settledEvents, startBank } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'
import { startService } from './support/receiving-gateway.ts'

const path = `/refunds/${REFUND_ID}`
const control = `/control${path}`
const occurredAt = '2026-11-21T13:15:30.000Z'

test('[partner-protocol] a refund returns 202 and moves no money; a confirmed refund is debited and reported by an event', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.behave({ refundIn: 'manual' })
  const endToEndId = await bank.paidCharge()
  const { status, body } = await bank.refund(endToEndId, 5_000)
  const { transactionId } = body
  assert.match(transactionId, /^[0-9a-f]{32}$/)
  assert.equal(status, 202)
  assert.deepEqual(body, { id: REFUND_ID, transactionId, status: 'PROCESSING', valueCents: 5_000 })
  assert.deepEqual((await bank.call('GET', path)).body, body)
  assert.deepEqual(await moves(bank), [['PAYMENT_RECEIVED +15000'], 15_000])

  const confirmed = await bank.call('POST', `${control}/confirm`)
  const { returnId } = confirmed.body
  assert.deepEqual(confirmed, { status: 202, body: { accepted: true, returnId } })
  assert.ok(isReturnId(returnId))
  assert.ok(returnId.startsWith('D99999001202611211315'), returnId)
  const moved = { returnId, valueCents: 5_000, occurredAt }
  assert.deepEqual((await bank.call('GET', path)).body, {
    id: REFUND_ID,
    transactionId,
    status: 'CONFIRMED',
    ...moved,
  })
  const { entries, closingCents } = (await bank.call('GET', '/statement')).body
  assert.deepEqual(entries[1], { kind: 'REFUND_SENT', sign: '-', reference: REFUND_ID, endToEndId, ...moved })
  assert.equal(closingCents, 10_000)
  const [, arrival] = await service.arrived(2)
  assert.equal(arrival?.path, '/api/webhooks/pix/cash-in')
  const { eventId: _, ...event } = arrival.event
  const named = { event: 'CashInReversal', transactionId, externalId: REFUND_ID }
  assert.deepEqual(event, { ...named, status: 'CONFIRMED', endToEndId, ...moved })
})

test('[partner-protocol] a failed refund moves no money, and an event reports the reason', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.behave({ refundIn: 'manual' })
  const endToEndId = await bank.paidCharge()
  const { transactionId } = (await bank.refund(endToEndId, 15_000)).body
  await bank.call('POST', `${control}/fail`)
  const failure = { errorCode: 'AC07', errorMessage: 'the account of the payer is closed' }
  const known = { id: REFUND_ID, transactionId, status: 'FAILED', valueCents: 15_000 }
  assert.deepEqual((await bank.call('GET', path)).body, { ...known, ...failure })
  const [, { eventId: _, ...event }] = await settledEvents(bank)
  const named = { event: 'CashInReversal', transactionId, externalId: REFUND_ID, endToEndId }
  assert.deepEqual(event, { ...named, status: 'FAILED', valueCents: 15_000, ...failure, occurredAt })
  assert.equal((await bank.refund(endToEndId, 15_000, 'another')).status, 202)
  assert.deepEqual(await moves(bank), [['PAYMENT_RECEIVED +15000'], 15_000])
})

test('[partner-protocol] refunds and returns by the bank together cannot exceed the payment', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ refundIn: 'manual' })
  const endToEndId = await bank.paidCharge()
  const refusal = async (valueCents: number) => {
    const { status, body } = await bank.refund(endToEndId, valueCents, 'too much')
    return [status, body.errorCode]
  }
  const exceeds = [422, 'exceeds_payment']
  assert.deepEqual(await refusal(15_001), exceeds)
  await bank.refund(endToEndId, 6_000, 'processing')
  await bank.refund(endToEndId, 5_000, 'confirmed')
  await bank.call('POST', '/control/refunds/confirmed/confirm')
  await bank.call('POST', `/control/charges/${ID}/return`, { valueCents: 3_000 })
  assert.deepEqual(await refusal(1_001), exceeds)
  assert.equal((await bank.call('GET', '/refunds/too%20much')).status, 404)
  assert.equal((await bank.refund(endToEndId, 1_000, 'the rest')).status, 202)
  assert.deepEqual(await refusal(1), exceeds)
})

test('[partner-protocol] a refund of an unknown payment is refused', async (t) => {
  const bank = await startBank(t)
  const { status, body } = await bank.refund('E9999901020261121131500aB3dE5fG7', 1)
  assert.deepEqual([status, body.errorCode], [422, 'payment_not_found'])
  assert.equal((await bank.call('GET', path)).status, 404)
})

test('[partner-protocol] a return by the bank (MED) is reported by an event and is not a refund', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  const endToEndId = await bank.paidCharge()
  const { status, body } = await bank.call('POST', `/control/charges/${ID}/return`, { valueCents: 4_000 })
  const { returnId } = body
  assert.deepEqual([status, body], [202, { accepted: true, endToEndId, returnId }])
  assert.ok(isReturnId(returnId))
  const moved = { endToEndId, returnId, valueCents: 4_000, occurredAt }
  const { entries, closingCents } = (await bank.call('GET', '/statement')).body
  assert.deepEqual(entries[1], { kind: 'PAYMENT_TAKEN_BACK', sign: '-', reference: ID, ...moved })
  assert.equal(closingCents, 11_000)
  const [, { eventId: _, transactionId, ...event }] = await settledEvents(bank)
  assert.match(transactionId, /^[0-9a-f]{32}$/)
  assert.deepEqual(event, { event: 'CashInReversal', externalId: null, status: 'CONFIRMED', ...moved })
  assert.equal(service.received[1]?.path, '/api/webhooks/pix/cash-in')
})

test('[partner-protocol] the bank returns from a payment with enough left, and never more than is left', async (t) => {
  const bank = await startBank(t)
  const take = (valueCents: number, id = ID) => bank.call('POST', `/control/charges/${id}/return`, { valueCents })
  assert.equal((await take(1)).status, 404)
  await bank.charge()
  assert.equal((await take(1)).status, 409)
  const first = await bank.paidCharge()
  const second = await bank.paidCharge()
  assert.equal((await take(15_001)).status, 409)
  assert.equal((await take(10_000)).body.endToEndId, first)
  assert.equal((await take(10_000)).body.endToEndId, second)
  assert.equal((await take(5_000)).body.endToEndId, first)
  assert.equal((await take(5_001)).status, 409)
  assert.equal((await take(5_000)).body.endToEndId, second)
  assert.equal((await bank.call('GET', '/balance')).body.availableCents, 0)
})

test('[partner-protocol] a refund in progress and a return by the bank both settle', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ refundIn: 'manual' })
  await bank.refund(await bank.paidCharge(), 15_000)
  assert.equal((await bank.call('POST', `/control/charges/${ID}/return`, { valueCents: 15_000 })).status, 202)
  assert.equal((await bank.call('POST', `${control}/confirm`)).status, 202)
  assert.equal((await bank.call('GET', '/balance')).body.availableCents, -15_000)
})

test('[partner-protocol] on request, the bank confirms another amount or a failed refund', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ refundIn: 'manual' })
  const endToEndId = await bank.paidCharge()
  await bank.refund(endToEndId, 100)
  await bank.call('POST', `${control}/confirm`, { valueCents: 99 })
  assert.equal((await bank.call('GET', path)).body.valueCents, 99)
  await bank.refund(endToEndId, 50, 'failed')
  await bank.call('POST', '/control/refunds/failed/fail')
  await bank.call('POST', '/control/refunds/failed/confirm', { despiteFailure: true })
  const late = (await bank.call('GET', '/refunds/failed')).body
  assert.deepEqual([late.status, late.errorCode], ['CONFIRMED', undefined])
  assert.deepEqual(await moves(bank), [['PAYMENT_RECEIVED +15000', 'REFUND_SENT -99', 'REFUND_SENT -50'], 14_851])
})

test('[partner-protocol] the sandbox actions get 404 for an unknown refund and 409 for a settled one', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ refundIn: 'manual' })
  for (const action of ['confirm', 'fail']) assert.equal((await bank.call('POST', `${control}/${action}`)).status, 404)
  await bank.refund(await bank.paidCharge(), 1)
  await bank.call('POST', `${control}/confirm`)
  for (const action of ['confirm', 'fail']) assert.equal((await bank.call('POST', `${control}/${action}`)).status, 409)
})

test('[partner.1] a repeated order returns the same refund; another body is a conflict', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ refundIn: 'manual' })
  const endToEndId = await bank.paidCharge()
  const first = await bank.refund(endToEndId, 15_000)
  assert.deepEqual(await bank.refund(endToEndId, 15_000), first)
  const { status, body } = await bank.refund(endToEndId, 14_999)
  assert.deepEqual([status, body.errorCode], [409, 'conflict'])
  await bank.call('POST', `${control}/confirm`)
  await bank.behave({ refundIn: 'reject' })
  const known = (await bank.call('GET', path)).body
  assert.deepEqual(await bank.refund(endToEndId, 15_000), { status: 200, body: known })
  assert.equal((await bank.refund(endToEndId, 1, 'new')).body.errorCode, 'refund_refused')
})

test('[sandbox.5] refunds are confirmed automatically, fail, time out and lose their responses like payouts', async (t) => {
  const bank = await startBank(t)
  const endToEndId = await bank.paidCharge()
  await bank.refund(endToEndId, 1_000, 'auto')
  assert.ok(isReturnId((await becomes(bank, '/refunds/auto', 'CONFIRMED')).returnId))
  await bank.behave({ refundIn: 'fail' })
  await bank.refund(endToEndId, 1_000, 'fail')
  await becomes(bank, '/refunds/fail', 'FAILED')
  await bank.behave({ refundIn: 'lost-response' })
  await assert.rejects(bank.refund(endToEndId, 200, 'lost'), TypeError)
  await becomes(bank, '/refunds/lost', 'CONFIRMED')
  await bank.behave({ refundIn: 'timeout' })
  const silence = assert.rejects(bank.refund(endToEndId, 30, 'silent'), TypeError)
  for (let asked = 0; asked < 20; asked++) assert.equal((await bank.call('GET', '/refunds/silent')).status, 404)
  assert.deepEqual((await moves(bank))[1], 13_800)
  await bank.stop()
  await silence
})
