import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { LiveRequest } from '../../../src/platform/live-request.ts'
import { AWAKE } from '../../support/live-request.ts'
import { good, handlers, head, listen, thingServer } from './thing-server.ts'

const BODY = '{"name":"cup"}'
const CREATE = head(
  'POST /things HTTP/1.1',
  'Host: x',
  'Authorization: Bearer good',
  'Content-Type: application/json',
  `Content-Length: ${BODY.length}`,
)

/** A request whose handler waits, with both ends of its connection. */
async function underWay(t: TestContext) {
  const { promise: reached, resolve: reach } = Promise.withResolvers<LiveRequest>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { app } = thingServer(t, {
    handlers: {
      createThing: async (input) => {
        reach(input.context.live)
        await answered
        return handlers.createThing(input)
      },
    },
  })
  const port = await listen(app)
  const connected = once(app.server, 'connection')
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const [serverSide]: Socket[] = await connected
  assert.ok(serverSide)
  return { client, serverSide, reached, answer }
}

test('[http.14] [PL-6] a client that half-closed its connection still gets its answer', async (t) => {
  const { client, serverSide, reached, answer } = await underWay(t)
  client.end(CREATE + BODY)
  const live = await reached
  if (!serverSide.readableEnded) await once(serverSide, 'end')
  assert.equal(live.hasLapsed(), false)
  answer()
  assert.match(await readText(client), /^HTTP\/1\.1 201 /)
})

test('[http.14] [PL-6] a client that half-closed after several requests gets every answer, in order', async (t) => {
  const { client, serverSide, answer } = await underWay(t)
  client.end(CREATE + BODY + CREATE + BODY.replace('cup', 'jug'))
  await once(serverSide, 'end')
  answer()
  const answers = await readText(client)
  assert.deepEqual(
    [...answers.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name),
    ['cup', 'jug'],
  )
})

test('[http.14] [PL-6] a request lapses when its connection is reset', async (t) => {
  const { client, serverSide, reached, answer } = await underWay(t)
  client.write(CREATE + BODY)
  const live = await reached
  assert.equal(live.hasLapsed(), false)
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  serverSide.on('close', close)
  client.resetAndDestroy()
  await closed
  assert.equal(live.hasLapsed(), true)
  answer()
})

test('[http.14] [PL-5] what would change something is 503 where the process slept while its token was looked up; what reads, and what the bank reports, is answered', async (t) => {
  let gaps = 0
  const handled: string[] = []
  const { app } = thingServer(t, {
    eventLoop: {
      ...AWAKE,
      mark: () => ({ gaps, isWaking: false }),
      hasStoodStillSince: (mark) => mark.gaps !== gaps,
    },
    authenticate: {
      'api-key': async () => {
        gaps += 1
        return { credential: 'api-key', id: 'sleepy' }
      },
      partner: async () => {
        gaps += 1
        return { credential: 'partner', id: 'sleepy' }
      },
    },
    handlers: {
      createThing: async (input) => {
        handled.push('create')
        return handlers.createThing(input)
      },
      deleteThing: async (input) => {
        handled.push('delete')
        return handlers.deleteThing(input)
      },
    },
  })
  const created = await app.inject({ method: 'POST', url: '/things', headers: good, payload: { name: 'cup' } })
  assert.deepEqual([created.statusCode, created.json().code, created.headers['retry-after']], [503, 'overloaded', '1'])
  const deleted = await app.inject({ method: 'DELETE', url: '/things/1', headers: good })
  assert.deepEqual([deleted.statusCode, handled], [503, []])
  const malformed = await app.inject({ method: 'POST', url: '/things', headers: good, payload: { nam: 'cup' } })
  assert.equal(malformed.statusCode, 400, 'what is no request at all is told so')
  assert.equal((await app.inject({ url: '/things/1', headers: good })).statusCode, 200)
  assert.equal((await app.inject({ method: 'POST', url: '/events', payload: 'x' })).statusCode, 200)
})

test('[http.14] [PL-5] a request ages from its last byte on, however long it took to arrive', async (t) => {
  let now = 0
  let connections = 0
  const { app } = thingServer(t, {
    eventLoop: { ...AWAKE, now: () => now, noteConnection: () => (connections += 1) },
    authenticate: {
      'api-key': async () => {
        now = 6_000
        return { credential: 'api-key', id: 'slow' }
      },
    },
  })
  const port = await listen(app)
  const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  client.end(CREATE + BODY)
  assert.match(await readText(client), /^HTTP\/1\.1 201 /)
  assert.equal(connections, 1, 'the loop is told of each connection')
})
