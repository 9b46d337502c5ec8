import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses, payoutSwitch } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { stepUntil } from '../support/stepping.ts'
import { world } from '../support/world.ts'
import { say } from './say.ts'

/** Orders of accept, return, MED and refunds of the merchant; what must hold is in the ends. */

const ALONE = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }

async function begun(t: TestContext, payments: readonly number[], bank?: 'api-pix' | 'efi') {
  const pix = await world(t, ALONE, { isStepped: true, ...(bank && { standard: bank }) })
  const { id } = await pix.charge('100')
  for (const valueCents of payments) {
    await pix.bankAction(`charges/${id}/pay`, { valueCents })
    await pix.later(1_000)
  }
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === payments.reduce((a, b) => a + b))
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const list = async (of = id) =>
    (await pix.call('GET', `/operator/cases?operation_id=${of}`, undefined, ana)).body.data
  const decide = async (caseId: string, decision: string, amountCents?: number, more: object = {}) => {
    const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
    const asked = { decision, version, reason: 'as the payer wants', ...(amountCents && { amountCents }), ...more }
    return pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)
  }
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) await pix.later(60_000)
  }
  const state = async (name: string) =>
    say(
      `${name} ${JSON.stringify({ charge: (await pix.get(`/api/pix/cash-in/${id}`)).status, refunds: (await pix.call('GET', '/api/pix/refund')).body.data.map((one: Record<string, unknown>) => [one.origin, one.status, one.valueCents]), cases: await cases(pix.database), told: await notifiedStatuses(pix.database), b: String(Object.entries(await balances(pix.database))), isSuspended: (await payoutSwitch(pix.database)).isSuspended })}`,
    )
  return { pix, id, ana, list, decide, pass, state }
}

for (const bank of [undefined, 'api-pix', 'efi'] as const) {
  test(`ATTACK MED of all while a return of a part is under way: ${bank ?? 'pixgate'}`, async (t) => {
    const { pix, id, list, decide, pass, state } = await begun(t, [150_00], bank)
    await pix.behave({ refundIn: 'manual' })
    const [{ id: caseId }] = await list()
    assert.equal((await decide(caseId, 'return_to_payer', 50_00)).status, 200)
    await pix.later(1_000)
    await pix.bankAction(`charges/${id}/return`, { valueCents: 100_00, nature: 'MED_FRAUDE' })
    await pass(8)
    await state(`MED 100 beside 50 ${bank}`)
    const [{ id: refundId }] = (await pix.call('GET', '/api/pix/refund')).body.data
    await pix.bankAction(`refunds/${refundId}/confirm`)
    await stepUntil(pix, `/api/pix/refund/${refundId}`, 'CONFIRMED')
    await pass(12)
    await state(`MED 100 beside 50, confirmed ${bank}`)
    assert.deepEqual(await balances(pix.database), {})
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })

  test(`ATTACK accepted in part, and the bank takes the accepted amount: ${bank ?? 'pixgate'}`, async (t) => {
    const { pix, id, list, decide, pass, state } = await begun(t, [150_00], bank)
    const [{ id: caseId }] = await list()
    assert.equal((await decide(caseId, 'accept', 100_00)).status, 200)
    await pix.bankAction(`charges/${id}/return`, { valueCents: 100_00, nature: 'MED_FRAUDE' })
    await pass(8)
    await state(`MED of accepted ${bank}`)
    assert.equal((await decide(caseId, 'return_to_payer', 50_00)).status, 200)
    await pass(12)
    await state(`MED of accepted, returned ${bank}`)
    for (const one of await list()) say(JSON.stringify([one.kind, (await decide(one.id, 'debit')).body]))
    await pass(3)
    await state(`MED of accepted, debited ${bank}`)
    assert.deepEqual(await balances(pix.database), {})
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })

  test(`ATTACK the merchant refunds beside a return of an operator, same amount: ${bank ?? 'pixgate'}`, async (t) => {
    const { pix, id, list, decide, pass, state } = await begun(t, [130_00], bank)
    const [{ id: caseId }] = await list()
    assert.equal((await decide(caseId, 'accept', 100_00)).status, 200)
    await pix.behave({ refundIn: 'lost-response' })
    assert.equal((await decide(caseId, 'return_to_payer', 30_00)).status, 200)
    await pix.refundIn(id, 30)
    await pass(12)
    await state(`both 30 ${bank}`)
    assert.deepEqual(await balances(pix.database), { available: 70_00n, settlement: -70_00n })
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })
}
