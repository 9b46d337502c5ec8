import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { creating, creatingInChunks, HOST, maker, statuses } from './maker.ts'
import { exchange, head, listen, thingServer } from './thing-server.ts'

const STRAY = {
  'a word': 'garbage\r\n\r\n',
  'one byte more than Content-Length': '}',
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01',
  'a request with a malformed header': 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n',
  'a request with two lengths': 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
}

for (const [name, stray] of Object.entries(STRAY)) {
  test(`[http.15] [PL-62] a request is answered with its outcome, whatever follows it in the packet: ${name}`, async (t) => {
    const { port, made, begun, release } = await maker(t)
    const answered = exchange(port, creating() + stray)
    await begun
    release()
    const answer = await answered
    assert.deepEqual(statuses(answer), ['201'])
    assert.match(answer, /connection: close/i)
    assert.deepEqual(made, ['cup'])
  })
}

test('[http.15] a request answered before stray bytes stays answered; the stray bytes get 400', async (t) => {
  const { app } = thingServer(t)
  const socket = connect({ host: '127.0.0.1', port: await listen(app) }).setEncoding('utf8')
  socket.write(creating())
  const [first] = await once(socket, 'data')
  assert.deepEqual(statuses(first), ['201'])
  socket.write('garbage\r\n\r\n')
  assert.deepEqual(statuses(await readText(socket)), ['400'])
})

test('[http.15] pipelined requests are answered in their order, the last whole one closes the connection', async (t) => {
  const { port, made, begun, release } = await maker(t)
  const answered = exchange(port, `${creating()}${head('GET /healthz HTTP/1.1', HOST)}garbage\r\n\r\n`)
  await begun
  release()
  const answer = await answered
  assert.deepEqual(statuses(answer), ['201', '200'])
  assert.equal(answer.match(/connection: close/gi)?.length, 1)
  assert.deepEqual(made, ['cup'])
})

test('[http.15] more stray bytes while the request runs change nothing', async (t) => {
  const { port, made, begun, release } = await maker(t)
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(`${creating()}garbage`)
  await begun
  for (let packet = 0; packet < 3; packet += 1) await new Promise((sent) => socket.write('more\r\n\r\n', sent))
  release()
  assert.deepEqual(statuses(await readText(socket)), ['201'])
  assert.deepEqual(made, ['cup'])
})

test('[http.15] [PL-62] a second request of which only a part comes does not touch the answer to the first', async (t) => {
  for (const half of ['POST /things HT', `${creating().slice(0, -3)}`]) {
    const { port, made, begun, release } = await maker(t)
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    socket.end(creating() + half)
    await begun
    release()
    assert.deepEqual(statuses(await readText(socket))[0], '201', half)
    assert.deepEqual(made, ['cup'])
    socket.destroy()
  }
})

test('[http.15] stray bytes behind the last chunk do not touch the answer', async (t) => {
  const { port, made, begun, release } = await maker(t)
  const answered = exchange(port, creatingInChunks('cup', '\r\ngarbage\r\n\r\n'))
  await begun
  release()
  assert.deepEqual(statuses(await answered), ['201'])
  assert.deepEqual(made, ['cup'])
})

test('[http.15] a malformed request is 400 and is not executed', async (t) => {
  const { port, made, release } = await maker(t)
  release()
  const [start = ''] = creatingInChunks('cup', '').split('0\r\n')
  for (const request of [
    creatingInChunks('cup', 'no trailer field\r\n\r\n'),
    creatingInChunks('cup', 'X-A : b\r\n\r\n'),
    `${start}zz\r\n\r\n`,
    creatingInChunks('cup', '').replace('\r\n0\r\n', 'longer\r\n0\r\n\r\n'),
  ]) {
    assert.deepEqual(statuses(await exchange(port, request)), ['400'], request)
  }
  assert.deepEqual(made, [])
})
