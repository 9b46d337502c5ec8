import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import type { OperatorRole } from '@pixgate/spec'
import { ensureSandboxOperators } from '../../src/access/api.ts'
import { Sessions } from '../../src/console/sessions.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds } from '../../src/platform/ids.ts'
import { createLogger, type Logger } from '../../src/platform/log.ts'
import { testDatabase } from '../support/database.ts'
import { makeOperator } from '../support/operators.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

/** What an attacker tries at the console over plain HTTP. What a foreign page tries is in the console's own tests. */

const PAGE = { 'x-pixgate-console': '1', 'sec-fetch-site': 'same-origin' }

function logIn(pix: World, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${pix.operatorUrl}/console/session`, {
    method: 'POST',
    headers: { ...PAGE, ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

function cookieIn({ headers }: Response): string {
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function session(pix: World, role: OperatorRole): Promise<string> {
  return cookieIn(await logIn(pix, { token: await makeOperator(pix, role) }))
}

async function statusWith(pix: World, cookie: string, path = '/operator/cases'): Promise<number> {
  return (await fetch(pix.operatorUrl + path, { headers: { ...PAGE, cookie } })).status
}

/** Sends bytes, and reads the status and the body of the answer. */
async function raw(pix: World, head: readonly string[]): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(pix.operatorUrl).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (piece: string) => {
    answer += piece
  })
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  await once(socket, 'close')
  const [start = '', ...body] = answer.split('\r\n\r\n')
  return { status: Number(start.split(' ')[1]), body: body.join('\r\n\r\n') }
}

test('[console.1] a log-in ends the session of the same browser, and keeps no cookie that was planted', async (t) => {
  const pix = await world(t)
  const token = await makeOperator(pix, 'viewer')
  const first = cookieIn(await logIn(pix, { token }))
  const name = first.split('=')[0] ?? ''
  const second = cookieIn(await logIn(pix, { token }, { cookie: first }))
  const third = cookieIn(await logIn(pix, { token }, { cookie: `${name}=planted` }))
  const [ofFirst, ofSecond, ofThird, planted] = await Promise.all(
    [first, second, third, `${name}=planted`].map((cookie) => statusWith(pix, cookie)),
  )
  assert.deepEqual([ofFirst, ofSecond, ofThird, planted], [401, 200, 200, 401])
})

test('[console.4] a session that was looked up while it ended is not remembered', async (t) => {
  const { database } = await testDatabase(t)
  const clock = steppedClock()
  const ids = createIds(clock)
  const [{ id: operatorId } = { id: '' }] = await ensureSandboxOperators({ database, clock, ids })
  const found = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let isSlow = false
  const slow: Database = Object.assign(Object.create(database), {
    rows: async (asked: Parameters<Database['rows']>[0], parameters: never) => {
      const rows = await database.rows(asked, parameters)
      if (isSlow && asked.name === 'console.find_session') {
        found.resolve()
        await ended.promise
      }
      return rows
    },
  })
  const caller = { credential: 'admin', id: operatorId, name: 'Ana', role: 'viewer' } as const
  const authenticate = async () => caller
  const sessions = new Sessions({ database: slow, clock, ids, authenticate, mode: 'sandbox', consoleHosts: [] })
  const headers = { ...PAGE, host: 'localhost' }
  const request = { endpoint: { path: '/operator/cases' }, headers, remoteAddress: '192.0.2.1', caller } as never
  const started = await sessions.start({ token: 'token' }, request)
  const withCookie = { ...(request as object), headers: { ...headers, cookie: started.cookie } } as never
  isSlow = true
  const racing = sessions.callerOf(withCookie)
  await found.promise
  isSlow = false
  assert.equal(await sessions.end(started.caller.session.id, request), true)
  ended.resolve()
  await racing
  assert.equal(await sessions.callerOf(withCookie), undefined)
})

test('[console.3] a link counts once also for two at once, and not at all for a person who was deactivated', async (t) => {
  const pix = await world(t)
  const [ana, bruno] = await pix.service.sandboxOperators()
  const twice = await Promise.all([1, 2, 3].map(() => logIn(pix, { link: ana?.link })))
  assert.deepEqual(twice.map(({ status }) => status).sort(), [201, 401, 401])
  const authorization = `Bearer ${ADMIN_TOKEN}`
  const { data } = (await pix.call('GET', '/operator/operators', undefined, { authorization })).body
  const { id } = data.find(({ role }: { role: string }) => role === 'approver')
  assert.equal((await pix.call('DELETE', `/operator/operators/${id}`, undefined, { authorization })).status, 204)
  assert.equal((await logIn(pix, { link: bruno?.link })).status, 401)
})

test('[console.1] [api-keys.7] guessing at the log-in is limited, and keeps no right token out', async (t) => {
  const pix = await world(t)
  const token = await makeOperator(pix, 'viewer')
  const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  const statuses = new Set<number>()
  for (let guess = 0; guess < 30; guess += 1) statuses.add((await logIn(pix, { token: wrong })).status)
  assert.deepEqual([...statuses], [401, 429])
  assert.equal((await logIn(pix, { token })).status, 201)
})

test('[console.1] [logs.1] token, link and cookie are in no log, no answer and no table', async (t) => {
  let log = ''
  const write = (line: string) => {
    log += line
  }
  const logger: Logger = createLogger('trace', { write })
  const pix = await world(t, {}, { logger })
  const token = await makeOperator(pix, 'admin')
  const [ana] = await pix.service.sandboxOperators()
  const answers = [await logIn(pix, { token }), await logIn(pix, { link: ana?.link })]
  const secrets = [token, ana?.link ?? '', ...answers.map((answer) => cookieIn(answer).split('=')[1] ?? '')]
  const cookie = cookieIn(answers[0] as Response)
  const read = async (path: string) => (await fetch(pix.operatorUrl + path, { headers: { ...PAGE, cookie } })).text()
  const shown = [
    ...(await Promise.all(answers.map((answer) => answer.text()))),
    ...(await Promise.all(
      ['/operator/sessions', '/operator/audit', '/operator/operators', '/operator/system'].map(read),
    )),
    log,
    JSON.stringify(await pix.database.rows({ name: 'test.session', text: 'SELECT s::text FROM session s' }, [])),
    JSON.stringify(await pix.database.rows({ name: 'test.audit', text: 'SELECT a::text FROM audit a' }, [])),
  ]
  assert.ok(shown.every((text) => text.length > 0))
  const leaks = secrets.map((secret) => secret.length > 20 && shown.filter((text) => text.includes(secret)).length)
  assert.deepEqual(leaks, [0, 0, 0, 0])
})

test('[console.2] no spelling of a path, host or header lets the cookie reach more', async (t) => {
  const pix = await world(t)
  const { host } = new URL(pix.operatorUrl)
  const cookie = await session(pix, 'admin')
  await pix.charge('10')
  const own = [`Cookie: ${cookie}`, 'X-Pixgate-Console: 1', 'Sec-Fetch-Site: same-origin']
  const get = (path: string, more: readonly string[] = own, name = host) =>
    raw(pix, [`GET ${path} HTTP/1.1`, `Host: ${name}`, ...more])
  const outside = [
    '/operator/../api/pix/cash-in',
    '/operator/%2e%2e/api/pix/cash-in',
    '/console/../api/pix/cash-in',
    '/console/..%2fapi%2fpix%2fcash-in',
    '//operator/../api/pix/cash-in',
    '/api/pix/cash-in',
    '/%61pi/pix/cash-in',
    '/operator/..;/metrics',
    '/console/.vite/manifest.json',
    '/console/%2e%2e/%2e%2e/package.json',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/../index.html',
    `http://${host}/operator/operations`,
    'http://rebound.example/operator/operations',
  ]
  for (const path of outside) {
    const { status, body } = await get(path)
    assert.ok(status >= 400 || body.startsWith('<!doctype html>') || /not built/.test(body), `${path}: ${status}`)
    assert.doesNotMatch(body, /order-1|isEntry|dependencies/, path)
  }
  const [name = '', secret = ''] = cookie.split('=')
  const page = own.slice(1)
  const refused: readonly (readonly string[])[] = [
    [...own, 'Sec-Fetch-Site: cross-site'],
    [...own, `Cookie: ${name}=other`],
    [`Cookie: ${name}=other; ${cookie}`, ...page],
    [`Cookie: ${name} =${secret.slice(1)}`, ...page],
    [`Cookie: ${cookie}`, 'X_Pixgate_Console: 1', 'Sec-Fetch-Site: same-origin'],
    [`Cookie: ${cookie}`, 'X-Pixgate-Console: 1', `X-Forwarded-Host: ${host}`, 'Origin: http://rebound.example'],
    [...own, 'Authorization: '],
    [...own, 'Authorization: Basic eDp5'],
  ]
  for (const headers of refused) assert.equal((await get('/operator/cases', headers)).status, 401, headers.join(', '))
  const harmless = ['X-HTTP-Method-Override: DELETE', 'X-Forwarded-For: 192.0.2.9', 'X-Original-URL: /api/pix/cash-in']
  assert.equal((await get('/operator/cases', [...own, ...harmless])).status, 200)
  for (const rebound of [
    'rebound.example',
    'localhost.',
    '127.0.0.1.nip.example',
    'a@localhost',
    '[::ffff:127.0.0.1]',
  ]) {
    assert.equal((await get('/operator/cases', own, rebound)).status, 401, rebound)
    assert.equal((await get('/console', [], rebound)).status, 421, rebound)
  }
  // A value without a name is no second cookie.
  assert.equal((await get('/operator/cases', [`Cookie: ${name}x; ${cookie}`, ...page])).status, 200)
})

test('[console.16] what is no page is no frame and no other origin’s either', async (t) => {
  const pix = await world(t)
  for (const [path, headers, status] of [
    ['/console/assets/none.js', {}, 404],
    [`/console/${'a'.repeat(300)}`, {}, 400],
  ] as const) {
    const answer = await fetch(pix.operatorUrl + path, { headers })
    assert.equal(answer.status, status, path)
    assert.match(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path)
    assert.deepEqual(
      ['cross-origin-opener-policy', 'cross-origin-resource-policy', 'referrer-policy', 'x-content-type-options'].map(
        (name) => answer.headers.get(name),
      ),
      ['same-origin', 'same-origin', 'no-referrer', 'nosniff'],
      path,
    )
  }
})
