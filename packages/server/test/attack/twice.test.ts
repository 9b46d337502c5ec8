import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { makeOperator } from '../support/operators.ts'
import { stepUntil } from '../support/stepping.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'
import { say } from './say.ts'

void ADMIN_TOKEN
void stepUntil

/** F1: the version of a case does not change with a return that is ordered. */
test('ATTACK one decision, sent twice with the same version and no Idempotency-Key, orders two returns', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  const read = async () => (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  const { version } = await read()
  const asked = { decision: 'return_to_payer', version, reason: 'as the payer wants', amountCents: 50_00 }
  const answers = []
  for (let time = 0; time < 2; time++)
    answers.push(await pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana))
  for (let minute = 0; minute < 5; minute++) await pix.later(60_000)
  const { entries } = (await pix.bank('GET', '/control/book')).body
  const sent = entries.filter(({ kind }: { kind: string }) => kind === 'REFUND_SENT')
  say(
    JSON.stringify({
      sent: sent.length,
      versions: [version, (await read()).version],
      balances: String(Object.entries(await balances(pix.database))),
    }),
  )
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.code]),
    [
      [200, undefined],
      [409, 'case_changed'],
    ],
  )
})

/** F1b: two people decide the same at once (both read version 1). */
test('ATTACK two operators who read the same version each order a return', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const bia = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Bia')}` }
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  const asked = { decision: 'return_to_payer', version, reason: 'as the payer wants', amountCents: 50_00 }
  const both = await Promise.all(
    [ana, bia].map((who) => pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, who)),
  )
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409])
})

/** F1c: with a second person: a proposal stands although a return was ordered since. */
test('ATTACK a proposal is not void though a return was ordered, and confirmed, after it', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '10000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 250_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 250_00)
  const as = async (role: 'operator' | 'approver', name: string) => ({
    authorization: `Bearer ${await makeOperator(pix, role, name)}`,
  })
  const [ana, bia, carla] = [await as('operator', 'Ana'), await as('approver', 'Bia'), await as('operator', 'Carla')]
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  const path = `/operator/cases/${caseId}/decisions`
  const proposed = await pix.call(
    'POST',
    path,
    { decision: 'return_to_payer', version, reason: 'overpaid', amountCents: 150_00 },
    ana,
  )
  assert.equal(proposed.status, 202)
  // Carla returns R$ 90 alone.
  const alone = await pix.call(
    'POST',
    path,
    { decision: 'return_to_payer', version, reason: 'overpaid', amountCents: 90_00 },
    carla,
  )
  assert.equal(alone.status, 200)
  for (let minute = 0; minute < 3; minute++) await pix.later(60_000)
  const approved = await pix.call(
    'PUT',
    `/operator/cases/${caseId}/proposals/${proposed.body.proposalId}`,
    { approved: true, reason: 'yes' },
    bia,
  )
  assert.deepEqual([approved.status, approved.body.code], [409, 'proposal_void'])
})
