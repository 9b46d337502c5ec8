import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { pino } from 'pino'
import { startWorker } from '../../src/platform/jobs/worker.ts'
import { createWebhooksModule } from '../../src/webhooks/index.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const SILENT = pino({ level: 'silent' })

function startModule(t: TestContext, { database, clock, ids, keyring, sealer }: WebhookWorld) {
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
  })
  t.after(() => module.stop())
  module.start((worker) => startWorker({ ...worker, logger: SILENT }))
  return module
}

test('[webhooks.10] [NO-10] a receiver that hangs does not keep another waiting', async (t) => {
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
