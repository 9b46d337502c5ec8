import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import test, { type TestContext } from 'node:test'
import type { OperatorRole } from '@pixgate/spec'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

const MINUTE = 60_000

/** Headers that a page of the console sends. */
const FROM_CONSOLE = { 'x-pixgate-console': '1', 'sec-fetch-site': 'same-origin' }

interface Browser {
  /** The cookie, `name=value`. */
  readonly cookie: string
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** As a browser sends it: without a token. */
async function send(url: string, method: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

async function logIn(pix: World, body: object, headers: Record<string, string> = FROM_CONSOLE): Promise<Answer> {
  return send(`${pix.operatorUrl}/console/session`, 'POST', body, headers)
}

function browserOf(pix: World, { headers }: Answer): Browser {
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
  return {
    cookie,
    ask: (method, path, body, more = {}) =>
      send(pix.operatorUrl + path, method, body, { cookie, ...FROM_CONSOLE, ...more }),
  }
}

async function browser(pix: World, role: OperatorRole, name?: string): Promise<Browser> {
  const answer = await logIn(pix, { token: await makeOperator(pix, role, name) })
  assert.equal(answer.status, 201)
  return browserOf(pix, answer)
}

/** The status of a request with these headers alone: `fetch` sets Host itself. */
async function statusOf(pix: World, path: string, headers: Record<string, string>): Promise<number> {
  const sent = httpRequest(pix.operatorUrl + path, { headers, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode ?? 0
}

test('[console.1] a token is exchanged for a cookie, of which the database has the hash alone', async (t) => {
  const pix = await world(t)
  const answer = await logIn(pix, { token: await makeOperator(pix, 'operator', 'Carla Dias') })
  assert.equal(answer.status, 201)
  assert.deepEqual(answer.body.operator.name, 'Carla Dias')
  const cookie = answer.headers.get('set-cookie') ?? ''
  assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict$/)
  assert.doesNotMatch(cookie, /Domain/)
  const { ask, cookie: pair } = browserOf(pix, answer)
  assert.equal((await ask('GET', '/console/session')).body.operator.role, 'operator')
  const rows = await pix.database.rows(
    { name: 'test.sessions', text: 'SELECT to_jsonb(s)::text AS row FROM session s' },
    [],
  )
  assert.equal(rows.length, 1)
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(pair.split('=')[1] ?? '-'))
})

test('[console.1] a wrong token, an API key and the administrative token do not log in', async (t) => {
  const pix = await world(t)
  for (const body of [
    { token: ADMIN_TOKEN },
    { token: pix.apiKey },
    { token: 'pix_op_test_0' },
    {},
    { link: 'none' },
  ]) {
    const { status, headers } = await logIn(pix, body)
    assert.deepEqual([status, headers.get('set-cookie')], [401, null], JSON.stringify(Object.keys(body)))
  }
})

test('[console.2] a cookie counts in requests of the console’s own pages alone', async (t) => {
  const pix = await world(t)
  const { ask, cookie } = await browser(pix, 'viewer')
  assert.equal((await ask('GET', '/operator/cases')).status, 200)
  const { host, origin } = new URL(pix.operatorUrl)
  const wrong: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { cookie: `${cookie}; ${cookie}` },
    { cookie: cookie.replace(/-\d+=/, '-1=') },
    { cookie: `\u00a0${cookie}` },
    { cookie: cookie.replace('=', '\u00a0=') },
  ]
  for (const headers of wrong) {
    assert.equal((await ask('GET', '/operator/cases', undefined, headers)).status, 401, JSON.stringify(headers))
  }
  const own = { host, cookie, 'x-pixgate-console': '1' }
  assert.equal(await statusOf(pix, '/operator/cases', { ...own, origin }), 200)
  const refused: readonly Record<string, string>[] = [
    own,
    { host, cookie, 'sec-fetch-site': 'same-origin' },
    { ...own, origin: 'http://127.0.0.1:1' },
    { ...own, origin: 'null' },
    { ...own, 'sec-fetch-site': 'same-origin', host: 'rebound.example' },
    { ...own, 'sec-fetch-site': 'same-origin', host: 'localhost@rebound.example' },
    { ...own, 'sec-fetch-site': 'same-origin', host: 'localhost.rebound.example' },
  ]
  for (const headers of refused) {
    assert.equal(await statusOf(pix, '/operator/cases', headers), 401, JSON.stringify(headers))
  }
})

test('[console.2] a cookie opens nothing of the merchant’s API, and a token beside it decides', async (t) => {
  const pix = await world(t)
  const { ask } = await browser(pix, 'viewer')
  for (const path of ['/api/pix/cash-in', '/organization/balance', '/webhook', '/api-key', '/metrics']) {
    assert.equal((await ask('GET', path)).status, 401, path)
  }
  const authorization = 'Bearer pix_op_test_0'
  assert.equal((await ask('GET', '/operator/cases', undefined, { authorization })).status, 401)
})

test('[console.2] under another host name the console and its log-in are 421', async (t) => {
  const pix = await world(t, { PIXGATE_CONSOLE_HOSTS: 'pix.internal.example' })
  for (const path of ['/console', '/console/cases']) {
    assert.equal(await statusOf(pix, path, { host: 'rebound.example:80' }), 421, path)
    assert.notEqual(await statusOf(pix, path, { host: 'pix.internal.example' }), 421, path)
  }
  const headers = { ...FROM_CONSOLE, host: 'rebound.example', 'content-type': 'application/json' }
  const sent = httpRequest(`${pix.operatorUrl}/console/session`, { method: 'POST', headers, agent: false }).end('{}')
  const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage]
  assert.equal(statusCode, 421)
})

