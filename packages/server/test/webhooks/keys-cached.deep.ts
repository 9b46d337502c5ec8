import assert from 'node:assert/strict'
import { createHmac, verify } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { eventTypes } from '@pixgate/spec'
import { KEYS_KNOWN_AFTER_MS } from '../../src/webhooks/breaker.ts'
import { type Received, startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookProcess, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

/** Keys are exchanged under load, and receivers learn of it no sooner than what they have cached is old. */

const STEP_MS = 5_000
const MINUTE_MS = 60_000

const bare = { params: undefined, query: undefined, body: undefined, context: requestContext }

/** What a receiver has fetched: whether it verifies a notification, and for how long it is kept. */
interface Cached {
  isAuthentic(received: Received): boolean
  readonly maxAgeMs: number
}

function isSignedBy(pem: string, { headers, body }: Received): boolean {
  return verify('sha256', body, pem, Buffer.from(String(headers['digital-signature']), 'base64'))
}

function maxAgeMs(headers: Readonly<Record<string, string>> = {}): number {
  return Number(/max-age=(\d+)/.exec(headers['cache-control'] ?? '')?.[1] ?? assert.fail('kept for ever')) * 1_000
}

/** The two ways in which a receiver asks for keys. */
const FETCH = {
  '/public-key': async ({ handlers }: WebhookProcess): Promise<Cached> => {
    const answer = await handlers.getPublicKey(bare)
    if (answer.status !== 200) return assert.fail('nothing was cached')
    const { body: pem, headers } = answer
    return { isAuthentic: (received) => isSignedBy(pem, received), maxAgeMs: maxAgeMs(headers) }
  },
  '/public-keys': async ({ handlers }: WebhookProcess): Promise<Cached> => {
    const answer = await handlers.listPublicKeys(bare)
    if (answer.status !== 200) return assert.fail('nothing was cached')
    const pems = new Map(answer.body.data.map(({ id, publicKey }) => [id, publicKey]))
    const isAuthentic = (received: Received) => {
      const pem = pems.get(String(received.headers['digital-signature-key-id']))
      return pem !== undefined && isSignedBy(pem, received)
    }
    return { isAuthentic, maxAgeMs: maxAgeMs(answer.headers) }
  },
} as const

interface Counting {
  readonly accepted: string[]
  /** When, epoch milliseconds. */
  readonly refused: number[]
}

/** A receiver that fetches keys when those that it has are old, and at no other time, whatever comes. */
async function startCachingReceiver(t: TestContext, world: WebhookWorld, way: keyof typeof FETCH) {
  const counting: Counting = { accepted: [], refused: [] }
  let fetching: Promise<Cached> | undefined
  let fetchedAt = 0
  const fetchNow = async () => {
    fetchedAt = world.clock.now()
    fetching = FETCH[way](world)
    await fetching
  }
  const receiver = await startReceiver(t, async (response, received) => {
    const before = await fetching
    // Several arrive at once: the first that finds the keys too old fetches, and the others wait for it.
    if (before === undefined || world.clock.now() - fetchedAt >= before.maxAgeMs) await fetchNow()
    const cached = await fetching
    response.writeHead(count(counting, world, received, cached?.isAuthentic(received) === true)).end()
  })
  return { ...receiver, ...counting, fetchNow }
}

function count({ accepted, refused }: Counting, { clock }: WebhookWorld, { headers }: Received, isAuthentic: boolean) {
  if (isAuthentic) accepted.push(String(headers['webhook-id']))
  else refused.push(clock.now())
  return isAuthentic ? 204 : 401
}

/** Two processes that send, and time that passes in steps. */
async function loaded(t: TestContext) {
  const world = await webhookWorld(t)
  const processes = [world, await world.anotherProcess()]
  const sent: string[] = []
  const step = async (notifications: number) => {
    world.clock.advance(STEP_MS)
    for (let one = 0; one < notifications; one++) sent.push(await world.notify())
    // A process that sees another key opens it, and looks again.
    for (const { fanOut, delivery } of processes) {
      await fanOut.processNext()
      for (let isMore = true; isMore; ) {
        isMore = await delivery.processNext()
        await delivery.settled()
      }
    }
  }
  return {
    world,
    processes,
    sent,
    /** Lets so long pass under load. */
    pass: async (ms: number) => {
      for (let at = 0; at < ms; at += STEP_MS) await step(2)
    },
    /** Lets time pass until all is delivered, an hour at most. */
    drain: async () => {
      for (let at = 0; at < 60 * MINUTE_MS; at += STEP_MS) {
        if ((await world.deliveries()).every(({ state }) => state !== 'PENDING')) return
        await step(0)
      }
      assert.fail('an hour later something waits still')
    },
  }
}

type Load = Awaited<ReturnType<typeof loaded>>

function order(force: boolean) {
  return { ...bare, body: { reason: 'the tests', force } }
}

/** Exchanges the signing key when the receiver has just fetched those of before; publishes it first, unless it has leaked. */
async function exchange({ processes, world, pass }: Load, fetchNow: () => Promise<void>, force: boolean) {
  const [maker, promoter] = processes as [WebhookProcess, WebhookProcess]
  if (force) await fetchNow()
  const { body } = await maker.handlers.createSigningKey(order(force))
  if (!force) {
    await pass(KEYS_KNOWN_AFTER_MS)
    await fetchNow()
  }
  await promoter.handlers.promoteSigningKey({ ...order(force), params: { key_id: body.id } })
  return world.clock.now()
}

for (const [way, force, mayRefuse] of [
  ['/public-keys', false, false],
  ['/public-key', false, true],
  ['/public-keys', true, true],
] as const) {
  const how = force ? 'at once' : 'as it should be'
  test(`[signing-keys.2] [webhooks.6] [NO-7] the signing key is exchanged ${how} under load: a receiver that keeps what it had of ${way} for five minutes, and fetches nothing before, loses nothing and takes nothing twice`, {
    timeout: 300_000,
  }, async (t) => {
    const load = await loaded(t)
    const { world, sent, pass, drain } = load
    const receiver = await startCachingReceiver(t, world, way)
    await world.register(receiver.url, eventTypes)
    await pass(MINUTE_MS)
    const promotedAt = await exchange(load, receiver.fetchNow, force)
    await pass(8 * MINUTE_MS)
    await drain()
    assert.deepEqual([...receiver.accepted].sort(), [...sent].sort(), 'each once')
    const deliveries = await world.deliveries()
    assert.deepEqual(new Set(deliveries.map(({ state }) => state)), new Set(['DELIVERED']))
    assert.equal(receiver.refused.length > 0, mayRefuse)
    t.diagnostic(`of ${receiver.received.length} attempts ${receiver.refused.length} were refused`)
    for (const at of receiver.refused) {
      assert.ok(at >= promotedAt && at < promotedAt + 5 * MINUTE_MS, 'nothing is refused once the cache is old')
    }
    const keyIds = receiver.received.map(({ headers }) => headers['digital-signature-key-id'])
    assert.equal(new Set(keyIds).size, 2, 'both keys signed')
  })
}

test('[webhook-secrets.2] the secret of an endpoint is exchanged under load: one that takes up the new one at the end of the overlap refuses nothing', {
  timeout: 120_000,
}, async (t) => {
  const { world, sent, pass, drain } = await loaded(t)
  const counting: Counting = { accepted: [], refused: [] }
  let secret = ''
  const receiver = await startReceiver(t, (response, received) => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' } = received.headers
    const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    const expected = `v1,${hmac.update(`${id}.${at}.`).update(received.body).digest('base64')}`
    response.writeHead(count(counting, world, received, String(given).split(' ').includes(expected))).end()
  })
  const body = { url: receiver.url, events: [...eventTypes] }
  const { body: registered } = await world.handlers.createWebhook({ ...bare, body })
  secret = registered.secret
  await pass(MINUTE_MS)
  const params = { webhook_id: registered.webhook_id }
  const overlap = { overlapSeconds: 300 }
  const { body: rotated } = await world.handlers.rotateWebhookSecret({ ...bare, params, body: overlap })
  await pass(5 * MINUTE_MS - STEP_MS)
  secret = rotated.secret
  await pass(2 * MINUTE_MS)
  await drain()
  assert.deepEqual(counting.refused, [])
  assert.deepEqual([...counting.accepted].sort(), [...sent].sort(), 'each once')
})
