import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import test, { type TestContext } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import {
  type AddressGate,
  createGuardedAgent,
  openGate,
  publicAddressGate,
} from '../../../src/platform/http-client/agent.ts'
import { type Answer, post } from '../../../src/platform/http-client/post.ts'
import { certificateOf } from '../../support/certificates.ts'

const BODY = Buffer.from('{"event_type":"pix_cash_in"}')

test('[webhooks.5] sends the bytes and the headers as they are, and returns the status and Retry-After', async (t) => {
  const received = Promise.withResolvers<{ method: string; path: string; headers: object; body: string }>()
  const port = await serve(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    received.resolve({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    response.writeHead(503, { 'retry-after': '7' }).end('busy')
  })
  const answer = await postTo(t, `http://127.0.0.1:${port}/a/b?c=d`, openGate())
  assert.deepEqual(answer, { statusCode: 503, retryAfter: '7' })
  const { headers, ...request } = await received.promise
  assert.deepEqual(request, { method: 'POST', path: '/a/b?c=d', body: BODY.toString() })
  assert.partialDeepStrictEqual(headers, { 'x-test': 'yes', 'content-length': String(BODY.length) })
})

test('[webhooks.7] [NO-4] a redirect is not followed', async (t) => {
  const canary = await listenCanary(t)
  const port = await serve(t, (_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${canary.port}/` }).end(),
  )
  const answer = await postTo(t, `http://127.0.0.1:${port}/`, openGate())
  assert.deepEqual(answer, { statusCode: 307, retryAfter: undefined })
  assert.equal(canary.connections(), 0)
})

test('[webhooks.1] a guarded agent reaches no private address, however it is spelt', async (t) => {
  const canary = await listenCanary(t)
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '127.0.0.1.', '0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:0001]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
  ]
  for (const host of hosts) {
    for (const protocol of ['http', 'https']) {
      const url = new URL(`${protocol}://${host}:${canary.port}/`).href
      assert.deepEqual(
        await postTo(t, url, publicAddressGate()),
        { failure: 'address_not_allowed', code: undefined },
        url,
      )
    }
  }
  assert.equal(canary.connections(), 0)
})

test('[webhooks.1] one private address among the answers refuses the name', async (t) => {
  const canary = await listenCanary(t)
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1', '2606:4700::1'], ['::ffff:127.0.0.1']]) {
    const gate = publicAddressGate(async () => addresses)
    const answer = await postTo(t, `http://rebinding.example:${canary.port}/`, gate)
    assert.deepEqual(answer, { failure: 'address_not_allowed', code: undefined }, addresses.join())
  }
  assert.equal(canary.connections(), 0)
})

test('[webhooks.1] a name that was public at registration is looked up again at every connection', async (t) => {
  const canary = await listenCanary(t)
  const answers = [['8.8.8.8'], ['127.0.0.1']]
  const gate = publicAddressGate(async () => answers.shift() ?? [])
  assert.deepEqual(await gate.addressesOf('rebinding.example', 443), ['8.8.8.8'])
  const answer = await postTo(t, `http://rebinding.example:${canary.port}/`, gate)
  assert.deepEqual(answer, { failure: 'address_not_allowed', code: undefined })
  assert.equal(canary.connections(), 0)
})

test('[webhooks.1] the peer’s address is checked once more after connecting, before a byte is written', async (t) => {
  for (const protocol of ['http', 'https']) {
    const canary = await listenCanary(t)
    const gate: AddressGate = { allows: () => false, addressesOf: async () => ['127.0.0.1'] }
    const answer = await postTo(t, `${protocol}://name.example:${canary.port}/`, gate)
    assert.deepEqual(answer, { failure: 'address_not_allowed', code: undefined })
    assert.equal(await canary.bytesOfFirst(), 0)
  }
})

test('[webhooks.1] the address that was judged is the one connected to', async (t) => {
  const port = await serve(t, (_, response) => response.end())
  let lookups = 0
  const gate: AddressGate = {
    allows: (address) => address === '127.0.0.1',
    addressesOf: async () => {
      lookups += 1
      return ['127.0.0.1']
    },
  }
  const answer = await postTo(t, `http://name.example:${port}/`, gate)
  assert.deepEqual(answer, { statusCode: 200, retryAfter: undefined })
  assert.equal(lookups, 1)
})

test('[webhooks.6] [NO-5] what keeps an answer away is named', async (t) => {
  const closed = await serve(t, () => undefined, { close: true })
  const resetting = await listen(
    t,
    createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  )
  const garbage = await listen(
    t,
    createTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0\r\n'))),
  )
  const plain = await serve(t, (_, response) => response.end())
  const failures = [
    [`http://127.0.0.1:${closed}/`, openGate(), 'connect', 'ECONNREFUSED'],
    [`http://127.0.0.1:${resetting}/`, openGate(), 'broken', 'ECONNRESET'],
    [`http://127.0.0.1:${garbage}/`, openGate(), 'broken', 'HPE_INVALID'],
    [`https://127.0.0.1:${plain}/`, openGate(), 'tls', 'ERR_SSL_WRONG_VERSION_NUMBER'],
    ['http://nowhere.example/', publicAddressGate(async () => []), 'dns', undefined],
    ['http://nowhere.example/', publicAddressGate(() => Promise.reject(new Error('SERVFAIL'))), 'dns', undefined],
    [
      'http://stalled.example/',
      publicAddressGate(() => new Promise(() => undefined)),
      'timeout',
      'UND_ERR_CONNECT_TIMEOUT',
    ],
  ] as const
  for (const [url, gate, failure, code] of failures) {
    assert.deepEqual(await postTo(t, url, gate), { failure, code }, url)
  }
})

test('[webhooks.5] [NO-3] the time limit covers everything up to the end of the headers', async (t) => {
  const silent = await listen(
    t,
    createTcpServer(() => undefined),
  )
  const dripping = await listen(
    t,
    createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Drip: ')
      const drip = setInterval(() => socket.write('.'), 20)
      socket.on('close', () => clearInterval(drip)).on('error', () => undefined)
    }),
  )
  for (const port of [silent, dripping]) {
    assert.deepEqual(await postTo(t, `http://127.0.0.1:${port}/`, openGate(), { timeoutMs: 200 }), {
      failure: 'timeout',
      code: undefined,
    })
  }
})

