import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { stepUntil } from '../support/stepping.ts'
import { type World, world } from '../support/world.ts'

/** Money in suspense: what a charge keeps of it, and what goes back to its payer through the bank. */

const HOUR = 3_600_000

/** A charge of R$ 100.00 for which so much came, and an operator. */
async function paidOtherwise(t: TestContext, valueCents: number) {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents })
  return deciding(pix, id)
}

async function deciding(pix: World, id: string) {
  const headers = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const find = async () => {
    const { body } = await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, headers)
    return body.data[0]
  }
  for (let tries = 0; (await find()) === undefined; tries++) {
    assert.ok(tries < 100, 'the case does not come about')
    await pix.work()
  }
  const { id: caseId } = await find()
  return {
    pix,
    id,
    caseId,
    charge: async () => (await pix.call('GET', `/api/pix/cash-in/${id}`)).body,
    decide: async (decision: string, amountCents?: number) => {
      const { body } = await pix.call('GET', `/operator/cases/${caseId}`, undefined, headers)
      const asked = {
        decision,
        version: body.version,
        reason: 'as the payer wants',
        ...(amountCents && { amountCents }),
      }
      return pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, headers)
    },
    /** Until the bank has carried out what was ordered, and told so. */
    settle: async (status = 'CONFIRMED') => {
      const refund = (await pix.call('GET', '/api/pix/refund')).body.data[0]
      await stepUntil(pix, `/api/pix/refund/${refund.id}`, status)
      await pix.later(HOUR)
    },
  }
}

/** What the bank sent back of the payment, centavos. */
async function sentBack(pix: World): Promise<number[]> {
  const { entries } = (await pix.bank('GET', '/control/book')).body
  return entries
    .filter(({ kind }: { kind: string }) => kind === 'REFUND_SENT')
    .map(({ valueCents }: { valueCents: number }) => valueCents)
}

for (const order of [
  ['accept', 'return_to_payer'],
  ['return_to_payer', 'accept'],
] as const) {
  test(`[cash-in.desk.1] [cash-in.desk.3] of an overpayment the charge keeps its value and the rest goes back: ${order.join(', ')}`, async (t) => {
    const { pix, charge, decide, settle } = await paidOtherwise(t, 150_00)
    for (const decision of order) {
      const answer = await decide(decision, decision === 'accept' ? 100_00 : 50_00)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
    await settle()
    const { status, valueCents, receivedCents, refundedCents, refundableCents } = await charge()
    assert.deepEqual(
      { status, valueCents, receivedCents, refundedCents, refundableCents },
      { status: 'PAID', valueCents: 100_00, receivedCents: 150_00, refundedCents: 0, refundableCents: 100_00 },
    )
    assert.deepEqual(await sentBack(pix), [50_00])
    assert.deepEqual(await cases(pix.database), ['amount_differs (closed)'])
    assert.deepEqual(await balances(pix.database), { available: 100_00n, settlement: -100_00n })
    await pix.assertBooksAgree()
  })
}
