import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { Refusal, receiveCashInEvent } from '@pixgate/spec'
import { createPixgateInbound } from '../../src/banks/pixgate/inbound.ts'
import type { PartnerCredentials } from '../../src/banks/pixgate/origin.ts'
import { createBankAuthenticator } from '../../src/inbox/receive.ts'
import { inbox } from '../support/evidence.ts'
import { paidEvent, postEvent, signatureOf, UNREAD } from '../support/partner-events.ts'
import { reachJudged } from '../support/tcp-proxy.ts'
import { PARTNER_SECRET, world } from '../support/world.ts'

const NOW = Date.parse('2026-11-21T13:15:00.000Z')
const BODY = Buffer.from('{"any": "bytes"}')

const CREDENTIALS: PartnerCredentials = { secrets: ['current', 'previous'], apiKey: undefined, isFromBank: () => true }

interface Judgement {
  readonly isLetIn: boolean
  /** True if the bank was queried instead. */
  readonly isAskedAbout: boolean
}

async function judge(
  headers: Record<string, string | string[]>,
  given: { body?: Buffer; credentials?: Partial<PartnerCredentials> } = {},
): Promise<Judgement> {
  let isAskedAbout = false
  const authenticate = createBankAuthenticator(
    createPixgateInbound({ ...CREDENTIALS, ...given.credentials }),
    { now: () => NOW },
    UNREAD,
    async () => {
      isAskedAbout = true
    },
  )
  const request = { endpoint: receiveCashInEvent, correlationId: 'test', remoteAddress: '127.0.0.1' }
  try {
    await authenticate({ ...request, headers, rawBody: given.body ?? BODY, search: '' })
    return { isLetIn: true, isAskedAbout }
  } catch (error) {
    assert.ok(error instanceof Refusal)
    assert.deepEqual({ ...error }, { ...new Refusal('unauthorized') }, 'every refusal is the same')
    return { isLetIn: false, isAskedAbout }
  }
}

const LET_IN: Judgement = { isLetIn: true, isAskedAbout: false }
const KEPT_OUT: Judgement = { isLetIn: false, isAskedAbout: false }

const signed = (secret: string, timestamp = String(NOW)) => ({
  'x-partner-signature': signatureOf(BODY, secret),
  'x-partner-timestamp': timestamp,
})

test('[partner-inbox.1] the current and the previous secret sign, in hexadecimal of either case', async () => {
  assert.deepEqual(await judge(signed('current')), LET_IN)
  assert.deepEqual(await judge(signed('previous')), LET_IN)
  const upper = signatureOf(BODY, 'current').replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase())
  assert.deepEqual(await judge({ ...signed('current'), 'x-partner-signature': upper }), LET_IN)
})

test('[partner-inbox.1] [EV-10] no other signature is accepted', async () => {
  const hex = signatureOf(BODY, 'current').slice('sha256='.length)
  const wrong = [
    signatureOf(BODY, 'another'),
    signatureOf(BODY, ''),
    hex,
    `SHA256=${hex}`,
    `sha512=${hex}`,
    `sha256=${hex.slice(1)}`,
    `sha256=${hex}0`,
    `sha256= ${hex}`,
    `sha256=${hex}, sha256=${hex}`,
    `sha256=${Buffer.from(hex, 'hex').toString('base64')}`,
    'sha256=',
    '',
  ]
  for (const signature of wrong) {
    assert.deepEqual(await judge({ ...signed('current'), 'x-partner-signature': signature }), KEPT_OUT, signature)
  }
  assert.deepEqual(await judge({ 'x-partner-timestamp': String(NOW) }), KEPT_OUT)
  assert.deepEqual(await judge({ ...signed('current'), 'x-partner-signature': [hex] }), KEPT_OUT)
})

test('[partner-inbox.1] the exact bytes are signed: one space more is another message', async () => {
  for (const text of ['{"any":"bytes"}', '{"any": "bytes"} ', '{"any": "Bytes"}', '']) {
    assert.deepEqual(await judge(signed('current'), { body: Buffer.from(text) }), KEPT_OUT, text)
  }
})

/** The same bytes, each time with another bit changed. */
function* withOneBitChanged(bytes: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    yield changed
  }
}

