import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { createRefusedThrottle } from '../../../src/platform/http/request-log.ts'
import { type Client, event, GUESS, guarded, HOST, isOpen, READ, statusOf } from './guarded-server.ts'
import { handlers, head } from './thing-server.ts'

test('[strangers.1] of too many half-open connections of a network the oldest are closed, and a client who has a key gets in', async (t) => {
  const { open, outcomes } = await guarded(t, { strangersOfNetworkMax: 3 })
  const paying = await open()
  assert.equal(statusOf(await paying.ask(READ)), 200)
  const strangers = [await open(), await open(), await open()]
  for (const { socket } of strangers) socket.write('GET /things HTTP/1.1\r\n')
  const later = await open()
  await strangers[0]?.closed
  assert.deepEqual(outcomes, ['closed'])
  assert.deepEqual([...strangers, later].map(isOpen), [false, true, true, true])
  assert.equal(statusOf(await later.ask(READ)), 200, 'who comes last gets in')
  assert.equal(statusOf(await paying.ask(READ)), 200, 'who has shown a key stays')
  await open()
  assert.deepEqual(strangers.map(isOpen), [false, true, true], 'who has shown a key is counted no more')
})

test('[strangers.1] the networks are counted apart, and of all of them the one that has the most gives way', async (t) => {
  const { open, outcomes } = await guarded(t, { strangersMax: 4 })
  const [first, ...others] = [await open('127.0.0.2'), await open('127.0.0.3'), await open('127.0.0.3')]
  const quiet = await open('127.0.0.4')
  const bank = await open('127.0.0.5')
  assert.equal(statusOf(await bank.ask(event('good'))), 200)
  assert.deepEqual([first, ...others, quiet].map(isOpen), [true, false, true, true])
  assert.deepEqual(outcomes, ['closed'])
})

test('[strangers.1] where all connections are taken a stranger gives way: a place is kept for the bank', async (t) => {
  const { open } = await guarded(t, { connectionsMax: 4 })
  const paying = [await open(), await open()]
  for (const client of paying) assert.equal(statusOf(await client.ask(READ)), 200)
  const stranger = await open()
  const next = await open('127.0.0.9')
  assert.deepEqual([...paying, stranger, next].map(isOpen), [true, true, false, true])
  assert.equal(statusOf(await next.ask(event('good'))), 200)
})

test('[strangers.1] a connection on which a request is being carried out is not closed; one whose body arrives is', async (t) => {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const { open } = await guarded(
    t,
    { strangersOfNetworkMax: 2 },
    {
      handlers: {
        getHealth: async (input) => {
          begun.resolve()
          await gate.promise
          return handlers.getHealth(input)
        },
      },
    },
  )
  const carriedOut = await open()
  const answered = carriedOut.ask(head('GET /healthz HTTP/1.1', HOST))
  await begun.promise
  const arriving = await open()
  arriving.socket.write(event('good', '{}').slice(0, -1))
  await open()
  assert.deepEqual([carriedOut, arriving].map(isOpen), [true, false])
  gate.resolve()
  assert.equal(statusOf(await answered), 200)
})

test('[strangers.1] a caller without proof of being the bank stays a stranger', async (t) => {
  const { open } = await guarded(
    t,
    { strangersOfNetworkMax: 1 },
    { authenticate: { partner: async () => ({ credential: 'partner', id: 'perhaps', isStranger: true }) } },
  )
  const perhaps = await open()
  assert.equal(statusOf(await perhaps.ask(event('none'))), 200)
  await open()
  assert.equal(isOpen(perhaps), false)
})

test('[strangers.2] the connections of a trusted proxy are not counted, but a body that arrives on one is its sender’s', async (t) => {
  const { open, app } = await guarded(t, { strangersOfNetworkMax: 1 }, { trustProxy: ['127.0.0.7/32'] })
  const proxy = '127.0.0.7'
  const idle = [await open(proxy), await open(proxy), await open(proxy)]
  assert.deepEqual(idle.map(isOpen), [true, true, true])
  const dribble = async ({ socket }: Client, from: string) => {
    const begun = once(app.server, 'request')
    socket.write(event('good', '{}', `X-Forwarded-For: ${from}`).slice(0, -1))
    await begun
  }
  const [first, second, third] = idle as [Client, Client, Client]
  await dribble(first, '203.0.113.1')
  await dribble(second, '203.0.113.1')
  await first.closed
  await dribble(third, '203.0.113.2')
  assert.deepEqual([second, third].map(isOpen), [true, true])
  assert.equal(statusOf(await third.ask('}')), 200)
})

test('[strangers.3] [http.6] beyond its budget a network’s wrong credentials are 429, a second late, and right ones are neither', async (t) => {
  let now = 0
  const { open, outcomes, putOff, release } = await guarded(t, { wrongPerMinute: 2 }, { now: () => now })
  const stranger = await open()
  for (let guess = 0; guess < 2; guess++) assert.equal(statusOf(await stranger.ask(GUESS)), 401)
  const refused = stranger.ask(GUESS)
  await putOff()
  const paying = await open()
  assert.equal(statusOf(await paying.ask(READ)), 200, 'the same network, not put off')
  release()
  const answer = await refused
  assert.equal(statusOf(answer), 429)
  assert.match(answer, /"code":"rate_limited"/)
  assert.match(answer, /retry-after: 30\r\n/i)
  const elsewhere = await open('127.0.0.2')
  assert.equal(statusOf(await elsewhere.ask(GUESS)), 401, 'another network')
  now = 30_000
  assert.equal(statusOf(await stranger.ask(GUESS)), 401)
  assert.deepEqual(outcomes, ['limited'])
})

