import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type Endpoint,
  endpoints,
  forOperators,
  operatorRoles,
  sandboxEndpoints,
  sandboxForOperators,
} from '@pixgate/spec'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

/** Every endpoint against every kind of caller. The table is written by hand, so that a changed role is noticed here. */

const OPERATOR = ['operator', 'admin']
const ADMIN = ['admin']

/** Who may send what changes something; everybody reads. Ending sessions is left to everybody, too. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  'DELETE /api-key/{id}': ADMIN,
  'DELETE /console/session': operatorRoles,
  'DELETE /operator/api-keys/{id}': ADMIN,
  'DELETE /operator/operators/{id}': ADMIN,
  'DELETE /operator/sessions/{id}': operatorRoles,
  'DELETE /operator/webhooks/{webhook_id}': ADMIN,
  'POST /api-key/deactivate-all': ADMIN,
  'POST /api-key/generate': ADMIN,
  'POST /operator/adjustments': OPERATOR,
  'POST /operator/api-keys': ADMIN,
  'POST /operator/cases/{id}/decisions': OPERATOR,
  'POST /operator/cases/{id}/notes': OPERATOR,
  'POST /operator/cash-ins': OPERATOR,
  'POST /operator/cash-ins/{id}/cancel': OPERATOR,
  'POST /operator/cash-outs': OPERATOR,
  'POST /operator/operators': ADMIN,
  'POST /operator/refunds': OPERATOR,
  'POST /operator/sandbox/cash-in/{id}/fail': OPERATOR,
  'POST /operator/sandbox/cash-in/{id}/pay': OPERATOR,
  'POST /operator/sandbox/cash-in/{id}/return': OPERATOR,
  'POST /operator/sandbox/cash-out/{id}/confirm': OPERATOR,
  'POST /operator/sandbox/cash-out/{id}/fail': OPERATOR,
  'POST /operator/sandbox/cash-out/{id}/reverse': OPERATOR,
  'POST /operator/sandbox/close': OPERATOR,
  'POST /operator/sandbox/refund-in/{id}/confirm': OPERATOR,
  'POST /operator/sandbox/refund-in/{id}/fail': OPERATOR,
  'POST /operator/signing-keys': ADMIN,
  'POST /operator/signing-keys/{key_id}/promote': ADMIN,
  'POST /operator/signing-keys/{key_id}/retire': ADMIN,
  'POST /operator/webhook-deliveries/{id}/resend': OPERATOR,
  'POST /operator/webhooks': ADMIN,
  'POST /operator/webhooks/{webhook_id}/pause': OPERATOR,
  'POST /operator/webhooks/{webhook_id}/recover': OPERATOR,
  'POST /operator/webhooks/{webhook_id}/resume': OPERATOR,
  'POST /operator/webhooks/{webhook_id}/secret/rotate': ADMIN,
  'POST /operator/webhooks/{webhook_id}/send-missed': OPERATOR,
  'POST /operator/webhooks/{webhook_id}/test': OPERATOR,
  'PUT /operator/approvals/{id}': ['approver'],
  'PUT /operator/cases/{id}/proposals/{proposalId}': ['operator', 'approver', 'admin'],
  'PUT /operator/cash-out-switch': OPERATOR,
  'PUT /operator/sandbox/behavior': OPERATOR,
}

const ofConsole = Object.values(sandboxEndpoints).map((endpoint) =>
  forOperators(endpoint, endpoint.id, `/operator${endpoint.path}`, 'viewer'),
)
const all = new Map(
  [
    ...Object.values<Endpoint>(endpoints),
    ...Object.values<Endpoint>(sandboxForOperators),
    ...Object.values<Endpoint>(sandboxEndpoints),
    ...(ofConsole as readonly Endpoint[]),
  ].map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]),
)
const guarded = [...all.values()].filter(({ auth }) => auth === 'admin' || auth === 'api-key')

/** By the status: 401, or 429 after many of them, 403, and the rest. */
type Entry = 'unknown' | 'may not' | 'may'

async function entryOf(url: string, { method, path }: Endpoint, headers: Record<string, string>): Promise<Entry> {
  const address = path.replaceAll(/\{\w+\}/g, '0198c0de-7a11-7000-8000-5f1d3c2b1a09')
  const { status } = await fetch(url + address, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(method !== 'GET' && { body: '{}' }),
  })
  return status === 401 || status === 429 ? 'unknown' : status === 403 ? 'may not' : 'may'
}

