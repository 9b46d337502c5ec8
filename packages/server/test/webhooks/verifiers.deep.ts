import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import { createWebhook } from '@pixgate/spec'
import { isInstalled, type VerifierCase, verdictsOf, verifierPrograms } from '../support/verifiers/programs.ts'
import { type VectorsDocument, vectorCases } from '../support/verifiers/vectors.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'

const VECTORS = new URL('../../../../docs/generated/webhook-signatures.json', import.meta.url)

const BODY = '{"event_type":"pix_cash_in",\n  "event":{"payer_name":"João Ninguém","value_cents":15000}}'

/** A delivery as it came in while the secret of its endpoint was exchanged, and what verifies it. */
async function captured(t: TestContext) {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t)
  const bare = { query: undefined, context: requestContext }
  const request = { ...bare, params: undefined, body: { url: receiver.url, events: ['pix_cash_in' as const] } }
  const { body: registered } = await world.handlers.createWebhook(request)
  const params = { webhook_id: registered.webhook_id }
  const { body: rotated } = await world.handlers.rotateWebhookSecret({ ...bare, params, body: {} })
  await world.notify('pix_cash_in', BODY)
  await world.deliverDue()
  const { headers, body } = receiver.received[0] ?? assert.fail('nothing arrived')
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body,
    now: Math.floor(world.clock.now() / 1_000),
    secrets: { new: rotated.secret, old: registered.secret },
    publicKey: world.keyring.signer().publicPem,
  }
}

/** What is right about it, and what has to be refused. */
function casesOf({ headers, body, now, secrets, publicKey }: Awaited<ReturnType<typeof captured>>): VerifierCase[] {
  const changed = Buffer.from(body)
  changed.writeUInt8((body.at(-3) ?? 0) ^ 1, body.length - 3)
  const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name))
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'pem', type: 'spki' })
  const schemes = [
    { scheme: 'standard', key: secrets.new, signature: 'webhook-signature' },
    { scheme: 'ecdsa', key: publicKey, signature: 'digital-signature' },
  ] as const
  const wrongKey = { standard: createWebhook.responses[201].example.secret, ecdsa: String(other) }
  const ofBoth = schemes.flatMap(({ scheme, key, signature }): VerifierCase[] => {
    const right = { scheme, key, headers, body, now, isValid: true, name: 'as it came' }
    const wrong = { ...right, isValid: false }
    return [
      right,
      { ...right, name: 'five minutes later', now: now + 300 },
      { ...right, name: 'by a clock that is five minutes slow', now: now - 300 },
      { ...wrong, name: 'expired', now: now + 301 },
      { ...wrong, name: 'of the future', now: now - 301 },
      { ...wrong, name: 'a changed bit', body: changed },
      { ...wrong, name: 'written anew', body: Buffer.from(JSON.stringify(JSON.parse(String(body)))) },
      { ...wrong, name: 'another encoding', body: Buffer.from(String(body), 'latin1') },
      { ...wrong, name: 'nothing of it', body: Buffer.alloc(0) },
      { ...wrong, name: 'another key', key: wrongKey[scheme] },
      { ...wrong, name: 'no signature', headers: without(signature) },
      { ...wrong, name: 'no time', headers: without('webhook-timestamp') },
      { ...wrong, name: 'no number as a time', headers: { ...headers, 'webhook-timestamp': 'now' } },
      { ...wrong, name: 'no signature at all in the header', headers: { ...headers, [signature]: 'v1,%%%' } },
    ]
  })
  const standard = { scheme: 'standard', key: secrets.new, headers, body, now, isValid: false } as const
  return [
    ...ofBoth,
    { ...standard, name: 'with the secret of before', key: secrets.old, isValid: true },
    { ...standard, name: 'another id', headers: { ...headers, 'webhook-id': '01a1fc89-3f0a-71a6-829e-5bdab2191d18' } },
    { ...standard, name: 'another time', headers: { ...headers, 'webhook-timestamp': String(now + 1) } },
  ]
}

for (const program of verifierPrograms) {
  const { heading } = program
  test(`[webhook-secrets.1] [webhooks.8] the verifier of the guide for ${heading} believes a captured delivery and every right vector, and nothing else`, {
    timeout: 300_000,
  }, async (t) => {
    if (!(await isInstalled(program))) return t.skip(`what ${heading} needs is not installed: its verifier was not run`)
    const vectors: VectorsDocument = JSON.parse(readFileSync(VECTORS, 'utf8'))
    const cases = [...casesOf(await captured(t)), ...vectorCases(vectors)]
    const verdicts = await verdictsOf(program, cases)
    assert.equal(verdicts.length, cases.length)
    const wrong = cases.filter(({ isValid }, index) => verdicts[index] !== isValid)
    assert.deepEqual(
      wrong.map(({ scheme, name, isValid }) => `${scheme}, ${name}: ${isValid ? 'refused' : 'believed'}`),
      [],
    )
  })
}
