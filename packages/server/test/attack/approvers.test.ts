import assert from 'node:assert/strict'
import test from 'node:test'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'
import { say } from './say.ts'

/** Production's limit: every decision takes two people. */
test('ATTACK two people, once: approved at once by two approvers, and by one twice, one return is ordered', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' }, { isStepped: true })
  const as = async (role: 'operator' | 'approver', name: string) => ({
    authorization: `Bearer ${await makeOperator(pix, role, name)}`,
  })
  const [ana, bia, carla] = [await as('operator', 'Ana'), await as('approver', 'Bia'), await as('approver', 'Carla')]
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  for (let round = 0; round < 4; round++) {
    const { id } = await pix.charge('100')
    await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
    await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
    const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
    const path = `/operator/cases/${caseId}`
    const asked = {
      decision: 'return_to_payer',
      version: (await pix.call('GET', path, undefined, ana)).body.version,
      reason: 'overpaid',
      amountCents: 50_00,
    }
    assert.equal((await pix.call('POST', `${path}/decisions`, asked, admin)).status, 403)
    const key = { 'idempotency-key': `attack-key-${round}` }
    const [one, other] = await Promise.all(
      [ana, ana].map((who) => pix.call('POST', `${path}/decisions`, asked, { ...who, ...key })),
    )
    const proposed = one?.status === 202 ? one : other
    say(JSON.stringify([one?.status, other?.status, one?.body.proposalId === other?.body.proposalId]))
    const said = { approved: true, reason: 'checked' }
    const approve = (who: typeof ana) => pix.call('PUT', `${path}/proposals/${proposed?.body.proposalId}`, said, who)
    assert.equal((await approve(ana)).status, 403)
    const answers = await Promise.all((round % 2 === 0 ? [bia, carla, bia] : [bia, bia]).map(approve))
    say(JSON.stringify(answers.map(({ status, body }) => [status, body.code, body.refundId])))
    const refunds = (await pix.call('GET', `/api/pix/refund?cash_in_id=${id}`)).body.data
    assert.equal(refunds.length, 1, JSON.stringify(refunds))
    // After it: the same request without its key, and the same proposal again.
    const later = await pix.call('POST', `${path}/decisions`, asked, ana)
    say(`again without a key: ${later.status} ${later.body.code ?? later.body.outcome}`)
    const replay = await pix.call('POST', `${path}/decisions`, asked, { ...ana, ...key })
    say(`again with its key: ${replay.status} ${replay.body.outcome} ${replay.headers.get('idempotent-replayed')}`)
    assert.equal((await approve(bia)).status, (await approve(bia)).status)
    assert.equal((await pix.call('GET', `/api/pix/refund?cash_in_id=${id}`)).body.data.length, 1)
  }
})
