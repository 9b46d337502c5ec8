import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import test, { type TestContext } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { statement } from '../../src/platform/db/database.ts'
import { privateNetworkGate, publicAddressGate, type Resolve } from '../../src/platform/http-client/agent.ts'
import type { WebhookHandlers } from '../../src/webhooks/index.ts'
import { certificateOf } from '../support/certificates.ts'
import { ofEndpoint, requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const NAME = 'erp.example'

/** A private address of this machine if it has one; the gate takes any network that it is given. */
const HERE =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ address }) => /^(10|192\.168)\./.test(address))?.address ?? '127.0.0.1'

interface Inside {
  readonly world: WebhookWorld
  readonly url: string
  readonly handlers: WebhookHandlers
  /** Addresses that the name has; the test changes them. */
  readonly dns: { addresses: readonly string[] }
  readonly requests: () => number
  deliverDue(): Promise<void>
}

/** A receiver with TLS in a private network, which the configuration allows. */
async function insideWorld(t: TestContext): Promise<Inside> {
  const world = await webhookWorld(t)
  const certificate = certificateOf(t, NAME)
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, certificate.cert])
  t.after(() => setDefaultCACertificates(trusted))
  let requests = 0
  const server = createServer(certificate, (request, response) => {
    requests += 1
    request.resume().on('end', () => response.writeHead(500).end('canary: what the ERP answers'))
  })
  const port = await listening(t, server)
  const dns = { addresses: [HERE] as readonly string[] }
  const resolve: Resolve = async () => dns.addresses
  const allowed = [{ network: HERE, port }]
  const process = await world.anotherProcess({
    gate: publicAddressGate(resolve),
    insideGate: privateNetworkGate(allowed, resolve),
  })
  return {
    world,
    url: `https://${NAME}:${port}/pix`,
    handlers: world.productionHandlers(resolve, allowed),
    dns,
    requests: () => requests,
    deliverDue: process.deliverDue,
  }
}

async function listening(t: TestContext, server: Server): Promise<number> {
  t.after(() => server.close().closeAllConnections())
  await new Promise<void>((resolve) => server.listen(0, HERE, resolve))
  return (server.address() as AddressInfo).port
}

const orderOf = (url: string) => ({
  params: undefined,
  query: undefined,
  body: { url, events: ['pix_cash_in' as const] },
  context: requestContext,
})

const REFUSED = (code: string) => (error: unknown) => {
  const { code: of, fields } = error as { code: string; fields: readonly { code: string }[] }
  return of === 'webhook_url_not_allowed' && fields[0]?.code === code
}

const selectAttempts = statement<[], { outcome: string; excerpt: string | null }>(
  'test.attempts_of_inside',
  'SELECT outcome, excerpt FROM delivery_attempt ORDER BY ended_at',
)

const selectAudit = statement<[string], { facts: unknown }>(
  'test.facts_of_inside',
  'SELECT facts FROM audit WHERE subject = $1',
)

test('[webhooks.26] an admin registers an endpoint inside, an API key does not; it is delivered over TLS, and its answer is not kept', async (t) => {
  const { world, url, handlers, requests, deliverDue } = await insideWorld(t)
  await assert.rejects(handlers.createWebhook(orderOf(url)), REFUSED('private_address'))
  const { status, body } = await handlers.createOperatorWebhook(orderOf(url))
  assert.deepEqual([status, body.url, body.secret.slice(0, 6)], [201, url, 'whsec_'])
  const facts = { host: new URL(url).host, events: ['pix_cash_in'], reach: 'inside' }
  assert.deepEqual(await world.database.rows(selectAudit, [body.webhook_id]), [{ facts }])

  await world.notify('pix_cash_in')
  await deliverDue()
  assert.deepEqual(await world.database.rows(selectAttempts, []), [{ outcome: 'refused', excerpt: null }])
  const tested = await handlers.testWebhook(ofEndpoint(body.webhook_id))
  assert.partialDeepStrictEqual(tested.body, { outcome: 'refused', statusCode: 500, answer: null })
  assert.equal(requests(), 2)
})

test('[webhooks.26] an admin registers no other address, port or network', async (t) => {
  const { url, handlers, dns } = await insideWorld(t)
  const other = Number(new URL(url).port) === 8_443 ? 8_444 : 8_443
  await assert.rejects(
    handlers.createOperatorWebhook(orderOf(`https://${NAME}:${other}/`)),
    REFUSED('network_not_allowed'),
  )
  for (const addresses of [
    ['127.0.0.9'],
    ['169.254.169.254'],
    [HERE, '127.0.0.9'],
    ['8.8.8.8', '::1'],
    ['::ffff:10.0.0.1'],
  ]) {
    dns.addresses = addresses
    await assert.rejects(handlers.createOperatorWebhook(orderOf(url)), REFUSED('network_not_allowed'), addresses.join())
  }
  await assert.rejects(handlers.createOperatorWebhook(orderOf(url.replace('https', 'http'))), REFUSED('not_https'))
  await assert.rejects(
    handlers.createOperatorWebhook(orderOf(`https://${HERE}:${new URL(url).port}/`)),
    REFUSED('network_not_allowed'),
  )
})

test('[webhooks.26] a name that an API key registered never leads inside, also with a connection open there and an endpoint of an admin beside it', async (t) => {
  const { world, url, handlers, dns, requests, deliverDue } = await insideWorld(t)
  dns.addresses = ['8.8.8.8']
  const rebinding = (await handlers.createWebhook(orderOf(`${url}/of-a-key`))).body.webhook_id
  dns.addresses = [HERE]
  const own = (await handlers.createOperatorWebhook(orderOf(url))).body.webhook_id
  await world.notify('pix_cash_in')
  await deliverDue()
  const outcomes = (await world.deliveries()).map(({ endpointId, lastOutcome }) => [endpointId, lastOutcome])
  assert.deepEqual(Object.fromEntries(outcomes), { [rebinding]: 'address_not_allowed', [own]: 'refused' })
  assert.equal(requests(), 1)
  // Its connection is kept by the agent that may go inside.
  for (const id of [own, rebinding, own, rebinding]) {
    const { body } = await handlers.testWebhook(ofEndpoint(id))
    assert.equal(body.outcome, id === own ? 'refused' : 'address_not_allowed')
  }
  assert.equal(requests(), 3)
})

test('[webhooks.26] the name of an endpoint inside is looked up again at every connection', async (t) => {
  const { world, url, handlers, dns, requests, deliverDue } = await insideWorld(t)
  const { webhook_id } = (await handlers.createOperatorWebhook(orderOf(url))).body
  for (const addresses of [['127.0.0.9'], [HERE, '169.254.169.254'], ['::1'], ['8.8.8.8', '127.0.0.9']]) {
    dns.addresses = addresses
    const { body } = await handlers.testWebhook(ofEndpoint(webhook_id))
    assert.equal(body.outcome, 'address_not_allowed', addresses.join())
  }
  await world.notify('pix_cash_in')
  await deliverDue()
  assert.partialDeepStrictEqual(await world.deliveries(), [{ lastOutcome: 'address_not_allowed' }])
  assert.equal(requests(), 0)
})

test('[webhooks.26] the server may not change where an endpoint may lead', async (t) => {
  const { world, url, handlers, dns } = await insideWorld(t)
  dns.addresses = ['8.8.8.8']
  await handlers.createWebhook(orderOf(url))
  const widen = statement<[], never>('test.widen', "UPDATE endpoint SET reach = 'inside'")
  await assert.rejects(world.database.rows(widen, []), { code: '42501' })
})
