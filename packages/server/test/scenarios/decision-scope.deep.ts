import assert from 'node:assert/strict'
import test from 'node:test'
import { statement } from '../../src/platform/db/database.ts'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ALONE, codeOf, operatorOf, suspended } from '../support/suspense.ts'
import { world } from '../support/world.ts'

/** A decision does what it is about, whole, and nothing besides. */

const BOTH = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' }

test('[cash-in.cases.16] [cases.54] a second payment that the bank does not have takes nothing of the first one', async (t) => {
  const pix = await world(t, ALONE, { isStepped: true })
  const charge = await pix.charge('100')
  await pix.bankAction(`charges/${charge.id}/pay`, { valueCents: 100_00 })
  await pix.later(1_000)
  const paid = await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  const made = { endToEndId: 'E99999010202611290000FORGEDSECON', eventId: 'forged', valueCents: 130_00 }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, { ...paidEvent({ ...charge, ...paid }, { occurredAt, ...made }) }), 200)
  for (let minute = 0; minute < 10; minute++) await pix.later(60_000)
  assert.deepEqual((await cases(pix.database)).sort(), ['line_missing', 'payment_in_suspense'])
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const { decideOn, read } = operatorOf(pix, ana)
  const { data } = (await pix.call('GET', '/operator/cases?kind=line_missing', undefined, ana)).body
  const { options } = await read(data[0].id)
  assert.deepEqual(
    options.map(({ decision }: { readonly decision: string }) => decision),
    ['write_off'],
  )
  assert.deepEqual(codeOf(await decideOn(data[0].id, 'reverse')), [409, 'not_possible_in_state'])
  assert.equal((await pix.get(`/api/pix/cash-in/${charge.id}`)).status, 'PAID')

  // With both written off the books are as the bank's, and the merchant has the payment that there is.
  const [{ id: suspendedId }] = (await pix.call('GET', '/operator/cases?kind=payment_in_suspense', undefined, ana)).body
    .data
  assert.equal((await decideOn(suspendedId, 'write_off')).status, 200)
  assert.equal((await decideOn(data[0].id, 'write_off')).status, 200)
  assert.deepEqual(await balances(pix.database), { settlement: -100_00n, available: 100_00n })
  await pix.assertBooksAgree()
})

test('[cases.62] any number of notes leaves a proposal of the case open for approval', async (t) => {
  const { pix, caseId, decide, ana } = await suspended(t, { payments: [150_00], environment: BOTH })
  const bia = { authorization: `Bearer ${await makeOperator(pix, 'approver', 'Bia')}` }
  const proposed = await decide('return_to_payer', 50_00)
  assert.equal(proposed.status, 202)
  for (let note = 0; note < 500; note++) {
    const { status } = await pix.call('POST', `/operator/cases/${caseId}/notes`, { text: `note ${note}` }, ana)
    assert.equal(status, 201)
  }
  assert.deepEqual(codeOf(await decide('return_to_payer', 50_00)), [409, 'not_possible_in_state'], 'one at a time')
  const path = `/operator/cases/${caseId}/proposals/${proposed.body.proposalId}`
  const approved = await pix.call('PUT', path, { approved: true, reason: 'looked at it' }, bia)
  assert.deepEqual(codeOf(approved), [200, undefined])
})

const deadlocks = statement<[], { deadlocks: bigint }>(
  'test.deadlocks',
  'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
)

test('[cases.43] an adjustment approved and refused at once ends as one of both, without a deadlock', async (t) => {
  const pix = await world(t, BOTH)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const bia = { authorization: `Bearer ${await makeOperator(pix, 'approver', 'Bia')}` }
  for (let round = 0; round < 40; round++) {
    const asked = { valueCents: 1_000 + round, reason: 'opening balance' }
    const proposed = await pix.call('POST', '/operator/adjustments', asked, ana)
    assert.equal(proposed.status, 202, JSON.stringify(proposed.body))
    const path = `/operator/cases/${proposed.body.caseId}/proposals/${proposed.body.proposalId}`
    const say = (approved: boolean, headers: Record<string, string>) =>
      pix.call('PUT', path, { approved, reason: 'looked at it' }, headers)
    const both = await Promise.all([say(true, bia), say(false, ana)])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409], JSON.stringify(both.map(codeOf)))
  }
  assert.equal((await pix.database.rows(deadlocks, []))[0]?.deadlocks, 0n)
})

const WITH_AMOUNT = ['write_off', 'book'] as const

for (const decision of WITH_AMOUNT) {
  test(`[cases.35] [cases.39] ${decision} names no amount: the whole amount is decided, by as many people as it requires`, async (t) => {
    const environment = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '10000' }
    const { pix, caseId, decideOn } = await suspended(t, { payments: [100_00, 100_00], environment })
    const { id: operationId } = await pix.charge('100')
    const more = decision === 'book' ? { operationId } : {}
    const before = await balances(pix.database)
    assert.deepEqual(codeOf(await decideOn(caseId, decision, { ...more, amountCents: 1 })), [400, 'validation_error'])
    assert.deepEqual(await balances(pix.database), before)
    assert.equal((await decideOn(caseId, decision, more)).status, 202)
  })
}
