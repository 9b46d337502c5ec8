import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import { LOOKED_AT_MAX } from '../../../src/webhooks/replays/missed/jobs.ts'
import { administer } from '../../support/database.ts'
import { lapsing } from '../../support/live-request.ts'
import { openHolder } from '../../support/waiting-backends.ts'
import { type Answering, answering, startReceiver } from '../../support/webhook-receiver.ts'
import { requestContext, type WebhookProcess, type WebhookWorld, webhookWorld } from '../../support/webhook-world.ts'

const bare = { params: undefined, query: undefined, body: undefined, context: { ...requestContext, headers: {} } }

async function cancel({ handlers }: WebhookProcess, id: string, live = requestContext.live) {
  const context = { ...bare.context, live }
  return (await handlers.cancelWebhookReplay({ ...bare, context, params: { id } })).body
}

async function order({ handlers }: WebhookProcess, webhookId: string, kind: 'failed' | 'missed', dryRun = false) {
  const body = { kind, since: '2026-11-21T13:00:00Z', dryRun } as const
  const { body: ordered } = await handlers.replayWebhook({ ...bare, params: { webhook_id: webhookId }, body })
  return { ...ordered, id: ordered.replayId ?? '' }
}

/** What has become of what was ordered, and of the deliveries. */
async function states({ database }: WebhookWorld): Promise<string[]> {
  const text = `SELECT r.state || ' ' || d.state AS state FROM replay_delivery r JOIN delivery d ON d.id = r.delivery_id
                 ORDER BY r.due_at, state`
  return (await database.rows<[], { state: string }>({ name: 'test.states', text }, [])).map(({ state }) => state)
}

async function failedWorld(t: TestContext, count: number, answer: Answering) {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answer)
  const webhookId = await world.subscribe(receiver.url)
  for (let made = 0; made < count; made += 1) await world.notify()
  await world.fanOut.processNext()
  await administer(world.url, `UPDATE delivery SET state = 'FAILED', next_attempt_at = NULL, finished_at = created_at`)
  const ordered = await order(world, webhookId, 'failed')
  world.clock.advance(1_000)
  return { world, receiver, webhookId, ordered }
}

test('[webhooks.26] what was not begun of a replay is not sent; it is told to the audit trail, and again changes nothing', async (t) => {
  const { world, receiver, webhookId, ordered } = await failedWorld(t, 3, answering(200))
  const { id, kind } = ordered
  const live = lapsing()
  live.lapse()
  await assert.rejects(cancel(world, id, live), (error) => error instanceof Refusal && error.code === 'overloaded')
  assert.deepEqual(await cancel(world, id), { replayId: id, webhookId, kind, cancelled: 3 })
  assert.deepEqual(await cancel(world, id), { replayId: id, webhookId, kind, cancelled: 0 })
  await world.replays.processNext()
  await world.replays.settled()
  assert.equal(receiver.received.length, 0)
  assert.deepEqual(await states(world), Array(3).fill('CANCELLED FAILED'))
  const actions = ['webhook.created', 'webhook.replayed', 'webhook.replay_cancelled']
  assert.deepEqual(await world.actionsOf(webhookId), actions)
  assert.equal((await order(world, webhookId, 'failed', true)).deliveries, 3, 'they can be ordered again')
  for (const unknown of ['0198c0de-5b00-7000-8000-0a1b2c3d4e5f', 'replay']) {
    await assert.rejects(cancel(world, unknown), (error) => error instanceof Refusal && error.code === 'not_found')
  }
})

for (const [status, state] of [
  [200, 'DELIVERED DELIVERED'],
  [500, 'CANCELLED FAILED'],
] as const) {
  test(`[webhooks.26] an attempt that is under way ends (${status}), and is not repeated`, async (t) => {
    const answers: (() => void)[] = []
    const { world, receiver, ordered } = await failedWorld(t, 1, (response) =>
      answers.push(() => response.writeHead(status).end()),
    )
    await world.replays.processNext()
    await receiver.arrived(1)
    assert.equal((await cancel(world, ordered.id)).cancelled, 1)
    for (const answer of answers) answer()
    await world.replays.settled()
    assert.deepEqual(await states(world), [state])
    world.clock.advance(3_600_000)
    await world.replays.processNext()
    await world.replays.settled()
    assert.equal(receiver.received.length, 1)
  })
}

test('[webhooks.26] [webhooks.24] of an order of what was missed nothing more is looked for; another goes on from there', async (t) => {
  const world = await webhookWorld(t)
  const count = LOOKED_AT_MAX + 10
  await world.notifyMany(count)
  while (await world.fanOut.processNext());
  world.clock.advance(1_000)
  const webhookId = await world.subscribe('http://127.0.0.1:9/')
  const { id } = await order(world, webhookId, 'missed')
  while (await world.missed.processNext());
  assert.equal((await cancel(world, id)).cancelled, LOOKED_AT_MAX)
  world.clock.advance(1_000)
  assert.equal(await world.missed.processNext(), false)
  assert.equal((await order(world, webhookId, 'missed')).deliveries, 10)
  while (await world.missed.processNext());
  assert.equal((await order(world, webhookId, 'failed', true)).deliveries, LOOKED_AT_MAX)
  assert.equal((await states(world)).filter((state) => state === 'WAITING PENDING').length, 10)
})

test('[webhooks.26] what a step finds that is under way while its order is called off is called off, too', async (t) => {
  const world = await webhookWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  world.clock.advance(1_000)
  const webhookId = await world.subscribe('http://127.0.0.1:9/')
  const { id } = await order(world, webhookId, 'missed')
  const holder = await openHolder(world.url)
  // The step has its order, and waits for the receiver.
  await holder.hold('SELECT FROM subscription FOR UPDATE')
  const looking = world.missed.processNext()
  await holder.waiting(1)
  const cancelling = cancel(world, id)
  await holder.waiting(2)
  await holder.release()
  await looking
  assert.equal((await cancelling).cancelled, 1)
  assert.deepEqual(await states(world), ['CANCELLED FAILED'])
})
