import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { buildStaticBrCode } from '@pixgate/brcode'
import { balances } from '../support/books.ts'
import { notifiedStatuses } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { makeOperator } from '../support/operators.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { ADMIN_TOKEN, type Answer, world } from '../support/world.ts'

/** A merchant with R$ 100,00 whose payouts from R$ 10,00 on are approved, and the key of a program that an admin made. */
async function office(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const pix = await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1000', ...environment }, { isStepped: true })
  await pix.paid('100.00')
  const admin = await makeOperator(pix, 'admin')
  const as = (token: string) => (method: string, path: string, body?: object) =>
    pix.call(method, path, body, { authorization: `Bearer ${token}` })
  const bia = await makeApprover('Bia')
  const { apiKey } = (await as(ADMIN_TOKEN)('POST', '/api-key/generate')).body

  async function makeApprover(name: string): Promise<{ id: string; token: string }> {
    return (await as(admin)('POST', '/operator/operators', { name, role: 'approver' })).body
  }
  const say = (token: string, { id }: Answer['body'], approved = true) =>
    as(token)('PUT', `/operator/approvals/${id}`, { approved, reason: 'checked' })
  const othersMayNot = async (payout: Answer['body'], approved = true) => {
    for (const token of [ADMIN_TOKEN, admin, apiKey]) {
      assert.ok([401, 403].includes((await say(token, payout, approved)).status))
    }
  }
  const setSwitch = async (enabled: boolean) => {
    const { status } = await as(admin)('PUT', '/operator/cash-out-switch', { enabled, reason: 'a theft' })
    assert.equal(status, 200)
  }
  return { ...pix, as, admin, bia, approver: bia.token, apiKey, say, makeApprover, othersMayNot, setSwitch }
}

test('[cash-out.approval.1] [cash-out.approval.2] [cash-out.approval.4] [cash-out.approval.5] a payout waits for two people who did not create its key, and is then sent', async (t) => {
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
  await pix.othersMayNot(large)
  assert.equal((await pix.say(pix.approver, large)).status, 200)
  assert.equal((await pix.say(pix.approver, large)).body.code, 'approver_not_independent')
  await pix.later(60_000)
  assert.equal((await pix.get(`/api/pix/cash-out/${large.id}`)).status, 'RESERVED', 'one of two')
  const last = await pix.say((await pix.makeApprover('Caio')).token, large)
  const dayAfter = (nowMs: number) => new Date(nowMs + 24 * 60 * 60_000).toISOString()
  assert.deepEqual(
    [last.status, last.body.approvableUntil],
    [200, dayAfter(pix.clock.now())],
    'its 24 hours begin anew',
  )
  const after = await pix.until(`/api/pix/cash-out/${large.id}`, ({ status }) => status === 'CONFIRMED')
  assert.equal(after.awaitingApproval, undefined)
  await pix.assertBooksAgree()
})