test('[strangers.3] a hundred requests of a network wait at once, one more is answered 429 without it', async (t) => {
  const { open, waiting, putOff, release } = await guarded(t, { wrongPerMinute: 1 })
  const stranger = await open()
  assert.equal(statusOf(await stranger.ask(GUESS)), 401)
  const refused: Promise<string>[] = []
  while (waiting.length < 100) {
    refused.push((await open()).ask(GUESS))
    await putOff()
  }
  assert.equal(statusOf(await stranger.ask(GUESS)), 429)
  release()
  for (const answer of refused) assert.equal(statusOf(await answer), 429)
})

test('[strangers.3] [partner-inbox.1] an event from a network beyond its budget is not read before its second is over, and never refused', async (t) => {
  const judged: number[] = []
  const { open, putOff, release, waiting } = await guarded(
    t,
    { wrongPerMinute: 1 },
    {
      authenticate: {
        partner: async ({ headers, rawBody }) => {
          judged.push(rawBody.length)
          if (headers['x-signature'] !== 'good') throw new Refusal('unauthorized')
          return { credential: 'partner', id: 'bank' }
        },
      },
    },
  )
  const stranger = await open()
  assert.equal(statusOf(await stranger.ask(event('wrong'))), 401)
  const put = stranger.ask(event('wrong'))
  await putOff()
  assert.deepEqual(judged, [2], 'neither read nor hashed')
  release()
  assert.equal(statusOf(await put), 429)
  assert.deepEqual(judged, [2, 2])
  const bank = await open()
  const taken = bank.ask(event('good'))
  await putOff()
  release()
  assert.equal(statusOf(await taken), 200)
  assert.equal(statusOf(await bank.ask(event('good'))), 200, 'who has proved to be the bank does not wait')
  assert.equal(waiting.length, 0)
})

test('[strangers.3] behind a trusted proxy a network beyond its budget is 429 at once, and its events are not read', async (t) => {
  const judged: number[] = []
  const { open, waiting } = await guarded(
    t,
    { wrongPerMinute: 1 },
    {
      trustProxy: ['127.0.0.1'],
      authenticate: {
        partner: async ({ rawBody }) => {
          judged.push(rawBody.length)
          return { credential: 'partner', id: 'bank' }
        },
      },
    },
  )
  const proxy = await open()
  const from = (request: string, address: string) => request.replace(HOST, `${HOST}\r\nX-Forwarded-For: ${address}`)
  assert.equal(statusOf(await proxy.ask(from(GUESS, '2001:db8:1:2::3'))), 401)
  assert.equal(statusOf(await proxy.ask(from(GUESS, '2001:db8:1:2::4'))), 429, 'the same customer of a provider')
  assert.equal(statusOf(await proxy.ask(from(event('good'), '2001:db8:1:2::4'))), 429)
  assert.deepEqual(judged, [])
  assert.equal(statusOf(await proxy.ask(from(READ, '2001:db8:1:2::4'))), 200)
  assert.equal(statusOf(await proxy.ask(from(event('good'), '2001:db8:1:3::4'))), 200)
  assert.equal(statusOf(await proxy.ask(from(GUESS, '203.0.113.9'))), 401)
  assert.equal(waiting.length, 0)
})

test('[strangers.3] an incomplete request counts as wrong: a body that ends early, headers that take too long', async (t) => {
  const { open, putOff, release, app } = await guarded(t, { wrongPerMinute: 2 })
  const brief = await open()
  const heard = once(app.server, 'request')
  brief.socket.write(event('good').slice(0, -1))
  await heard
  brief.socket.destroy()
  await once(brief.serverSide, 'close')
  const slow = await open()
  slow.socket.resume()
  app.server.emit(
    'clientError',
    Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
    slow.serverSide,
  )
  await slow.closed
  const guess = (await open()).ask(GUESS)
  await putOff()
  release()
  assert.equal(statusOf(await guess), 429)
})

test('[logs.8] requests that are refused are a line at the first, then one that says how many more; others are a line each', async (t) => {
  const seconds: (() => void)[] = []
  const { log, open } = await guarded(
    t,
    {},
    { refusedThrottle: createRefusedThrottle((ms, run) => seconds.push(run) && assert.equal(ms, 1_000)) },
  )
  const stranger = await open()
  for (let guess = 0; guess < 5; guess++) assert.equal(statusOf(await stranger.ask(GUESS)), 401)
  for (let read = 0; read < 2; read++) assert.equal(statusOf(await stranger.ask(READ)), 200)
  seconds.shift()?.()
  assert.deepEqual(
    log.map(({ status, msg }) => [status, msg]),
    [
      [401, 'request'],
      [200, 'request'],
      [200, 'request'],
      [401, 'request (happened 4 more times within the past second)'],
    ],
  )
})

test('[logs.3] [metrics.1] refusals to strangers are counted, and the first is logged', async (t) => {
  const { log, open, outcomes, release, putOff } = await guarded(t, { wrongPerMinute: 1, strangersOfNetworkMax: 1 })
  await open()
  const stranger = await open()
  assert.equal(statusOf(await stranger.ask(GUESS)), 401)
  for (let guess = 0; guess < 2; guess++) {
    const refused = stranger.ask(GUESS)
    await putOff()
    release()
    assert.equal(statusOf(await refused), 429)
  }
  assert.deepEqual(outcomes, ['closed', 'limited', 'limited'])
  assert.deepEqual(
    log.filter(({ network }) => network).map(({ level, network, msg }) => [level, network, String(msg).slice(0, 15)]),
    [
      [40, '127.0.0.1', 'too many connec'],
      [40, '127.0.0.1', 'too many reques'],
    ],
  )
})
