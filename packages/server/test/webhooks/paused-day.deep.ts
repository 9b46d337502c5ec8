import assert from 'node:assert/strict'
import test from 'node:test'
import { eventsIn } from '../support/feed.ts'
import { answering, startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'

const MINUTE = 60_000
const MINUTES_OF_A_DAY = 1_440

test('[webhooks.14] [feed.1] [events.4] a receiver that was paused for a day gets all of it, oldest first and ever faster, and the feed has the same', async (t) => {
  const world = await webhookWorld(t)
  const receiver = await startReceiver(t, answering(200))
  const id = await world.subscribe(receiver.url)
  const of = { params: { webhook_id: id }, query: undefined, body: undefined, context: requestContext }
  await world.handlers.pauseWebhook(of)
  const made: string[] = []
  for (let minute = 0; minute < MINUTES_OF_A_DAY; minute += 1) {
    made.push(await world.notify('pix_cash_in', `{"event_type":"pix_cash_in","event":{"minute":${minute}}}`))
    await world.fanOut.processNext()
    world.clock.advance(MINUTE)
  }
  await world.deliverDue()
  assert.equal(receiver.received.length, 0, 'nothing is sent meanwhile')

  await world.handlers.resumeWebhook(of)
  const perSecond: number[] = []
  while (receiver.received.length < made.length && perSecond.length < 60) {
    const before = receiver.received.length
    for (let sent = -1; sent !== receiver.received.length; ) {
      sent = receiver.received.length
      await world.deliverDue()
    }
    perSecond.push(receiver.received.length - before)
    const soFar = receiver.received.map(({ headers }) => String(headers['webhook-id']))
    assert.deepEqual(new Set(soFar), new Set(made.slice(0, soFar.length)), 'nothing younger before what is older')
    world.clock.advance(1_000)
  }
  const tens = [0, 10, 20].map((from) => perSecond.slice(from, from + 10).reduce((sum, count) => sum + count, 0))
  assert.ok(
    tens[0] && tens[1] && tens[2] && tens[0] < 160 && tens[1] > 1.8 * tens[0] && tens[2] > 1.8 * tens[1],
    `${tens}`,
  )

  const received = new Map(receiver.received.map(({ headers, body }) => [headers['webhook-id'], body.toString()]))
  assert.equal(receiver.received.length, made.length, 'each once')
  const feed = await eventsIn(world.database)
  assert.deepEqual(
    feed.map((event) => event.id),
    made,
  )
  for (const event of feed) assert.equal(received.get(event.id), event.body.toString())
  assert.deepEqual(
    feed.map(({ position }) => Number(position)),
    made.map((_, index) => index + 1),
  )
})