test('[partner-inbox.1] [EV-10] no bit of an event, and none of its signature, can be changed', async () => {
  const body = Buffer.from(JSON.stringify(paidEvent({ id: 'any', valueCents: 1_000, providerTransactionId: null })))
  const signature = signatureOf(body, 'current')
  const outcomeOf = (bytes: Buffer, shown = signature) =>
    judge({ ...signed('current'), 'x-partner-signature': shown }, { body: bytes })
  assert.deepEqual(await outcomeOf(body), LET_IN)
  for (const changed of withOneBitChanged(body)) assert.deepEqual(await outcomeOf(changed), KEPT_OUT, String(changed))
  for (const length of body.keys()) assert.deepEqual(await outcomeOf(body.subarray(0, length)), KEPT_OUT)
  for (const changed of withOneBitChanged(Buffer.from(signature))) {
    const shown = changed.toString('latin1')
    // A digit may be written in either case.
    const isSame = shown.startsWith('sha256=') && shown.toLowerCase() === signature
    assert.deepEqual(await outcomeOf(body, shown), isSame ? LET_IN : KEPT_OUT, shown)
  }
})

test('[partner-inbox.1] without a previous secret an empty one is not accepted', async () => {
  assert.deepEqual(await judge(signed('previous'), { credentials: { secrets: ['current'] } }), KEPT_OUT)
})

test('[partner-inbox.1] a static key counts only where one is configured, and then needs no signature', async () => {
  const key = { 'x-partner-api-key': 'the key' }
  assert.deepEqual(await judge(key), KEPT_OUT)
  const credentials = { apiKey: 'the key' }
  assert.deepEqual(await judge(key, { credentials }), LET_IN)
  for (const other of ['the ke', 'the key ', 'The key', '', 'the key, the key']) {
    assert.deepEqual(await judge({ 'x-partner-api-key': other }, { credentials }), KEPT_OUT, other)
  }
  assert.deepEqual(await judge({ ...signed('current'), 'x-partner-api-key': 'wrong' }, { credentials }), LET_IN)
})

test('[production.7] a static key counts from the bank’s addresses alone, a signature from anywhere', async () => {
  const key = { 'x-partner-api-key': 'the key' }
  const credentials = { apiKey: 'the key', isFromBank: (address: string) => address === '203.0.113.7' }
  assert.deepEqual(await judge(key, { credentials }), KEPT_OUT)
  assert.deepEqual(await judge({ ...signed('current'), ...key }, { credentials }), LET_IN)
  assert.deepEqual(await judge({ ...signed('another'), ...key }, { credentials }), KEPT_OUT)
  const { authenticate } = createPixgateInbound({ ...CREDENTIALS, ...credentials })
  const from = (remoteAddress: string) =>
    authenticate({ headers: key, body: BODY, nowMs: NOW, search: '', remoteAddress })
  assert.equal(from('203.0.113.7'), 'proven')
  assert.deepEqual(from('203.0.113.8'), {
    origin: 'refused',
    reason: 'the static key came from an address that PIXGATE_PARTNER_ADDRESSES does not have',
  })
})

test('[partner-inbox.2] [EV-9] signed bytes outside of 300 s are refused, and the bank is queried instead', async () => {
  const asked = { isLetIn: false, isAskedAbout: true }
  for (const ms of [300_000, -300_000, 0]) assert.deepEqual(await judge(signed('current', String(NOW + ms))), LET_IN)
  for (const timestamp of [String(NOW + 300_001), String(NOW - 300_001), 'yesterday', '']) {
    assert.deepEqual(await judge(signed('current', timestamp)), asked, timestamp)
  }
  const { 'x-partner-timestamp': _, ...unstamped } = signed('current')
  assert.deepEqual(await judge(unstamped), asked)
  assert.deepEqual(await judge(signed('another', String(NOW - 300_001))), KEPT_OUT, 'a forger makes us ask nobody')
})

