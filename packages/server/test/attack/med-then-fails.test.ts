import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { stepUntil } from '../support/stepping.ts'
import { world } from '../support/world.ts'
import { say } from './say.ts'

/** F10: the bank takes back by itself what a return is under way of, and then fails that return: one of both is true, and the other one stays. */
test('ATTACK what the bank took back by itself is taken from suspense once our return of it has failed', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const list = async () => (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  const [{ id: caseId }] = await list()
  const read = async () => (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  await pix.behave({ refundIn: 'manual' })
  const asked = {
    decision: 'return_to_payer',
    version: (await read()).version,
    reason: 'as the payer wants',
    amountCents: 150_00,
  }
  assert.equal((await pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)).status, 200)
  await pix.later(1_000)
  const [{ id: refundId }] = (await pix.call('GET', '/api/pix/refund')).body.data
  const taken = await pix.bank('POST', `/control/charges/${id}/return`, { valueCents: 150_00, nature: 'MED_FRAUDE' })
  say(`taken while under way: ${taken.status} ${JSON.stringify(taken.body)}`)
  for (let minute = 0; minute < 3; minute++) await pix.later(60_000)
  await pix.bankAction(`refunds/${refundId}/fail`)
  await stepUntil(pix, `/api/pix/refund/${refundId}`, 'FAILED')
  for (let minute = 0; minute < 30; minute++) await pix.later(60_000)
  say(
    JSON.stringify({
      cases: await cases(pix.database),
      b: String(Object.entries(await balances(pix.database))),
      charge: (await pix.get(`/api/pix/cash-in/${id}`)).status,
      options: (await read()).options.map(({ decision, isOffered, maxCents }: Record<string, unknown>) => [
        decision,
        isOffered,
        maxCents,
      ]),
    }),
  )
  const found = await balances(pix.database)
  const credited = await pix.call(
    'POST',
    `/operator/cases/${caseId}/decisions`,
    { ...asked, decision: 'accept', version: (await read()).version },
    ana,
  )
  say(
    JSON.stringify({
      credited: credited.status,
      b: String(Object.entries(await balances(pix.database))),
      bank: (await pix.bank('GET', '/balance')).body,
    }),
  )
  assert.deepEqual(found, {})
})
