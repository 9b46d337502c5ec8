import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { postEvent } from '../support/partner-events.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

/** A thief's connections, from an address each: of each the status that it was answered with first. */
async function hold(t: TestContext, { url, apiKey }: { url: string; apiKey: string }, places: number) {
  const sockets: Socket[] = []
  t.after(() => sockets.forEach((socket) => void socket.destroy()))
  const request = `GET /organization/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`
  const one = async (place: number) => {
    const localAddress = `127.0.${1 + (place >> 7)}.${1 + (place & 127)}`
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress })
    sockets.push(socket)
    const closed = once(socket, 'close')
    socket.write(request)
    const [answer] = await once(socket.setEncoding('utf8'), 'data')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
    return { status, socket, closed }
  }
  const held: Awaited<ReturnType<typeof one>>[] = []
  for (let place = 0; place < places; place += 50) {
    held.push(...(await Promise.all(Array.from({ length: 50 }, (_, next) => one(place + next)))))
  }
  return held
}

test('[strangers.4] a stolen API key holds 500 connections and no more: the bank, the operator and another client get in', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { body: stolen } = await pix.call('POST', '/api-key/generate', undefined, {
    authorization: `Bearer ${ADMIN_TOKEN}`,
  })
  const held = await hold(t, { url: pix.url, apiKey: stolen.apiKey }, 600)
  const refused = held.filter(({ status }) => status === 429)
  assert.deepEqual([held.filter(({ status }) => status === 200).length, refused.length], [500, 100])
  await Promise.all(refused.map(({ closed }) => closed))

  const as = async (token: string, path: string) => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    return (await fetch(`${pix.url}${path}`, { headers })).status
  }
  assert.equal(await as(ADMIN_TOKEN, '/operator/cash-out-switch'), 200)
  assert.equal(await as(pix.apiKey, '/organization/balance'), 200)
  assert.equal(await postEvent(pix, { event: 'Anything' }), 200)
})
