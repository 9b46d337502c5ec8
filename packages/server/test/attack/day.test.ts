import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases, payoutSwitch } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { stepUntil } from '../support/stepping.ts'
import { world } from '../support/world.ts'
import { drifts } from './drifts.ts'
import { say } from './say.ts'

for (const bank of [undefined, 'efi'] as const) {
  test(`ATTACK a day with a return of an operator closes without a difference: ${bank ?? 'pixgate'}`, async (t) => {
    const pix = await world(
      t,
      { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' },
      { isStepped: true, ...(bank && { standard: bank }) },
    )
    const { id } = await pix.charge('100')
    await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
    await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
    const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
    const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
    for (const [decision, amountCents] of [
      ['return_to_payer', 20_00],
      ['accept', 100_00],
      ['return_to_payer', 30_00],
    ] as const) {
      const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
      const asked = { decision, version, reason: 'as the payer wants', amountCents }
      assert.equal((await pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)).status, 200)
      if (decision === 'accept') continue
      const [{ id: refundId }] = (await pix.call('GET', '/api/pix/refund')).body.data
      await stepUntil(pix, `/api/pix/refund/${refundId}`, 'CONFIRMED')
    }
    for (let step = 0; step < 90; step++) await pix.later(20 * 60_000)
    say(
      JSON.stringify({
        cases: await cases(pix.database),
        b: String(Object.entries(await balances(pix.database))),
        drifts: await drifts(pix.database),
      }),
    )
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })
}
