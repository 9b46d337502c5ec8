import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { eventTypes } from '@pixgate/spec'
import { publicKeys } from '../../../../examples/demo/public-keys.ts'
import { startReceiver as startDemoReceiver } from '../../../../examples/demo/receiver.ts'
import { createIds } from '../../src/platform/ids.ts'
import { rewrap } from '../../src/webhooks/rewrap.ts'
import { assertBooks } from '../support/books.ts'
import { deliveryStates, storeNotification } from '../support/deliveries.ts'
import { type Gateway, type Gateways, gateways } from '../support/gateways.ts'
import { paidEvent, signatureOf } from '../support/partner-events.ts'
import { until } from '../support/until.ts'
import { type Received, startReceiver } from '../support/webhook-receiver.ts'
import { ADMIN_TOKEN, ENCRYPTION_KEY } from '../support/world.ts'

/** Every secret is exchanged while two processes work, and nothing is lost, refused for good, or done twice. */

/** Longer than the first wait before a retry, shorter than a lease. */
const RETRY_MS = 6_000

function newest({ running }: Gateways): Gateway {
  return running.at(-1) ?? assert.fail('none runs')
}

async function makeApiKey(gateway: Gateway): Promise<string> {
  const { status, body } = await gateway.call('POST', '/api-key/generate', ADMIN_TOKEN)
  assert.equal(status, 201)
  return body.apiKey
}

/** Makes a signing key at one process and promotes it at another, whatever receivers have cached. @returns its id */
async function rotate(maker: Gateway, promoter: Gateway): Promise<string> {
  const order = { reason: 'the tests', force: true }
  const made = await maker.call('POST', '/operator/signing-keys', ADMIN_TOKEN, { reason: order.reason })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const promoted = await promoter.call(
    ...(['POST', `/operator/signing-keys/${made.body.id}/promote`, ADMIN_TOKEN, order] as const),
  )
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  return made.body.id
}

function isSignedBy(pem: string, { headers, body }: Pick<Received, 'headers' | 'body'>): boolean {
  const signature = Buffer.from(String(headers['digital-signature']), 'base64')
  return verify('sha256', body, createPublicKey(pem), signature)
}

/** A receiver that has heard of nothing but `GET /public-key`, and fetches it again when a signature does not verify. */
async function startSimpleReceiver(t: TestContext, of: Gateways) {
  const accepted: string[] = []
  let pem = ''
  const fetchKey = async () => (await newest(of).call('GET', '/public-key', '')).body
  const receiver = await startReceiver(t, async (response, received) => {
    if (!pem || !isSignedBy(pem, received)) pem = await fetchKey()
    const isAuthentic = isSignedBy(pem, received)
    if (isAuthentic) accepted.push(String(received.headers['webhook-id']))
    response.writeHead(isAuthentic ? 204 : 401).end()
  })
  return { ...receiver, accepted }
}

async function subscribe(gateway: Gateway, urls: readonly string[]): Promise<void> {
  const apiKey = await makeApiKey(gateway)
  for (const url of urls) {
    assert.equal((await gateway.call('POST', '/webhook', apiKey, { url, events: eventTypes })).status, 201)
  }
}

/** Lets retries be due until everything is delivered; what is under way is let arrive first. */
async function allDelivered({ database, clock }: Gateways, notifications: number): Promise<void> {
  for (;;) {
    const { delivered, underWay, waiting } = await deliveryStates(database, clock.now())
    if (delivered >= notifications) return
    if (underWay === 0 && waiting > 0) clock.advance(RETRY_MS)
  }
}

