import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import fastify from 'fastify'
import type { VectorsDocument } from '../../server/test/support/verifiers/vectors.ts'
import { wallNow } from '../../server/test/support/wall-clock.ts'
import { cents } from '../src/index.ts'
import { exampleEvent, signTestWebhook } from '../src/testing.ts'
import {
  expressWebhook,
  fastifyWebhook,
  publicKeys,
  type VerifyOptions,
  verifyDigitalSignature,
  verifyWebhook,
  type WebhookEvent,
  webhookRoute,
} from '../src/webhooks.ts'

const vectors: VectorsDocument = JSON.parse(
  readFileSync(new URL('../../../docs/generated/webhook-signatures.json', import.meta.url), 'utf8'),
)

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const OTHER_SECRET = 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='

for (const { name, isValid, secret, headers, bodyBase64, now } of vectors.standardWebhooks) {
  test(`[sdk.11] webhook-signature: ${name}`, async () => {
    const request = { headers, body: Buffer.from(bodyBase64, 'base64') }
    const verified = verifyWebhook(request, { secret, now: () => now * 1_000 })
    if (isValid) assert.equal((await verified).webhookId, headers['webhook-id'])
    else await assert.rejects(verified, { name: 'WebhookError' })
  })
}

/** `GET /public-keys` with the keys of a script, one answer after the other. */
function keyServer(answers: readonly (Readonly<Record<string, string>> | number)[]) {
  let asked = 0
  let now = 0
  const find = publicKeys('http://pixgate.test/', {
    now: () => now,
    fetch: async (url) => {
      assert.equal(String(url), 'http://pixgate.test/public-keys')
      const answer = answers[Math.min(asked, answers.length - 1)]
      asked += 1
      if (typeof answer === 'number') return new Response('', { status: answer })
      return Response.json({ data: Object.entries(answer ?? {}).map(([id, publicKey]) => ({ id, publicKey })) })
    },
  })
  return {
    find,
    asked: () => asked,
    pass: (ms: number) => {
      now += ms
    },
  }
}

for (const { name, isValid, publicKey, signature, bodyBase64 } of vectors.ecdsa) {
  test(`[sdk.11] digital-signature: ${name}`, async () => {
    const { find } = keyServer([{ k1: publicKey }])
    const verified = verifyDigitalSignature(Buffer.from(bodyBase64, 'base64'), signature, 'k1', find)
    if (isValid) await verified
    else await assert.rejects(verified, { name: 'WebhookError' })
  })
}

const [valid] = vectors.ecdsa
const KEY = valid?.publicKey ?? ''
const OTHER_KEY = vectors.ecdsa.find(({ publicKey }) => publicKey !== KEY)?.publicKey ?? ''

test('[sdk.12] keys are kept for five minutes, and what is no longer published is not trusted', async () => {
  const server = keyServer([{ k1: KEY }, { k2: OTHER_KEY }])
  await Promise.all([server.find('k1'), server.find('k1')])
  server.pass(299_999)
  assert.ok(await server.find('k1'))
  assert.equal(server.asked(), 1)
  server.pass(1)
  assert.equal(await server.find('k1'), undefined)
  assert.ok(await server.find('k2'))
})

test('[sdk.12] a clock that is set back by an hour does not make keys trusted for longer', async () => {
  const server = keyServer([{ k1: KEY }, { k2: OTHER_KEY }])
  await server.find('k1')
  server.pass(-3_600_000)
  assert.equal(await server.find('k1'), undefined)
})

test('[sdk.12] an unknown id makes it ask again, once a second at most', async () => {
  const server = keyServer([{ k1: KEY }, { k1: KEY }, { k1: KEY, k2: OTHER_KEY }])
  await server.find('k1')
  for (let stranger = 0; stranger < 9; stranger += 1) assert.equal(await server.find(`made-up-${stranger}`), undefined)
  assert.equal(server.asked(), 1)
  server.pass(1_000)
  assert.equal(await server.find('k2'), undefined)
  server.pass(1_000)
  assert.ok(await server.find('k2'))
  assert.equal(server.asked(), 3)
})