test('[logs.3] the log says which part of the proof is missing, malformed or wrong, and by how much', () => {
  const { authenticate } = createPixgateInbound({ ...CREDENTIALS, secrets: ['current'] })
  const originOf = (headers: Record<string, string | string[]>) =>
    authenticate({ headers, body: BODY, nowMs: NOW, search: '', remoteAddress: '127.0.0.1' })
  const { 'x-partner-timestamp': _, ...unstamped } = signed('current')
  const refused = (reason: string) => ({ origin: 'refused', reason })
  assert.deepEqual(originOf({}), refused('the signature is missing'))
  assert.deepEqual(originOf({ 'x-partner-signature': 'sha256=12' }), refused('the signature is malformed'))
  assert.deepEqual(originOf(signed('another')), refused('the signature is wrong'))
  assert.deepEqual(originOf(unstamped), { origin: 'stale', reason: 'the timestamp is missing' })
  assert.deepEqual(originOf(signed('current', 'now')), { origin: 'stale', reason: 'the timestamp is malformed' })
  assert.deepEqual(originOf(signed('current', String(NOW - 307_000))), {
    ...{ origin: 'stale', reason: 'the timestamp is too old' },
    lateBySeconds: 7,
  })
  assert.deepEqual(originOf(signed('current', String(NOW + 300_001))), {
    ...{ origin: 'stale', reason: 'the timestamp lies ahead of our clock' },
    lateBySeconds: -1,
  })
  assert.equal(originOf(signed('current')), 'proven')
})

test('[rotation.1] [rotation.2] a previous secret proves an event, and its use is reported', () => {
  const { authenticate } = createPixgateInbound({
    ...{ secrets: ['current', 'previous'], apiKey: 'the key', apiKeyPrevious: 'the key before' },
    isFromBank: (address) => address === '203.0.113.7',
  })
  const originOf = (headers: Record<string, string>, remoteAddress = '203.0.113.7') =>
    authenticate({ headers, body: BODY, nowMs: NOW, search: '', remoteAddress })
  const byPrevious = (previousSecret: string) => ({ origin: 'proven', previousSecret })
  assert.equal(originOf(signed('current')), 'proven')
  assert.deepEqual(originOf(signed('previous')), byPrevious('PIXGATE_PARTNER_SECRET_PREVIOUS'))
  assert.equal(originOf({ 'x-partner-api-key': 'the key' }), 'proven')
  assert.deepEqual(
    originOf({ 'x-partner-api-key': 'the key before' }),
    byPrevious('PIXGATE_PARTNER_INBOUND_API_KEY_PREVIOUS'),
  )
  assert.partialDeepStrictEqual(originOf({ 'x-partner-api-key': 'the key before' }, '203.0.113.8'), {
    origin: 'refused',
  })
  assert.partialDeepStrictEqual(originOf(signed('previous', String(NOW - 300_001))), { origin: 'stale' })
  assert.partialDeepStrictEqual(originOf(signed('one before that')), { origin: 'refused' })
})

test('[partner-inbox.1] [EV-10] over HTTP: an event that is not signed is 401 and leaves nothing behind', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const charge = await pix.charge('10.00')
  const event = JSON.stringify(paidEvent(charge))
  for (const telling of [
    { signature: null },
    { signature: signatureOf(`${event} `) },
    { secret: 'another' },
    { signature: null, headers: { 'x-partner-api-key': PARTNER_SECRET } },
    { signature: null, headers: { authorization: `Bearer ${pix.apiKey}` } },
    { signature: null, timestamp: null, headers: { authorization: `Bearer ${PARTNER_SECRET}` } },
  ]) {
    assert.equal(await postEvent(pix, event, telling), 401, JSON.stringify(telling))
  }
  assert.deepEqual(await inbox(pix.database), [])
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
})

test('[partner-inbox.1] [strangers.3] over HTTP: a false signature does not use the database: it is 401 while that is away', async (t) => {
  let isAway = false
  const pix = await world(t, {}, { isStepped: true, reach: reachJudged(t, () => (isAway ? 'cut' : 'pass')) })
  const event = JSON.stringify(paidEvent(await pix.charge('10.00')))
  isAway = true
  assert.equal(await postEvent(pix, event, { secret: 'another' }), 401)
  assert.equal(await postEvent(pix, event, { signature: null }), 401)
  assert.equal(await postEvent(pix, event, {}), 503, 'one that is signed is to be stored')
  isAway = false
})

