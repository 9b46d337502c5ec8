import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { AWAKE } from '../../support/live-request.ts'
import { creating, creatingInChunks, GOOD, HOST, maker, statuses } from './maker.ts'
import { exchange, handlers, head, listen, thingServer } from './thing-server.ts'

const ASK = head('GET /healthz HTTP/1.1', HOST)

/** Resets a connection, and resolves when the server has seen it. */
function reset(client: Socket, serverSide: Socket | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  serverSide?.on('close', () => resolve())
  client.resetAndDestroy()
  return promise
}

const names = (answer: string) => [...answer.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name)

const LAST = {
  'two Hosts': [head('GET /healthz HTTP/1.1', 'Host: a', 'Host: b'), '400'],
  'no Host': [head('GET /healthz HTTP/1.1'), '400'],
  'an absolute target': [head('GET http://x/healthz HTTP/1.1', HOST), '400'],
  'HTTP/1.0 that would stay': [head('GET /mood HTTP/1.0', HOST, 'Connection: keep-alive'), '400'],
  'a health check in HTTP/1.0': [head('GET /healthz HTTP/1.0', 'Connection: keep-alive'), '200'],
  'a body of 70 kB': [creating('x'.repeat(70_000)), '413'],
  'an upgrade': [head('GET /healthz HTTP/1.1', HOST, 'Upgrade: h2c'), '200'],
  'an upgrade that names its connection': [
    head('GET /healthz HTTP/1.1', HOST, 'Connection: Upgrade', 'Upgrade: h2c'),
    '200',
  ],
  'an upgrade to a path that cannot be read': [head('GET /%zz HTTP/1.1', HOST, 'Upgrade: h2c'), '400'],
  'Connection: close': [head('GET /healthz HTTP/1.1', HOST, 'Connection: close'), '200'],
} as const

for (const [name, [first, status]] of Object.entries(LAST)) {
  test(`[http.17] [PL-63] nothing is executed after an answer that closes the connection: ${name}`, async (t) => {
    const { port, made, log, release } = await maker(t)
    release()
    const answer = await exchange(port, first + creating() + creatingInChunks('jug') + ASK)
    assert.deepEqual(statuses(answer), [status])
    assert.match(answer, /connection: close/i)
    assert.deepEqual(made, [])
    assert.equal(log.length, 1, 'and what was answered is a line of the log')
  })
}

test('[http.17] [logs.3] of fifty pipelined requests each runs after the answer to the one before, and is logged', async (t) => {
  let underWay = 0
  const { app, log } = thingServer(t, {
    handlers: {
      createThing: async (input) => {
        underWay += 1
        assert.equal(underWay, 1)
        await new Promise(setImmediate)
        underWay -= 1
        return handlers.createThing(input)
      },
    },
  })
  const all = Array.from({ length: 50 }, (_, at) => `n${at}`)
  const requests = all.map((name, at) => {
    if (at % 5 === 1) return creatingInChunks(name)
    return creating(name, `X-Correlation-ID: ${name}`, ...(at % 5 === 2 ? ['Expect: 100-continue'] : []))
  })
  const answer = await exchange(
    await listen(app),
    requests.join('') + head('GET /key HTTP/1.1', HOST, 'Connection: close'),
  )
  assert.deepEqual(names(answer), all)
  const correlationIds = log.map(({ correlationId }) => correlationId)
  for (const [at, name] of all.entries()) if (at % 5 !== 1) assert.equal(correlationIds[at], name)
  assert.equal(log.length, 51)
})

test('[http.17] a refused request does not hold up the requests behind it', async (t) => {
  const { port, made, release } = await maker(t)
  release()
  const unauthorized = creating('cup').replace('good', 'bad')
  const answer = await exchange(
    port,
    unauthorized +
      head('GET /nothing HTTP/1.1', HOST) +
      head('GET /%zz HTTP/1.1', HOST) +
      creating('jug', 'Connection: close'),
  )
  assert.deepEqual(statuses(answer), ['401', '404', '400', '201'])
  assert.deepEqual(made, ['jug'])
})

test('[http.9] [http.17] [PL-2] the request under way when a server begins to drain is the last of its connection', async (t) => {
  const { app, port, made, begun, release } = await maker(t)
  const answered = exchange(port, creating('cup') + creating('jug'))
  await begun
  app.beginDrain()
  const closed = app.close()
  release()
  const answer = await answered
  assert.deepEqual(statuses(answer), ['201'])
  assert.match(answer, /connection: close/i)
  assert.deepEqual(made, ['cup'])
  await closed
})

