import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import test from 'node:test'
import { type Outcome, openPartnerLink, type PartnerLink } from '../../src/banks/link.ts'
import { answer, closedPort, linkTo, rawBank, scriptedBank } from './pixgate/scripted-bank.ts'

const call = { method: 'PUT', path: '/charges/1', body: { valueCents: 1 } } as const

/** The answer without its `Date`, which differs. */
function withoutDate({ dateMs: _, ...outcome }: Outcome & { readonly dateMs?: number }): object {
  return outcome
}

test('[partner.1] a call carries the token and its JSON, under the address given', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, { fine: true }))
  const link = linkTo(t, `${bank.url}/pix/v1/`)
  assert.deepEqual(withoutDate(await link.exchange(call)), { kind: 'answered', httpStatus: 200, json: { fine: true } })
  await link.exchange({ method: 'GET', path: '/charges/1' })
  const [put, get] = bank.received
  assert.deepEqual([put?.method, put?.path, put?.body], ['PUT', '/pix/v1/charges/1', '{"valueCents":1}'])
  assert.equal(put?.headers.authorization, 'Bearer the token')
  assert.equal(put?.headers['content-type'], 'application/json')
  assert.deepEqual([get?.method, get?.path, get?.body], ['GET', '/pix/v1/charges/1', ''])
  assert.equal(get?.headers['content-type'], undefined)
})

test('[partner.3] a connection is kept for the next call', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  let connections = 0
  bank.server.on('connection', () => connections++)
  const link = linkTo(t, bank.url, { connectionsMax: 1 })
  for (let i = 0; i < 3; i++) await link.exchange(call)
  assert.equal(connections, 1)
})

test('[partner.3] no listener: not sent', async (t) => {
  const link = linkTo(t, await closedPort())
  assert.deepEqual(await link.exchange(call), { kind: 'not sent', reason: 'ECONNREFUSED' })
})

test('[partner.3] a name that does not resolve: not sent', async (t) => {
  const outcome = await linkTo(t, 'http://bank.invalid').exchange(call)
  assert.equal(outcome.kind, 'not sent')
})

test('[partner.3] TLS fails: not sent, not one byte of the request', async (t) => {
  let read = ''
  const bank = await rawBank(t, (socket) =>
    socket.setEncoding('latin1').on('data', (text) => {
      read += text
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    }),
  )
  const outcome = await linkTo(t, bank.url.replace('http:', 'https:')).exchange(call)
  assert.equal(outcome.kind, 'not sent')
  assert.ok(read.length > 0 && !read.includes('charges'))
})

/** Resets the bank's side of the connection in the moment after the request was written. */
async function exchangeIntoReset(link: PartnerLink, bankSocket: Promise<Socket>) {
  const written = new Promise<void>((resolve) => {
    const onWritten = () => {
      diagnostics.unsubscribe('undici:client:sendHeaders', onWritten)
      setImmediate(resolve)
    }
    diagnostics.subscribe('undici:client:sendHeaders', onWritten)
  })
  const outcome = link.exchange(call)
  await written
  const socket = await bankSocket
  socket.resetAndDestroy()
  return outcome
}

test('[partner.3] a reset before the bank read anything: lost', async (t) => {
  const accepted = Promise.withResolvers<Socket>()
  const bank = await rawBank(t, accepted.resolve)
  assert.deepEqual(await exchangeIntoReset(bank.link, accepted.promise), { kind: 'lost', reason: 'ECONNRESET' })
})