test('[sdk.12] without an answer no key is believed, and the next call asks again', async () => {
  const server = keyServer([503, { k1: KEY }])
  await assert.rejects(server.find('k1'), { code: 'keys_unavailable' })
  assert.ok(await server.find('k1'))
})

test('[sdk.12] a published key that is none of P-256 is unknown, and harms no other', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const server = keyServer([
    { k1: KEY, p384: String(publicKey.export({ type: 'spki', format: 'pem' })), text: 'no key' },
  ])
  assert.ok(await server.find('k1'))
  for (const id of ['p384', 'text'])
    await assert.rejects(server.find(id), { name: 'WebhookError', code: 'key_unknown' })
  assert.equal(server.asked(), 1)
})

test('[sdk.11] each fault has a code', async () => {
  const signed = await signTestWebhook(exampleEvent('pix_cash_in'), { secret: SECRET, sentAt: 0 })
  const now = () => 0
  const reject = (request: object, options: object, code: string) =>
    assert.rejects(verifyWebhook({ ...signed, ...request }, { secret: SECRET, now, ...options }), { code })
  await reject({}, { now: () => 301_000 }, 'timestamp_invalid')
  await reject({ headers: {} }, {}, 'timestamp_invalid')
  await reject({ headers: { 'webhook-timestamp': '0' } }, {}, 'signature_missing')
  await reject({}, { secret: OTHER_SECRET }, 'signature_wrong')
  await reject({}, { secret: 'whsec_' }, 'secret_invalid')
  await reject({ body: {} }, {}, 'body_parsed')
  const { find } = keyServer([{ k1: KEY }])
  await reject({}, { keys: find }, 'signature_missing')
  const headers = { ...signed.headers, 'digital-signature': valid?.signature, 'digital-signature-key-id': 'k2' }
  await reject({ headers }, { keys: find }, 'key_unknown')
  await reject({ headers: { ...headers, 'digital-signature-key-id': 'k1' } }, { keys: find }, 'signature_wrong')
  const text = await signTestWebhook('no JSON', { secret: SECRET, sentAt: 0 })
  await reject(text, {}, 'body_not_json')
  await assert.rejects(verifyWebhook(signed, { now }), TypeError)
})

test('[sdk.11] while a secret is exchanged either side may be first', async () => {
  const now = () => 0
  const old = await signTestWebhook(exampleEvent('pix_cash_out'), { secret: OTHER_SECRET, sentAt: 0 })
  const both = await signTestWebhook(exampleEvent('pix_cash_out'), { secret: [SECRET, OTHER_SECRET], sentAt: 0 })
  assert.ok(await verifyWebhook(old, { secret: [SECRET, OTHER_SECRET], now }))
  for (const secret of [SECRET, OTHER_SECRET]) assert.ok(await verifyWebhook(both, { secret, now }))
})

test('[sdk.11] an example is typed by its event, and takes other fields', async () => {
  const { event } = exampleEvent('pix_cash_out_reversal', { value_cents: cents(5) })
  assert.deepEqual([event.status, event.value_cents], ['REVERSED', 5])
  const verified: WebhookEvent = await verifyWebhook(
    await signTestWebhook(exampleEvent('pix_cash_in'), { secret: SECRET }),
    {
      secret: SECRET,
    },
  )
  assert.ok(verified.event_type === 'pix_cash_in')
  assert.equal(verified.event.payer_name, 'Maria da Silva')
})

/** Posts to a receiver. @returns the status */
type Post = (path: string, body: string, headers: Readonly<Record<string, string>>) => Promise<number>

type Receive = (event: WebhookEvent) => unknown

const BY_SECRET: VerifyOptions = { secret: SECRET }

const frameworks: Readonly<
  Record<string, (t: TestContext, handle: Receive, options?: VerifyOptions) => Promise<Post>>