test('[http.13] the thousandth request of a connection is its last', async (t) => {
  const { app, log } = thingServer(t)
  const answer = await exchange(await listen(app), ASK.repeat(1_010))
  assert.equal(statuses(answer).length, 1_000)
  assert.equal(answer.match(/connection: close/gi)?.length, 1)
  assert.match(answer.slice(answer.lastIndexOf('HTTP/1.1 ')), /connection: close/i)
  assert.equal(log.length, 1_000)
})

test('[http.13] a client that sends more than is answered is not read any further', async (t) => {
  const { port, sockets, begun, release } = await maker(t)
  const client = connect({ host: '127.0.0.1', port })
  client.write(creating())
  await begun
  const [serverSide] = sockets
  assert.ok(serverSide)
  const paused = once(serverSide, 'pause')
  client.end(ASK.repeat(100_000))
  await paused
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
  assert.ok(serverSide.isPaused())
  assert.ok(serverSide.bytesRead < 1_024 * 1_024, `${serverSide.bytesRead} bytes`)
  release()
  assert.equal(statuses(await readText(client)).length, 1_000)
})

test('[http.14] [http.17] [PL-6] a request that waits on a reset connection is not executed', async (t) => {
  const { port, made, sockets, begun, release } = await maker(t)
  const client = connect({ host: '127.0.0.1', port })
  client.write(creating('cup') + creating('jug'))
  await begun
  await reset(client, sockets[0])
  release()
  await new Promise(setImmediate)
  assert.deepEqual(made, ['cup'])
})

for (const [when, isSeen] of [
  ['before it is answered', true],
  ['while it is answered', false],
] as const) {
  test(`[logs.3] a request whose client is gone ${when} is logged too`, async (t) => {
    const { port, log, sockets, begun, release } = await maker(t)
    const client = connect({ host: '127.0.0.1', port })
    client.write(creating('cup', 'X-Correlation-ID: gone-1'))
    await begun
    const seen = reset(client, sockets[0])
    await (isSeen ? seen : once(client, 'close'))
    release()
    await seen
    await new Promise(setImmediate)
    assert.deepEqual(
      log.map(({ correlationId, status }) => [correlationId, status]),
      [['gone-1', 201]],
    )
  })
}

test('[http.14] [http.17] [PL-5] a request ages while it waits behind another', async (t) => {
  let now = 0
  const { port, made, begun, release } = await maker(t, { eventLoop: { ...AWAKE, now: () => now } })
  const answered = exchange(port, creating('cup') + creating('jug') + ASK + creating('mug', 'Connection: close'))
  await begun
  await new Promise(setImmediate)
  now = 5_000
  release()
  assert.deepEqual(statuses(await answered), ['201', '503', '200', '503'])
  assert.deepEqual(made, ['cup'])
})

test('[http.14] [http.17] [PL-5] a request that waited while the process slept is not executed', async (t) => {
  let gaps = 0
  const { port, made, begun, release } = await maker(t, {
    eventLoop: {
      ...AWAKE,
      mark: () => ({ gaps, isWaking: false }),
      hasStoodStillSince: (mark) => mark.gaps !== gaps,
    },
  })
  const answered = exchange(port, creating('cup') + creating('jug', 'Connection: close'))
  await begun
  await new Promise(setImmediate)
  gaps += 1
  release()
  assert.deepEqual(statuses(await answered), ['201', '503'])
  assert.deepEqual(made, ['cup'])
})

test('[http.10] [http.15] CONNECT is answered 400: its target is no path', async (t) => {
  const { port, log } = await maker(t)
  const connecting = head('CONNECT a:1 HTTP/1.1', 'Host: a:1', 'X-Correlation-ID: tunnel-1')
  for (const bytes of [connecting, `${connecting}what was meant for a:1`]) {
    const answer = await exchange(port, bytes)
    assert.deepEqual(statuses(answer), ['400'])
    assert.match(answer, /connection: close/i)
    assert.match(answer, /content-type: application\/problem\+json/i)
    assert.match(answer, /"message":"the request target must be a path","correlationId":"tunnel-1"/)
  }
  assert.deepEqual(
    log.map(({ correlationId, status }) => [correlationId, status]),
    [
      ['tunnel-1', 400],
      ['tunnel-1', 400],
    ],
  )
})

