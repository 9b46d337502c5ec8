import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { bytesOf } from '../support/raw-requests.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

/** Requests of which all but the last byte was sent, and then nothing for a while. */

/** Sends it but for its last byte. @returns what sends that, and reads the status of the answer */
async function heldBack(t: TestContext, pix: World, token: string, method: string, path: string, body: object) {
  const bytes = bytesOf(method, path, token, body, 'Connection: close')
  const { hostname: host, port } = new URL(pix.url)
  const accepted = once(pix.service.http.server, 'request')
  const socket = connect({ host, port: Number(port) })
  t.after(() => socket.destroy())
  socket.write(bytes.slice(0, -1))
  await accepted
  return async () => {
    socket.write(bytes.slice(-1))
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(await readText(socket))?.[1])
  }
}

const payout = (externalId: string) => ({
  transaction: { value: 1, externalId },
  recipient: { pixKey: 'ana@example.com', pixKeyType: 'email' },
})

test('[http.5] [api-keys.6] [api-keys.14] a request held back until its key was deactivated is 401, and one with a valid key is executed', async (t) => {
  const pix = await world(t)
  await pix.paid('100')
  const authorization = `Bearer ${ADMIN_TOKEN}`
  const { body: key } = await pix.call('POST', '/api-key/generate', { name: 'stolen' }, { authorization })
  const mine = await heldBack(t, pix, pix.apiKey, 'POST', '/api/pix/cash-out', payout('mine'))
  const stolen = await heldBack(t, pix, key.apiKey, 'POST', '/api/pix/cash-out', payout('stolen'))
  const ofKey = { authorization: `Bearer ${key.apiKey}` }
  assert.equal((await pix.call('GET', '/organization/balance', undefined, ofKey)).status, 200, 'it was judged by now')
  const { body: keys } = await pix.call('GET', '/api-key', undefined, { authorization })
  const { id } = keys.data.find(({ name }: { name: string | null }) => name === 'stolen')
  assert.equal((await pix.call('DELETE', `/api-key/${id}`, undefined, { authorization })).status, 204)
  assert.deepEqual([await stolen(), await mine()], [401, 201])
})

test('[http.5] [operators.5] [operators.6] the same holds for an operator’s token, and for the administrative one once an admin exists', async (t) => {
  const pix = await world(t)
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const generate = await heldBack(t, pix, ADMIN_TOKEN, 'POST', '/operator/operators', { name: 'Ghost', role: 'admin' })
  const admin = async (name: string, token: string) =>
    (await pix.call('POST', '/operator/operators', { name, role: 'admin' }, as(token))).body
  const ana = await admin('Ana', ADMIN_TOKEN)
  const bia = await admin('Bia', ana.token)
  const held = [
    await heldBack(t, pix, bia.token, 'POST', '/operator/operators', { name: 'Ghost', role: 'admin' }),
    await heldBack(t, pix, bia.token, 'POST', '/api-key/generate', { name: 'ghost' }),
    await heldBack(t, pix, bia.token, 'PUT', '/operator/cash-out-switch', { enabled: true, reason: 'none' }),
    await heldBack(t, pix, bia.token, 'POST', '/api-key/deactivate-all', { reason: 'revenge' }),
  ]
  assert.equal((await pix.call('GET', '/operator/operators', undefined, as(bia.token))).status, 200, 'they were judged')
  assert.equal((await pix.call('DELETE', `/operator/operators/${bia.id}`, undefined, as(ana.token))).status, 204)
  assert.deepEqual(await Promise.all([generate, ...held].map((finish) => finish())), [401, 401, 401, 401, 401])
  const { body: known } = await pix.call('GET', '/operator/operators', undefined, as(ana.token))
  assert.deepEqual(known.data.map(({ name }: { name: string }) => name).toSorted(), ['Ana', 'Bia'])
})

test('[operator.switch.4] [CO-30] an «on» whose body arrives after an «off» is 409, unless it names the version', async (t) => {
  const pix = await world(t)
  const put = (enabled: boolean) =>
    pix.call(
      'PUT',
      '/operator/cash-out-switch',
      { enabled, reason: 'Incident 42' },
      { authorization: `Bearer ${ADMIN_TOKEN}` },
    )
  const on = await heldBack(t, pix, ADMIN_TOKEN, 'PUT', '/operator/cash-out-switch', { enabled: true, reason: 'over' })
  pix.clock.advance(5)
  const { body: off } = await put(false)
  assert.equal(await on(), 409)
  const named = await heldBack(t, pix, ADMIN_TOKEN, 'PUT', '/operator/cash-out-switch', {
    enabled: true,
    reason: 'over',
    version: off.version,
  })
  assert.equal(await named(), 200)
  pix.clock.advance(5)
  await put(false)
  assert.equal((await put(true)).status, 200, 'what is asked for after it counts')
})
