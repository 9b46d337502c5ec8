import assert from 'node:assert/strict'
import test from 'node:test'
import { type Answer, world } from '../support/world.ts'

/** Nobody approves what they ordered at the console. Decisions and refunds are in the tests of cases and refunds. */

const PAGE = { 'x-pixgate-console': '1', 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }

test('[cash-out.approval.2] an operator’s own payout takes one approver who is another person', async (t) => {
  const pix = await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1000' })
  await pix.balance(100_00)
  const send = async (cookie: string, method: string, path: string, body: object) => {
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
  const [ana = '', bruno = ''] = await Promise.all(
    (await pix.service.sandboxOperators()).map(
      async ({ link }) => (await send('', 'POST', '/console/session', { link })).cookie,
    ),
  )
  const approver = async (name: string) => {
    const { body } = await send(ana, 'POST', '/operator/operators', { name, role: 'approver' })
    return (await send('', 'POST', '/console/session', { token: body.token })).cookie
  }
  const { body: payout } = await send(ana, 'POST', '/operator/cash-outs', {
    transaction: { value: 20, externalId: 'own' },
    recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
  })
  assert.equal(payout.status, 'RESERVED')
  const approve = (cookie: string) =>
    send(cookie, 'PUT', `/operator/approvals/${payout.id}`, { approved: true, reason: 'looked at it' })
  const answers = [
    await approve(ana),
    await approve(await approver('ANA  SOUZA')),
    await approve(await approver('Dora')),
  ]
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.code]),
    [
      [403, 'insufficient_role'],
      [403, 'approver_not_independent'],
      [403, 'approver_not_independent'],
    ],
  )
  assert.equal((await approve(bruno)).status, 200)
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
})
