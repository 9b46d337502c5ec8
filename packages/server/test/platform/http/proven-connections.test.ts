import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import type { StrangerBounds } from '../../../src/platform/http/strangers.ts'
import { type Client, event, guarded, HOST, isOpen, statusOf } from './guarded-server.ts'
import { head } from './thing-server.ts'

const read = (key: string) => head('GET /things HTTP/1.1', HOST, `Authorization: Bearer ${key}`)
const touch = (token: string) => head('POST /touch HTTP/1.1', HOST, `Authorization: Bearer ${token}`)

/** A server at which every token is right, and names who calls. */
function openToAll(t: TestContext, bounds: Partial<StrangerBounds>) {
  const idOf = (authorization: string | undefined) => {
    if (authorization === undefined) throw new Refusal('unauthorized')
    return authorization.replace('Bearer ', '')
  }
  return guarded(t, bounds, {
    authenticate: {
      'api-key': async ({ headers }) => ({ credential: 'api-key', id: idOf(headers.authorization) }),
      admin: async ({ headers }) => ({ credential: 'admin', id: idOf(headers.authorization) }),
    },
  })
}

/** Connects, asks, and stays. */
async function stay(open: (from?: string) => Promise<Client>, request: string, from?: string) {
  const client = await open(from)
  const answer = await client.ask(request)
  return { ...client, answer, status: statusOf(answer) }
}

test('[strangers.4] one credential holds so many connections, from whichever addresses; another request is 429 and its connection closed', async (t) => {
  const { open, outcomes, log } = await openToAll(t, { provenOfCredentialMax: 2 })
  const held = [await stay(open, read('stolen'), '127.0.0.2'), await stay(open, read('stolen'), '127.0.0.3')]
  const refused = await stay(open, read('stolen'), '127.0.0.4')
  assert.equal(refused.status, 429)
  assert.match(refused.answer, /\r\nconnection: close\r\n/i)
  assert.match(refused.answer, /\r\nretry-after: 10\r\n/i)
  assert.match(refused.answer, /"code":"rate_limited"/)
  await refused.closed
  assert.deepEqual(held.map(isOpen), [true, true])
  assert.equal((await stay(open, read('another'), '127.0.0.4')).status, 200, 'another key')
  assert.equal((await stay(open, event('good'))).status, 200, 'the bank')
  assert.equal((await stay(open, touch('stolen'))).status, 200, 'an operator, whose token is another credential')
  assert.equal(statusOf(await (held[0] as Client).ask(read('stolen'))), 200, 'a connection that is there goes on')
  assert.deepEqual(outcomes, ['crowded'])
  const [line] = log.filter(({ credentialId }) => credentialId)
  assert.deepEqual(
    [line?.level, line?.credential, line?.credentialId, line?.network],
    [40, 'api-key', 'stolen', '127.0.0.4'],
  )
})

test('[strangers.4] a connection that ends frees its place', async (t) => {
  const { open } = await openToAll(t, { provenOfCredentialMax: 1, clientsMax: 1 })
  const first = await stay(open, read('mine'))
  assert.equal((await stay(open, read('mine'))).status, 429)
  first.socket.end()
  await new Promise((resolve) => first.serverSide.once('close', resolve))
  assert.equal((await stay(open, read('mine'))).status, 200)
})

test('[strangers.4] API keys together leave places that only the bank and operators hold, and strangers who give way to them', async (t) => {
  const { open } = await openToAll(t, { connectionsMax: 6, clientsMax: 3 })
  const clients = [
    await stay(open, read('a'), '127.0.0.2'),
    await stay(open, read('b'), '127.0.0.3'),
    await stay(open, read('c'), '127.0.0.4'),
  ]
  assert.equal((await stay(open, read('d'), '127.0.0.5')).status, 429)
  const strangers = [await open('127.0.0.6'), await open('127.0.0.7'), await open('127.0.0.8')]
  const bank = await stay(open, event('good'), '127.0.0.9')
  const operator = await stay(open, touch('admin'), '127.0.0.10')
  assert.deepEqual([bank.status, operator.status], [200, 200])
  assert.deepEqual([...clients, bank, operator].map(isOpen), [true, true, true, true, true])
  assert.deepEqual(strangers.map(isOpen), [false, false, false])
})

test('[strangers.4] a connection counts once, for the credential shown first', async (t) => {
  const { open } = await openToAll(t, { provenOfCredentialMax: 1 })
  const client = await stay(open, read('a'))
  assert.equal(statusOf(await client.ask(read('a'))), 200)
  assert.equal(statusOf(await client.ask(read('b'))), 200)
  assert.equal((await stay(open, read('b'))).status, 200)
  assert.equal((await stay(open, read('a'))).status, 429)
})

test('[strangers.2] [strangers.4] connections of a trusted proxy are not counted', async (t) => {
  const { open } = await guarded(t, { provenOfCredentialMax: 1, clientsMax: 1 }, { trustProxy: ['127.0.0.7'] })
  for (let connection = 0; connection < 3; connection++) {
    assert.equal((await stay(open, read('good'), '127.0.0.7')).status, 200)
  }
})
