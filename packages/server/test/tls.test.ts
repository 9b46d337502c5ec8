import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { authorityOf, type Certificate, certificateOf, endedCertificate } from './support/certificates.ts'

const PROGRAM = fileURLToPath(new URL('support/tls-client.ts', import.meta.url))

/** What came of each call out of a process with this environment. */
async function callsOut(environment: Readonly<Record<string, string>>, ...urls: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', PROGRAM, ...urls], {
    env: environment,
  })
  return JSON.parse(stdout) as Readonly<Record<string, string>>
}

async function listening(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A bank or a receiver with this certificate, and how many requests it got. */
async function httpsServer(t: TestContext, certificate: Certificate, more: ServerOptions = {}) {
  let requests = 0
  const server = createHttpsServer({ ...certificate, ...more }, (_, response) => {
    requests += 1
    response.end('{}')
  })
  return { url: `https://localhost:${await listening(t, server)}`, requests: () => requests }
}

/** What PostgreSQL's clients ask first; it has no secret. */
const SSL_REQUEST_BYTES = 8

/** A PostgreSQL with this certificate that never answers, and how many bytes it could read. */
async function postgres(t: TestContext, certificate: Certificate) {
  let bytes = 0
  const names: (string | string[] | undefined)[] = []
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (asked) => {
      assert.equal(asked.length, SSL_REQUEST_BYTES)
      socket.write('S')
      const secure = new TLSSocket(socket, {
        isServer: true,
        requestCert: true,
        rejectUnauthorized: false,
        ...certificate,
      })
      secure.on('error', () => undefined)
      secure.on('data', (read) => {
        bytes += read.length
        names.push(secure.getPeerCertificate().subject?.CN)
        secure.destroy()
      })
    })
  })
  const url = `postgres://pixgate:canary@localhost:${await listening(t, server)}/pixgate?sslmode=verify-full`
  return { url, bytes: () => bytes, names: () => names }
}

/** What a production refuses to start with, and what a program beside it, or a sandbox, is started with all the same. */
const UNVERIFIED = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }

/** The environment of whoever shows this certificate to the bank. */
const showing = ({ path, keyPath }: Certificate) => ({
  PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE: path,
  PIXGATE_PARTNER_CLIENT_KEY_FILE: keyPath,
})

const DATABASE = ['pool', 'check', 'snapshot', 'migrate']

for (const [title, make, code] of [
  ['of nobody that is trusted', (t: TestContext) => certificateOf(t, 'localhost'), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['that has expired', endedCertificate, 'CERT_HAS_EXPIRED'],
  ['of another name', (t: TestContext) => certificateOf(t, 'elsewhere.example'), 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const) {
  test(`[production.6] a bank, a receiver and a database with a certificate ${title} are sent nothing, whatever the environment says`, async (t) => {
    const certificate = make(t)
    const [server, database] = [await httpsServer(t, certificate), await postgres(t, certificate)]
    const isTrusted = code !== 'DEPTH_ZERO_SELF_SIGNED_CERT'
    const environment = { ...UNVERIFIED, ...(isTrusted && { NODE_EXTRA_CA_CERTS: certificate.path }) }
    const outcomes = await callsOut(environment, server.url, database.url)
    assert.deepEqual(outcomes, {
      bank: `not sent: ${code}`,
      receiver: `tls: ${code}`,
      ...Object.fromEntries(DATABASE.map((name) => [name, code])),
    })
    assert.deepEqual([server.requests(), database.bytes()], [0, 0])
  })
}

test('[production.6] a bank or a receiver that knows nothing newer than TLS 1.1 is sent nothing', async (t) => {
  const certificate = certificateOf(t, 'localhost')
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const server = await httpsServer(t, certificate, old)
  const outcomes = await callsOut({ ...UNVERIFIED, NODE_EXTRA_CA_CERTS: certificate.path }, server.url)
  const code = 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'
  assert.deepEqual(outcomes, { bank: `not sent: ${code}`, receiver: `tls: ${code}` })
  assert.equal(server.requests(), 0)
})

test('[production.6] [partner.3] a bank that wants a certificate of ours reads nothing, and no call counts as answered', async (t) => {
  const certificate = certificateOf(t, 'localhost')
  const trusting = { NODE_EXTRA_CA_CERTS: certificate.path }
  // In TLS 1.3 it refuses after our side of the handshake is done: then nobody can tell what it has read.
  for (const [version, outcome] of [
    ['TLSv1.2', /^not sent: ERR_SSL_/],
    ['TLSv1.3', /^lost: /],
  ] as const) {
    const bounds = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true }
    const server = await httpsServer(t, certificate, bounds)
    assert.match((await callsOut(trusting, server.url)).bank ?? '', outcome)
    assert.equal(server.requests(), 0)
  }
})

test('[partner.11] a bank that wants a certificate of ours reads the calls that come with it, and none of another or without one', async (t) => {
  const [ours, others] = [authorityOf(t, 'ours.example'), authorityOf(t, 'others.example')]
  const [client, stranger] = [ours.issue('gateway.example'), others.issue('gateway.example')]
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const bounds = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true } as const
    const bank = await httpsServer(t, ours.issue('localhost'), { ...bounds, ca: ours.cert })
    const called = async (more: Readonly<Record<string, string>>): Promise<string> =>
      (await callsOut({ PIXGATE_PARTNER_CA_BUNDLE_FILE: ours.path, ...more }, bank.url)).bank ?? ''
    assert.match(await called({}), /^(not sent|lost): /)
    assert.match(await called(showing(stranger)), /^(not sent|lost): /)
    assert.equal(bank.requests(), 0)
    assert.equal(await called(showing(client)), '200')
    assert.equal(bank.requests(), 1)
  }
})