test('[cash-out.approval.8] money of a refused payout is released, and the merchant is notified', async (t) => {
  const pix = await office(t)
  const large = await pix.cashOut({ value: 10, externalId: 'large' })
  assert.equal((await pix.say(pix.approver, large, false)).body.status, 'RELEASED')
  const { status, failureCode } = await pix.get(`/api/pix/cash-out/${large.id}`)
  assert.deepEqual([status, failureCode], ['RELEASED', 'not_approved'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  assert.equal((await balances(pix.database)).reserved, undefined)
  await pix.assertBooksAgree()
})

test('[cash-out.approval.5] [cash-out.approval.9] an approver reads what the bank decoded of a code, which is decoded again before it is paid; a bank that does not answer changes nothing', async (t) => {
  const pix = await office(t, IMPATIENT)
  const bakery = { pixKey: 'padaria@example.com', merchantName: 'Padaria Central', merchantCity: 'Recife' }
  const transaction = { pixCode: buildStaticBrCode(bakery), value: 10, externalId: 'code' }
  const { body: payout } = await pix.call('POST', '/api/pix/cash-out-qrcode', { transaction })
  const [{ paymentType, recipient }] = (await pix.as(pix.approver)('GET', '/operator/approvals')).body.data
  assert.deepEqual([paymentType, recipient.statedBy, recipient.pixKey], ['qrcode', 'bank', 'padaria@example.com'])
  assert.match(recipient.document, /^\*\*/)
  const { token: another } = await pix.makeApprover('Caio')
  await pix.bank('PUT', '/control/behavior', { latencyMs: TOO_LATE_MS })
  const refused = await pix.say(pix.approver, payout)
  assert.deepEqual([refused.status, refused.body.code], [503, 'partner_unavailable'])
  await pix.bank('PUT', '/control/behavior', { latencyMs: 0 })
  assert.equal((await pix.say(pix.approver, payout)).status, 200)
  assert.equal((await pix.say(another, payout)).status, 200)
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.assertBooksAgree()
})

async function withKeyOf(pix: Awaited<ReturnType<typeof office>>, maker: string) {
  const { apiKey } = (await pix.as(maker)('POST', '/api-key/generate')).body
  const keyId = (await pix.as(maker)('GET', '/api-key')).body.data[0].id
  const transaction = { value: 10, externalId: 'of-the-key' }
  const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email', name: 'João Souza', document: '111.444.777-35' }
  const { status, body: payout } = await pix.as(apiKey)('POST', '/api/pix/cash-out', { transaction, recipient })
  assert.equal(status, 201, JSON.stringify(payout))
  return { keyId, payout }
}

test('[cash-out.approval.2] [cash-out.approval.10] a new token makes no second person, and a deactivated operator’s approval does not count', async (t) => {
  const pix = await office(t)
  const large = await pix.cashOut({ value: 10, externalId: 'large' })
  assert.equal((await pix.say(pix.approver, large)).status, 200)
  const again = await pix.makeApprover('BIA')
  assert.equal((await pix.say(again.token, large)).body.code, 'approver_not_independent')
  const { token: caio } = await pix.makeApprover('Caio')
  assert.equal((await pix.as(pix.admin)('DELETE', `/operator/operators/${pix.bia.id}`)).status, 204)
  const { data } = (await pix.as(caio)('GET', '/operator/approvals')).body
  assert.deepEqual(data[0].approvedBy, [], 'it does not count any more')
  assert.equal((await pix.say(caio, large)).body.approvedBy.length, 1)
  await pix.later(60_000)
  assert.equal((await pix.get(`/api/pix/cash-out/${large.id}`)).status, 'RESERVED')
  assert.deepEqual((await pix.say(again.token, large)).body.approvedBy.at(-1), again.id)
  await pix.until(`/api/pix/cash-out/${large.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.assertBooksAgree()
})

test('[cash-out.approval.2] [cash-out.approval.3] [cash-out.approval.5] the creator of a key approves under no token; payouts of a deactivated key are not approved', async (t) => {
  const pix = await office(t)
  const ana = (await pix.as(pix.admin)('POST', '/operator/operators', { name: 'Ana', role: 'admin' })).body
  const { keyId, payout } = await withKeyOf(pix, ana.token)
  assert.equal((await pix.as(pix.admin)('DELETE', `/operator/operators/${ana.id}`)).status, 204)
  const herself = await pix.makeApprover('Ana')
  assert.equal((await pix.say(herself.token, payout)).body.code, 'approver_not_independent')

  const read = async () => (await pix.as(pix.approver)('GET', '/operator/approvals')).body.data[0]
  const { paymentType, recipient, apiKeyId, apiKeyDeactivatedAt, approvalsWanted } = await read()
  assert.deepEqual([paymentType, apiKeyId, apiKeyDeactivatedAt, approvalsWanted], ['key', keyId, null, 1])
  assert.deepEqual(recipient, {
    name: 'João Souza',
    document: '***.444.777-**',
    statedBy: 'client',
    pixKey: 'joao@example.com',
  })
  assert.equal((await pix.as(pix.admin)('DELETE', `/api-key/${keyId}`)).status, 204)
  assert.equal((await read()).apiKeyDeactivatedAt, new Date(pix.clock.now()).toISOString())
  const { status, body } = await pix.say(pix.approver, payout)
  assert.deepEqual([status, body.code], [409, 'api_key_deactivated'])
  await pix.later(60_000)
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).status, 'RESERVED')
  assert.equal((await pix.say(pix.approver, payout, false)).body.status, 'RELEASED')
  await pix.assertBooksAgree()
})

test('[cash-out.approval.12] an approval that waits while its key or its approver is deactivated counts for nothing', async (t) => {
  const pix = await office(t)
  const ana = (await pix.as(pix.admin)('POST', '/operator/operators', { name: 'Ana', role: 'admin' })).body
  const { keyId, payout } = await withKeyOf(pix, ana.token)
  const other = await pix.cashOut({ value: 10, externalId: 'other' })
  const gone = [
    [payout, `/api-key/${keyId}`, 'api_key_deactivated'],
    [other, `/operator/operators/${pix.bia.id}`, 'insufficient_role'],
  ] as const
  for (const [waiting, path, code] of gone) {
    const holder = await openHolder(pix.databaseUrl)
    await holder.hold(HOLD_SWITCH)
    const said = pix.say(pix.approver, waiting)
    await holder.waiting(1)
    assert.equal((await pix.as(pix.admin)('DELETE', path)).status, 204)
    await holder.release()
    assert.equal((await said).body.code, code)
    await pix.later(60_000)
    assert.equal((await pix.get(`/api/pix/cash-out/${waiting.id}`)).status, 'RESERVED')
  }
  await pix.assertBooksAgree()
})

const HOLD_SWITCH = `SELECT FROM control WHERE name = 'cash_out_switch' FOR UPDATE`

test('[refund-in.refusal.1] [refund-in.refusal.2] [refund-in.work.4] [operator.switch.2] a refund needs no approval, and waits while the switch is off; after a theft an approver refuses the waiting ones', async (t) => {
  const pix = await office(t)
  const cashIn = await pix.paid('50.00')
  const [ours, theirs] = [await pix.refundIn(cashIn.id, 20), await pix.refundIn(cashIn.id, 30)]
  await pix.setSwitch(false)
  await pix.later(60_000)
  assert.equal((await pix.get(`/api/pix/refund/${ours.id}`)).status, 'PENDING')
  await pix.othersMayNot(theirs, false)
  const approval = await pix.say(pix.approver, theirs)
  assert.deepEqual([approval.status, approval.body.code], [409, 'not_possible_in_state'])
  const { status, body } = await pix.say(pix.approver, theirs, false)
  assert.deepEqual(
    [status, body.status, body.failureCode, body.valueCents],
    [200, 'FAILED', 'refused_by_operator', 3000],
  )
  assert.deepEqual(body, await pix.get(`/api/pix/refund/${theirs.id}`))
  await pix.setSwitch(true)
  await pix.until(`/api/pix/refund/${ours.id}`, (refund) => refund.status === 'CONFIRMED')
  assert.equal((await pix.say(pix.approver, ours, false)).body.code, 'not_possible_in_state')
  for (const id of [cashIn.id, 'none']) assert.equal((await pix.say(pix.approver, { id }, false)).status, 404)
  await pix.assertBooksAgree()
})

test('[cash-out.approval.11] after a theft an approver refuses the waiting payouts while payouts are off, and none is sent', async (t) => {
  const pix = await office(t)
  const [ours, theirs] = [await pix.cashOut({ value: 5 }), await pix.cashOut({ value: 6 })]
  await pix.setSwitch(false)
  await pix.later(60_000)
  await pix.othersMayNot(theirs, false)
  const { status: now, approvalsWanted } = (await pix.say(pix.approver, theirs, false)).body
  assert.deepEqual([now, approvalsWanted], ['RELEASED', 0])
  await pix.setSwitch(true)
  await pix.until(`/api/pix/cash-out/${ours.id}`, ({ status }) => status === 'CONFIRMED')
  const { status, failureCode } = await pix.get(`/api/pix/cash-out/${theirs.id}`)
  assert.deepEqual([status, failureCode], ['RELEASED', 'refused_by_operator'])
  assert.equal((await pix.say(pix.approver, ours, false)).body.code, 'not_possible_in_state')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED', 'CONFIRMED'])
  await pix.assertBooksAgree()
})