test('[webhooks.5] an endless or hanging body does not change a status that came in time', async (t) => {
  const endless = await serve(t, (_, response) => {
    response.writeHead(200)
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(4_096)));
    }
    response.on('drain', pour)
    pour()
  })
  const hanging = await serve(t, (_, response) => response.writeHead(200).write('wait'))
  for (const port of [endless, hanging]) {
    const answer = await postTo(t, `http://127.0.0.1:${port}/`, openGate(), { responseTimeoutMs: 100 })
    assert.deepEqual(answer, { statusCode: 200, retryAfter: undefined })
  }
})

test('[webhooks.17] the parts of an attempt are timed: where it hangs, and not at all what it did not need', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const silent = await listen(
    t,
    createTcpServer(() => undefined),
  )
  const named: AddressGate = { allows: () => true, addressesOf: async () => ['127.0.0.1'] }
  const agent = createGuardedAgent(named, 500)
  t.after(() => agent.destroy())
  const timesOf = async (url: string, timeoutMs = 2_000) => (await post(agent, { ...requestTo(url), timeoutMs })).times

  const first = await timesOf(`http://name.example:${port}/`)
  assert.ok(first.dnsMs !== null && first.connectMs !== null && first.waitMs !== null)
  assert.equal(first.tlsMs, null, 'there is no TLS')
  const literal = await timesOf(`http://127.0.0.1:${port}/`)
  assert.equal(literal.dnsMs, null, 'an address is not looked up')
  assert.notEqual(literal.connectMs, null)

  const hung = await timesOf(`http://name.example:${silent}/`, 200)
  assert.ok((hung.waitMs ?? 0) >= 150 && hung.totalMs >= 190, JSON.stringify(hung))

  const stalled = createGuardedAgent({ ...named, addressesOf: () => new Promise(() => undefined) }, 200)
  t.after(() => stalled.destroy())
  const { times } = await post(stalled, requestTo(`http://stalled.example:${port}/`))
  assert.ok((times.dnsMs ?? 0) >= 150, JSON.stringify(times))
  assert.deepEqual([times.connectMs, times.tlsMs, times.waitMs], [null, null, null])
})

