import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { capturedLog } from '../support/captured-log.ts'
import { administer } from '../support/database.ts'
import { columnsWith } from '../support/kept-text.ts'
import { ALIVE, lapsing } from '../support/live-request.ts'
import { answering, type Received, startReceiver } from '../support/webhook-receiver.ts'
import {
  ENCRYPTION_KEYS,
  ofEndpoint,
  requestContext,
  type WebhookProcess,
  webhookWorld,
} from '../support/webhook-world.ts'

const DAY_MS = 86_400_000

const bare = { params: undefined, query: undefined, context: requestContext }

/** Registers a receiver at this address. */
async function register({ handlers }: WebhookProcess, url: string) {
  return (await handlers.createWebhook({ ...bare, body: { url, events: ['pix_cash_in'] } })).body
}

/** Rotates the secret of an endpoint. */
async function rotate({ handlers }: WebhookProcess, id: string, body: { overlapSeconds?: number } = {}, live = ALIVE) {
  const context = { ...requestContext, live }
  return (await handlers.rotateWebhookSecret({ ...bare, context, params: { webhook_id: id }, body })).body
}

/** As whoever has the text of a secret makes the signature. */
function signatureWith(secret: string, { headers, body }: Received): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const before = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  return `v1,${createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from(before), body]))
    .digest('base64')}`
}

/** A receiver that is there, and what it gets. */
async function registered(t: TestContext, answer = answering(204)) {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answer)
  const { webhook_id: id, secret } = await register(world, receiver.url)
  const next = async (process: WebhookProcess = world) => {
    await world.notify('pix_cash_in', '{"event_type":"pix_cash_in","event":{"payer_name":"João"}}')
    await process.deliverDue()
    return receiver.received.at(-1) ?? assert.fail('nothing arrived')
  }
  const secrets = async () => (await world.handlers.getWebhook(ofEndpoint(id))).body.secrets
  return { world, receiver, id, secret, next, secrets }
}

test('[webhook-secrets.1] what arrives is signed with the secret that the registration of its endpoint showed', async (t) => {
  const { world, receiver, secret } = await registered(t)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const other = await register(world, `${receiver.url}other`)
  await world.notify()
  await world.deliverDue()
  assert.equal(receiver.received.length, 2)
  for (const received of receiver.received) {
    const own = received.path === '/other' ? other.secret : secret
    assert.equal(received.headers['webhook-signature'], signatureWith(own, received), received.path)
  }
})

test('[webhook-secrets.1] a retry has the same webhook-id, and a signature over its own time', async (t) => {
  const statuses = [500, 204]
  const { world, receiver, secret, next } = await registered(t, (response) =>
    response.writeHead(statuses.shift() ?? 500).end(),
  )
  await next()
  world.clock.advance(6_000)
  await world.deliverDue()
  const [first, second] = receiver.received
  assert.ok(first && second)
  assert.equal(first.headers['webhook-id'], second.headers['webhook-id'])
  assert.notEqual(first.headers['webhook-timestamp'], second.headers['webhook-timestamp'])
  for (const one of [first, second]) assert.equal(one.headers['webhook-signature'], signatureWith(secret, one))
})

test('[webhook-secrets.1] [webhook-secrets.2] an endpoint whose secrets were all erased gets no signature of one until one is made', async (t) => {
  const { world, id, next, secrets } = await registered(t)
  await administer(
    world.url,
    `UPDATE webhook_secret SET expires_at = created_at, erased_at = created_at WHERE endpoint_id = '${id}'`,
  )
  const unsigned = await next()
  assert.equal(unsigned.headers['webhook-signature'], undefined)
  assert.ok(unsigned.headers['digital-signature'])
  assert.deepEqual(await secrets(), [])
  const { secret, previousExpiresAt } = await rotate(world, id)
  assert.equal(previousExpiresAt, null)
  const received = await next()
  assert.equal(received.headers['webhook-signature'], signatureWith(secret, received))
})

