import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

/** Nobody approves what they ordered at the console. Decisions and refunds are in the tests of cases and refunds. */

const PAGE = { 'x-pixgate-console': '1', 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }

/** Calls the service as a page of the console, in the session of this cookie. */
async function send(pix: World, cookie: string, method: string, path: string, body: object) {
  const answer = await fetch(pix.operatorUrl + path, {
    method,
    headers: { ...PAGE, cookie },
    body: JSON.stringify(body),
  })
  return {
    status: answer.status,
    cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '',
    body: (await answer.json()) as Answer['body'],
  }
}

/** A service with R$ 100,00 that has payouts from R$ 10,00 on approved, and the sessions of the sandbox's two operators. */
async function sandbox(t: TestContext) {
  const pix = await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1000' })
  await pix.balance(100_00)
  const [ana = '', bruno = ''] = await Promise.all(
    (await pix.service.sandboxOperators()).map(
      async ({ link }) => (await send(pix, '', 'POST', '/console/session', { link })).cookie,
    ),
  )
  const approve = (cookie: string, id: string, approved = true) =>
    send(pix, cookie, 'PUT', `/operator/approvals/${id}`, { approved, reason: 'looked at it' })
  const waiting = async (token: string): Promise<Answer['body'][]> =>
    (await pix.call('GET', '/operator/approvals', undefined, { authorization: `Bearer ${token}` })).body.data
  return { pix, ana, bruno, approve, waiting }
}

const payoutOf = (externalId: string) => ({
  transaction: { value: 20, externalId },
  recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
})

const namesOf = ({ approvableBy }: Answer['body']) => approvableBy.map(({ name }: Answer['body']) => name)

test('[cash-out.approval.2] [cash-out.approval.5] an operator’s own payout takes one approver who is another person', async (t) => {
  const { pix, ana, bruno, approve, waiting } = await sandbox(t)
  const approver = async (name: string) => {
    const { body } = await send(pix, ana, 'POST', '/operator/operators', { name, role: 'approver' })
    return (await send(pix, '', 'POST', '/console/session', { token: body.token })).cookie
  }
  const { body: payout } = await send(pix, ana, 'POST', '/operator/cash-outs', payoutOf('own'))
  assert.equal(payout.status, 'RESERVED')
  const answers = [
    await approve(ana, payout.id),
    await approve(await approver('ANA  SOUZA'), payout.id),
    await approve(await approver('Dora'), payout.id),
  ]
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.code]),
    [
      [403, 'insufficient_role'],
      [403, 'approver_not_independent'],
      [403, 'approver_not_independent'],
    ],
  )
  assert.deepEqual((await waiting(ADMIN_TOKEN)).map(namesOf), [['Bruno Lima']])
  assert.equal((await approve(bruno, payout.id)).status, 200)
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
})

test('[cash-out.approval.3] [cash-out.approval.5] a since-deactivated operator’s payout is not approved; one of the administrative token takes two', async (t) => {
  const { pix, ana, bruno, approve, waiting } = await sandbox(t)
  const { body: payout } = await send(pix, ana, 'POST', '/operator/cash-outs', payoutOf('own'))
  const ofToken = await pix.call('POST', '/operator/cash-outs', payoutOf('of-the-token'), {
    authorization: `Bearer ${ADMIN_TOKEN}`,
  })
  assert.equal(ofToken.status, 201, JSON.stringify(ofToken.body))
  const caio = await makeOperator(pix, 'admin', 'Caio')
  const [own] = await waiting(caio)
  const gone = await pix.call('DELETE', `/operator/operators/${own.apiKeyId}`, undefined, {
    authorization: `Bearer ${caio}`,
  })
  assert.equal(gone.status, 204)
  const after = await waiting(caio)
  assert.deepEqual(
    after.map((one) => [one.id, one.apiKeyDeactivatedAt !== null, one.approvalsWanted, namesOf(one)]),
    [
      [payout.id, true, 1, []],
      [ofToken.body.id, false, 2, ['Bruno Lima']],
    ],
  )
  assert.equal((await approve(bruno, payout.id)).body.code, 'api_key_deactivated')
  assert.equal((await approve(bruno, payout.id, false)).body.status, 'RELEASED')
})
