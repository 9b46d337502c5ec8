import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertBooks } from '../support/books.ts'
import { written } from '../support/evidence.ts'
import { ask, processWorld } from '../support/process-world.ts'
import { bytesOf } from '../support/raw-requests.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN } from '../support/world.ts'

/** A stopped process has requests that its neighbour refuses meanwhile. The condition of the refusal is gone when it continues. */

const STOPPED_MS = 15_000
const REQUESTS = 133

test('[http.14] [PL-5] a process stopped for 15 s carries out nothing that its neighbour refused', {
  timeout: 120_000,
}, async (t) => {
  const pix = await processWorld(t)
  const neighbour = await pix.startNeighbour()
  const operate = (method: string, path: string, body: object) =>
    ask(`${neighbour.url}${path}`, ADMIN_TOKEN, method, body)
  const setSwitch = async (enabled: boolean) =>
    assert.equal((await operate('PUT', '/operator/cash-out-switch', { enabled, reason: 'drill' }))?.status, 200)
  const charge = await pix.charge({ externalId: 'charge', valueCents: 500_00 })
  await pix.end(charge.id, 'pay')
  await until(async () => (await pix.read(charge.id)).status === 'PAID')
  const port = pix.links.api.target
  const requests = Array.from({ length: REQUESTS }, (_, index) => requestAt(index, charge.id))
  const sockets = await Promise.all(requests.map((_, index) => (index % 4 < 2 ? connectedTo(port) : undefined)))

  await pix.server.pause()
  const stoppedAt = performance.now()
  const waiting = await Promise.all(
    requests.map(async ({ path, body }, index) => {
      const socket = sockets[index] ?? (await connectedTo(port))
      socket.write(bytesOf('POST', path, pix.apiKey, body, 'Connection: close'))
      return socket
    }),
  )
  await setSwitch(false)
  for (const { path, body } of requests) {
    const refused = await ask(`${neighbour.url}${path}`, pix.apiKey, 'POST', body)
    assert.deepEqual([refused?.status, refused?.body.code], [503, 'cash_out_suspended'])
  }
  await setSwitch(true)
  const before = await written(pix.database)
  await realPause.for(STOPPED_MS - (performance.now() - stoppedAt))
  pix.server.resume()

  const answers = await Promise.all(waiting.map((socket) => text(socket)))
  // 408: Node counts the 10 s of an open connection's headers while the process is stopped, too.
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 (408|503) /, answer)
  const overloaded = answers.filter((answer) => answer.includes('"code":"overloaded"')).length
  t.diagnostic(`${REQUESTS} requests: ${overloaded} times 503, ${REQUESTS - overloaded} times 408`)
  assert.deepEqual(await written(pix.database), before)
  const { payouts, refunds } = await pix.bank.book()
  assert.deepEqual([payouts, refunds], [[], []])
  await assertBooks(pix.database)
})

/** Payouts and refunds in turn. */
function requestAt(index: number, cashInId: string): { readonly path: string; readonly body: object } {
  const externalId = `order-${index}`
  if (index % 2 === 1) return { path: `/api/pix/refund-in/${cashInId}`, body: { refundValue: 1, externalId } }
  const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email' }
  return { path: '/api/pix/cash-out', body: { transaction: { value: 1, externalId }, recipient } }
}

async function connectedTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}
