import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { clientAddress } from '../../src/platform/http/request.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

test('[audit.6] what is an address and nothing else is one', () => {
  for (const address of ['203.0.113.7', '2001:db8::7', '::ffff:203.0.113.7']) {
    assert.equal(clientAddress(address, '127.0.0.1'), address)
  }
  const junk = [
    '',
    'unknown',
    '203.0.113.7:443',
    '[2001:db8::7]',
    'fe80::1%<script>',
    '203.0.113.7\n',
    `${'0'.repeat(99)}::`,
  ]
  for (const text of [...junk, '1'.repeat(10_240), '::1%'.padEnd(60, 'a'), '203.0.113.007', undefined]) {
    assert.equal(clientAddress(text, '127.0.0.1'), '127.0.0.1', String(text))
  }
  assert.equal(clientAddress('junk', undefined), 'unknown')
})

/** Sends bytes and returns the first line of the answer. */
async function sent(port: number, text: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  socket.write(text, 'latin1')
  await once(socket, 'close')
  return answer.split('\r\n', 1).join()
}

const REPORTED: readonly (readonly [header: string, address: string, why: string])[] = [
  ['203.0.113.7', '203.0.113.7', 'the client that the proxy saw'],
  ['198.51.100.1, 203.0.113.7', '203.0.113.7', 'what the client wrote itself stands before it'],
  ['127.0.0.1, 203.0.113.7', '203.0.113.7', 'also where it wrote the proxy'],
  ['203.0.113.7, <script>alert(1)</script>', '127.0.0.1', 'no address'],
  ['203.0.113.7, \x80\x9b31m', '127.0.0.1', 'C1 control characters'],
  ['203.0.113.7\t', '203.0.113.7', 'a tab at its end'],
  ['x'.repeat(10_240), '127.0.0.1', 'ten kilobytes'],
  [Array.from({ length: 700 }, () => '203.0.113.9').join(), '203.0.113.9', 'a long list'],
  ['fe80::1%eth0', '127.0.0.1', 'a zone'],
  ['', '127.0.0.1', 'nothing'],
]

test('[audit.6] over HTTP the trail has addresses and nothing else, whatever X-Forwarded-For says', async (t) => {
  const { url, database } = await world(t, { PIXGATE_TRUST_PROXY: '127.0.0.1' })
  const port = Number(new URL(url).port)
  const made = (header: string) =>
    `POST /api-key/generate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\n${header}\r\n\r\n`
  const latest = async () => {
    const text = "SELECT address FROM audit WHERE action = 'api_key.generated' ORDER BY at DESC, id DESC LIMIT 1"
    return (await database.rows<[], { address: string }>({ name: 'test.latest', text }, []))[0]?.address
  }
  for (const [header, address, why] of REPORTED) {
    assert.match(await sent(port, made(`X-Forwarded-For: ${header}`)), / 201 /, why)
    assert.equal(await latest(), address, why)
  }
  assert.match(
    await sent(port, made('X-Forwarded-For: 203.0.113.8\r\nX-Forwarded-For: \x01')),
    / 400 /,
    'C0 is no header',
  )
})

test('[audit.6] without a trusted proxy nobody chooses an address', async (t) => {
  const { call, database, apiKey } = await world(t)
  await call(
    'POST',
    '/webhook',
    { url: 'http://127.0.0.1:9/secret-path', events: ['pix_cash_in'] },
    { 'x-forwarded-for': '203.0.113.7' },
  )
  const { body } = await call('GET', '/webhook')
  const webhook = body.data.at(-1).webhook_id
  await call('DELETE', `/webhook/${webhook}`)
  const text =
    'SELECT k.id IS NOT NULL AS "byKey", a.action, a.subject, a.address, a.facts FROM audit a LEFT JOIN credential k ON k.id::text = a.actor WHERE a.action LIKE \'webhook.%\' AND a.subject = $1 ORDER BY a.at, a.id'
  const row = { byKey: true, subject: webhook, address: '127.0.0.1' }
  assert.deepEqual(await database.rows({ name: 'test.webhooks', text }, [webhook]), [
    { ...row, action: 'webhook.created', facts: { host: '127.0.0.1:9', events: ['pix_cash_in'] } },
    { ...row, action: 'webhook.deleted', facts: {} },
  ])
  assert.ok(apiKey)
})