test('[webhook-secrets.1] [encryption.1] a secret is stored sealed, and in no other form', async (t) => {
  const { world, id, secret, next } = await registered(t)
  const { secret: second } = await rotate(world, id)
  await next()
  assert.ok((await columnsWith(world.url, id)).includes('webhook_secret.endpoint_id'), 'what is stored is read')
  const sealed = (await world.secretRows()).map((row) => row.secret ?? assert.fail())
  assert.equal(sealed.length, 2)
  for (const text of [secret, second]) {
    const bytes = Buffer.from(text.slice('whsec_'.length), 'base64')
    const forms = [bytes.toString('base64'), bytes.toString('hex'), bytes.toString('base64url')]
    assert.deepEqual(await columnsWith(world.url, ...forms), [])
    for (const stored of sealed) assert.ok(!stored.includes(bytes))
  }
})

test('[webhook-secrets.2] both secrets sign while the old one lives, the newest first, and then the new one alone', async (t) => {
  const { world, id, secret, next, secrets } = await registered(t)
  world.clock.advance(1_000)
  const rotated = await rotate(world, id)
  const ends = new Date(world.clock.now() + DAY_MS).toISOString()
  assert.deepEqual([rotated.webhook_id, rotated.previousExpiresAt], [id, ends])
  assert.deepEqual(
    (await secrets()).map(({ expiresAt }) => expiresAt),
    [null, ends],
  )
  const during = await next()
  const both = [rotated.secret, secret].map((one) => signatureWith(one, during)).join(' ')
  assert.equal(during.headers['webhook-signature'], both)
  world.clock.advance(DAY_MS - 1)
  assert.equal(String((await next()).headers['webhook-signature']).split(' ').length, 2, 'until its last moment')
  world.clock.advance(1)
  const after = await next()
  assert.equal(after.headers['webhook-signature'], signatureWith(rotated.secret, after))
  assert.equal((await secrets()).length, 1)
})

test('[webhook-secrets.2] the overlap is as long as was asked for, and no secret lives longer than was said before', async (t) => {
  const { world, id } = await registered(t)
  const now = world.clock.now()
  const at = (ms: number) => new Date(now + ms).toISOString()
  assert.equal((await rotate(world, id, { overlapSeconds: 60 })).previousExpiresAt, at(60_000))
  const before = await rotate(world, id, { overlapSeconds: 3_600 })
  assert.equal(before.previousExpiresAt, at(3_600_000))
  const detail = await world.handlers.getWebhook(ofEndpoint(id))
  assert.deepEqual(
    detail.body.secrets.map(({ expiresAt }) => expiresAt).sort(),
    [null, at(60_000), at(3_600_000)].sort(),
  )
})

test('[webhook-secrets.3] what leaked signs nothing, in a process whose clock is behind either, of what is sent again too', async (t) => {
  const { world, receiver, id, next } = await registered(t)
  await rotate(world, id, { overlapSeconds: 60 })
  const behind = await world.anotherProcess({ clockBehindMs: 30_000 })
  const { secret, previousExpiresAt } = await rotate(world, id, { overlapSeconds: 0 })
  assert.equal(previousExpiresAt, null)
  const received = await next(behind)
  assert.equal(received.headers['webhook-signature'], signatureWith(secret, received))
  const { body } = await world.handlers.listWebhookDeliveries({ ...bare, body: undefined, query: {} })
  const params = { id: body.data[0]?.id ?? '' }
  await behind.handlers.resendWebhookDelivery({ ...bare, params, body: undefined })
  await behind.deliverDue()
  const [, again = assert.fail()] = receiver.received
  assert.equal(again.headers['webhook-signature'], signatureWith(secret, again))
  assert.deepEqual(
    (await world.secretRows()).map((row) => row.secret === null),
    [true, true, false],
    'they are gone',
  )
})

test('[webhook-secrets.3] four secrets sign at most, also when they are rotated at once; a leak is never refused', async (t) => {
  const { world, id, next } = await registered(t)
  const other = await world.anotherProcess()
  const results = await Promise.allSettled([world, other, world, other, world].map((process) => rotate(process, id)))
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 2)
  for (const { reason } of refused) assert.equal(reason.code, 'too_many_webhook_secrets')
  const signatures = String((await next()).headers['webhook-signature']).split(' ')
  assert.equal(new Set(signatures).size, limits.webhookSecretsMax)
  await rotate(world, id, { overlapSeconds: 0 })
  assert.equal(String((await next()).headers['webhook-signature']).split(' ').length, 1)
})

