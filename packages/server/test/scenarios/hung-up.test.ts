import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { bytesOf } from '../support/raw-requests.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

/** A client that hangs up before a decision has requested nothing; one that has only finished sending still waits. */
test('[http.14] [PL-6] waiting requests are executed if their clients are connected, half-closed ones too', {
  timeout: 60_000,
}, async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const adjust = () =>
    pix.call(
      'POST',
      '/operator/adjustments',
      { valueCents: 1, reason: 'x' },
      { authorization: `Bearer ${ADMIN_TOKEN}` },
    )
  await adjust()
  const serverSides = new Map<number | undefined, Socket>()
  pix.service.http.server.on('connection', (socket) => serverSides.set(socket.remotePort, socket))

  const holder = await openHolder(pix.databaseUrl)
  await holder.hold('SELECT FROM account ORDER BY id FOR UPDATE')
  const running = adjust()
  await holder.waiting(1)
  const [gone, halfClosed, there] = [order(pix, 'gone'), order(pix, 'half-closed'), order(pix, 'there')]
  while (pix.service.engine.waiting < 3) await setImmediate()
  halfClosed.end()
  gone.on('error', () => undefined)
  const { promise: isSeen, resolve: see } = Promise.withResolvers<void>()
  serverSides.get(gone.localPort)?.on('close', see)
  gone.resetAndDestroy()
  await isSeen
  await holder.release()

  assert.equal((await running).status, 201)
  for (const socket of [halfClosed, there]) assert.match(await text(socket), /^HTTP\/1\.1 201 /)
  assert.deepEqual(
    (await pix.get('/api/pix/cash-in')).data.map(({ externalId }: { externalId: string }) => externalId).toSorted(),
    ['half-closed', 'there'],
  )
})

function order({ url, apiKey }: World, externalId: string): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  const transaction = { value: 1, externalId }
  socket.write(bytesOf('POST', '/api/pix/cash-in', apiKey, { transaction }, 'Connection: close'))
  return socket
}