test('[signing-keys.5] [webhooks.8] [NO-7] the signing key is rotated twice while two processes deliver: all arrives once, each with the key of its id', {
  timeout: 120_000,
}, async (t) => {
  const all = await gateways(t)
  const [a, b] = [await all.start(), await all.start()]
  // The receiver of the documents, which asks one process for keys and gets deliveries of both.
  const demo = await startDemoReceiver(publicKeys(a.url, all.clock.now))
  t.after(() => demo.stop())
  const simple = await startSimpleReceiver(t, all)
  const watching = await startReceiver(t)
  await subscribe(a, [demo.url, simple.url, watching.url])

  const sent: string[] = []
  const send = async (count: number) => {
    for (let one = 0; one < count; one++) sent.push(await storeNotification(all.database, createIds(all.clock)))
  }
  const first = (await a.call('GET', '/public-keys', '')).body.data[0].id
  await send(60)
  await watching.arrived(30)
  const load = send(120)
  const second = await rotate(a, b)
  await load
  await watching.arrived(120)
  const more = send(120)
  const third = await rotate(b, a)
  await more
  const afterwards = sent.length
  await send(30)
  await allDelivered(all, 3 * sent.length)

  const { body } = await b.call('GET', '/operator/signing-keys', ADMIN_TOKEN)
  const pems = new Map<string, string>(
    body.data.map((key: { id: string; publicKey: string }) => [key.id, key.publicKey]),
  )
  const idOf = ({ headers }: Received) => String(headers['digital-signature-key-id'])
  for (const received of [...watching.received, ...simple.received]) {
    assert.ok(isSignedBy(pems.get(idOf(received)) ?? '', received), `the key ${idOf(received)} verifies`)
  }
  assert.deepEqual(new Set(watching.received.map(idOf)), new Set([first, second, third]))
  const idsOf = (received: readonly Received[]) => received.map(({ headers }) => String(headers['webhook-id'])).sort()
  assert.deepEqual(idsOf(watching.received), [...sent].sort(), 'each once')
  assert.deepEqual([...simple.accepted].sort(), [...sent].sort(), 'each accepted once, whatever was refused before')
  assert.equal(demo.notifications.length, sent.length)
  const late = watching.received.filter(({ headers }) => sent.indexOf(String(headers['webhook-id'])) >= afterwards)
  assert.deepEqual(new Set(late.map(idOf)), new Set([third]), 'nothing is signed with a key that was replaced before')
  for (const gateway of [a, b]) await gateway.log.line('', { event: 'signing_key.changed', keyId: third })
})

test('[encryption.3] [rotation.1] the encryption key is rotated, and everything sealed anew, while two processes deliver', {
  timeout: 120_000,
}, async (t) => {
  const all = await gateways(t)
  await all.start()
  await all.start()
  const simple = await startSimpleReceiver(t, all)
  await subscribe(newest(all), [simple.url])
  const sent: string[] = []
  let isOver = false
  const load = (async () => {
    while (!isOver) {
      sent.push(await storeNotification(all.database, createIds(all.clock)))
      await simple.arrived(sent.length - 20)
    }
  })()

  const NEW_KEY = 'the encryption key of the year after, of 32 or more'
  await all.roll({ PIXGATE_ENCRYPTION_KEY: NEW_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS: ENCRYPTION_KEY })
  const needed = await newest(all).log.line('', { event: 'encryption_key.advice' })
  assert.equal(needed.level, 'warn')
  const keys = { current: NEW_KEY, previous: ENCRYPTION_KEY }
  const dependencies = { database: all.database, clock: all.clock, ids: createIds(all.clock) }
  assert.partialDeepStrictEqual(await rewrap({ ...dependencies, keys }), [{ outcome: 'rewrapped' }])
  const [maker, promoter] = all.running as [Gateway, Gateway]
  await rotate(maker, promoter)
  await all.roll({ PIXGATE_ENCRYPTION_KEY: NEW_KEY })
  await assert.rejects(all.start(), { name: 'Unreadable' }, 'the key of before is of no use')
  isOver = true
  await load
  await allDelivered(all, sent.length)
  assert.deepEqual([...simple.accepted].sort(), [...sent].sort())
})

async function charges(gateway: Gateway, count: number) {
  const apiKey = await makeApiKey(gateway)
  const made = Array.from({ length: count }, async (_, one) => {
    const transaction = { value: 1, externalId: `charge-${one}` }
    const { status, body } = await gateway.call('POST', '/api/pix/cash-in', apiKey, { transaction })
    assert.equal(status, 201)
    const { id, providerTransactionId = null } = body
    return paidEvent({ id, valueCents: 100, providerTransactionId }, { eventId: `event-${one}` })
  })
  return { apiKey, payments: await Promise.all(made) }
}

