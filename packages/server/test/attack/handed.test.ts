import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { balances } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { postEvent } from '../support/partner-events.ts'
import { world } from '../support/world.ts'
import { drifts } from './drifts.ts'
import { say } from './say.ts'

const ALONE = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }

/** 150 for 100: the charge keeps 100; the rest stays in suspense, or is booked on another charge of 50. */
async function begun(t: TestContext, isBooked: boolean) {
  const pix = await world(t, ALONE, { isStepped: true })
  const { id } = await pix.charge('100')
  const { id: other } = await pix.charge('50')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  const decide = async (decision: string, more: object) => {
    const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
    const asked = { decision, version, reason: 'as the payer wants', ...more }
    return pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)
  }
  assert.equal((await decide('accept', { amountCents: 100_00 })).status, 200)
  if (isBooked) {
    const booked = await decide('book', { operationId: other })
    assert.equal(booked.status, 200, JSON.stringify(booked.body))
  }
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) await pix.later(60_000)
  }
  const state = async (name: string) =>
    say(
      `${name} ${JSON.stringify({ drifts: await drifts(pix.database), charges: (await Promise.all([id, other].map((one) => pix.get(`/api/pix/cash-in/${one}`)))).map((one) => [one.status, one.valueCents, one.refundedCents, one.refundableCents, one.endToEndId]), refunds: (await pix.call('GET', '/api/pix/refund')).body.data.map((one: Record<string, unknown>) => [one.origin, one.status, one.valueCents]), cases: await cases(pix.database), b: String(Object.entries(await balances(pix.database))) })}`,
    )
  return { pix, id, other, pass, state }
}

test('ATTACK a payment of two charges: the bank takes back what the first one has', async (t) => {
  const { pix, id, pass, state } = await begun(t, true)
  await state('booked')
  await pass(6)
  await pix.bankAction(`charges/${id}/return`, { valueCents: 100_00, nature: 'MED_FRAUDE' })
  await pass(10)
  await state('MED of 100')
  const { refundableCents } = await pix.get(`/api/pix/cash-in/${id}`)
  assert.deepEqual(await balances(pix.database), { available: 50_00n, settlement: -50_00n })
  assert.ok(refundableCents === 0, `what went back is refundable again: ${refundableCents}`)
  await pix.assertBooksAgree()
})

test('ATTACK a payment of two charges: a refund of the first that the bank tells by its own ids', async (t) => {
  const { pix, id, pass, state } = await begun(t, true)
  const { endToEndId } = await pix.get(`/api/pix/cash-in/${id}`)
  await pix.behave({ refundIn: 'lost-response', eventDelayMs: 3_600_000 })
  const { id: refundId } = await pix.refundIn(id, 30)
  await pix.later(100)
  const carriedOut = async () =>
    (await pix.bank('GET', '/control/book')).body.refunds.find(
      ({ status }: { status: string }) => status === 'CONFIRMED',
    )
  let done = await carriedOut()
  while (!done) done = await carriedOut()
  await postEvent(pix, {
    event: 'CashInReversal',
    eventId: 'event of it',
    transactionId: done.transactionId,
    externalId: id,
    status: 'CONFIRMED',
    endToEndId,
    returnId: done.returnId,
    valueCents: 30_00,
    occurredAt: new Date(pix.clock.now()).toISOString(),
  })
  while ((await inbox(pix.database)).some(({ state }) => state === 'NEW'));
  await pix.behave({ refundIn: 'auto', eventDelayMs: 0 })
  await pass(10)
  await state('refund by own ids')
  assert.equal((await pix.get(`/api/pix/refund/${refundId}`)).status, 'CONFIRMED')
  assert.deepEqual(await balances(pix.database), { available: 120_00n, settlement: -120_00n })
})

test('ATTACK accepted in part: what the bank took back of it is not refunded by the merchant once more', async (t) => {
  const { pix, id, pass, state } = await begun(t, false)
  await pix.bankAction(`charges/${id}/return`, { valueCents: 100_00, nature: 'MED_FRAUDE' })
  await pass(8)
  await state('MED of accepted')
  const { status, body } = await pix.call('POST', `/api/pix/refund-in/${id}`, { refundValue: 100 })
  assert.equal(status, 422, JSON.stringify(body))
})