test('[console.3] a link of the sandbox logs its operator in once, within five minutes', async (t) => {
  const pix = await world(t)
  const [ana, bruno] = await pix.service.sandboxOperators()
  const answer = await logIn(pix, { link: ana?.link })
  assert.deepEqual([answer.status, answer.body.operator.role], [201, 'admin'])
  assert.equal((await logIn(pix, { link: ana?.link })).status, 401, 'a second time')
  pix.clock.advance(5 * MINUTE)
  assert.equal((await logIn(pix, { link: bruno?.link })).status, 401, 'too late')
  const again = await pix.service.sandboxOperators()
  assert.equal((await logIn(pix, { link: again[0]?.link })).body.operator.id, answer.body.operator.id)
  const authorization = `Bearer ${ADMIN_TOKEN}`
  assert.equal((await pix.call('GET', '/operator/cases', undefined, { authorization })).status, 200, 'still an admin')
})

test('[console.4] a session ends after 15 minutes without activity, and polling is none', async (t) => {
  const pix = await world(t)
  const { ask } = await browser(pix, 'viewer')
  const background = { 'x-pixgate-console': 'background' }
  pix.clock.advance(14 * MINUTE)
  assert.equal((await ask('GET', '/operator/cases')).status, 200)
  pix.clock.advance(8 * MINUTE)
  assert.equal((await ask('GET', '/operator/cases', undefined, background)).status, 200)
  pix.clock.advance(8 * MINUTE)
  assert.equal((await ask('GET', '/operator/cases', undefined, background)).status, 401)
})

test('[console.4] a person at the console was seen now, and polling is no sign of them', async (t) => {
  const pix = await world(t)
  const { ask } = await browser(pix, 'admin')
  const seen = async () => {
    const { data } = (await ask('GET', '/operator/operators', undefined, { 'x-pixgate-console': 'background' })).body
    return pix.clock.now() - Date.parse(data[0].lastUsedAt)
  }
  assert.ok((await seen()) < MINUTE, 'since the log-in')
  pix.clock.advance(5 * MINUTE)
  assert.ok((await seen()) >= 5 * MINUTE)
  await ask('GET', '/operator/cases')
  assert.ok((await seen()) < MINUTE)
})

test('[console.4] a session lasts twelve hours, however busy', async (t) => {
  const pix = await world(t)
  const { ask } = await browser(pix, 'viewer')
  for (let minutes = 0; minutes < 12 * 60 - 10; minutes += 10) {
    pix.clock.advance(10 * MINUTE)
    assert.equal((await ask('GET', '/operator/cases')).status, 200)
  }
  pix.clock.advance(10 * MINUTE)
  assert.equal((await ask('GET', '/operator/cases')).status, 401)
})

test('[console.4] sessions are listed and ended; a deactivated operator has none', async (t) => {
  const pix = await world(t)
  const viewer = await browser(pix, 'viewer')
  const admin = await browser(pix, 'admin')
  const own = await viewer.ask('GET', '/operator/sessions')
  assert.deepEqual(
    own.body.data.map(({ isOwn }: { isOwn: boolean }) => isOwn),
    [true],
  )
  const all = (await admin.ask('GET', '/operator/sessions')).body.data
  assert.equal(all.length, 2)
  const ofAdmin = all.find(({ isOwn }: { isOwn: boolean }) => isOwn)
  assert.equal((await viewer.ask('DELETE', `/operator/sessions/${ofAdmin.id}`)).status, 404)
  assert.equal((await admin.ask('DELETE', `/operator/sessions/${own.body.data[0].id}`)).status, 204)
  assert.equal((await viewer.ask('GET', '/operator/cases')).status, 401)
  const { cookie } = await admin
  const ended = await admin.ask('DELETE', '/console/session')
  assert.match(ended.headers.get('set-cookie') ?? '', new RegExp(`^${cookie.split('=')[0]}=; Max-Age=0;`))
  assert.equal((await admin.ask('GET', '/operator/cases')).status, 401)
})

