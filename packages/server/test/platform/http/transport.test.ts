import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { limits } from '@pixgate/spec'
import type { HttpServer } from '../../../src/platform/http/server.ts'
import { exchange, head, listen, thingServer } from './thing-server.ts'

const HOST = 'Host: x'
const JSON_LAST = ['Content-Type: application/json', 'Connection: close']
const ONLY_CHUNKED = 'Transfer-Encoding must be chunked, and nothing else'

test('[http.10] a request that two parsers might read differently is 400 and closes the connection', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const chunked = '5\r\nhello\r\n0\r\n\r\n'
  for (const [request, fault] of [
    [head('GET /healthz HTTP/1.1', HOST, 'Host: y'), 'exactly one Host header is required'],
    [head('GET /healthz HTTP/1.1', HOST, 'hOST: x'), 'exactly one Host header is required'],
    [head('GET /healthz HTTP/1.1'), 'exactly one Host header is required'],
    [
      head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: identity', 'Transfer-Encoding: chunked') + chunked,
      'Transfer-Encoding was sent twice',
    ],
    [head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: gzip, chunked') + chunked, ONLY_CHUNKED],
    [head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: identity, chunked') + chunked, ONLY_CHUNKED],
    [head('POST /events HTTP/1.1', HOST, 'Transfer-Encoding: xchunked') + chunked, ONLY_CHUNKED],
    [head('PUT /mood HTTP/1.0', HOST, 'Transfer-Encoding: chunked') + chunked, 'HTTP/1.1 is required'],
    [head('GET /mood HTTP/1.0', HOST, 'Connection: keep-alive'), 'HTTP/1.1 is required'],
    [head('GET /healthz HTTP/1.0', 'Transfer-Encoding: xchunked') + chunked, ONLY_CHUNKED],
    ['GET /healthz\r\n\r\n', 'HTTP/1.1 is required'],
    [head('GET http://evil/healthz HTTP/1.1', HOST), 'the request target must be a path'],
  ] as const) {
    const answer = await exchange(port, request)
    assert.match(answer, /^HTTP\/1\.1 400 /, request)
    assert.match(answer, /connection: close/i, request)
    assert.match(answer, /content-type: application\/problem\+json/i)
    assert.ok(answer.includes(`"code":"validation_error","message":"${fault}"`), answer)
    assert.match(answer, /x-correlation-id: made-\d+/i)
    assert.equal(answer.match(/^HTTP\/1\.1 \d/gm)?.length, 1)
  }
})

test('[http.1] bytes that are no HTTP are answered as a problem', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  for (const request of [
    'garbage\r\n\r\n',
    head('GET /healthz HTTP/1.1', HOST, 'Content-Length: 1', 'Transfer-Encoding: chunked'),
    head('PUT /mood HTTP/1.1', HOST, 'Content-Length: 1', 'Content-Length: 2'),
    head('GET /healthz HTTP/1.1', HOST, 'Transfer-Encoding: chunked', 'Content-Length: 0'),
    head('PUT /mood HTTP/1.1', HOST, 'Content-Length: 1', 'Content-Length: 1'),
    head('PUT /mood HTTP/1.1', HOST, 'Content-Length: +1'),
    head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: chunked, chunked'),
    head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: chunked, identity'),
    `${head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: chunked')}5;x=\x01\r\nhello\r\n0\r\n\r\n`,
    `${head('PUT /mood HTTP/1.1', HOST, 'Transfer-Encoding: chunked')}+5\r\nhello\r\n0\r\n\r\n`,
    head('GET /healthz HTTP/1.1', HOST, 'X-A : b'),
    head('GET /healthz HTTP/1.1', HOST, 'X-A: b\0c'),
    head('GET /healthz HTTP/1.1', HOST, 'X-A: b', ' folded'),
    head('GET /healthz HTTP/1.1', ' Host: x'),
    head('GET /healthz HTTP/1.1', HOST, ': no name'),
    head('GET /heal\0thz HTTP/1.1', HOST),
    'GET /healthz HTTP/1.1\nHost: x\n\n',
  ]) {
    const answer = await exchange(port, request)
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, request)
    assert.match(answer, /Connection: close\r\n/)
    assert.match(answer, /Content-Type: application\/problem\+json; charset=utf-8\r\n/)
    const [, correlationId] = /X-Correlation-ID: (made-\d+)\r\n/.exec(answer) ?? []
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    assert.match(answer, new RegExp(`Content-Length: ${Buffer.byteLength(body)}\r\n`))
    assert.equal(JSON.parse(body).correlationId, correlationId)
    assert.equal(JSON.parse(body).detail, 'the request is not valid HTTP/1.1')
  }
})

test('[http.10] Transfer-Encoding: chunked is taken, in any case; a GET may have a body that says nothing', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  for (const [request, body] of [
    [head('PUT /mood HTTP/1.1', HOST, ...JSON_LAST, 'Transfer-Encoding: Chunked'), '2\r\n{}\r\n0\r\n\r\n'],
    [head('GET /healthz HTTP/1.1', HOST, ...JSON_LAST, 'Content-Length: 2'), '{}'],
  ] as const) {
    const answer = await exchange(port, request + body)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.equal(answer.match(/^HTTP\/1\.1 \d/gm)?.length, 1)
  }
})

