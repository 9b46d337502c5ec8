import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { exchange, good, head, listen, thingServer } from './thing-server.ts'

test('[http.5] a caller without valid credentials gets 401 before anything else is validated', async (t) => {
  const { app } = thingServer(t)
  for (const headers of [{}, { authorization: 'Bearer bad' }, { authorization: 'Basic Z29vZA==' }]) {
    for (const request of [
      { method: 'GET', url: '/things/1' },
      { method: 'GET', url: `/things/${'x'.repeat(200)}` },
      { method: 'GET', url: '/things?limit=nonsense' },
      { method: 'POST', url: '/things', payload: '{' },
      { method: 'POST', url: '/touch?a=1', payload: { bogus: true } },
    ] as const) {
      const answer = await app.inject({ ...request, headers })
      assert.equal(answer.statusCode, 401, request.url)
      assert.equal(answer.json().code, 'unauthorized')
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
    }
  }
})

test('[http.5] a bearer token is judged before the body is read', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  // The body is announced and never sent: only who does not wait for it can answer.
  const answer = await exchange(
    port,
    head(
      'POST /things HTTP/1.1',
      'Host: x',
      'Connection: close',
      'Content-Type: application/json',
      'Content-Length: 9',
    ),
  )
  assert.match(answer, /^HTTP\/1\.1 401 /)
})

test('[http.6] two Authorization headers are the one 401, even two good ones', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const send = (...headers: string[]) =>
    exchange(port, head('GET /things/1 HTTP/1.1', 'Host: x', 'Connection: close', ...headers))
  assert.match(await send('Authorization: Bearer good'), /^HTTP\/1\.1 200 /)
  const twice = await send('Authorization: Bearer good', 'AUTHORIZATION: Bearer good')
  assert.match(twice, /^HTTP\/1\.1 401 /)
  assert.match(twice, /"code":"unauthorized"/)
})

test('[http.6] an endpoint for anyone asks for nothing', async (t) => {
  let credential = ''
  const { app } = thingServer(t, {
    handlers: {
      setMood: async ({ body, context }) => {
        credential = context.caller.credential
        return { status: 200, body }
      },
    },
  })
  assert.equal((await app.inject({ method: 'PUT', url: '/mood', headers: { authorization: 'bad' } })).statusCode, 200)
  assert.equal(credential, 'none')
})

test('[http.6] an authenticator may refuse for other reasons', async (t) => {
  const { app } = thingServer(t, {
    authenticate: {
      'api-key': async () => {
        throw new Refusal('rate_limited', { retryAfterSeconds: 3 })
      },
    },
  })
  const answer = await app.inject({ url: '/things/1', headers: good })
  assert.equal(answer.statusCode, 429)
  assert.equal(answer.headers['retry-after'], '3')
})

test('[http.5] the partner’s signature is checked over the raw bytes, which reach the handler unchanged', async (t) => {
  const signed: Buffer[] = []
  const { app } = thingServer(t, {
    authenticate: {
      partner: async ({ headers, rawBody }) => {
        signed.push(rawBody)
        if (headers['x-signature'] !== 'good') throw new Refusal('unauthorized')
        return { credential: 'partner', id: 'bank' }
      },
    },
  })
  const bodies = ['{"event": "x"}\n', '{"a":1,"a":2}', '', 'not json', Buffer.from([0xff, 0x00, 0xfe])]
  for (const body of bodies) {
    for (const type of [undefined, 'application/json', 'text/plain', '!']) {
      const headers = { 'x-signature': 'good', ...(type && { 'content-type': type }) }
      const answer = await app.inject({ method: 'POST', url: '/events', headers, payload: body })
      assert.equal(answer.statusCode, 200)
      assert.equal(answer.json().hex, Buffer.from(body).toString('hex'))
      assert.deepEqual(signed.at(-1), Buffer.from(body))
    }
  }
  const forged = await app.inject({ method: 'POST', url: '/events', payload: 'not json' })
  assert.equal(forged.statusCode, 401)
})
