import assert from 'node:assert/strict'
import test from 'node:test'
import { limits, Refusal } from '@pixgate/spec'
import pg from 'pg'
import { bindEndpoints } from '../../../src/platform/http/endpoint-route.ts'
import { endpoints, good, thingServer } from './thing-server.ts'

const json = { 'content-type': 'application/json' }
const create = { method: 'POST', url: '/things', headers: { ...good, ...json } } as const
const refuse = (refusal: Error) => async () => {
  throw refusal
}

test('[http.5] a handler gets the validated input, and its reply is the answer', async (t) => {
  const { app } = thingServer(t, {
    handlers: {
      createThing: async ({ body, params, query, context }) => {
        assert.deepEqual(body, { name: 'cup', count: 2 })
        assert.equal(params, undefined)
        assert.equal(query, undefined)
        assert.deepEqual(context.caller, { credential: 'api-key', id: 'api-key of a test' })
        assert.equal(context.correlationId, 'order-7')
        assert.equal(context.remoteAddress, '127.0.0.1')
        assert.equal(context.endpoint, endpoints.createThing)
        assert.equal(context.headers['idempotency-key'], 'k1')
        return { status: 201, body: { id: '7', name: body.name, note: null }, headers: { location: '/things/7' } }
      },
    },
  })
  const answer = await app.inject({
    ...create,
    headers: { ...create.headers, 'x-correlation-id': 'order-7', 'idempotency-key': 'k1' },
    payload: '{"name":"cup","count":2}',
  })
  assert.equal(answer.statusCode, 201)
  assert.equal(answer.headers.location, '/things/7')
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(answer.body, '{"id":"7","name":"cup","note":null}')
})

test('[http.1] an answer of text has its own content type, and its headers win over ours', async (t) => {
  const { app } = thingServer(t)
  const { statusCode, headers, body } = await app.inject({ url: '/key', headers: { accept: 'application/json' } })
  assert.equal(statusCode, 200)
  assert.equal(headers['content-type'], 'application/x-pem-file')
  assert.equal(headers['cache-control'], 'public, max-age=300')
  assert.equal(body, 'PEM\n')
})

test('[http.1] an answer without a body has none', async (t) => {
  const { app } = thingServer(t)
  const answer = await app.inject({ method: 'DELETE', url: '/things/1', headers: good })
  assert.equal(answer.statusCode, 204)
  assert.equal(answer.body, '')
  assert.equal(answer.headers['content-type'], undefined)
})

test('[http.1] HEAD is answered as GET, without its body', async (t) => {
  const { app } = thingServer(t)
  const answer = await app.inject({ method: 'HEAD', url: '/things/1', headers: good })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.body, '')
})

test('[http.7] only declared fields leave, and a text longer than declared is no fault of the reader', async (t) => {
  const { app } = thingServer(t, {
    handlers: {
      getThing: async () => {
        const row = { id: '1', name: 'cup', note: 'longer than five', secret: 'hidden' }
        return { status: 200, body: row }
      },
    },
  })
  const answer = await app.inject({ url: '/things/1', headers: good })
  assert.deepEqual(answer.json(), { id: '1', name: 'cup', note: 'longer than five' })
})

test('[http.9] a status with a schema of its own is no problem', async (t) => {
  const { app } = thingServer(t, { handlers: { getHealth: async () => ({ status: 503, body: { ok: false } }) } })
  const answer = await app.inject('/healthz')
  assert.equal(answer.statusCode, 503)
  assert.deepEqual(answer.json(), { ok: false })
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
})

test('[http.1] a refusal is answered as a problem', async (t) => {
  const existing = { id: '7', status: 'PENDING', samePayload: true }
  const fields = [{ field: 'name', code: 'taken', message: 'name is taken' }]
  const { app } = thingServer(t, {
    handlers: { createThing: refuse(new Refusal('duplicate_external_id', { existing, fields })) },
  })
  const answer = await app.inject({ ...create, payload: { name: 'cup' } })
  assert.equal(answer.statusCode, 409)
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8')
  assert.equal(answer.headers['retry-after'], undefined)
  const message = 'externalId was already used; see existing for the operation that has it'
  assert.deepEqual(answer.json(), {
    type: '/docs/errors#duplicate_external_id',
    title: 'Duplicate externalId',
    status: 409,
    detail: message,
    code: 'duplicate_external_id',
    message,
    correlationId: 'made-1',
    errors: fields,
    existing,
  })
})

test('[http.9] 429 and 503 always have Retry-After', async (t) => {
  const retryAfter = async (refusal: Refusal) => {
    const { app } = thingServer(t, { handlers: { getThing: refuse(refusal) } })
    return (await app.inject({ url: '/things/1', headers: good })).headers['retry-after']
  }
  assert.equal(await retryAfter(new Refusal('rate_limited', { retryAfterSeconds: 17 })), '17')
  assert.equal(await retryAfter(new Refusal('rate_limited')), '1')
  assert.equal(await retryAfter(new Refusal('overloaded')), '1')
  assert.equal(await retryAfter(new Refusal('not_found')), undefined)
})

