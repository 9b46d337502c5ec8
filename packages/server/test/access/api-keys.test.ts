import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { apiKeyScopes, deactivateApiKey, type Endpoint, generateApiKey, listApiKeys, Refusal } from '@pixgate/spec'
import pg from 'pg'
import type { KeyRequest } from '../../src/access/api-keys.ts'
import { apiKeyFormat } from '../../src/access/credentials.ts'
import { createAccessModule } from '../../src/access/index.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { LiveRequest } from '../../src/platform/live-request.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, testDatabase } from '../support/database.ts'
import { ALIVE, lapsing } from '../support/live-request.ts'

const START = Date.parse('2026-11-21T13:00:00.250Z')

/** The module on a database of its own, with a clock that the test moves. */
async function apiKeys(t: TestContext) {
  const { url, database } = await testDatabase(t)
  let time = START
  const clock = { now: () => time }
  const options = {
    database,
    clock,
    ids: createIds(clock),
    mode: 'sandbox',
    adminToken: 'the-administrative-token-of-this-test',
    logger: capturedLog().logger,
    onRefused: () => undefined,
    onPreviousSecretUsed: () => undefined,
    rateLimitPerMinute: 0,
  } as const
  const module = createAccessModule(options)
  return {
    ...module,
    /** The same module in another process. */
    elsewhere: createAccessModule(options),
    advance: (ms: number) => {
      time += ms
    },
    generate: (live = ALIVE, body: KeyRequest = {}) =>
      module.handlers.generateApiKey({
        params: undefined,
        query: undefined,
        body,
        context: asAdmin(generateApiKey, live),
      }),
    list: async (query: { limit?: number; cursor?: string } = {}) => {
      const context = asAdmin(listApiKeys)
      return (await module.handlers.listApiKeys({ params: undefined, query, body: undefined, context })).body
    },
    deactivate: (id: string, live = ALIVE) =>
      module.handlers.deactivateApiKey({
        params: { id },
        query: undefined,
        body: undefined,
        context: asAdmin(deactivateApiKey, live),
      }),
    sql: (statement: string) => administer(url, statement),
    dump: async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const keys = await client.query('SELECT k::text AS line, k.* FROM credential k ORDER BY id')
      const audit = await client.query('SELECT a::text AS line, a.* FROM audit a ORDER BY id')
      await client.end()
      return { keys: keys.rows, audit: audit.rows }
    },
  }
}

function asAdmin(endpoint: Endpoint, live: LiveRequest = ALIVE) {
  return {
    endpoint,
    correlationId: 'c1',
    headers: {},
    remoteAddress: '203.0.113.7',
    caller: { credential: 'admin', id: 'admin' },
    live,
    ageMs: () => 0,
    rawBody: Buffer.alloc(0),
  } as const
}

/** What a key is for that may do everything. */
const UNBOUNDED = {
  name: null,
  scopes: [...apiKeyScopes],
  cidrs: null,
  expiresAt: null,
  caps: { paymentCents: null, hourCents: null, dayCents: null, nightCents: null, newRecipientCents: null },
}

const bearer = (apiKey: string) => ({
  headers: { authorization: `Bearer ${apiKey}` },
  remoteAddress: '203.0.113.8',
})
const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code
const unauthorized = refused('unauthorized')

test('[api-keys.1] a key is answered once with 201, and lets its bearer in, here and elsewhere', async (t) => {
  const pix = await apiKeys(t)
  const { status, body } = await pix.generate()
  assert.equal(status, 201)
  assert.equal(apiKeyFormat.modeOf(body.apiKey), 'sandbox')
  assert.equal(body.createdAt, '2026-11-21T13:00:00.250Z')
  const { keys } = await pix.dump()
  for (const authenticate of [pix.authenticateKey, pix.elsewhere.authenticateKey]) {
    assert.deepEqual(await authenticate(bearer(body.apiKey)), {
      credential: 'api-key',
      id: keys[0].id,
      scopes: new Set(apiKeyScopes),
    })
  }
})

test('[api-keys.1] making a key leaves who, when, from where and which in the audit trail', async (t) => {
  const pix = await apiKeys(t)
  await pix.generate()
  const { keys, audit } = await pix.dump()
  assert.equal(audit.length, 1)
  const [row] = audit
  assert.deepEqual(
    [row.actor, row.action, row.subject, row.address, row.at.getTime(), row.facts],
    ['admin', 'api_key.generated', keys[0].id, '203.0.113.7', START, { display: keys[0].display, ...UNBOUNDED }],
  )
})

test('[api-keys.1] without its audit row there is no key', async (t) => {
  const pix = await apiKeys(t)
  await pix.sql('REVOKE INSERT ON audit FROM pixgate_app')
  await assert.rejects(pix.generate())
  assert.equal((await pix.dump()).keys.length, 0)
})

test('[http.14] [PL-5] a request that has lapsed neither makes a key nor deactivates one', async (t) => {
  const pix = await apiKeys(t)
  const { body } = await pix.generate()
  const [{ id }] = (await pix.dump()).keys
  const live = lapsing()
  live.lapse()
  await assert.rejects(pix.generate(live), refused('overloaded'))
  await assert.rejects(pix.deactivate(id, live), refused('overloaded'))
  const { keys, audit } = await pix.dump()
  assert.deepEqual([keys.length, audit.length], [1, 1])
  await pix.authenticateKey(bearer(body.apiKey))
})

test('[api-keys.3] the database holds the SHA-256 of a key and eight characters, never the key', async (t) => {
  const pix = await apiKeys(t)
  const { body } = await pix.generate()
  const { keys, audit } = await pix.dump()
  assert.deepEqual(keys[0].hash, sha256(body.apiKey))
  assert.equal(keys[0].display, body.apiKey.slice(9, 17))
  const secret = body.apiKey.slice(9)
  const everything = [...keys, ...audit].map(({ line }) => line).join('\n')
  for (let at = 0; at + 9 <= secret.length; at++) assert.ok(!everything.includes(secret.slice(at, at + 9)))
})

