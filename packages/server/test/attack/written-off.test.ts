import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { world } from '../support/world.ts'
import { say } from './say.ts'

/** F12: what was written off of a payment that is credited in part, and goes back to the payer, is the merchant's to pay. */
test('ATTACK the merchant does not pay for what was written off of a payment', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  for (const [decision, amountCents] of [
    ['accept', 100_00],
    ['write_off', undefined],
  ] as const) {
    const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
    const asked = { decision, version, reason: 'as the payer wants', ...(amountCents && { amountCents }) }
    assert.equal((await pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)).status, 200)
  }
  await pix.bankAction(`charges/${id}/return`, { valueCents: 50_00, nature: 'MED_FRAUDE' })
  for (let minute = 0; minute < 10; minute++) await pix.later(60_000)
  const found = await balances(pix.database)
  say(
    JSON.stringify({
      cases: await cases(pix.database),
      told: await notifiedStatuses(pix.database),
      b: String(Object.entries(found)),
    }),
  )
  assert.equal(found.available, 100_00n)
})
