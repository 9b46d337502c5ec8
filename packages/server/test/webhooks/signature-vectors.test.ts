import assert from 'node:assert/strict'
import { createHmac, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { standardSignature } from '../../src/webhooks/secrets.ts'
import { snippetOf } from '../support/verifiers/programs.ts'
import type { EcdsaVector, StandardVector, VectorsDocument } from '../support/verifiers/vectors.ts'

const DOCUMENTS = new URL('../../../../docs/', import.meta.url)

const { standardWebhooks, ecdsa }: VectorsDocument = JSON.parse(
  readFileSync(new URL('generated/webhook-signatures.json', DOCUMENTS), 'utf8'),
)

/** As the published text of Standard Webhooks says it, in nothing but Node's own words. */
function isStandard({ secret, headers, bodyBase64, now }: StandardVector): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(bodyBase64, 'base64')])
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return Math.abs(now - Number(timestamp)) <= 300 && given.split(' ').includes(expected)
}

function isEcdsa({ publicKey, signature, bodyBase64 }: EcdsaVector): boolean {
  return verify('sha256', Buffer.from(bodyBase64, 'base64'), publicKey, Buffer.from(signature, 'base64'))
}

test('[webhook-secrets.1] [webhooks.8] node:crypto believes the right vectors and none of the wrong ones', () => {
  for (const vector of standardWebhooks) assert.equal(isStandard(vector), vector.isValid, vector.name)
  for (const vector of ecdsa) assert.equal(isEcdsa(vector), vector.isValid, vector.name)
  for (const vectors of [standardWebhooks, ecdsa]) {
    assert.ok(vectors.some(({ isValid }) => isValid) && vectors.some(({ isValid }) => !isValid))
    assert.equal(new Set(vectors.map(({ name }) => name)).size, vectors.length, 'each has a name of its own')
  }
})

test('[webhook-secrets.1] what signs notifications makes the signatures of the right vectors', () => {
  for (const { name, isValid, secret, headers, bodyBase64 } of standardWebhooks) {
    if (!isValid) continue
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers
    const message = { id, timestamp, body: Buffer.from(bodyBase64, 'base64') }
    const made = standardSignature(message, [Buffer.from(secret.slice('whsec_'.length), 'base64')])
    assert.ok(given.split(' ').includes(made), name)
  }
})

test('[webhook-secrets.1] the example of the guide is signed with the example of a secret, and both guides have the same verifiers', () => {
  const [en = '', pt = ''] = ['', '.pt-BR'].map((language) =>
    readFileSync(new URL(`guides/webhook-receiver${language}.md`, DOCUMENTS), 'utf8'),
  )
  const [, head = '', body = ''] = /^```http\n([\s\S]*?)\n\n([\s\S]*?)\n```$/m.exec(en) ?? []
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1] ?? assert.fail(name)
  const message = { id: header('webhook-id'), timestamp: header('webhook-timestamp'), body: Buffer.from(body) }
  const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
  assert.equal(header('webhook-signature'), standardSignature(message, [secret]))
  for (const heading of ['Node.js', 'Python', 'Java', 'Go', 'PHP', 'OpenSSL']) {
    assert.ok(pt.includes(snippetOf(heading)), heading)
  }
})
