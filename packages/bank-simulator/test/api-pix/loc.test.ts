import assert from 'node:assert/strict'
import test from 'node:test'
import {
  agentOf,
  basic,
  CLIENT,
  COB,
  certificatesDirectory,
  problemIn,
  send,
  startApiPixBank,
  TXID,
} from '../support/api-pix.ts'

test('[sandbox.14] the location of a charge returns its code and QR code image', async (t) => {
  const bank = await startApiPixBank(t)
  const { body: cob } = await bank.cob()
  const { body: loc } = await bank.call('GET', `/v2/loc/${cob.loc.id}`)
  assert.deepEqual(loc, cob.loc)
  const { body: code } = await bank.call('GET', `/v2/loc/${cob.loc.id}/qrcode`)
  assert.equal(code.qrcode, cob.pixCopiaECola)
  assert.match(Buffer.from(code.imagemQrcode.split(',')[1], 'base64').toString(), /^<svg /)
})

test('[sandbox.14] an unknown location gets 404 PayloadLocationNaoEncontrado', async (t) => {
  const bank = await startApiPixBank(t)
  for (const path of ['/v2/loc/1', '/v2/loc/x/qrcode']) {
    assert.deepEqual(problemIn(await bank.call('GET', path)), [404, 'PayloadLocationNaoEncontrado'])
  }
})

test('[sandbox.14] an unknown path gets 404 with another type than a missing object', async (t) => {
  const bank = await startApiPixBank(t)
  const { status, body } = await bank.call('GET', '/v2/cobv/x?revisao=1')
  assert.deepEqual([status, body.type], [404, 'about:blank'])
  assert.match(body.detail, /GET \/v2\/cobv\/x$/)
})

test('[sandbox.14] with a path prefix, paths have it, and resources of the standard have any version', async (t) => {
  const apiPix = {
    port: 0,
    certificatesDirectory: await certificatesDirectory(),
    client: CLIENT,
    pathPrefix: '/pix/api',
  }
  const bank = await startApiPixBank(t, { apiPix })
  const agent = agentOf(bank.apiPix)
  t.after(() => agent.destroy())
  const { port } = bank.apiPix
  const ask = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    send({ url: `https://localhost:${port}` }, agent, method, path, body, headers)
  const form = { authorization: basic(CLIENT), 'content-type': 'application/x-www-form-urlencoded' }
  const grant = 'grant_type=client_credentials'
  const { access_token: token } = (await ask('POST', '/oauth/token', grant, form)).body
  assert.equal((await ask('POST', '/pix/api/oauth/token', grant, form)).status, 200)
  const bearer = { authorization: `Bearer ${token}` }
  const cob = { ...COB, chave: '11222333000181' }
  assert.equal((await ask('PUT', `/pix/api/v3/cob/${TXID}`, cob, bearer)).status, 201)
  assert.equal((await ask('GET', `/pix/api/v1/cob/${TXID}`, undefined, bearer)).status, 200)
  const outside = await ask('GET', `/v2/cob/${TXID}`, undefined, bearer)
  assert.deepEqual([outside.status, outside.body.type], [404, 'about:blank'])
})
