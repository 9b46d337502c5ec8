import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { generateApiKey, Refusal } from '@pixgate/spec'
import pg from 'pg'
import { createApiKeysModule } from '../../../src/modules/api-keys/index.ts'
import { modeOf } from '../../../src/modules/api-keys/key.ts'
import { sha256 } from '../../../src/platform/crypto.ts'
import { createIds } from '../../../src/platform/ids.ts'
import { administer, testDatabase } from '../../support/database.ts'

const START = Date.parse('2026-11-21T13:00:00.250Z')

/** The module on a database of its own, with a clock that the test moves. */
async function apiKeys(t: TestContext) {
  const { url, database } = await testDatabase(t)
  let time = START
  const clock = { now: () => time }
  const options = { database, clock, ids: createIds(clock), mode: 'sandbox', adminToken: 'x'.repeat(32) } as const
  const module = createApiKeysModule(options)
  return {
    ...module,
    /** The same module in another process. */
    elsewhere: createApiKeysModule(options),
    advance: (ms: number) => {
      time += ms
    },
    generate: async () => {
      const context = {
        endpoint: generateApiKey,
        correlationId: 'c1',
        headers: {},
        remoteAddress: '203.0.113.7',
        caller: { credential: 'admin', id: 'admin' },
        rawBody: Buffer.alloc(0),
      } as const
      return module.handlers.generateApiKey({ params: undefined, query: undefined, body: undefined, context })
    },
    sql: (statement: string) => administer(url, statement),
    dump: async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const keys = await client.query('SELECT k::text AS line, k.* FROM api_key k ORDER BY id')
      const audit = await client.query('SELECT a::text AS line, a.* FROM audit a ORDER BY id')
      await client.end()
      return { keys: keys.rows, audit: audit.rows }
    },
  }
}

const bearer = (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey}` } })
const unauthorized = (error: unknown) => error instanceof Refusal && error.code === 'unauthorized'

test('[api-keys.1] a key is answered once with 201, and lets its bearer in, here and elsewhere', async (t) => {
  const pix = await apiKeys(t)
  const { status, body } = await pix.generate()
  assert.equal(status, 201)
  assert.equal(modeOf(body.apiKey), 'sandbox')
  assert.equal(body.createdAt, '2026-11-21T13:00:00.250Z')
  const { keys } = await pix.dump()
  for (const authenticate of [pix.authenticateApiKey, pix.elsewhere.authenticateApiKey]) {
    assert.deepEqual(await authenticate(bearer(body.apiKey)), { credential: 'api-key', id: keys[0].id })
  }
  await assert.rejects(pix.authenticateAdmin(bearer(body.apiKey)), unauthorized)
})

test('[api-keys.1] making a key leaves who, when, from where and which in the audit trail', async (t) => {
  const pix = await apiKeys(t)
  await pix.generate()
  const { keys, audit } = await pix.dump()
  assert.equal(audit.length, 1)
  const [row] = audit
  assert.deepEqual(
    [row.actor, row.action, row.subject, row.address, row.at.getTime(), row.facts],
    ['admin', 'api_key.generated', keys[0].id, '203.0.113.7', START, { display: keys[0].display }],
  )
})

test('[api-keys.1] without its audit row there is no key', async (t) => {
  const pix = await apiKeys(t)
  await pix.sql('REVOKE INSERT ON audit FROM pixgate_app')
  await assert.rejects(pix.generate())
  assert.equal((await pix.dump()).keys.length, 0)
})

test('[api-keys.1] several keys are active at the same time', async (t) => {
  const pix = await apiKeys(t)
  const [first, second] = [await pix.generate(), await pix.generate()]
  assert.notEqual(first.body.apiKey, second.body.apiKey)
  for (const { body } of [first, second]) await pix.authenticateApiKey(bearer(body.apiKey))
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

test('[api-keys.4] a deactivated key works 5 s longer at most', async (t) => {
  const pix = await apiKeys(t)
  const { body } = await pix.generate()
  await pix.authenticateApiKey(bearer(body.apiKey))
  await pix.sql('UPDATE api_key SET deactivated_at = now()')
  pix.advance(4_999)
  await pix.authenticateApiKey(bearer(body.apiKey))
  await assert.rejects(pix.elsewhere.authenticateApiKey(bearer(body.apiKey)), unauthorized)
  pix.advance(1)
  await assert.rejects(pix.authenticateApiKey(bearer(body.apiKey)), unauthorized)
})
