import assert from 'node:assert/strict'
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import test from 'node:test'
import { Agent, request } from 'undici'
import { type ApiPixBank, COB, startApiPixBank, TXID } from '../support/api-pix.ts'
import { record } from '../support/api-pix-recording.ts'

/** Asks as anybody may, without a certificate. */
async function get({ apiPix }: ApiPixBank, path: string) {
  const agent = new Agent({ connect: { ca: apiPix.certificates.authority.certificate } })
  const answer = await request(apiPix.payloadUrl + path, { dispatcher: agent })
  const text = await answer.body.text()
  await agent.destroy()
  return { status: answer.statusCode, type: answer.headers['content-type'], text }
}

const parsed = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())

test('[sandbox.19] a location serves its charge without authentication, signed with a key that the header links to', async (t) => {
  const bank = await startApiPixBank(t)
  const { location } = (await bank.cob()).body
  const { status, type, text } = await get(bank, location.replace('bank.example', ''))
  assert.deepEqual([status, type], [200, 'application/jose'])
  const [header, payload, signature = ''] = text.split('.')
  record({ method: 'GET', path: `/${TXID}`, status, headers: { 'content-type': type }, answer: parsed(payload) })
  const { alg, kid, jku, x5t } = parsed(header)
  const { keys } = JSON.parse((await get(bank, new URL(jku).pathname)).text)
  const key = keys.find((it: { kid: string }) => it.kid === kid) as JsonWebKey
  assert.deepEqual([alg, key.x5t], ['RS256', x5t])
  const publicKey = createPublicKey({ key, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  assert.ok(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url')))
  assert.ok(!verify('RSA-SHA256', Buffer.from(`${header}.x`), publicKey, Buffer.from(signature, 'base64url')))
  const { calendario, ...terms } = parsed(payload)
  const { calendario: _, ...asked } = COB
  assert.deepEqual(terms, { ...asked, txid: TXID, revisao: 0, status: 'ATIVA' })
  assert.deepEqual(Object.keys(calendario), ['criacao', 'apresentacao', 'expiracao'])
})

test('[sandbox.19] an unknown charge gets 404, a removed one 410', async (t) => {
  const bank = await startApiPixBank(t)
  const none = await get(bank, `/qr/v2/${TXID}`)
  assert.deepEqual([none.status, none.type], [404, 'application/problem+json'])
  await bank.cob()
  await bank.call('PATCH', `/v2/cob/${TXID}`, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })
  assert.equal((await get(bank, `/qr/v2/${TXID}`)).status, 410)
})