test('[http.9] a request that gave way to others in the database is 503, and can come again', async (t) => {
  const lockTimeout = Object.assign(new pg.DatabaseError('lock timeout', 0, 'error'), { code: '55P03' })
  const { app } = thingServer(t, { handlers: { getThing: refuse(lockTimeout) } })
  const answer = await app.inject({ url: '/things/1', headers: good })
  assert.deepEqual([answer.statusCode, answer.json().code], [503, 'overloaded'])
})

test('[http.2] an unexpected error is logged, and its answer shows no detail', async (t) => {
  const failure = Object.assign(new TypeError('SELECT canary'), { detail: 'row canary' })
  const { app, log } = thingServer(t, { handlers: { getThing: refuse(failure) } })
  const answer = await app.inject({ url: '/things/1', headers: good })
  assert.equal(answer.statusCode, 500)
  assert.equal(answer.json().code, 'internal_error')
  assert.equal(answer.json().detail, 'internal error')
  assert.ok(!answer.body.includes('canary'))
  const [failed] = log.filter(({ msg }) => msg === 'request failed')
  assert.equal(failed?.correlationId, answer.headers['x-correlation-id'])
  assert.match(JSON.stringify(failed?.error), /"type":"TypeError".*SELECT canary/)
  assert.ok(!JSON.stringify(failed).includes('row canary'))
})

test('[http.2] a reply that does not match its schema is answered 500', async (t) => {
  const { app, log } = thingServer(t, {
    handlers: { getThing: async () => ({ status: 200, body: { name: 'cup' } as never }) },
  })
  const answer = await app.inject({ url: '/things/1', headers: good })
  assert.equal(answer.statusCode, 500)
  assert.equal(answer.json().code, 'internal_error')
  assert.equal(log.filter(({ msg }) => msg === 'request failed').length, 1)
})

test('[http.8] an undeclared path is 404, also with a body that is no JSON', async (t) => {
  const { app } = thingServer(t)
  for (const request of [
    { method: 'GET', url: '/nothing' },
    { method: 'POST', url: '/nothing', headers: json, payload: '{' },
    { method: 'PATCH', url: '/nothing', headers: { 'content-type': '!' }, payload: 'x' },
    { method: 'GET', url: '/things/1/' },
    { method: 'GET', url: '/Things' },
  ] as const) {
    const answer = await app.inject(request)
    assert.equal(answer.statusCode, 404, request.url)
    assert.equal(answer.json().code, 'not_found')
    assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8')
    assert.ok(answer.headers['x-correlation-id'])
  }
})

test('[http.8] a method a path does not answer is 405 with those it does', async (t) => {
  const { app } = thingServer(t)
  const allow = async (method: 'PATCH' | 'OPTIONS' | 'GET' | 'PUT', url: string) => {
    const answer = await app.inject({ method, url })
    assert.equal(answer.statusCode, 405)
    assert.equal(answer.json().code, 'method_not_allowed')
    return answer.headers.allow
  }
  assert.equal(await allow('PATCH', '/things'), 'GET, HEAD, POST')
  assert.equal(await allow('OPTIONS', '/things/1?x=1'), 'GET, HEAD, DELETE')
  assert.equal(await allow('GET', '/touch'), 'POST')
  assert.equal(await allow('GET', '/sandbox'), 'DELETE')
})

test('[http.8] an endpoint that is added is answered like the others; where it is not it is 404 to every method', async (t) => {
  const added = bindEndpoints(
    { other: { ...endpoints.resetSandbox, path: '/other' } },
    { other: async () => ({ status: 204 }) as const },
  )
  assert.equal((await thingServer(t, { added }).app.inject({ method: 'DELETE', url: '/other' })).statusCode, 204)
  const { app } = thingServer(t)
  for (const method of ['DELETE', 'GET', 'POST'] as const) {
    const answer = await app.inject({ method, url: '/other' })
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.headers.allow, undefined)
  }
})

test('[http.1] a path that cannot be decoded is 400', async (t) => {
  const { app, log } = thingServer(t)
  for (const url of ['/things/%zz', '/things/%ff', '/things/%']) {
    const answer = await app.inject({ url, headers: { ...good, 'x-correlation-id': 'path-1' } })
    assert.equal(answer.statusCode, 400, url)
    assert.equal(answer.json().code, 'validation_error')
    assert.equal(answer.headers['x-correlation-id'], 'path-1')
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  }
  assert.equal(log.filter(({ status }) => status === 400).length, 3)
})

test('[http.7] a parameter is decoded, and as long as its schema allows', async (t) => {
  const { app } = thingServer(t)
  const get = (id: string) => app.inject({ url: `/things/${id}`, headers: good })
  assert.equal((await get('a%2Fb%20c')).json().id, 'a/b c')
  assert.equal((await get('x'.repeat(128))).statusCode, 200)
  const answer = await get('x'.repeat(129))
  assert.equal(answer.statusCode, 400)
  assert.deepEqual(answer.json().errors, [
    { field: 'id', code: 'too_long', message: 'id must have at most 128 characters' },
  ])
})