test('[operators.3] [console.2] each endpoint lets in exactly the roles of its table, and no other credential', async (t) => {
  const pix = await world(t)
  const page = { 'x-pixgate-console': '1', 'sec-fetch-site': 'same-origin' }
  const tokens = new Map<string, string>()
  for (const role of operatorRoles.filter((one) => one !== 'admin')) tokens.set(role, await makeOperator(pix, role))
  tokens.set('admin', await makeOperator(pix, 'admin'))
  const cookies = new Map<string, string>()
  for (const [role, token] of tokens) cookies.set(role, await cookieOf(token))

  async function cookieOf(token: string): Promise<string> {
    const headers = { ...page, 'content-type': 'application/json' }
    const body = JSON.stringify({ token })
    const answer = await fetch(`${pix.operatorUrl}/console/session`, { method: 'POST', headers, body })
    return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  const faults: string[] = []
  const expect = async (who: string, endpoint: Endpoint, headers: Record<string, string>, expected: Entry) => {
    const entry = await entryOf(pix.url, endpoint, headers)
    if (entry !== expected) faults.push(`${endpoint.method} ${endpoint.path}: ${who} ${entry}, not ${expected}`)
  }
  for (const endpoint of guarded) {
    const name = `${endpoint.method} ${endpoint.path}`
    const isOfOperators = endpoint.auth === 'admin'
    const isOfConsole = /^\/(operator|console)\//.test(endpoint.path)
    const allowed: readonly string[] = endpoint.method === 'GET' ? operatorRoles : (WRITES[name] ?? [])
    if (isOfOperators) assert.notEqual(allowed.length, 0, `${name} is not in the table`)
    const entryOfRole = (role: string): Entry => (allowed.includes(role) ? 'may' : 'may not')
    const cookie = cookies.get('admin') ?? ''
    await expect('nobody', endpoint, {}, 'unknown')
    await expect('the cookie without the header', endpoint, { cookie }, 'unknown')
    if (!isOfOperators) {
      await expect('the cookie', endpoint, { ...page, cookie }, 'unknown')
      await expect('a token', endpoint, { authorization: `Bearer ${tokens.get('admin')}` }, 'unknown')
      continue
    }
    await expect('a key', endpoint, { authorization: `Bearer ${pix.apiKey}` }, 'unknown')
    const isOpen = ['GET /metrics', 'POST /api-key/generate'].includes(name)
    const adminToken = { authorization: `Bearer ${ADMIN_TOKEN}` }
    await expect('the administrative token', endpoint, adminToken, isOpen ? 'may' : 'unknown')
    if (!isOfConsole) await expect('the cookie', endpoint, { ...page, cookie }, 'unknown')
    for (const [role, token] of tokens) {
      if (!isOfConsole) {
        await expect(`token of ${role}`, endpoint, { authorization: `Bearer ${token}` }, entryOfRole(role))
        continue
      }
      // Logging out ends the session that other requests need.
      const own = name === 'DELETE /console/session' ? await cookieOf(token) : (cookies.get(role) ?? '')
      await expect(`cookie of ${role}`, endpoint, { ...page, cookie: own }, entryOfRole(role))
    }
  }
  assert.deepEqual(faults, [])
})

test('[console.5] an admin makes an API key, and deactivates it', async (t) => {
  const pix = await world(t)
  const admin = { authorization: `Bearer ${await makeOperator(pix, 'admin')}` }
  const { status, body } = await pix.call('POST', '/operator/api-keys', { scopes: ['read'] }, admin)
  assert.equal(status, 201)
  const key = { authorization: `Bearer ${body.apiKey}` }
  assert.equal((await pix.call('GET', '/organization/balance', undefined, key)).status, 200)
  const { data } = (await pix.call('GET', '/operator/api-keys', undefined, admin)).body
  const [made] = data.filter(({ scopes }: { scopes: string[] }) => scopes.join() === 'read')
  assert.equal((await pix.call('DELETE', `/operator/api-keys/${made.id}`, undefined, admin)).status, 204)
  assert.equal((await pix.call('GET', '/organization/balance', undefined, key)).status, 401)
})
