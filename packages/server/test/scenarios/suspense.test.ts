import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses, openCases } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { minutes } from '../support/stepping.ts'
import { BANKS, codeOf, suspended, turn } from '../support/suspense.ts'

/** Money in suspense: what a charge keeps of it, and what goes back to its payer through the bank. */

const HOUR = 3_600_000

for (const order of [
  ['accept', 'return_to_payer'],
  ['return_to_payer', 'accept'],
] as const) {
  test(`[cash-in.cases.1] [cash-in.cases.3] a charge of 100 paid with 150 keeps 100, and 50 are returned: ${order.join(', ')}`, async (t) => {
    const { pix, charge, decide, ends, sentBack } = await suspended(t, { payments: [150_00] })
    for (const decision of order) {
      const answer = await decide(decision, decision === 'accept' ? 100_00 : 50_00)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
    const refund = await ends('CONFIRMED')
    assert.deepEqual([refund.origin, refund.valueCents], ['OPERATOR', 50_00])
    const { status, valueCents, receivedCents, refundedCents, refundableCents } = await charge()
    assert.deepEqual(
      { status, valueCents, receivedCents, refundedCents, refundableCents },
      { status: 'PAID', valueCents: 100_00, receivedCents: 150_00, refundedCents: 0, refundableCents: 100_00 },
    )
    assert.deepEqual(await sentBack(), [50_00])
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.deepEqual(await balances(pix.database), { available: 100_00n, settlement: -100_00n })
    assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
    await pix.assertBooksAgree()
  })
}

for (const bank of BANKS) {
  test(`[cash-in.cases.3] a second payment is returned to its payer: ${bank ?? 'pixgate'}`, async (t) => {
    const given = { payments: [100_00, 100_00], ...(bank && { bank }) }
    const { pix, charge, decide, ends, sentBack } = await suspended(t, given)
    assert.equal((await decide('return_to_payer', 100_00)).status, 200)
    await ends('CONFIRMED')
    await minutes(pix, 10)
    assert.deepEqual(await sentBack(), [100_00])
    const { status, refundedCents, refundableCents } = await charge()
    assert.deepEqual([status, refundedCents, refundableCents], ['PAID', 0, 100_00], 'the charge has its payment')
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.deepEqual(await balances(pix.database), { available: 100_00n, settlement: -100_00n })
    await pix.assertBooksAgree()
  })
}

test('[cash-in.cases.15] a charge that keeps nothing has failed, and the merchant is notified', async (t) => {
  const { pix, charge, decide, ends } = await suspended(t, { payments: [90_00] })
  assert.equal((await decide('return_to_payer', 90_00)).status, 200)
  assert.equal((await charge()).status, 'RECONCILIATION_REQUIRED', 'not before the bank has confirmed it')
  await ends('CONFIRMED')
  const { status, failureCode } = await charge()
  assert.deepEqual([status, failureCode], ['FAILED', 'returned_to_payer'])
  assert.deepEqual((await notifiedStatuses(pix.database)).toSorted(), ['CONFIRMED', 'FAILED'])
  assert.deepEqual(await balances(pix.database), {})
  await pix.assertBooksAgree()
})

test('[cash-in.cases.3] a return that the bank refuses changes nothing, and may be ordered again', async (t) => {
  const { pix, decide, ends, refunds, sentBack } = await suspended(t, { payments: [150_00] })
  await pix.behave({ refundIn: 'fail' })
  assert.equal((await decide('return_to_payer', 50_00)).status, 200)
  const refused = await ends('FAILED')
  assert.equal(typeof refused.failureCode, 'string')
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'], 'the money is where it was')
  assert.deepEqual(await balances(pix.database), { suspense_in: 150_00n, settlement: -150_00n })
  await pix.behave({ refundIn: 'auto' })
  assert.equal((await decide('return_to_payer', 150_00)).status, 200)
  await ends('CONFIRMED')
  assert.equal((await refunds()).length, 2)
  assert.deepEqual(await sentBack(), [150_00])
  await pix.assertBooksAgree()
})

test('[cash-in.cases.3] no more is returned or accepted than is in suspense, and a case that holds money is not closed', async (t) => {
  const { pix, decide } = await suspended(t, { payments: [150_00] })
  await pix.behave({ refundIn: 'manual' })
  assert.deepEqual(codeOf(await decide('return_to_payer')), [400, 'validation_error'], 'how much is to be said')
  assert.deepEqual(codeOf(await decide('return_to_payer', 150_01)), [409, 'not_possible_in_state'])
  assert.equal((await decide('return_to_payer', 100_00)).status, 200)
  assert.deepEqual(codeOf(await decide('return_to_payer', 50_01)), [409, 'not_possible_in_state'])
  assert.deepEqual(codeOf(await decide('accept', 50_01)), [409, 'not_possible_in_state'])
  for (const decision of ['close', 'write_off']) {
    assert.deepEqual(codeOf(await decide(decision)), [409, 'not_possible_in_state'], decision)
  }
  assert.deepEqual(await balances(pix.database), { suspense_in: 150_00n, settlement: -150_00n })
})

test('[cash-in.cases.3] nothing is returned while payouts and refunds are off, nor 90 days after the payment', async (t) => {
  const { pix, decide, refunds } = await suspended(t, { payments: [150_00] })
  await turn(pix, false)
  assert.deepEqual(codeOf(await decide('return_to_payer', 50_00)), [503, 'cash_out_suspended'])
  await turn(pix, true)
  await pix.later(90 * 24 * HOUR + 1_000)
  assert.deepEqual(codeOf(await decide('return_to_payer', 50_00)), [422, 'refund_deadline_exceeded'])
  assert.deepEqual(await refunds(), [])
})

test('[cash-in.refunds.12] a return by the bank during ours is another one, by its reference', async (t) => {
  const { pix, id, decide, ends, sentBack } = await suspended(t, { payments: [150_00] })
  await pix.behave({ refundIn: 'manual' })
  assert.equal((await decide('return_to_payer', 50_00)).status, 200)
  await pix.later(1_000)
  await pix.bankAction(`charges/${id}/return`, { valueCents: 50_00, nature: 'MED_FRAUDE' })
  await minutes(pix, 5)
  assert.deepEqual(await balances(pix.database), { suspense_in: 100_00n, settlement: -100_00n })
  const [{ id: refundId }] = (await pix.call('GET', '/api/pix/refund')).body.data
  await pix.bankAction(`refunds/${refundId}/fail`)
  await ends('FAILED')
  await minutes(pix, 20)
  assert.deepEqual(await sentBack(), [])
  assert.deepEqual(await balances(pix.database), { suspense_in: 100_00n, settlement: -100_00n })
  await pix.assertBooksAgree()
})

test('[cash-in.refunds.12] a payment in suspense that the bank returns by itself closes its case', async (t) => {
  const { pix, id, charge } = await suspended(t, { payments: [150_00] })
  await pix.bankAction(`charges/${id}/return`, { valueCents: 150_00, nature: 'MED_FRAUDE' })
  await pix.until(`/api/pix/cash-in/${id}`, ({ status }) => status === 'FAILED')
  assert.equal((await charge()).failureCode, 'returned_to_payer')
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
  assert.deepEqual(await balances(pix.database), {})
  await pix.assertBooksAgree()
})

test('[cases.36] [engine.22] an ordered return changes the case: the same decision sent again, by any operator, is not made', async (t) => {
  const { pix, caseId, ana, sentBack, ends } = await suspended(t, { payments: [150_00] })
  const bia = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Bia')}` }
  const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  const asked = { decision: 'return_to_payer', version, reason: 'as the payer wants', amountCents: 50_00 }
  const decide = (headers: Record<string, string>) =>
    pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, headers)
  const both = await Promise.all([ana, bia].map(decide))
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409])
  assert.deepEqual(codeOf(await decide(ana)), [409, 'case_changed'])
  const ordered = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body.version
  await ends('CONFIRMED')
  const confirmed = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body.version
  assert.equal(new Set([version, ordered, confirmed]).size, 3, 'what became of it changes it, too')
  assert.deepEqual(await sentBack(), [50_00])
})

test('[refund-in.states.2] a return that the bank has made meanwhile is not sent', async (t) => {
  const { pix, id, decide, sentBack, refunds } = await suspended(t, { payments: [150_00] })
  assert.equal((await decide('accept', 100_00)).status, 200)
  assert.equal((await decide('return_to_payer', 50_00)).status, 200)
  await turn(pix, false)
  await pix.bankAction(`charges/${id}/return`, { valueCents: 50_00, nature: 'MED_FRAUDE' })
  for (let second = 0; second < 10; second++) await pix.later(1_000)
  await turn(pix, true)
  for (let quarter = 0; quarter < 4 * 26; quarter++) await pix.later(HOUR / 4)
  assert.deepEqual(await sentBack(), [])
  assert.deepEqual(
    (await refunds()).map(({ status }: { readonly status: string }) => status),
    ['FAILED'],
  )
  assert.deepEqual(
    await openCases(pix.database),
    ['event_set_aside'],
    'of the event whose return waited for the bank’s answer',
  )
  assert.deepEqual(await balances(pix.database), { available: 100_00n, settlement: -100_00n })
  await pix.assertBooksAgree()
})