test('[webhook-secrets.3] what signs no more is erased, of a removed endpoint too, and comes back by no means', async (t) => {
  const { world, id } = await registered(t)
  await rotate(world, id, { overlapSeconds: 60 })
  const kept = async () => (await world.secretRows()).map((row) => row.secret !== null)
  await world.housekeeping.processNext()
  assert.deepEqual(await kept(), [true, true])
  world.clock.advance(60_000)
  await world.housekeeping.processNext()
  assert.deepEqual(await kept(), [false, true])
  await world.handlers.deleteWebhook(ofEndpoint(id))
  await world.housekeeping.processNext()
  assert.deepEqual(await kept(), [false, false])
  for (const change of ['expires_at = NULL', "expires_at = expires_at + interval '1 s'", 'erased_at = NULL']) {
    await assert.rejects(administer(world.url, `UPDATE webhook_secret SET ${change}`), /signs no longer than was said/)
  }
})

test('[webhook-secrets.2] a rotation is told to the audit trail without the secret; an unknown or removed endpoint is 404', async (t) => {
  const { world, id } = await registered(t)
  const { secret } = await rotate(world, id)
  assert.deepEqual(await world.actionsOf(id), ['webhook.created', 'webhook.secret_rotated'])
  assert.ok(!(await columnsWith(world.url, secret.slice('whsec_'.length))).includes('audit.facts'))
  await world.handlers.deleteWebhook(ofEndpoint(id))
  for (const unknown of [id, '0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'webhook', '']) {
    await assert.rejects(rotate(world, unknown), { code: 'not_found' })
  }
})

test('[http.14] [webhook-secrets.2] a rotation that lapsed changes nothing', async (t) => {
  const { world, id, secret, next } = await registered(t)
  const live = lapsing()
  live.lapse()
  await assert.rejects(rotate(world, id, {}, live), { code: 'overloaded' })
  const received = await next()
  assert.equal(received.headers['webhook-signature'], signatureWith(secret, received))
})

test('[webhook-secrets.4] a process without the encryption key of a secret leaves its endpoint to another, and to it alone', async (t) => {
  const { world, receiver } = await registered(t)
  const ahead = await world.anotherProcess({
    encryptionKeys: { current: 'another encryption key', previous: ENCRYPTION_KEYS.current },
  })
  const made = await register(ahead, `${receiver.url}made`)
  await world.notify()
  await world.deliverDue()
  await world.deliverDue()
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/'],
  )
  await ahead.deliverDue()
  const received = receiver.received.at(-1) ?? assert.fail()
  assert.equal(received.path, '/made')
  assert.equal(received.headers['webhook-signature'], signatureWith(made.secret, received))
  assert.partialDeepStrictEqual(await world.deliveries(), [{ attempts: 1 }, { attempts: 1 }])
})

test('[webhook-secrets.1] [webhooks.20] a test event is signed with it too', async (t) => {
  const { world, receiver, id, secret } = await registered(t)
  await world.handlers.testWebhook(ofEndpoint(id))
  const received = receiver.received.at(-1) ?? assert.fail('nothing arrived')
  assert.equal(received.headers['webhook-signature'], signatureWith(secret, received))
})

test('[webhook-secrets.4] a secret that was changed where it is stored signs nothing, which is an error in the log', async (t) => {
  const { world, id, next } = await registered(t)
  const log = capturedLog()
  const other = await world.anotherProcess({ logger: log.logger })
  const changed = 'set_byte(secret, 30, get_byte(secret, 30) # 1)'
  await administer(world.url, `UPDATE webhook_secret SET secret = ${changed} WHERE endpoint_id = '${id}'`)
  const received = await next(other)
  assert.equal(received.headers['webhook-signature'], undefined)
  assert.ok(received.headers['digital-signature'])
  const line = log.lines.find(({ event }) => event === 'endpoint.secret_unreadable')
  assert.partialDeepStrictEqual(line, { level: 'error', webhookId: id })
})
