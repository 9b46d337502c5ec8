import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type ApiKeyScope, apiKeyScopes, type Endpoint, endpoints } from '@pixgate/spec'
import { capturedLog } from '../support/captured-log.ts'
import { administer } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

/** A world that makes keys, and calls with them from wherever a trusted proxy says. */
async function keyWorld(t: TestContext) {
  const log = capturedLog()
  const pix = await world(t, { PIXGATE_TRUST_PROXY: '127.0.0.1' }, { logger: log.logger, isStepped: true })
  const admin = (method: string, path: string, body?: object) =>
    pix.call(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}` })
  return {
    pix,
    log,
    admin,
    make: async (body?: object): Promise<string> => {
      const made = await admin('POST', '/api-key/generate', body)
      assert.equal(made.status, 201, JSON.stringify(made.body))
      return made.body.apiKey
    },
    balance: (apiKey: string, address = '198.51.100.1') =>
      callAs(pix, apiKey, 'GET', '/organization/balance', { 'x-forwarded-for': address }),
    newest: async () => (await admin('GET', '/api-key?limit=1')).body.data[0],
  }
}

function callAs(pix: World, apiKey: string, method: string, path: string, headers = {}): Promise<Answer> {
  return pix.call(method, path, undefined, { authorization: `Bearer ${apiKey}`, ...headers })
}

const NOBODY = '0198c0de-3f00-7000-8000-1a2b3c4d5e6f'

test('[api-keys.8] a key does what it has the scope for, and is 403 with the scope’s name at everything else', async (t) => {
  const { pix, make } = await keyWorld(t)
  const all: readonly Endpoint[] = Object.values(endpoints)
  for (const scope of apiKeyScopes) {
    const apiKey = await make({ scopes: [scope] })
    for (const endpoint of all.filter(({ auth }) => auth === 'api-key')) {
      const path = endpoint.path.replaceAll(/\{\w+\}/g, NOBODY)
      const { status, body, headers } = await callAs(pix, apiKey, endpoint.method, path)
      const what = `${scope}: ${endpoint.id}`
      assert.equal(body.code === 'insufficient_scope', endpoint.scope !== scope, what)
      if (endpoint.scope === scope) continue
      assert.equal(status, 403, what)
      const challenge = `Bearer error="insufficient_scope", scope="${endpoint.scope}"`
      assert.equal(headers.get('www-authenticate'), challenge, what)
    }
  }
})

test('[api-keys.8] what sends money needs a scope of its own, and reading is never enough to change anything', () => {
  const scopes = new Map<string, ApiKeyScope | undefined>(
    Object.values(endpoints).map(({ id, ...endpoint }) => [id, 'scope' in endpoint ? endpoint.scope : undefined]),
  )
  assert.deepEqual(
    ['createCashIn', 'createCashOut', 'createCashOutFromQrCode', 'createRefundIn', 'createWebhook'].map((id) =>
      scopes.get(id),
    ),
    ['charge', 'payout', 'payout', 'refund', 'webhook'],
  )
  const reading = Object.values(endpoints).filter(({ id }) => scopes.get(id) === 'read')
  assert.deepEqual([...new Set(reading.map(({ method }) => method))], ['GET'])
})

test('[api-keys.8] a refusal for a scope changes nothing, is counted, and names the key in the log', async (t) => {
  const { pix, log, make, newest } = await keyWorld(t)
  const apiKey = await make({ scopes: ['read'] })
  const { id } = await newest()
  const transaction = { value: 1, externalId: 'not-made' }
  const answer = await pix.call('POST', '/api/pix/cash-in', { transaction }, { authorization: `Bearer ${apiKey}` })
  assert.equal(answer.status, 403)
  assert.equal((await pix.get('/api/pix/cash-in')).data.length, 0)
  await log.line('lacks the scope', { apiKeyId: id })
  await log.line('request', { apiKeyId: id, status: 403 })
  assert.equal((await scrape(pix))(REFUSED('insufficient_scope')), 1)
})

const REFUSED = (reason: string) => `pixgate_credentials_refused_total{credential="api_key",reason="${reason}"}`

test('[api-keys.9] a key is good from its networks, by the address behind trusted proxies, and unknown elsewhere', async (t) => {
  const { pix, log, make, newest, balance } = await keyWorld(t)
  const apiKey = await make({ cidrs: ['203.0.113.0/24', '2001:db8:7::/48'] })
  const { id } = await newest()
  for (const address of ['203.0.113.77', '::ffff:203.0.113.77', '::ffff:cb00:714d', '2001:DB8:7::1']) {
    assert.equal((await balance(apiKey, address)).status, 200, address)
  }
  const unknown = await balance(`pix_test_${'0'.repeat(49)}`)
  for (const address of ['203.0.114.1', '2001:db8:8::1', '::203.0.113.77', 'unknown', '198.51.100.9']) {
    const { status, body, headers } = await balance(apiKey, address)
    assert.equal(status, 401, address)
    const own = { correlationId: unknown.body.correlationId }
    assert.deepEqual({ ...body, ...own }, unknown.body, address)
    assert.deepEqual([...headers.keys()], [...unknown.headers.keys()])
  }
  await log.line('from a network it is not allowed in', { apiKeyId: id, address: '203.0.114.1' })
  assert.equal((await scrape(pix))(REFUSED('wrong_address')), 5)
})

test('[api-keys.9] [api-keys.12] from elsewhere a known key has the budget of an unknown one, and at home it goes on', async (t) => {
  const { make, balance } = await keyWorld(t)
  const apiKey = await make({ cidrs: ['203.0.113.7'] })
  assert.equal((await balance(apiKey, '203.0.113.7')).status, 200)
  const statuses = []
  for (let use = 0; use < 61; use++) statuses.push((await balance(apiKey, '198.51.100.1')).status)
  assert.deepEqual(statuses, [...Array(60).fill(401), 429])
  assert.equal((await balance(apiKey, '203.0.113.7')).status, 200)
})

test('[api-keys.10] a key is refused from the millisecond of its expiry on, though it was used a moment before', async (t) => {
  const { pix, log, make, newest, balance } = await keyWorld(t)
  const apiKey = await make({ expiresAt: new Date(pix.clock.now() + 3_000).toISOString() })
  const { id } = await newest()
  pix.clock.advance(2_999)
  assert.equal((await balance(apiKey)).status, 200)
  pix.clock.advance(1)
  assert.equal((await balance(apiKey)).status, 401)
  await log.line('an expired API key was refused', { apiKeyId: id })
  assert.equal((await scrape(pix))(REFUSED('expired')), 1)
})

test('[api-keys.11] the list shows when a key was used last, to the minute, once that is written', async (t) => {
  const { pix, make, newest, balance } = await keyWorld(t)
  const apiKey = await make()
  assert.equal((await newest()).lastUsedAt, null)
  const usedAt = pix.clock.now()
  await balance(apiKey)
  await pix.work()
  assert.equal((await newest()).lastUsedAt, new Date(usedAt).toISOString())
  pix.clock.advance(59_999)
  await balance(apiKey)
  await pix.work()
  assert.equal((await newest()).lastUsedAt, new Date(usedAt).toISOString())
  pix.clock.advance(1)
  await balance(apiKey)
  await pix.work()
  assert.equal((await newest()).lastUsedAt, new Date(usedAt + 60_000).toISOString())
})

test('[api-keys.11] that it cannot be written fails no request, and is written a minute later', async (t) => {
  const { pix, make, newest, balance } = await keyWorld(t)
  const apiKey = await make()
  await administer(pix.databaseUrl, 'REVOKE UPDATE (last_used_at) ON credential FROM pixgate_app')
  assert.equal((await balance(apiKey)).status, 200)
  await assert.rejects(pix.work())
  assert.equal((await balance(apiKey)).status, 200)
  await administer(pix.databaseUrl, 'GRANT UPDATE (last_used_at) ON credential TO pixgate_app')
  pix.clock.advance(60_000)
  assert.equal((await balance(apiKey)).status, 200)
  await pix.work()
  assert.equal((await newest()).lastUsedAt, new Date(pix.clock.now()).toISOString())
})

test('[api-keys.11] a key that somebody else holds in a transaction is left for the next time', async (t) => {
  const { pix, make, newest, balance } = await keyWorld(t)
  const apiKey = await make()
  const { id } = await newest()
  await balance(apiKey)
  await pix.database.transaction(async (queries) => {
    await queries.rows<[string], never>(
      { name: 'test.holdKey', text: 'SELECT id FROM credential WHERE id = $1 FOR UPDATE' },
      [id],
    )
    await pix.work()
  })
  assert.equal((await newest()).lastUsedAt, null)
})

test('[api-keys.1] [api-keys.5] [api-keys.13] [limits] what a key is for is kept as it was asked for, shown, and in the audit trail', async (t) => {
  const { pix, make, newest } = await keyWorld(t)
  const expiresAt = new Date(pix.clock.now() + 86_400_000).toISOString()
  const terms = {
    name: 'Loja no centro',
    scopes: ['read', 'payout'],
    cidrs: ['203.0.113.0/24'],
    expiresAt,
    caps: { paymentCents: 50_000, dayCents: 999_999_999_999 },
  }
  await make(terms)
  const { id, display, createdAt, lastUsedAt, deactivatedAt, createdBy, ...shown } = await newest()
  const caps = { hourCents: null, nightCents: null, newRecipientCents: null, ...terms.caps }
  assert.deepEqual(shown, { ...terms, caps })
  assert.equal(createdBy, null)
  const { facts } = await lastAudit(pix)
  assert.deepEqual(facts, { display, ...terms, caps })
})

test('[api-keys.1] [http.16] no body, an empty one and nulls make the key that may do everything', async (t) => {
  const { admin, make, newest } = await keyWorld(t)
  for (const body of [undefined, {}, { name: null, scopes: null, cidrs: null, expiresAt: null, caps: null }]) {
    await make(body)
    const { scopes, cidrs, expiresAt, caps } = await newest()
    assert.deepEqual(
      [scopes, cidrs, expiresAt, new Set(Object.values(caps))],
      [apiKeyScopes, null, null, new Set([null])],
    )
  }
  assert.equal((await admin('POST', '/api-key/generate')).status, 201)
})

test('[api-keys.1] [http.1] terms that are none are 400 with the field, and make no key', async (t) => {
  const { admin, newest } = await keyWorld(t)
  const before = await newest()
  const faults: [body: object, field: string][] = [
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['everything'] }, 'scopes[0]'],
    [{ scopes: ['read', 'read'] }, 'scopes'],
    [{ cidrs: [] }, 'cidrs'],
    [{ cidrs: ['203.0.113.0/24', '203.0.113.0/33'] }, 'cidrs[1]'],
    [{ cidrs: ['shop.example'] }, 'cidrs[0]'],
    [{ expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt'],
    [{ expiresAt: '9999-12-31T23:59:59-23:59' }, 'expiresAt'],
    [{ caps: { paymentCents: 0 } }, 'caps.paymentCents'],
    [{ caps: { weekCents: 1 } }, 'caps.weekCents'],
    [{ name: 'a\u202eb' }, 'name'],
    [{ scope: ['read'] }, 'scope'],
  ]
  for (const [body, field] of faults) {
    const { status, body: problem } = await admin('POST', '/api-key/generate', body)
    assert.deepEqual([status, problem.code, problem.errors[0].field], [400, 'validation_error', field])
  }
  assert.deepEqual(await newest(), before)
})

test('[logs.7] the line of a request has the key’s id and the address behind the proxy, where the caller is known', async (t) => {
  const { log, make, newest, balance } = await keyWorld(t)
  const apiKey = await make()
  const { id } = await newest()
  await balance(apiKey, '203.0.113.9')
  const line = await log.line('request', { apiKeyId: id, address: '203.0.113.9' })
  assert.equal(line.status, 200)
  await balance('pix_test_unknown', '203.0.113.10')
  const refused = await log.line('request', { status: 401 })
  assert.deepEqual([refused.apiKeyId, refused.address], [undefined, undefined])
})

async function lastAudit({ database }: World) {
  const [row] = await database.rows<[], { facts: object }>(
    {
      name: 'test.lastAudit',
      text: "SELECT facts FROM audit WHERE action = 'api_key.generated' ORDER BY id DESC LIMIT 1",
    },
    [],
  )
  assert.ok(row)
  return row
}
