import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { exchange, head, listen, thingServer } from './thing-server.ts'

const HOST = 'Host: x'
const BODY = '{"name":"cup"}'
const GOOD = ['Authorization: Bearer good', 'Content-Type: application/json']

/** A valid request that makes a thing, as bytes. */
function creating(...headers: string[]): string {
  return head('POST /things HTTP/1.1', HOST, ...GOOD, `Content-Length: ${BODY.length}`, ...headers) + BODY
}

/** The same in chunks; what is given comes where the trailer fields stand. */
function chunked(trailer: string): string {
  const start = head('POST /things HTTP/1.1', HOST, ...GOOD, 'Transfer-Encoding: chunked')
  return `${start}${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n${trailer}`
}

/** A server whose things are made once they are let through, and how many were. */
async function slowMaker(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const made = { count: 0 }
  const { app } = thingServer(t, {
    handlers: {
      createThing: async ({ body }) => {
        begun.resolve()
        await gate.promise
        made.count += 1
        return { status: 201, body: { id: String(made.count), name: body.name, note: null } }
      },
    },
  })
  return { port: await listen(app), made, begun: begun.promise, release: () => gate.resolve() }
}

const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)

const STRAY = {
  'a word': 'garbage\r\n\r\n',
  'one byte more than Content-Length': '}',
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01',
  'a request with a malformed header': 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n',
  'a request with two lengths': 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
}

for (const [name, stray] of Object.entries(STRAY)) {
  test(`[http.15] [PL-62] a request is answered with its outcome, whatever follows it in the packet: ${name}`, async (t) => {
    const { port, made, begun, release } = await slowMaker(t)
    const answered = exchange(port, creating() + stray)
    await begun
    release()
    const answer = await answered
    assert.deepEqual(statuses(answer), ['201'])
    assert.match(answer, /connection: close/i)
    assert.equal(made.count, 1)
  })
}

test('[http.15] what was answered before the stray bytes came stays answered; they get the 400', async (t) => {
  const { app } = thingServer(t)
  const socket = connect({ host: '127.0.0.1', port: await listen(app) }).setEncoding('utf8')
  socket.write(creating())
  const [first] = await once(socket, 'data')
  assert.deepEqual(statuses(first), ['201'])
  socket.write('garbage\r\n\r\n')
  assert.deepEqual(statuses(await readText(socket)), ['400'])
})

test('[http.15] pipelined requests are answered in their order, the last whole one closes the connection', async (t) => {
  const { port, made, begun, release } = await slowMaker(t)
  const answered = exchange(port, `${creating()}${head('GET /healthz HTTP/1.1', HOST)}garbage\r\n\r\n`)
  await begun
  release()
  const answer = await answered
  assert.deepEqual(statuses(answer), ['201', '200'])
  assert.equal(answer.match(/connection: close/gi)?.length, 1)
  assert.equal(made.count, 1)
})

test('[http.15] more stray bytes while the request is carried out change nothing', async (t) => {
  const { port, made, begun, release } = await slowMaker(t)
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(`${creating()}garbage`)
  await begun
  for (let packet = 0; packet < 3; packet += 1) await new Promise((sent) => socket.write('more\r\n\r\n', sent))
  release()
  assert.deepEqual(statuses(await readText(socket)), ['201'])
  assert.equal(made.count, 1)
})

test('[http.15] [PL-62] a second request of which only a part comes does not touch the answer to the first', async (t) => {
  for (const half of ['POST /things HT', `${creating().slice(0, -3)}`]) {
    const { port, made, begun, release } = await slowMaker(t)
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    socket.end(creating() + half)
    await begun
    release()
    assert.deepEqual(statuses(await readText(socket))[0], '201', half)
    assert.equal(made.count, 1)
    socket.destroy()
  }
})

test('[http.15] bytes behind a request that ends its connection do not touch its answer', async (t) => {
  const { port, made, begun, release } = await slowMaker(t)
  const answered = exchange(port, creating('Connection: close') + creating())
  await begun
  release()
  assert.deepEqual(statuses(await answered), ['201'])
  assert.equal(made.count, 1)
})

test('[http.15] stray bytes behind the last chunk do not touch the answer', async (t) => {
  const { port, made, begun, release } = await slowMaker(t)
  const answered = exchange(port, chunked('\r\ngarbage\r\n\r\n'))
  await begun
  release()
  assert.deepEqual(statuses(await answered), ['201'])
  assert.equal(made.count, 1)
})

test('[http.15] a request that is malformed itself is 400 and not carried out', async (t) => {
  const { port, made, release } = await slowMaker(t)
  release()
  const [start = ''] = chunked('').split('0\r\n')
  for (const request of [
    chunked('no trailer field\r\n\r\n'),
    chunked('X-A : b\r\n\r\n'),
    `${start}zz\r\n\r\n`,
    chunked('').replace('\r\n0\r\n', 'longer\r\n0\r\n\r\n'),
  ]) {
    assert.deepEqual(statuses(await exchange(port, request)), ['400'], request)
  }
  assert.equal(made.count, 0)
})

test('[http.15] a request that is refused before it has arrived gets its one answer', async (t) => {
  const { app } = thingServer(t)
  const port = await listen(app)
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(head('POST /things HTTP/1.1', HOST, 'Transfer-Encoding: chunked'))
  const answered = readText(socket)
  socket.write('zz\r\n\r\n')
  assert.deepEqual(statuses(await answered).length, 1)
})