test('[webhooks.5] [webhooks.17] a connection is kept, and a request on it has only waited', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const agent = createGuardedAgent(openGate(), 500)
  t.after(() => agent.destroy())
  const splits = []
  for (let attempt = 0; attempt < 5; attempt++) {
    splits.push((await post(agent, requestTo(`http://127.0.0.1:${port}/`))).times)
  }
  const kept = splits.filter(({ connectMs }) => connectMs === null)
  assert.ok(kept.length >= 3, JSON.stringify(splits))
  for (const { dnsMs, tlsMs, waitMs } of kept) assert.deepEqual([dnsMs, tlsMs, waitMs !== null], [null, null, true])
})

test('[webhooks.17] the first bytes of an answer are kept, also of one that is longer than what is read', async (t) => {
  const long = await serve(t, (_, response) => response.end(`begins ${'x'.repeat(100_000)}`))
  const broken = await serve(t, (_, response) => {
    response.writeHead(500, { 'content-length': '100' }).write('half of it', () => response.destroy())
  })
  const agent = createGuardedAgent(openGate(), 500)
  t.after(() => agent.destroy())
  const beginningOf = async (port: number) => {
    const { beginning } = await post(agent, requestTo(`http://127.0.0.1:${port}/`))
    return Buffer.from(beginning).toString()
  }
  assert.equal(await beginningOf(long), `begins ${'x'.repeat(1_017)}`)
  assert.equal(await beginningOf(broken), 'half of it')
})

test('[webhooks.1] TLS 1.2 at least, and only with a certificate that verifies for the name', async (t) => {
  const certificate = certificateOf(t, 'receiver.example')
  const port = await listen(
    t,
    createTlsServer(certificate, (_, response) => response.end()),
  )
  const old = await listen(
    t,
    createTlsServer(
      { ...certificate, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      (_, response) => response.end(),
    ),
  )
  const gate: AddressGate = { allows: () => true, addressesOf: async () => ['127.0.0.1'] }

  assert.deepEqual(await postTo(t, `https://receiver.example:${port}/`, gate), {
    failure: 'tls',
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })

  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, certificate.cert])
  t.after(() => setDefaultCACertificates(trusted))
  assert.deepEqual(await postTo(t, `https://receiver.example:${port}/`, gate), {
    statusCode: 200,
    retryAfter: undefined,
  })
  assert.deepEqual(await postTo(t, `https://other.example:${port}/`, gate), {
    failure: 'tls',
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  assert.deepEqual(await postTo(t, `https://receiver.example:${old}/`, gate), {
    failure: 'tls',
    code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  })
})

function requestTo(url: string) {
  return {
    url,
    headers: { 'x-test': 'yes' },
    body: BODY,
    timeoutMs: 2_000,
    responseMaxBytes: 16_384,
    responseTimeoutMs: 1_000,
  }
}

async function postTo(
  t: TestContext,
  url: string,
  gate: AddressGate,
  limits: { timeoutMs?: number; responseTimeoutMs?: number } = {},
): Promise<Answer> {
  const agent = createGuardedAgent(gate, 500)
  t.after(() => agent.destroy())
  return (await post(agent, { ...requestTo(url), ...limits })).answer
}

async function listen(t: TestContext, server: Server): Promise<number> {
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function serve(t: TestContext, listener: RequestListener, { close = false } = {}): Promise<number> {
  const server = createServer(listener)
  const port = await listen(t, server)
  if (close) await new Promise((resolve) => server.close(resolve))
  t.after(() => server.closeAllConnections())
  return port
}

/** A listener that counts its connections and the bytes of the first. */
async function listenCanary(t: TestContext) {
  let connections = 0
  const first = Promise.withResolvers<number>()
  const server = createTcpServer((socket) => {
    connections += 1
    socket.on('error', () => undefined).on('close', () => first.resolve(socket.bytesRead))
    socket.resume()
  })
  return { port: await listen(t, server), connections: () => connections, bytesOfFirst: () => first.promise }
}
