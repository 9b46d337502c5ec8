import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { buildStaticBrCode } from '@pixgate/brcode'
import { balances } from '../support/books.ts'
import { notifiedStatuses } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, type Answer, world } from '../support/world.ts'

/** A merchant with R$ 100,00 whose payouts from R$ 10,00 on are approved, and the key of a program that an admin made. */
async function office(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const pix = await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1000', ...environment }, { isStepped: true })
  await pix.paid('100.00')
  const admin = await makeOperator(pix, 'admin')
  const approver = await makeOperatorBy(admin, 'approver')
  const as = (token: string) => (method: string, path: string, body?: object) =>
    pix.call(method, path, body, { authorization: `Bearer ${token}` })
  const { apiKey } = (await as(ADMIN_TOKEN)('POST', '/api-key/generate')).body

  async function makeOperatorBy(token: string, role: string): Promise<string> {
    const headers = { authorization: `Bearer ${token}` }
    return (await pix.call('POST', '/operator/operators', { name: role, role }, headers)).body.token
  }
  const say = (token: string, { id }: Answer['body'], approved = true) =>
    as(token)('PUT', `/operator/approvals/${id}`, { approved, reason: 'checked' })
  return { ...pix, as, admin, approver, apiKey, say, another: () => makeOperatorBy(admin, 'approver') }
}

test('[cash-out.approval.1] [cash-out.approval.2] [cash-out.approval.5] a payout waits for two who did not make its key, and then goes', async (t) => {
  const pix = await office(t)
  const small = await pix.cashOut({ value: 9.99, externalId: 'small' })
  const large = await pix.cashOut({ value: 10, externalId: 'large' })
  assert.equal(large.status, 'RESERVED')
  await pix.until(`/api/pix/cash-out/${small.id}`, ({ status }) => status === 'CONFIRMED')
  const before = await pix.get(`/api/pix/cash-out/${large.id}`)
  assert.deepEqual([before.status, before.awaitingApproval], ['RESERVED', true])

  const { data } = (await pix.as(pix.approver)('GET', '/operator/approvals')).body
  assert.deepEqual(
    data.map(({ id, approvalsWanted, approvedBy }: Answer['body']) => ({ id, approvalsWanted, approvedBy })),
    [{ id: large.id, approvalsWanted: 2, approvedBy: [] }],
  )
  for (const token of [ADMIN_TOKEN, pix.admin, pix.apiKey]) {
    assert.ok([401, 403].includes((await pix.say(token, large)).status))
  }
  assert.equal((await pix.say(pix.approver, large)).status, 200)
  assert.equal((await pix.say(pix.approver, large)).body.code, 'approver_not_independent')
  await pix.later(60_000)
  assert.equal((await pix.get(`/api/pix/cash-out/${large.id}`)).status, 'RESERVED', 'one of two')
  assert.equal((await pix.say(await pix.another(), large)).status, 200)
  const after = await pix.until(`/api/pix/cash-out/${large.id}`, ({ status }) => status === 'CONFIRMED')
  assert.equal(after.awaitingApproval, undefined)
  await pix.assertBooksAgree()
})

test('[cash-out.approval.8] what an approver refuses is free again, and the merchant is told', async (t) => {
  const pix = await office(t)
  const large = await pix.cashOut({ value: 10, externalId: 'large' })
  assert.equal((await pix.say(pix.approver, large, false)).body.status, 'RELEASED')
  const { status, failureCode } = await pix.get(`/api/pix/cash-out/${large.id}`)
  assert.deepEqual([status, failureCode], ['RELEASED', 'not_approved'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  assert.equal((await balances(pix.database)).reserved, undefined)
  await pix.assertBooksAgree()
})

test('[cash-out.approval.9] a code is decoded again before it is paid; a bank that does not answer changes nothing', async (t) => {
  const pix = await office(t, { PIXGATE_PARTNER_TIMEOUT_MS: '200' })
  const bakery = { pixKey: 'padaria@example.com', merchantName: 'Padaria Central', merchantCity: 'Recife' }
  const transaction = { pixCode: buildStaticBrCode(bakery), value: 10, externalId: 'code' }
  const { body: payout } = await pix.call('POST', '/api/pix/cash-out-qrcode', { transaction })
  const another = await pix.another()
  await pix.bank('PUT', '/control/behavior', { latencyMs: 400 })
  const refused = await pix.say(pix.approver, payout)
  assert.deepEqual([refused.status, refused.body.code], [503, 'partner_unavailable'])
  await pix.bank('PUT', '/control/behavior', { latencyMs: 0 })
  assert.equal((await pix.say(pix.approver, payout)).status, 200)
  assert.equal((await pix.say(another, payout)).status, 200)
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.assertBooksAgree()
})