test('[partner.3] a kept connection that the bank resets under the next call: lost', async (t) => {
  const accepted = Promise.withResolvers<Socket>()
  const bank = await rawBank(t, (socket) => {
    accepted.resolve(socket)
    socket.once('data', () => {
      socket.pause()
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  const link = linkTo(t, bank.url, { connectionsMax: 1 })
  assert.equal((await link.exchange(call)).kind, 'answered')
  assert.deepEqual(await exchangeIntoReset(link, accepted.promise), { kind: 'lost', reason: 'ECONNRESET' })
})

test('[partner.3] a kept connection that the bank closed while idle is not used again', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  const link = linkTo(t, bank.url, { connectionsMax: 1 })
  await link.exchange(call)
  bank.server.closeIdleConnections()
  assert.equal((await link.exchange(call)).kind, 'answered')
})

/** Behaviour of a bank after it has read the request: each leaves the result open. */
const losses: [name: string, script: (response: ServerResponse) => void][] = [
  ['a reset', (response) => response.socket?.resetAndDestroy()],
  ['an end without an answer', (response) => response.socket?.end()],
  [
    'a body cut before its length',
    (response) => response.writeHead(200, { 'content-length': 100 }).write('{}', () => response.socket?.end()),
  ],
  [
    'a chunked body cut before its end',
    (response) => response.writeHead(200).write('{}', () => response.socket?.end()),
  ],
  ['something that is not HTTP', (response) => response.socket?.end('SSH-2.0-OpenSSH\r\n')],
]
for (const [name, script] of losses) {
  test(`[partner.3] ${name} after the request was read: lost`, async (t) => {
    const bank = await scriptedBank(t, script)
    assert.equal((await bank.link.exchange(call)).kind, 'lost')
    assert.equal(bank.received.length, 1)
  })
}

/** Answers whose body is no JSON. */
const unreadable: [name: string, body: string | Buffer][] = [
  ['empty', ''],
  ['a page', '<html>Bad gateway</html>'],
  ['half a document', '{"id":'],
  ['not UTF-8', Buffer.from('{"name":"Jos\xe9"}', 'latin1')],
]
for (const [name, body] of unreadable) {
  test(`[partner.3] a body that is ${name} is reported as no JSON`, async (t) => {
    const bank = await scriptedBank(t, (response) => response.end(body))
    assert.deepEqual(withoutDate(await bank.link.exchange(call)), {
      kind: 'answered',
      httpStatus: 200,
      json: undefined,
    })
  })
}

for (const [bytes, kind] of [
  [65_536, 'answered'],
  [65_537, 'lost'],
] as const) {
  test(`[partner.3] a body of ${bytes} bytes: ${kind}`, async (t) => {
    const bank = await scriptedBank(t, (response) => response.end(`"${'x'.repeat(bytes - 2)}"`))
    assert.equal((await bank.link.exchange(call)).kind, kind)
  })
}

test('[partner.3] a redirect is not followed', async (t) => {
  const bank = await scriptedBank(t, (response) => response.writeHead(307, { location: '/elsewhere' }).end())
  assert.deepEqual(withoutDate(await bank.link.exchange(call)), { kind: 'answered', httpStatus: 307, json: undefined })
  assert.equal(bank.received.length, 1)
})

test('[partner.3] no answer in time: lost', async (t) => {
  const bank = await scriptedBank(t, () => undefined)
  const outcome = await linkTo(t, bank.url, { timeoutMs: 100 }).exchange(call)
  assert.deepEqual(outcome, { kind: 'lost', reason: 'timeout' })
})

test('[partner.3] a slowly dripping answer ends at the same deadline', async (t) => {
  const bank = await scriptedBank(t, (response) => {
    const drip = setInterval(() => response.write(' '), 10)
    response.on('close', () => clearInterval(drip))
  })
  const outcome = await linkTo(t, bank.url, { timeoutMs: 100 }).exchange(call)
  assert.deepEqual(outcome, { kind: 'lost', reason: 'timeout' })
})

test('[partner.3] no free connection in time: not sent, and never sent afterwards', async (t) => {
  const impatience = new AbortController()
  const bank = await scriptedBank(t, (response, { path }) => {
    // The only connection is taken by the first call; the second one's time is over before it gets one.
    if (path === '/first') impatience.abort()
    answer(response, 200, {})
  })
  const link = linkTo(t, bank.url, { connectionsMax: 1 })
  const [first, second] = await Promise.all([
    link.exchange({ ...call, path: '/first' }),
    link.exchange({ ...call, path: '/second' }, impatience.signal),
  ])
  assert.deepEqual([first.kind, second.kind], ['answered', 'not sent'])
  assert.equal((await link.exchange({ ...call, path: '/third' })).kind, 'answered')
  assert.deepEqual(
    bank.received.map(({ path }) => path),
    ['/first', '/third'],
  )
})

test('[partner.3] a deadline that has passed: not sent', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  assert.deepEqual(await bank.link.exchange(call, AbortSignal.abort()), { kind: 'not sent', reason: 'timeout' })
  assert.equal(bank.received.length, 0)
})

test('[partner.3] a deadline that passes while the bank works: lost', async (t) => {
  const deadline = new AbortController()
  const bank = await scriptedBank(t, () => deadline.abort())
  assert.deepEqual(await bank.link.exchange(call, deadline.signal), { kind: 'lost', reason: 'timeout' })
})

test('[partner.3] a closed link sends nothing', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  const link = openPartnerLink({ url: bank.url, token: 'the token', timeoutMs: 5_000 })
  await link.close()
  assert.equal((await link.exchange(call)).kind, 'not sent')
})

test('[CO-20] a process that slept while its connection was made sends nothing, though no timer has fired yet', async (t) => {
  let now = 0
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  const link = linkTo(t, bank.url, { timeoutMs: 3_000, monotonicMs: () => now })
  bank.server.on('connection', () => {
    now = 3_001
  })
  assert.equal((await link.exchange(call)).kind, 'not sent')
  assert.deepEqual(bank.received, [])
})

test('[CO-40] a window that ends while the connection is made: not sent, and the next call uses the connection', async (t) => {
  let isOver = false
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  const link = linkTo(t, bank.url, { connectionsMax: 1 })
  bank.server.on('connection', () => {
    isOver = true
  })
  assert.equal((await link.exchange(call, undefined, { isOver: () => isOver })).kind, 'not sent')
  assert.deepEqual(bank.received, [])
  assert.equal((await link.exchange(call)).kind, 'answered')
})

test('[CO-40] [P10] a link detects by itself that the machine slept: an expired call is not made', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, {}))
  const link = linkTo(t, bank.url)
  t.mock.timers.enable({ apis: ['Date'], now: 1_000 })
  const outcome = link.exchange(call)
  t.mock.timers.setTime(601_000)
  assert.equal((await outcome).kind, 'not sent')
  assert.deepEqual(bank.received, [])
})
