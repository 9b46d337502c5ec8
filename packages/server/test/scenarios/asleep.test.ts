import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { written } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ask, type ProcessWorld, processWorld } from '../support/process-world.ts'
import { bytesOf } from '../support/raw-requests.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN } from '../support/world.ts'

/** A process that slept must not do what its clients have long given up and asked elsewhere. */

/** Longer than an event loop may stand still: the time itself is the fault here. */
const ASLEEP_MS = 2_500

test('[http.14] [PL-5] a suspended process drops the requests of that time, and applies every event of the bank', {
  timeout: 60_000,
}, async (t) => {
  const pix = await processWorld(t)
  const clients = clientsOf(pix)
  const opened = await ask(`${pix.url}/operator/adjustments`, ADMIN_TOKEN, 'POST', { valueCents: 100_00, reason: 'x' })
  assert.equal(opened?.status, 201)
  const charge = await pix.charge({ externalId: 'charge', valueCents: 10_00 })
  const refundable = await pix.charge({ externalId: 'refundable', valueCents: 10_00 })
  await pix.end(refundable.id, 'pay')
  await until(async () => (await pix.read(refundable.id)).status === 'PAID')
  const detail = await pix.read(charge.id)
  const before = await written(pix.database)
  // Each request comes twice: on a connection that was open before, and on one opened meanwhile.
  const orders = ordersOf(refundable.id)
  const open = await Promise.all([...orders, ...orders].map(() => clients.connected()))

  await pix.server.pause()
  const waiting = await Promise.all(
    orders.flatMap((order, index) => [
      clients.send(order(`old-${index}`), open[index]),
      clients.send(order(`new-${index}`)),
    ]),
  )
  for (const [index, order] of orders.entries()) {
    await clients.sendAndHangUp(order(`gone-${index}`), open[orders.length + index])
    await clients.sendAndHangUp(order(`gone-new-${index}`))
  }
  const posted = postEvent(
    { url: `http://127.0.0.1:${pix.links.api.target}`, clock: pix },
    paidEvent({ ...detail, valueCents: 10_00 }),
  )
  await realPause.for(ASLEEP_MS)
  pix.server.resume()

  for (const socket of waiting) {
    const answer = await text(socket)
    assert.match(answer, /^HTTP\/1\.1 503 /, answer)
    assert.match(answer, /retry-after: 1\r\n/i)
    assert.match(answer, /"code":"overloaded"/)
  }
  assert.equal(await posted, 200)
  await until(async () => (await pix.read(charge.id)).status === 'PAID')
  // A new request waits behind all earlier ones.
  assert.equal((await pix.place('/api/pix/cash-out', payout('after'))).status, 201)
  assert.deepEqual(await written(pix.database), { ...before, operations: before.operations + 1n })
})

type Order = (reference: string) => Request

interface Request {
  readonly token?: string
  readonly method: string
  readonly path: string
  readonly body?: object
}

function ordersOf(cashInId: string): readonly Order[] {
  const create = (path: string, body: (externalId: string) => object): Order => {
    return (externalId) => ({ method: 'POST', path, body: body(externalId) })
  }
  const operate = (method: string, path: string, body?: object): Order => {
    return () => ({ token: ADMIN_TOKEN, method, path, ...(body && { body }) })
  }
  return [
    create('/api/pix/cash-in', (externalId) => ({ transaction: { value: 1, externalId } })),
    create('/api/pix/cash-out', payout),
    create(`/api/pix/refund-in/${cashInId}`, (externalId) => ({ refundValue: 0.5, externalId })),
    create('/webhook', (reference) => ({ url: `http://127.0.0.1:1/${reference}`, events: ['pix_cash_in'] })),
    operate('POST', '/operator/adjustments', { valueCents: 1, reason: 'x' }),
    operate('PUT', '/operator/cash-out-switch', { enabled: true, reason: 'x' }),
    operate('POST', '/api-key/generate'),
  ]
}

const payout = (externalId: string) => ({
  transaction: { value: 1, externalId },
  recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
})

/** Clients that talk with the server itself, byte by byte. */
function clientsOf(pix: ProcessWorld) {
  async function connected(): Promise<Socket> {
    const socket = connect(pix.links.api.target, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
  async function send(request: Request, socket?: Socket): Promise<Socket> {
    const connection = socket ?? (await connected())
    const { method, path, token = pix.apiKey, body } = request
    connection.write(bytesOf(method, path, token, body, 'Connection: close'))
    return connection
  }
  return {
    connected,
    send,
    sendAndHangUp: async (request: Request, socket?: Socket): Promise<void> => {
      const connection = await send(request, socket)
      connection.end()
      await once(connection, 'finish')
      connection.destroy()
    },
  }
}
