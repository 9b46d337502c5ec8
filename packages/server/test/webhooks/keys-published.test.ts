import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import type { Database } from '../../src/platform/db/database.ts'
import { readingPublishedKeys } from '../../src/webhooks/signing.ts'
import { administer } from '../support/database.ts'
import { exchangeKey, requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const bare = { params: undefined, query: undefined, body: undefined, context: requestContext }
const asking = (tag: string) => ({ ...bare, context: { ...requestContext, headers: { 'if-none-match': tag } } })
const why = { reason: 'the tests', force: true }

const CACHED = 'public, max-age=300'

/** Makes a key and lets it sign. @returns its id */
async function rotate(world: WebhookWorld): Promise<string> {
  const id = await exchangeKey(world)
  world.clock.advance(limits.publishedKeysAgeMs)
  return id
}

test('[webhooks.4] the public key is PEM, cacheable for five minutes, with an ETag', async (t) => {
  const world = await webhookWorld(t)
  const { keyId, publicPem } = world.keyring.signer()
  assert.deepEqual(await world.handlers.getPublicKey(bare), {
    status: 200,
    headers: { 'cache-control': CACHED, etag: `"${keyId}"` },
    body: publicPem,
  })
  const id = await rotate(world)
  assert.equal((await world.handlers.getPublicKey(bare)).headers?.etag, `"${id}"`)
})

test('[signing-keys.1] [signing-keys.4] next, current and previous are published by id, the retired ones are not', async (t) => {
  const world = await webhookWorld(t)
  const first = world.keyring.signer().keyId
  const second = await rotate(world)
  const { id: next } = (await world.handlers.createSigningKey({ ...bare, body: why })).body ?? assert.fail()
  world.clock.advance(limits.publishedKeysAgeMs)
  const published = async () => {
    const { body } = await world.handlers.listPublicKeys(bare)
    return Object.fromEntries(body?.data.map(({ id, state }) => [id, state]) ?? [])
  }
  assert.deepEqual(await published(), { [first]: 'previous', [second]: 'current', [next]: 'next' })
  await world.handlers.promoteSigningKey({ ...bare, params: { key_id: next }, body: why })
  world.clock.advance(limits.publishedKeysAgeMs)
  assert.deepEqual(await published(), { [second]: 'previous', [next]: 'current' })
})

test('[webhooks.4] [signing-keys.4] the key and both lists have an ETag that changes with them, and five minutes of caching', async (t) => {
  const world = await webhookWorld(t)
  const { getPublicKey, listPublicKeys, getJwks } = world.handlers
  for (const get of [getPublicKey, listPublicKeys, getJwks]) {
    const { status, headers } = await get(bare)
    assert.equal(status, 200)
    assert.equal(headers?.['cache-control'], CACHED)
    const etag = headers?.etag ?? ''
    assert.deepEqual(await get(asking(etag)), { status: 304, headers: { 'cache-control': CACHED, etag } })
    await rotate(world)
    assert.equal((await get(asking(etag))).status, 200)
  }
})

test('[signing-keys.4] a key of the JSON Web Key Set verifies what the key of its id signed', async (t) => {
  const world = await webhookWorld(t)
  const { keyId, publicPem, sign } = world.keyring.signer()
  const { body } = await world.handlers.getJwks(bare)
  const [jwk] = body?.keys ?? []
  assert.ok(jwk)
  const { x, y, ...rest } = jwk
  assert.deepEqual(rest, { kty: 'EC', crv: 'P-256', kid: keyId, use: 'sig', alg: 'ES256' })
  const key = createPublicKey({ key: { ...rest, x, y }, format: 'jwk' })
  assert.equal(key.export({ format: 'pem', type: 'spki' }), publicPem)
  const bytes = Buffer.from('bytes')
  assert.ok(verify('sha256', bytes, key, Buffer.from(await sign(bytes), 'base64')))
})

test('[signing-keys.4] the coordinates of the specification of the format are written as it writes them', async (t) => {
  // RFC 7517, appendix A.1.
  const key = {
    kty: 'EC',
    crv: 'P-256',
    x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
    y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
  }
  const publicPem = createPublicKey({ key, format: 'jwk' }).export({ format: 'pem', type: 'spki' }).toString()
  const world = await webhookWorld(t)
  await administer(world.url, `UPDATE signing_key SET public_pem = '${publicPem}'`)
  world.clock.advance(limits.publishedKeysAgeMs)
  const { body } = await world.handlers.getJwks(bare)
  assert.deepEqual([body?.keys[0]?.x, body?.keys[0]?.y], [key.x, key.y])
})

test('[signing-keys.5] however many ask, the database is asked once a second', async (t) => {
  const { database, clock } = await webhookWorld(t)
  let asked = 0
  const counting: Database = {
    ...database,
    rows: (query, parameters) => {
      asked += 1
      return database.rows(query, parameters)
    },
  }
  const published = await readingPublishedKeys({ database: counting, clock })
  const askMany = () => Promise.all(Array.from({ length: 100 }, () => published()))
  await askMany()
  assert.equal(asked, 1, 'at the start')
  clock.advance(limits.publishedKeysAgeMs - 1)
  await askMany()
  assert.equal(asked, 1)
  clock.advance(1)
  await askMany()
  assert.equal(asked, 2)
})

test('[signing-keys.5] while the database cannot be asked the keys are known for as long as a receiver may cache them', async (t) => {
  const { database, clock } = await webhookWorld(t)
  let isAway = false
  const rows: Database['rows'] = (query, parameters) =>
    isAway ? Promise.reject(new Error('away')) : database.rows(query, parameters)
  const published = await readingPublishedKeys({ database: { ...database, rows }, clock })
  const known = await published()
  isAway = true
  clock.advance(limits.publicKeyMaxAgeSeconds * 1_000)
  assert.deepEqual(await published(), known)
  clock.advance(1)
  await assert.rejects(published(), /away/)
  isAway = false
  assert.deepEqual(await published(), known)
})
