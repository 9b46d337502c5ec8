import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { pino } from 'pino'
import type { Database } from '../../src/platform/db/database.ts'
import { startWorker } from '../../src/platform/jobs/worker.ts'
import { createWebhooksModule } from '../../src/webhooks/index.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const SILENT = pino({ level: 'silent' })

type Needs = Pick<WebhookWorld, 'database' | 'clock' | 'ids' | 'keyring' | 'sealer'>

function startModule(t: TestContext, { database, clock, ids, keyring, sealer }: Needs) {
  const module = createWebhooksModule({
    database,
    deliveryDatabase: database,
    apiDatabase: database,
    clock,
    ids,
    random: () => 0,
    logger: SILENT,
    keyring,
    sealer,
    allowPrivate: true,
    allowedNetworks: [],
  })
  t.after(() => module.stop())
  module.start((worker) => startWorker({ ...worker, logger: SILENT }))
  return module
}

test('[webhooks.10] [NO-10] an endpoint that hangs does not keep another waiting', async (t) => {
  const world = await webhookWorld(t)
  let [open, most] = [0, 0]
  const slow = await startReceiver(t, (response) => {
    open += 1
    most = Math.max(most, open)
    response.once('close', () => {
      open -= 1
    })
  })
  const healthy = await startReceiver(t)
  await world.register(slow.url)
  await world.register(healthy.url)
  for (let count = 0; count < 40; count++) await world.notify()
  const module = startModule(t, world)
  module.wake()
  await healthy.arrived(40)
  assert.ok(most <= limits.webhookInFlight, `${most} at once`)
  await slow.close()
})

test('[PL-2] stopping takes nothing new and waits for what is under way', async (t) => {
  const world = await webhookWorld(t)
  const answers: (() => void)[] = []
  const receiver = await startReceiver(t, (response) => answers.push(() => response.end()))
  await world.register(receiver.url)
  const module = startModule(t, world)
  await world.notify()
  module.wake()
  await receiver.arrived(1)
  const stopped = module.stop()
  module.wake()
  for (const answer of answers) answer()
  await stopped
  await world.notify()
  module.wake()
  await world.fanOut.processNext()
  assert.deepEqual((await world.deliveries()).map(({ state }) => state).sort(), ['DELIVERED', 'PENDING'])
  assert.equal(receiver.received.length, 1)
})

/** A database of which every statement outside a transaction, and every transaction, has a session of its own, as behind a pooler. */
function withoutSession(url: string, database: Database): Database {
  const once = async <Result>(work: (own: Database) => Promise<Result>): Promise<Result> => {
    const own = openTestDatabase(url, 1)
    try {
      return await work(own)
    } finally {
      await own.close()
    }
  }
  return {
    ...database,
    rows: (query, parameters) => once((own) => own.rows(query, parameters)),
    transaction: (work) => once((own) => own.transaction(work)),
  }
}

test('[database.14] deliveries need no session of the database: a failure, its retry and a resend work behind a pooler', async (t) => {
  const world = await webhookWorld(t)
  const statuses = [500, 200, 200]
  const receiver = await startReceiver(t, (response) => response.writeHead(statuses.shift() ?? 500).end())
  await world.register(receiver.url)
  const module = startModule(t, { ...world, database: withoutSession(world.url, world.database) })
  await world.notify()
  module.wake()
  await receiver.arrived(1)
  await until(async () => (await world.attempts()).length >= 1)
  world.clock.advance(6_000)
  await receiver.arrived(2)
  await until(async () => (await world.attempts()).length >= 2)
  const [{ id } = assert.fail()] = await world.deliveries()
  await module.handlers.resendWebhookDelivery({
    params: { id },
    query: undefined,
    body: undefined,
    context: requestContext,
  })
  await receiver.arrived(3)
})
