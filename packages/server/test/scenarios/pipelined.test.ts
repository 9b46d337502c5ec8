import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { capturedLog } from '../support/captured-log.ts'
import { bytesOf } from '../support/raw-requests.ts'
import { type World, world } from '../support/world.ts'

/** Several requests in one packet: what is not answered has not happened. */

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`

const payout = ({ apiKey }: World, externalId: string) =>
  bytesOf('POST', '/api/pix/cash-out', apiKey, {
    transaction: { value: 30, externalId },
    recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
  })

const charge = ({ apiKey }: World, externalId: string) =>
  bytesOf('POST', '/api/pix/cash-in', apiKey, { transaction: { value: 10, externalId } })

async function statusesOf({ url }: World, bytes: string): Promise<readonly (string | undefined)[]> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
  socket.write(bytes)
  return [...(await readText(socket)).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)
}

async function made(pix: World, path: string): Promise<readonly string[]> {
  const { data } = await pix.get(path)
  return data.map(({ externalId }: { externalId: string }) => externalId).toReversed()
}

const CLOSING = {
  'two Hosts': [head('GET /healthz HTTP/1.1', 'Host: a', 'Host: b'), '400'],
  'no Host': [head('GET /healthz HTTP/1.1'), '400'],
  'an absolute target': [head('GET http://a/healthz HTTP/1.1', 'Host: a'), '400'],
  'HTTP/1.0 that would stay': [head('GET /balance HTTP/1.0', 'Host: a', 'Connection: keep-alive'), '400'],
  'an upgrade': [head('GET /healthz HTTP/1.1', 'Host: a', 'Upgrade: h2c'), '200'],
} as const

test('[http.10] [http.17] [PL-63] a payout behind an answer that closes the connection is not made', async (t) => {
  const pix = await world(t)
  await pix.balance(100_00)
  const tooLarge = bytesOf('POST', '/api/pix/cash-out', pix.apiKey, { filling: 'x'.repeat(70_000) })
  for (const [name, [first, status]] of Object.entries({ ...CLOSING, 'a body of 70 kB': [tooLarge, '413'] } as const)) {
    assert.deepEqual(await statusesOf(pix, first + payout(pix, name)), [status], name)
  }
  assert.deepEqual(await made(pix, '/api/pix/cash-out'), [])
})

test('[http.15] [PL-62] a payout is answered with its outcome whatever follows it on the connection', async (t) => {
  const pix = await world(t)
  await pix.balance(100_00)
  const connecting = payout(pix, 'before') + head('CONNECT a:1 HTTP/1.1', 'Host: a:1') + payout(pix, 'behind')
  assert.deepEqual(await statusesOf(pix, connecting), ['201', '400'])
  assert.deepEqual(await statusesOf(pix, `${payout(pix, 'stray')}}\r\n\r\ngarbage`), ['201'])
  assert.deepEqual(await made(pix, '/api/pix/cash-out'), ['before', 'stray'])
})

test('[http.17] [PL-2] [PL-63] on a draining connection the answered one of two charges exists', async (t) => {
  const asked = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const pix = await world(
    t,
    {},
    {
      bank: (bank) => ({
        ...bank,
        createCharge: async (...charge) => {
          asked.resolve()
          await slow.promise
          return bank.createCharge(...charge)
        },
      }),
    },
  )
  const answered = statusesOf(pix, charge(pix, 'first') + charge(pix, 'second'))
  await asked.promise
  pix.service.http.beginDrain()
  slow.resolve()
  assert.deepEqual(await answered, ['201'])
  assert.deepEqual(await made(pix, '/api/pix/cash-in'), ['first'])
})

test('[http.17] [logs.3] twenty charges at once are made and answered in order, and each is a line of the log', async (t) => {
  const log = capturedLog()
  const pix = await world(t, {}, { logger: log.logger })
  const ids = Array.from({ length: 20 }, (_, at) => `at-once-${String(at).padStart(2, '0')}`)
  const orders = ids.map((id) => charge(pix, id).replace('\r\n', `\r\nX-Correlation-ID: ${id}\r\n`))
  const last = head('GET /healthz HTTP/1.1', 'Host: a', 'Connection: close')
  assert.deepEqual(await statusesOf(pix, orders.join('') + last), [...ids.map(() => '201'), '200'])
  assert.deepEqual(await made(pix, '/api/pix/cash-in?limit=100'), ids)
  const lines = log.lines.filter(
    ({ msg, correlationId }) => msg === 'request' && String(correlationId).startsWith('at-'),
  )
  assert.deepEqual(
    lines.map(({ correlationId, status }) => [correlationId, status]),
    ids.map((id) => [id, 201]),
  )
})
