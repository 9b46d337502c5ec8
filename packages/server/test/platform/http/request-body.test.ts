import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { readBody } from '../../../src/platform/http/request.ts'
import { exchange, good, head, listen, thingServer } from './thing-server.ts'

const json = { 'content-type': 'application/json' }

test('[http.4] a body needs Content-Type: application/json, with or without parameters', async (t) => {
  const { app } = thingServer(t)
  const send = async (type: string | undefined) => {
    const headers = { ...good, ...(type !== undefined && { 'content-type': type }) }
    return app.inject({ method: 'POST', url: '/things', headers, payload: '{"name":"cup"}' })
  }
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON ;x=y']) {
    assert.equal((await send(type)).statusCode, 201, type)
  }
  for (const type of [
    undefined,
    '',
    'text/plain',
    'application/jsonp',
    'application/json+x',
    'text/json',
    '!',
    'json',
  ]) {
    const answer = await send(type)
    assert.equal(answer.statusCode, 400, type)
    assert.equal(answer.json().code, 'content_type_required')
  }
})

test('[http.4] a body in another charset, or with a Content-Encoding, is refused and told why', async (t) => {
  const { app } = thingServer(t)
  const send = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/things', headers: { ...good, ...headers }, payload: '{"name":"cup"}' })
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', ' utf8 ', 'utf-8; x=charset']) {
    assert.equal((await send({ 'content-type': `application/json; charset=${charset}` })).statusCode, 201, charset)
  }
  for (const charset of ['utf-16', 'latin1', '"utf-16"', 'utf-8; charset=utf-16', 'utf-16; charset=utf-8', '', 'x y']) {
    const answer = await send({ 'content-type': `application/json;charset=${charset}` })
    assert.equal(answer.statusCode, 400, charset)
    assert.equal(answer.json().code, 'content_type_required')
    assert.equal(answer.json().detail, 'the charset of a JSON body must be utf-8')
  }
  assert.equal((await send({ ...json, 'content-encoding': 'identity' })).statusCode, 201)
  for (const encoding of ['gzip', 'br', 'identity, gzip']) {
    const answer = await send({ ...json, 'content-encoding': encoding })
    assert.deepEqual([answer.statusCode, answer.json().code], [400, 'content_type_required'])
    assert.equal(answer.json().detail, 'the request body must not have a Content-Encoding')
  }
})

test('[http.4] a call without a body accepts an empty one, of any type', async (t) => {
  const { app } = thingServer(t)
  for (const headers of [good, { ...good, ...json }, { ...good, 'content-type': '!' }]) {
    for (const payload of [undefined, '', '{}', ' { } ']) {
      const touched = await app.inject({ method: 'POST', url: '/touch', headers, ...(payload && { payload }) })
      assert.equal(touched.statusCode, 200)
      const deleted = await app.inject({ method: 'DELETE', url: '/things/1', headers, ...(payload && { payload }) })
      assert.equal(deleted.statusCode, 204)
    }
  }
})

test('[http.7] a body where none is declared is refused, and its fields are named', async (t) => {
  const { app } = thingServer(t)
  const unwanted = [{ field: '', code: 'unknown_field', message: 'this call takes no body' }]
  for (const [payload, faults] of [
    [
      '{"bogus":true}',
      [{ field: 'bogus', code: 'unknown_field', message: 'bogus is not a known field; this call takes none' }],
    ],
    ['null', [{ field: '', code: 'type', message: 'the body must be an object' }]],
    ['[]', [{ field: '', code: 'type', message: 'the body must be an object' }]],
    ['{', unwanted],
    ['{"a":1,"a":1}', unwanted],
    ['name=cup', unwanted],
    ['x'.repeat(limits.bodyMaxBytes + 1), unwanted],
  ] as const) {
    for (const headers of [good, { ...good, ...json }, { ...good, 'content-type': 'text/plain' }]) {
      for (const [method, url] of [
        ['POST', '/touch'],
        ['DELETE', '/things/1'],
        ['GET', '/healthz'],
      ] as const) {
        const answer = await app.inject({ method, url, headers, payload })
        assert.deepEqual([answer.statusCode, answer.json().code], [400, 'validation_error'], `${url} ${payload}`)
        assert.deepEqual(answer.json().errors, faults)
      }
    }
  }
})

test('[http.7] a body where none is declared is found in chunks too', async (t) => {
  const { app } = thingServer(t)
  const chunked = head('GET /healthz HTTP/1.1', 'Host: x', 'Connection: close', 'Transfer-Encoding: chunked')
  const port = await listen(app)
  assert.match(await exchange(port, `${chunked}7\r\n{"a":1}\r\n0\r\n\r\n`), /^HTTP\/1\.1 400 /)
  assert.match(await exchange(port, `${chunked}0\r\n\r\n`), /^HTTP\/1\.1 200 /)
})

test('[http.10] a refused body does not become the next request', async (t) => {
  const { app, log } = thingServer(t)
  const port = await listen(app)
  const inner = head('GET /things HTTP/1.1', 'Host: x')
  const answers = await exchange(
    port,
    head('GET /healthz HTTP/1.1', 'Host: x', `Content-Length: ${inner.length}`) +
      inner +
      head('GET /key HTTP/1.1', 'Host: x', 'Connection: close'),
  )
  assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 200'])
  assert.deepEqual(
    log.map(({ route }) => route),
    ['/healthz', '/key'],
  )
})