test('[http.10] headers of more than 16 KiB are 431', async (t) => {
  const { app } = thingServer(t)
  const answer = await exchange(await listen(app), head('GET /healthz HTTP/1.1', HOST, `X-A: ${'a'.repeat(17_000)}`))
  assert.match(answer, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
  assert.match(answer, /X-Correlation-ID: made-1\r\n/)
})

test('[logs.3] [metrics.1] unreadable requests are counted, and the first of each status is logged', async (t) => {
  const counted: number[] = []
  const { app, log } = thingServer(t, { onUnreadable: (status) => counted.push(status) })
  const port = await listen(app)
  const answers = [
    await exchange(port, 'garbage\r\n\r\n'),
    await exchange(port, 'garbage\r\n\r\n'),
    await exchange(port, head('GET /healthz HTTP/1.1', HOST, `X-A: ${'a'.repeat(17_000)}`)),
    await tooSlow(app, port),
  ]
  assert.deepEqual(
    answers.map((answer) => answer.slice(0, 'HTTP/1.1 400'.length)),
    ['HTTP/1.1 400', 'HTTP/1.1 400', 'HTTP/1.1 431', 'HTTP/1.1 408'],
  )
  assert.deepEqual(counted, [400, 400, 431, 408])
  assert.deepEqual(
    log.map(({ correlationId, status, reason }) => [correlationId, status, reason]),
    [
      ['made-1', 400, 'HPE_INVALID_METHOD'],
      ['made-3', 431, 'HPE_HEADER_OVERFLOW'],
      ['made-4', 408, 'ERR_HTTP_REQUEST_TIMEOUT'],
    ],
  )
  for (const line of log)
    assert.ok(answers.some((answer) => answer.includes(`X-Correlation-ID: ${line.correlationId}`)))
})

/** What a connection is answered of which Node says that its request takes too long. */
async function tooSlow(app: HttpServer, port: number): Promise<string> {
  app.server.once('connection', (socket) => {
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    app.server.emit('clientError', late, socket)
  })
  return exchange(port, 'GET /healthz')
}

test('[http.1] an expectation that is not understood changes nothing', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const answer = await exchange(port, head('GET /healthz HTTP/1.1', HOST, 'Expect: a miracle', 'Connection: close'))
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /x-correlation-id: made-1\r\n/i)
})

test('[http.3] a correlation id sent twice fails nothing', async (t) => {
  const { app } = thingServer(t)
  const answer = await exchange(
    await listen(app),
    head('GET /healthz HTTP/1.1', HOST, 'Connection: close', 'X-Correlation-ID: a', 'X-Correlation-ID: a'),
  )
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /x-correlation-id: a, a\r\n/)
})

test('[http.3] a correlation id of bytes that may stand in a header fails nothing', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  for (const id of ['a\tb', 'a\xe9b', 'a\x80b', 'x'.repeat(limits.correlationIdMaxLength + 1), '']) {
    const request = head('GET /healthz HTTP/1.1', HOST, 'Connection: close', `X-Correlation-ID: ${id}`)
    const answer = await exchange(port, Buffer.from(request, 'latin1'))
    assert.match(answer, /^HTTP\/1\.1 200 /, id)
    assert.match(answer, /x-correlation-id: made-\d+\r\n/)
  }
})

test('[http.3] [http.15] a control character makes no HTTP of any header, the correlation id among them', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  for (const header of ['X-Correlation-ID', 'X-Other']) {
    for (const control of ['\0', '\x01', '\x1b', '\x7f']) {
      const answer = await exchange(port, head('GET /healthz HTTP/1.1', HOST, `${header}: a${control}b`))
      assert.match(answer, /^HTTP\/1\.1 400 /, JSON.stringify(control))
      assert.match(answer, /"code":"validation_error"/)
    }
  }
})

test('[http.9] [PL-2] a draining server answers and closes the connections it has', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const socket = connect({ host: '127.0.0.1', port }).setEncoding('utf8')
  const ask = async () => {
    socket.write(head('GET /healthz HTTP/1.1', HOST))
    const [answer] = await once(socket, 'data')
    return answer
  }
  assert.match(await ask(), /connection: keep-alive/i)
  app.beginDrain()
  const closed = once(socket, 'close')
  const last = await ask()
  assert.match(last, /^HTTP\/1\.1 200 /)
  assert.match(last, /connection: close/i)
  await closed
})

test('[http.9] [PL-2] a closing server still answers a request that had begun to arrive', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const connected = once(app.server, 'connection')
  const socket = connect({ host: '127.0.0.1', port })
  socket.write('GET /healthz HTTP/1.1\r\n')
  const [serverSide] = await connected
  while (serverSide.bytesRead === 0) await setImmediate()
  const closed = app.close()
  socket.write(head(HOST))
  const answer = await readText(socket)
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /connection: close/i)
  await closed
})