test('[api-keys.4] [api-keys.6] a key deactivated here stops working here at once, elsewhere within 5 s', async (t) => {
  const pix = await apiKeys(t)
  const { body } = await pix.generate()
  await pix.authenticateKey(bearer(body.apiKey))
  await pix.elsewhere.authenticateKey(bearer(body.apiKey))
  const [key] = (await pix.list()).data
  assert.equal((await pix.deactivate(key?.id ?? '')).status, 204)
  await assert.rejects(async () => pix.authenticateKey(bearer(body.apiKey)), unauthorized)
  pix.advance(4_999)
  await pix.elsewhere.authenticateKey(bearer(body.apiKey))
  pix.advance(1)
  await assert.rejects(async () => pix.elsewhere.authenticateKey(bearer(body.apiKey)), unauthorized)
})

test('[api-keys.1] [api-keys.6] several keys are active at the same time, and only the one that is named stops working', async (t) => {
  const pix = await apiKeys(t)
  const [first, second] = [await pix.generate(), await pix.generate()]
  assert.notEqual(first.body.apiKey, second.body.apiKey)
  for (const { body } of [first, second]) await pix.authenticateKey(bearer(body.apiKey))
  const firstKey = (await pix.list()).data.find(({ display }) => display === first.body.apiKey.slice(9, 17))
  await pix.deactivate(firstKey?.id ?? '')
  await assert.rejects(async () => pix.authenticateKey(bearer(first.body.apiKey)), unauthorized)
  await pix.authenticateKey(bearer(second.body.apiKey))
})

test('[api-keys.6] an unknown id, a deactivated one and what is no id are not found, and leave no trace', async (t) => {
  const pix = await apiKeys(t)
  await pix.generate()
  const [key] = (await pix.list()).data
  await pix.deactivate(key?.id ?? '')
  const before = await pix.dump()
  pix.advance(1_000)
  for (const id of [key?.id ?? '', '0198c0de-3f00-7000-8000-1a2b3c4d5e6f', key?.display ?? '', '', "'; --"]) {
    await assert.rejects(pix.deactivate(id), refused('not_found'), id)
  }
  assert.deepEqual(await pix.dump(), before)
})

test('[api-keys.6] of two who deactivate a key at the same time one finds it gone', async (t) => {
  const pix = await apiKeys(t)
  await pix.generate()
  const [key] = (await pix.list()).data
  const outcomes = await Promise.allSettled([pix.deactivate(key?.id ?? ''), pix.deactivate(key?.id ?? '')])
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await pix.dump()).audit.length, 2)
})

test('[api-keys.6] deactivating a key leaves who, when, from where and which in the audit trail', async (t) => {
  const pix = await apiKeys(t)
  await pix.generate()
  pix.advance(60_000)
  const [key] = (await pix.list()).data
  await pix.deactivate(key?.id ?? '')
  const { audit } = await pix.dump()
  const row = audit.find(({ action }) => action === 'api_key.deactivated')
  assert.deepEqual(
    [row.actor, row.subject, row.address, row.at.getTime(), row.facts],
    ['admin', key?.id, '203.0.113.7', START + 60_000, { display: key?.display }],
  )
})

test('[api-keys.6] without its audit row a key stays active', async (t) => {
  const pix = await apiKeys(t)
  const { body } = await pix.generate()
  const [key] = (await pix.list()).data
  await pix.sql('REVOKE INSERT ON audit FROM pixgate_app')
  await assert.rejects(pix.deactivate(key?.id ?? ''))
  await pix.authenticateKey(bearer(body.apiKey))
  assert.equal((await pix.list()).data[0]?.deactivatedAt, null)
})

test('[api-keys.5] the list shows what distinguishes keys, newest first, and never a key', async (t) => {
  const pix = await apiKeys(t)
  const first = await pix.generate()
  pix.advance(1_000)
  const second = await pix.generate()
  pix.advance(1_000)
  await pix.deactivate((await pix.list()).data[1]?.id ?? '')
  const { keys } = await pix.dump()
  assert.deepEqual(await pix.list(), {
    data: [
      {
        id: keys[1].id,
        display: second.body.apiKey.slice(9, 17),
        ...UNBOUNDED,
        createdAt: '2026-11-21T13:00:01.250Z',
        createdBy: null,
        lastUsedAt: null,
        deactivatedAt: null,
      },
      {
        id: keys[0].id,
        display: first.body.apiKey.slice(9, 17),
        ...UNBOUNDED,
        createdAt: '2026-11-21T13:00:00.250Z',
        createdBy: null,
        lastUsedAt: null,
        deactivatedAt: '2026-11-21T13:00:02.250Z',
      },
    ],
    pagination: { limit: 20, hasMore: false, nextCursor: null },
  })
})

test('[api-keys.5] the pages show every key once, also while others are made', async (t) => {
  const pix = await apiKeys(t)
  for (let made = 0; made < 5; made++) {
    await pix.generate()
    pix.advance(1)
  }
  const expected = (await pix.list()).data
  const seen = []
  let page = await pix.list({ limit: 2 })
  for (; page.pagination.nextCursor !== null; page = await pix.list({ limit: 2, cursor: page.pagination.nextCursor })) {
    assert.equal(page.pagination.hasMore, true)
    seen.push(...page.data)
    await pix.generate()
  }
  assert.equal(page.pagination.hasMore, false)
  assert.deepEqual([...seen, ...page.data], expected)
})