test('[http.3] a correlation id is echoed on every answer, or made', async (t) => {
  const { app } = thingServer(t)
  const longest = 'x'.repeat(limits.correlationIdMaxLength)
  for (const id of ['order-1', 'A.b_c:d-9', 'a b', 'a, b', '"#{$}~', '../x', longest]) {
    for (const url of ['/healthz', '/things/1', '/nothing', '/key']) {
      const answer = await app.inject({ url, headers: { 'x-correlation-id': id } })
      assert.equal(answer.headers['x-correlation-id'], id)
      if (answer.statusCode >= 400) assert.equal(answer.json().correlationId, id)
    }
  }
  assert.equal((await app.inject('/healthz')).headers['x-correlation-id'], 'made-1')
})

test('[http.6] every answer forbids sniffing and storing, and HTTPS is insisted on where configured', async (t) => {
  const plain = thingServer(t).app
  const secure = thingServer(t, { strictTransportSecurity: true }).app
  for (const url of ['/things/1', '/healthz', '/nothing']) {
    const { headers } = await plain.inject({ url, headers: good })
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['strict-transport-security'], undefined)
    assert.equal(headers.server, undefined)
    assert.equal(headers['x-powered-by'], undefined)
    const hsts = (await secure.inject({ url, headers: good })).headers['strict-transport-security']
    assert.equal(hsts, 'max-age=31536000; includeSubDomains')
  }
})

test('[http.8] no page of another origin is let in: an Origin changes nothing, and a preflight is a method as any', async (t) => {
  const { app } = thingServer(t)
  const origin = { origin: 'https://evil.example' }
  const plain = await app.inject({ url: '/things/1', headers: good })
  const asked = await app.inject({ url: '/things/1', headers: { ...good, ...origin } })
  assert.deepEqual([asked.statusCode, Object.keys(asked.headers)], [plain.statusCode, Object.keys(plain.headers)])
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/things/1',
    headers: { ...origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  })
  assert.equal(preflight.statusCode, 405)
  for (const { headers } of [asked, preflight]) {
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    )
  }
})

test('[http.13] the server has its limits', async (t) => {
  const { app } = thingServer(t)
  await app.ready()
  const { server } = app
  assert.equal(server.headersTimeout, 10_000)
  assert.equal(server.requestTimeout, 15_000)
  assert.equal(server.timeout, 20_000)
  assert.equal(server.keepAliveTimeout, 10_000)
  assert.equal(server.maxRequestsPerSocket, 0, 'we count them ourselves')
  assert.equal(server.maxHeadersCount, 100)
  assert.equal(server.maxConnections, 4_000)
})

test('[http.1] the client address that a proxy forwards is used for trusted proxies only', async (t) => {
  const addressSeen = async (trustProxy?: readonly string[]) => {
    let seen = ''
    const { app } = thingServer(t, {
      ...(trustProxy && { trustProxy }),
      handlers: {
        getHealth: async ({ context }) => {
          seen = context.remoteAddress
          return { status: 200, body: { ok: true } }
        },
      },
    })
    await app.inject({ url: '/healthz', headers: { 'x-forwarded-for': '203.0.113.9' } })
    return seen
  }
  assert.equal(await addressSeen(), '127.0.0.1')
  assert.equal(await addressSeen(['10.0.0.0/8']), '127.0.0.1')
  assert.equal(await addressSeen(['127.0.0.0/8']), '203.0.113.9')
})

test('[logs.1] a request is one line of the log: its route, never its url, headers or body', async (t) => {
  const { app, log } = thingServer(t)
  await app.inject({
    ...create,
    headers: { ...create.headers, 'x-correlation-id': 'c-1', 'x-other': 'canary' },
    payload: { name: 'canary' },
  })
  await app.inject({ url: '/things/canary', headers: { authorization: 'Bearer canary' } })
  await app.inject('/canary')
  await app.inject({ ...create, url: '/things?q=canary', payload: '{"canary":1,"canary":2}' })
  assert.equal(log.length, 4)
  assert.ok(!JSON.stringify(log).includes('canary'))
  const [line] = log
  assert.ok(line)
  const { time, durationMs, ...rest } = line
  assert.equal(typeof durationMs, 'number')
  assert.deepEqual(rest, {
    level: 30,
    correlationId: 'c-1',
    method: 'POST',
    route: '/things',
    status: 201,
    apiKeyId: 'api-key of a test',
    address: '127.0.0.1',
    msg: 'request',
  })
  assert.deepEqual(
    log.slice(1).map(({ route, status }) => [route, status]),
    [
      ['/things/{id}', 401],
      [undefined, 404],
      ['/things', 400],
    ],
  )
})

test('[logs.1] health checks are logged at debug', async (t) => {
  const { app, log } = thingServer(t)
  await app.inject('/healthz')
  assert.deepEqual(
    log.map(({ level }) => level),
    [20],
  )
})
