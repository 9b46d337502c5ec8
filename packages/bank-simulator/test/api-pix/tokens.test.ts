import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { agentOf, basic, CLIENT, problemIn, send, startApiPixBank } from '../support/api-pix.ts'
import { steppedClock } from '../support/clocks.ts'

async function asking(t: TestContext) {
  const bank = await startApiPixBank(t)
  const agent = agentOf(bank.apiPix)
  t.after(() => agent.destroy())
  const ask = (body: unknown, headers: Record<string, string> = { authorization: basic(CLIENT) }) =>
    send(bank.apiPix, agent, 'POST', '/oauth/token', body, headers)
  return { bank, agent, ask }
}

test('[sandbox.14] a token request by form or JSON returns a token with all or the requested scopes', async (t) => {
  const { ask } = await asking(t)
  const form = { authorization: basic(CLIENT), 'content-type': 'application/x-www-form-urlencoded' }
  const { status, body, headers } = await ask('grant_type=client_credentials&scope=cob.read+cob.write', form)
  assert.equal(status, 200)
  assert.deepEqual([body.token_type, body.expires_in, body.scope], ['Bearer', 3_600, 'cob.read cob.write'])
  assert.equal(headers['cache-control'], 'no-store')
  const whole = await ask({ grant_type: 'client_credentials' })
  assert.match(whole.body.scope, /^cob\.read cob\.write pix\.read .*gn\.balance\.read$/)
})

test('[sandbox.14] credentials in the body, or the client id beside the certificate, get a token', async (t) => {
  const { ask } = await asking(t)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const { id, secret } = CLIENT
  for (const [body, status] of [
    [`grant_type=client_credentials&client_id=${id}&client_secret=${secret}`, 200],
    [`grant_type=client_credentials&client_id=${id}`, 200],
    [`grant_type=client_credentials&client_id=${id}&client_secret=x`, 401],
    [`grant_type=client_credentials&client_id=${id}&client_secret=`, 401],
    ['grant_type=client_credentials&client_id=x', 401],
    ['grant_type=client_credentials', 401],
  ] as const) {
    assert.equal((await ask(body, form)).status, status, body)
  }
})

test('[sandbox.14] the grant type can be in the query', async (t) => {
  const { bank, agent } = await asking(t)
  const path = '/oauth/token?grant_type=client_credentials'
  const headers = { authorization: basic(CLIENT) }
  assert.equal((await send(bank.apiPix, agent, 'POST', path, undefined, headers)).status, 200)
})

test('[sandbox.14] wrong client credentials get 401; another grant type or unknown scopes get 400', async (t) => {
  const { ask } = await asking(t)
  const grant = { grant_type: 'client_credentials' }
  for (const authorization of ['', 'Bearer x', basic({ ...CLIENT, secret: 'x' }), basic({ ...CLIENT, id: 'x' })]) {
    const { status, body } = await ask(grant, { authorization })
    assert.deepEqual([status, body.error], [401, 'invalid_client'])
  }
  assert.deepEqual((await ask({ grant_type: 'password' })).body, { error: 'unsupported_grant_type' })
  assert.deepEqual((await ask({ ...grant, scope: 'cob.steal' })).body, { error: 'invalid_scope' })
})

test('[sandbox.14] a missing or expired token gets 401; a missing scope gets 403 AcessoNegado', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  assert.deepEqual(problemIn(await bank.call('GET', '/v2/cob/x', undefined, { token: 'none' })), [401, 'AcessoNegado'])
  const reading = await bank.token('cob.read')
  const refused = await bank.call('PUT', '/v2/cob/x', {}, { token: reading })
  assert.deepEqual(problemIn(refused), [403, 'AcessoNegado'])
  const path = '/v2/cob/0198c0de7a117000800005f1d3c2b1a0'
  assert.deepEqual(problemIn(await bank.call('GET', path, undefined, { token: reading })), [404, 'CobNaoEncontrado'])
  clock.nowMs += 3_600_000
  const { status, headers } = await bank.call('GET', path, undefined, { token: reading })
  assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer error="invalid_token"'])
})

test('[sandbox.14] each endpoint requires its own scope', async (t) => {
  const bank = await startApiPixBank(t)
  const token = await bank.token('gn.balance.read')
  for (const [method, path] of [
    ['PUT', '/v2/cob/x'],
    ['POST', '/v2/cob'],
    ['PATCH', '/v2/cob/x'],
    ['GET', '/v2/cob/x'],
    ['GET', '/v2/cob'],
    ['GET', '/v2/loc/1'],
    ['GET', '/v2/loc/1/qrcode'],
    ['GET', '/v2/pix/x'],
    ['GET', '/v2/pix'],
    ['PUT', '/v2/pix/x/devolucao/1'],
    ['GET', '/v2/pix/x/devolucao/1'],
  ] as const) {
    const answer = await bank.call(method, path, undefined, { token })
    assert.deepEqual(problemIn(answer), [403, 'AcessoNegado'], `${method} ${path}`)
  }
})