test('[http.4] no body stands for {} where {} is valid, and is required elsewhere', async (t) => {
  const { app } = thingServer(t)
  for (const headers of [{}, json, { 'content-type': '!' }]) {
    const mood = await app.inject({ method: 'PUT', url: '/mood', headers })
    assert.equal(mood.statusCode, 200)
    assert.deepEqual(mood.json(), {})
    const thing = await app.inject({ method: 'POST', url: '/things', headers: { ...good, ...headers } })
    assert.equal(thing.statusCode, 400)
    assert.equal(thing.json().code, 'validation_error')
    assert.equal(thing.json().message, 'the body is required')
    assert.deepEqual(thing.json().errors, [{ field: '', code: 'required', message: 'the body is required' }])
  }
})

test('[http.11] a body that is no JSON is malformed_json', async (t) => {
  const { app } = thingServer(t)
  const send = (payload: string | Buffer) =>
    app.inject({ method: 'POST', url: '/things', headers: { ...good, ...json }, payload })
  const aThing = '{"name":"cup"}'
  for (const payload of ['{', `${aThing}x`, '{"name":"a\tb"}', '{"name":"cup","count":01}', ' ', `\ufeff${aThing}`]) {
    const answer = await send(payload)
    assert.equal(answer.statusCode, 400, payload)
    assert.equal(answer.json().code, 'malformed_json', payload)
    assert.equal(answer.json().detail, 'the request body is not valid JSON')
  }
})

test('[http.11] ill-formed UTF-8, repeated keys, depth and __proto__ are malformed_json and say so', async (t) => {
  const { app } = thingServer(t)
  const detail = async (payload: string | Buffer) => {
    const answer = await app.inject({ method: 'POST', url: '/things', headers: { ...good, ...json }, payload })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().code, 'malformed_json')
    return answer.json().detail
  }
  assert.match(await detail(Buffer.from('{"name":"\xff"}', 'latin1')), /UTF-8/)
  assert.match(await detail(Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1')), /UTF-8/)
  assert.match(await detail('{"name":"cup","name":"cup"}'), /"name" twice/)
  assert.match(await detail(`{"name":${'['.repeat(60_000)}`), /deeper than 16/)
  assert.match(await detail('{"name":"cup","__proto__":{"x":1}}'), /__proto__/)
  assert.equal(({} as Record<string, unknown>).x, undefined)
})

test('[http.4] 64 KiB pass, one byte more is 413', async (t) => {
  const { app } = thingServer(t)
  const padded = (length: number) => '{"name":"cup"}'.padEnd(length)
  const send = (payload: string) =>
    app.inject({ method: 'POST', url: '/things', headers: { ...good, ...json }, payload })
  assert.equal((await send(padded(limits.bodyMaxBytes))).statusCode, 201)
  const answer = await send(padded(limits.bodyMaxBytes + 1))
  assert.equal(answer.statusCode, 413)
  assert.equal(answer.json().code, 'body_too_large')
  assert.equal(answer.headers.connection, 'close')
})

test('[http.4] a client that sends ten mebibytes can read the 413, with and without a length', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const tenMebibytes = Buffer.alloc(10 * 1_024 * 1_024, ' ')
  for (const length of [{ 'content-length': tenMebibytes.length }, {}]) {
    const request = httpRequest({ port, method: 'POST', path: '/things', headers: { ...good, ...json, ...length } })
    request.end(tenMebibytes)
    const [answer] = await once(request, 'response')
    assert.equal(answer.statusCode, 413)
    assert.equal(JSON.parse(await readText(answer)).code, 'body_too_large')
    assert.equal(answer.headers.connection, 'close')
  }
})

test('[http.4] a body without end is not read for ever', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const socket = connect({ host: '127.0.0.1', port })
  // The server closes while we write: that the write fails is the point.
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.write(
    head('POST /events HTTP/1.1', 'Host: x', 'X-Signature: good', `Content-Length: ${1_024 * 1_024 * 1_024}`),
  )
  const mebibyte = Buffer.alloc(1_024 * 1_024)
  const send = () => {
    while (socket.writable && socket.write(mebibyte));
  }
  socket.on('drain', send)
  send()
  await closed
  assert.ok(socket.bytesWritten < 64 * 1_024 * 1_024)
})

test('[http.4] a body whose sender leaves, or left before, is not waited for', async () => {
  const endedEarly = { code: 'validation_error', message: 'the request body ended early' }
  const leaving = new IncomingMessage(new Socket())
  const body = readBody(leaving)
  leaving.destroy()
  await assert.rejects(body, endedEarly)
  await assert.rejects(readBody(leaving), endedEarly)
})

test('[http.4] a sender who hangs up within the body reaches no handler and breaks nothing', async (t) => {
  let handled = 0
  const { app, log } = thingServer(t, {
    handlers: {
      receiveEvent: async () => {
        handled += 1
        return { status: 200, body: { hex: '' } }
      },
    },
  })
  const port = await listen(app)
  const begun = once(app.server, 'request')
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(`${head('POST /events HTTP/1.1', 'Host: x', 'X-Signature: good', 'Content-Length: 100')}half`)
  const [request] = await begun
  const closed = new Promise((resolve) => request.on('close', resolve))
  socket.destroy()
  await closed
  assert.match(await exchange(port, head('GET /healthz HTTP/1.1', 'Host: x', 'Connection: close')), /^HTTP\/1\.1 200 /)
  assert.equal(handled, 0)
  assert.deepEqual(
    log.filter(({ msg }) => msg === 'request failed'),
    [],
  )
})