test('[partner-inbox.1] over HTTP: a repeated header does not count', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const body = JSON.stringify(paidEvent(await pix.charge('10.00')))
  const post = (headers: readonly string[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port: Number(new URL(pix.url).port), host: '127.0.0.1' })
      const lines = ['POST /api/webhooks/pix/cash-in HTTP/1.1', 'Host: x', 'Connection: close', ...headers]
      socket.write(`${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      let answer = ''
      socket.on('data', (bytes) => {
        answer += bytes
      })
      socket.on('end', () => resolve(answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)))
      socket.on('error', reject)
    })
  const signature = `X-Partner-Signature: ${signatureOf(body)}`
  const timestamp = `X-Partner-Timestamp: ${pix.clock.now()}`
  assert.equal(await post([signature, signature, timestamp]), '401')
  assert.equal(await post([signature, timestamp, timestamp]), '401')
  assert.deepEqual(await inbox(pix.database), [])
  assert.equal(await post([signature, timestamp]), '200')
})

test('[partner-inbox.1] over HTTP: the bytes count as received, whatever their headers', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const charge = await pix.charge('10.00')
  const event = JSON.stringify(paidEvent(charge))
  const zipped = gzipSync(event)
  const post = async (body: Buffer, signature: string, headers: Record<string, string>) => {
    const shown = { 'x-partner-signature': signature, 'x-partner-timestamp': String(pix.clock.now()), ...headers }
    const response = await fetch(`${pix.url}/api/webhooks/pix/cash-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...shown },
      body: new Uint8Array(body),
    })
    await response.arrayBuffer()
    return response.status
  }
  const gzip = { 'content-encoding': 'gzip' }
  const utf16 = { 'content-type': 'application/json; charset=utf-16le' }
  assert.equal(await post(zipped, signatureOf(event), gzip), 401, 'what would be unzipped was signed')
  assert.equal(await post(Buffer.from(event, 'utf16le'), signatureOf(event), utf16), 401)
  assert.deepEqual(await inbox(pix.database), [])
  assert.equal(await post(zipped, signatureOf(zipped), gzip), 200)
  const wide = Buffer.from(event, 'utf16le')
  assert.equal(await post(wide, signatureOf(wide), utf16), 200)
  await pix.later(0)
  const states = (await inbox(pix.database)).map(({ state }) => state)
  assert.deepEqual(states, ['QUARANTINED', 'QUARANTINED'], 'signed, and no JSON')
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
})

test('[partner-inbox.1] over HTTP: the previous secret and a static key count where they are configured', async (t) => {
  const previous = 'the-secret-before-this-one-0123456789'
  const apiKey = 'a-static-key-of-the-partner-0123456789'
  const pix = await world(
    t,
    { PIXGATE_PARTNER_SECRET_PREVIOUS: previous, PIXGATE_PARTNER_INBOUND_API_KEY: apiKey },
    { isStepped: true },
  )
  const one = await pix.charge('10.00')
  const other = await pix.charge('20.00')
  assert.equal(await postEvent(pix, paidEvent(one), { secret: previous }), 200)
  assert.equal(
    await postEvent(pix, paidEvent(other, { endToEndId: 'E2' }), {
      signature: null,
      timestamp: null,
      headers: { 'x-partner-api-key': apiKey },
    }),
    200,
  )
  for (const { id } of [one, other]) await pix.becomes(id, 'PAID')
})

test('[production.7] over HTTP: a static key from elsewhere than the bank is the one 401, and leaves nothing behind', async (t) => {
  const apiKey = 'a-static-key-of-the-partner-0123456789'
  const pix = await world(
    t,
    {
      PIXGATE_PARTNER_INBOUND_API_KEY: apiKey,
      PIXGATE_PARTNER_ADDRESSES: '203.0.113.0/24',
      PIXGATE_TRUST_PROXY: '127.0.0.1',
    },
    { isStepped: true },
  )
  const charge = await pix.charge('10.00')
  const from = (...forwarded: string[]) => ({
    signature: null,
    timestamp: null,
    headers: { 'x-partner-api-key': apiKey, ...(forwarded[0] && { 'x-forwarded-for': forwarded.join(', ') }) },
  })
  for (const telling of [
    from(),
    from('198.51.100.1'),
    from('203.0.113.7', '198.51.100.1'),
    from('nobody'),
    from('203.0.113'),
  ]) {
    assert.equal(await postEvent(pix, paidEvent(charge), telling), 401, JSON.stringify(telling))
  }
  assert.deepEqual(await inbox(pix.database), [])
  assert.equal(await postEvent(pix, paidEvent(charge), from('198.51.100.1', '203.0.113.7')), 200)
  await pix.becomes(charge.id, 'PAID')
})