test('[http.15] [PL-62] requests before a CONNECT are answered with their outcome', async (t) => {
  const { port, made, begun, release } = await maker(t)
  const answered = exchange(
    port,
    creating('cup') + creating('jug') + head('CONNECT a:1 HTTP/1.1', 'Host: a:1') + creating('mug'),
  )
  await begun
  release()
  assert.deepEqual(statuses(await answered), ['201', '201', '400'])
  assert.deepEqual(made, ['cup', 'jug'])
})

test('[http.15] a reset after a CONNECT does no harm', async (t) => {
  const { port, made, sockets, begun, release } = await maker(t)
  const client = connect({ host: '127.0.0.1', port })
  client.write(creating('cup') + creating('jug') + head('CONNECT a:1 HTTP/1.1', 'Host: a:1'))
  await begun
  await reset(client, sockets[0])
  release()
  assert.match(await exchange(port, head('GET /healthz HTTP/1.1', HOST, 'Connection: close')), /^HTTP\/1\.1 200 /)
  assert.deepEqual(made, ['cup'])
})

test('[http.15] a request refused before its body arrived gets one answer, whatever follows', async (t) => {
  const { port } = await maker(t)
  const client = connect({ host: '127.0.0.1', port }).setEncoding('utf8')
  client.write(head('POST /things HTTP/1.1', HOST, 'Transfer-Encoding: chunked'))
  const [first] = await once(client, 'data')
  assert.deepEqual(statuses(first), ['401'])
  client.write('zz\r\n\r\n')
  assert.equal(await readText(client), '')
})

for (const [what, bytes] of Object.entries({ refused: head('GET /healthz HTTP/1.1'), 'no HTTP': 'garbage\r\n\r\n' })) {
  test(`[http.17] a client that still writes while its connection ends is not reset and can read the answer: ${what}`, async (t) => {
    const { port, made, sockets } = await maker(t)
    const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    client.write(bytes)
    assert.deepEqual(statuses(await readText(client)), ['400'])
    for (let packet = 0; packet < 20; packet += 1) {
      await new Promise((sent) => client.write(creating().repeat(1_000), sent))
    }
    const [serverSide] = sockets
    assert.equal(serverSide?.destroyed, false)
    client.end()
    await once(client, 'close')
    assert.deepEqual(made, [])
  })
}

test('[http.17] an ended connection that the client does not close is closed after 2 s', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { port, sockets } = await maker(t)
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  client.write(head('GET /healthz HTTP/1.1'))
  assert.deepEqual(statuses(await readText(client)), ['400'])
  const [serverSide] = sockets
  assert.equal(serverSide?.destroyed, false)
  t.mock.timers.tick(2_000)
  assert.equal(serverSide?.destroyed, true)
  client.destroy()
})

test('[http.13] [lists.4] a silent connection is closed, but not while a request on it runs', async (t) => {
  const { app, port, sockets, begun, release } = await maker(t)
  const silent = connect({ host: '127.0.0.1', port, noDelay: true })
  const connected = once(app.server, 'connection')
  const [idle] = await connected
  const answered = exchange(port, creating('cup', 'Connection: close'))
  await begun
  for (const socket of sockets) socket.emit('timeout')
  assert.deepEqual(
    sockets.map((socket) => socket.destroyed),
    [true, false],
  )
  release()
  assert.deepEqual(statuses(await answered), ['201'])
  assert.equal(sockets[0], idle)
  silent.destroy()
})

test('[http.13] connections leave nothing behind', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const warnings: unknown[] = []
  const warn = (warning: unknown) => warnings.push(warning)
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  const client = connect({ host: '127.0.0.1', port })
  client.end(ASK.repeat(200))
  assert.equal(statuses(await readText(client)).length, 200)
  await app.close()
  assert.deepEqual(warnings, [])
})

test(`[http.4] [http.17] a request that waits may be as large as any: ${limits.bodyMaxBytes} bytes`, async (t) => {
  const { port, begun, release } = await maker(t)
  const large = JSON.stringify({ name: 'jug' }).padEnd(limits.bodyMaxBytes)
  const second =
    head('POST /things HTTP/1.1', HOST, ...GOOD, `Content-Length: ${large.length}`, 'Expect: 100-continue') + large
  const answered = exchange(port, creating('cup') + second + second + creating('mug', 'Connection: close'))
  await begun
  release()
  const answer = await answered
  assert.deepEqual(names(answer), ['cup', 'jug', 'jug', 'mug'])
})