test('[rotation.1] the secret of the bank’s events is rotated under load: none is refused, and none counts twice', {
  timeout: 120_000,
}, async (t) => {
  const all = await gateways(t)
  const [OLD, NEW] = ['the secret that the bank has had, 32 or more', 'the secret that the bank will have, 32 or more']
  await all.start({ PIXGATE_PARTNER_SECRET: OLD })
  await all.start({ PIXGATE_PARTNER_SECRET: OLD })
  const { apiKey, payments } = await charges(newest(all), 60)
  let [secret, isOver, posted, unanswered] = [OLD, false, 0, 0]
  let wake: () => void = () => undefined

  /** To whichever process its turn is. @returns `undefined` where its connection ended with the process */
  const tell = async (body: string) => {
    const { url } = all.running[posted % all.running.length] ?? assert.fail()
    const headers = {
      ...{ 'content-type': 'application/json', 'x-partner-timestamp': String(all.clock.now()) },
      'x-partner-signature': signatureOf(body, secret),
    }
    const answer = fetch(`${url}/api/webhooks/pix/cash-in`, { method: 'POST', headers, body })
    return (await answer.catch(() => undefined))?.status
  }
  /** The bank reports payments, each again and again, and repeats unanswered events at once. */
  const bank = async () => {
    while (!isOver || posted < 2 * payments.length) {
      const body = JSON.stringify(payments[posted % payments.length])
      let status = await tell(body)
      for (; status === undefined; status = await tell(body)) unanswered += 1
      posted += 1
      assert.equal(status, 200)
      wake()
    }
  }
  const postedSoMany = async (count: number) => {
    while (posted < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  const telling = bank()
  const rotating = (async () => {
    await postedSoMany(15)
    await all.roll({ PIXGATE_PARTNER_SECRET: NEW, PIXGATE_PARTNER_SECRET_PREVIOUS: OLD })
    await postedSoMany(posted + 15)
    const uses = 'pixgate_previous_secret_uses_total{variable="PIXGATE_PARTNER_SECRET_PREVIOUS"}'
    assert.ok((await newest(all).counted(uses, ADMIN_TOKEN)) > 0, 'the bank has not changed over')
    secret = NEW
    // Deliveries under way were signed with the old one.
    await postedSoMany(posted + 2)
    const before = await Promise.all(all.running.map((gateway) => gateway.counted(uses, ADMIN_TOKEN)))
    await postedSoMany(posted + 15)
    const after = await Promise.all(all.running.map((gateway) => gateway.counted(uses, ADMIN_TOKEN)))
    assert.deepEqual(after, before, 'the old one is not used any more')
    await all.roll({ PIXGATE_PARTNER_SECRET: NEW })
    isOver = true
  })()
  await Promise.all([telling, rotating])
  assert.ok(unanswered <= 4, 'one for each process that was stopped, at most')

  const balance = async () => (await newest(all).call('GET', '/organization/balance', apiKey)).body[0].amount
  await until(async () => (await balance()) >= payments.length)
  assert.equal(await balance(), payments.length)
  await assertBooks(all.database)
  const refused = 'pixgate_inbox_callbacks_total{origin="refused"}'
  for (const gateway of all.running) assert.equal(await gateway.counted(refused, ADMIN_TOKEN), 0)
})

test('[rotation.1] the tokens of the operator are rotated by rolling restarts: at no time is either side refused', async (t) => {
  const all = await gateways(t)
  const [OLD, NEW] = ['the token of the operator of last year', 'the token of the operator of this year'].map((text) =>
    text.replaceAll(' ', '-'),
  ) as [string, string]
  await all.start({ PIXGATE_ADMIN_TOKEN: OLD })
  await all.start({ PIXGATE_ADMIN_TOKEN: OLD })
  const everywhere = async (token: string, expected: number) => {
    for (const gateway of all.running) {
      assert.equal((await gateway.call('GET', '/operator/cash-out-switch', token)).status, expected)
    }
  }
  await everywhere(OLD, 200)
  await all.start({ PIXGATE_ADMIN_TOKEN: NEW, PIXGATE_ADMIN_TOKEN_PREVIOUS: OLD })
  await everywhere(OLD, 200)
  await all.roll({ PIXGATE_ADMIN_TOKEN: NEW, PIXGATE_ADMIN_TOKEN_PREVIOUS: OLD })
  await everywhere(OLD, 200)
  await everywhere(NEW, 200)
  await newest(all).log.line('a secret that is being replaced is used still', {
    variable: 'PIXGATE_ADMIN_TOKEN_PREVIOUS',
  })
  await all.start({ PIXGATE_ADMIN_TOKEN: NEW })
  await everywhere(NEW, 200)
  await all.roll({ PIXGATE_ADMIN_TOKEN: NEW })
  await everywhere(NEW, 200)
  await everywhere(OLD, 401)
})