> = {
  'a route of Next.js, Hono or a worker': async (_, handle, options = BY_SECRET) => {
    const route = webhookRoute(options, handle)
    return async (path, body, headers) => {
      const request = new Request(`http://shop.test${path}`, { method: 'POST', body, headers })
      return route(request).then(
        ({ status }) => status,
        () => 500,
      )
    }
  },
  Fastify: async (t, handle, options = BY_SECRET) => {
    const app = fastify()
    app.post('/json', async ({ body }) => ({ isParsed: typeof body === 'object' }))
    app.register(fastifyWebhook(options, handle), { prefix: '/pix' })
    t.after(() => app.close())
    const { json } = await app.inject({ method: 'POST', url: '/json', payload: { a: 1 } })
    assert.deepEqual(json(), { isParsed: true }, 'other routes get JSON')
    return async (url, payload, headers) => (await app.inject({ method: 'POST', url, payload, headers })).statusCode
  },
  'Express, before a parser': (t, handle, options) => listening(t, handle, () => undefined, options),
  'Express, behind express.raw()': (t, handle, options) => listening(t, handle, (body) => body, options),
}

/** A server of Node.js, whose requests and responses are those of Express. @param parse sets `request.body` */
async function listening(
  t: TestContext,
  handle: Receive,
  parse: (body: Buffer) => unknown,
  options = BY_SECRET,
): Promise<Post> {
  const receive = expressWebhook(options, handle)
  const server = createServer(async (request, response) => {
    const fail = () => response.writeHead(500).end()
    if (parse(Buffer.alloc(0)) === undefined) return receive(request, response, fail)
    return receive(Object.assign(request, { body: parse(Buffer.concat(await request.toArray())) }), response, fail)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return async (path, body, headers) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body, headers })).status
}

for (const [name, receiver] of Object.entries(frameworks)) {
  test(`[sdk.11] ${name}: 204 when it is handled, 401 when it is not verified, 500 when the handler fails`, async (t) => {
    const handled: string[] = []
    const post = await receiver(t, (event) => {
      if (event.event_type !== 'pix_cash_in') throw new Error('the database is away')
      handled.push(event.webhookId)
    })
    const sentAt = wallNow()
    const paid = await signTestWebhook(exampleEvent('pix_cash_in', { payer_name: 'João' }), { secret: SECRET, sentAt })
    assert.equal(await post('/pix', paid.body, paid.headers), 204)
    assert.equal(await post('/pix', `${paid.body} `, paid.headers), 401)
    const failed = await signTestWebhook(exampleEvent('pix_cash_out'), { secret: SECRET, sentAt })
    assert.equal(await post('/pix', failed.body, failed.headers), 500)
    assert.deepEqual(handled, [paid.headers['webhook-id']])
  })
}

for (const [name, receiver] of Object.entries(frameworks)) {
  test(`[sdk.11] ${name}: 503 when the public keys cannot be fetched`, async (t) => {
    const { find: keys } = keyServer([500])
    const post = await receiver(t, () => assert.fail('not to be handled'), { secret: SECRET, keys })
    const { body, headers } = await signTestWebhook(exampleEvent('pix_cash_in'), { secret: SECRET, sentAt: wallNow() })
    const signature = { 'digital-signature': valid?.signature ?? '', 'digital-signature-key-id': 'k1' }
    assert.equal(await post('/pix', body, { ...headers, ...signature }), 503)
  })
}

test('[sdk.11] behind a parser Express answers 500, since no signature can be verified, and a body has a limit', async (t) => {
  const parsed = await listening(
    t,
    () => assert.fail('not to be handled'),
    (body) => (body.length > 0 ? JSON.parse(body.toString()) : {}),
  )
  const { body, headers } = await signTestWebhook(exampleEvent('pix_cash_in'), { secret: SECRET })
  assert.equal(await parsed('/pix', body, headers), 500)
  const raw = await listening(
    t,
    () => assert.fail('not to be handled'),
    () => undefined,
  )
  assert.equal(await raw('/pix', 'x'.repeat(300_000), headers), 500)
})