test('[console.4] a person has twenty sessions: a further log-in ends the one that was idle longest', async (t) => {
  const pix = await world(t)
  const other = await browser(pix, 'operator')
  const token = await makeOperator(pix, 'viewer')
  const sessions: Browser[] = []
  for (let count = 0; count < 20; count += 1) sessions.push(browserOf(pix, await logIn(pix, { token })))
  const [first, second, third] = sessions
  pix.clock.advance(2 * MINUTE)
  const statuses = async () =>
    Promise.all([first, second, third, other].map(async (one) => (await one?.ask('GET', '/operator/cases'))?.status))
  await first?.ask('GET', '/operator/cases')
  await logIn(pix, { token })
  assert.deepEqual(await statuses(), [200, 401, 200, 200])
  // The session of the same browser makes room.
  await logIn(pix, { token }, { ...FROM_CONSOLE, cookie: third?.cookie ?? '' })
  assert.equal((await first?.ask('GET', '/operator/sessions'))?.body.data.length, 20)
  await Promise.all([1, 2, 3, 4, 5].map(() => logIn(pix, { token })))
  assert.equal((await first?.ask('GET', '/operator/sessions'))?.body.data.length, 20)
})

test('[console.4] a deactivated operator’s session ends within five seconds', async (t) => {
  const pix = await world(t)
  const admin = await browser(pix, 'admin')
  const { token } = (await admin.ask('POST', '/operator/operators', { name: 'Davi Reis', role: 'viewer' })).body
  const other = browserOf(pix, await logIn(pix, { token }))
  const { operator } = (await other.ask('GET', '/console/session')).body
  assert.equal((await admin.ask('DELETE', `/operator/operators/${operator.id}`)).status, 204)
  pix.clock.advance(5_000)
  assert.equal((await other.ask('GET', '/operator/cases')).status, 401)
})

test('[console.5] what operators order through the console names them in the audit trail', async (t) => {
  const pix = await world(t)
  const { ask } = await browser(pix, 'operator', 'Elisa Nunes')
  const { id } = await pix.charge('10')
  assert.equal((await ask('POST', `/operator/cash-ins/${id}/cancel`)).status, 200)
  const trail = {
    name: 'test.trail',
    text: `SELECT actor_name AS name, subject FROM audit WHERE action = 'cash_in.cancelled'`,
  }
  assert.deepEqual(await pix.database.rows(trail, []), [{ name: 'Elisa Nunes', subject: id }])
  const viewer = await browser(pix, 'viewer')
  const refused = await viewer.ask('POST', `/operator/cash-ins/${id}/cancel`)
  assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
})

test('[console.15] operators create charges in the sandbox; production has no such path', async (t) => {
  const pix = await world(t)
  const { ask } = await browser(pix, 'operator')
  const transaction = { value: 12.5, externalId: 'from-console' }
  assert.equal((await ask('POST', '/operator/cash-ins', { transaction })).status, 201)
})

test('[console.16] the pages have a strict policy, and every path is the page', async (t) => {
  const pix = await world(t)
  for (const path of ['/console', '/console/pagamentos/1']) {
    const { headers } = await fetch(pix.operatorUrl + path)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*trusted-types 'none'/)
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
  }
  assert.notEqual((await fetch(`${pix.operatorUrl}/console/assets/none.js`)).status, 200)
})

test('[console.17] the console and its log-in are on the operator’s port alone, or nowhere', async (t: TestContext) => {
  const apart = await world(t, { PIXGATE_OPERATOR_PORT: '0' })
  assert.equal((await fetch(`${apart.url}/console`)).status, 404)
  assert.notEqual((await fetch(`${apart.operatorUrl}/console`)).status, 404)
  const off = await world(t, { PIXGATE_CONSOLE: 'false' })
  assert.equal((await fetch(`${off.url}/console`)).status, 404)
  assert.equal((await logIn(off, { token: await makeOperator(off, 'viewer') })).status, 404)
})