test('[partner.11] the authorities that are named for the bank are trusted for it alone, and no other is: not those of NODE_EXTRA_CA_CERTS', async (t) => {
  const [pinned, other] = [authorityOf(t, 'pinned.example'), authorityOf(t, 'other.example')]
  const environment = { PIXGATE_PARTNER_CA_BUNDLE_FILE: pinned.path, NODE_EXTRA_CA_CERTS: other.path }
  const ofPinned = await httpsServer(t, pinned.issue('localhost'))
  const { bank, receiver } = await callsOut(environment, ofPinned.url)
  assert.deepEqual([bank, receiver], ['200', 'tls: UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
  const ofOther = await httpsServer(t, other.issue('localhost'))
  const outcomes = await callsOut(environment, ofOther.url)
  assert.deepEqual([outcomes.bank, outcomes.receiver], ['not sent: UNABLE_TO_VERIFY_LEAF_SIGNATURE', '200'])
  assert.equal(ofOther.requests(), 1, 'the receiver, and not the bank')
})

test('[partner.11] of a pinned authority a certificate of another name is refused all the same', async (t) => {
  const pinned = authorityOf(t, 'pinned.example')
  const server = await httpsServer(t, pinned.issue('elsewhere.example'))
  const { bank } = await callsOut({ ...UNVERIFIED, PIXGATE_PARTNER_CA_BUNDLE_FILE: pinned.path }, server.url)
  assert.deepEqual([bank, server.requests()], ['not sent: ERR_TLS_CERT_ALTNAME_INVALID', 0])
})

test('[production.6] an authority that NODE_EXTRA_CA_CERTS names is trusted', async (t) => {
  const certificate = certificateOf(t, 'localhost')
  const [server, database] = [await httpsServer(t, certificate), await postgres(t, certificate)]
  const outcomes = await callsOut({ NODE_EXTRA_CA_CERTS: certificate.path }, server.url, database.url)
  assert.deepEqual([outcomes.bank, outcomes.receiver], ['200', '200'])
  assert.ok(database.bytes() > 0, 'the handshake was good, and the user was told')
})

test('[production.6] a database that wants a certificate of ours gets the one that its address names', async (t) => {
  const certificate = certificateOf(t, 'localhost')
  const database = await postgres(t, certificate)
  const query = `sslrootcert=${certificate.path}&sslcert=${certificate.path}&sslkey=${certificate.path.replace(/cert$/, 'key')}`
  await callsOut(UNVERIFIED, 'https://127.0.0.1:9', `${database.url}&${query}`)
  assert.deepEqual(database.names(), Array(DATABASE.length).fill('localhost'))
})

test('[production.6] no proxy of the environment is used', async (t) => {
  const certificate = certificateOf(t, 'localhost')
  const server = await httpsServer(t, certificate)
  let connections = 0
  const proxy = `http://127.0.0.1:${await listening(
    t,
    createServer((socket) => {
      connections += 1
      socket.destroy()
    }),
  )}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const outcomes = await callsOut(
    {
      NODE_EXTRA_CA_CERTS: certificate.path,
      NODE_USE_ENV_PROXY: '1',
      ...Object.fromEntries(names.map((name) => [name, proxy])),
    },
    server.url,
  )
  assert.deepEqual([outcomes, connections], [{ bank: '200', receiver: '200' }, 0])
})
