import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { claimDue } from '../../src/webhooks/deliver.ts'
import { backlogOf } from '../support/backlog.ts'
import { hanging, startReceiver } from '../support/webhook-receiver.ts'
import { requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const MINUTES = 60_000

/** Deliveries of the endpoint that is well, in one claim. */
const FRESH = 8

/** @returns the milliseconds of the fastest of several claims, each of which has the fresh deliveries of the endpoint that is well */
async function claimMs(world: WebhookWorld, wellId: string): Promise<number> {
  const { database, clock, keyring, sealer } = world
  const times: number[] = []
  for (let round = 0; round < 15; round++) {
    for (let count = 0; count < FRESH; count++) await world.notify('pix_cash_out')
    while (await world.fanOut.processNext());
    const now = clock.now()
    const bounds = {
      signer: keyring.signer(),
      openablePrefixes: sealer.headers,
      freeSlots: [],
      now,
      leasedUntil: now + 60 * MINUTES,
    }
    const before = performance.now()
    const { claims } = await claimDue(database, bounds)
    times.push(performance.now() - before)
    assert.equal(claims.filter(({ endpointId }) => endpointId === wellId).length, FRESH)
  }
  return Math.min(...times)
}

test('[webhooks.10] [NO-10] a million due deliveries of a broken endpoint slow no other, nor does its removal', {
  timeout: 10 * MINUTES,
}, async (t) => {
  const world = await webhookWorld(t)
  const [broken, well] = [await startReceiver(t, hanging), await startReceiver(t)]
  const [brokenId, wellId] = [await world.register(broken.url), await world.register(well.url, ['pix_cash_out'])]
  await backlogOf(world.url, brokenId, 1_000)
  const withFew = await claimMs(world, wellId)
  await backlogOf(world.url, brokenId, 1_000_000)
  const withMillion = await claimMs(world, wellId)
  t.diagnostic(
    `a claim takes ${withFew.toFixed(1)} ms beside 1,000 due deliveries, ${withMillion.toFixed(1)} beside a million`,
  )
  // Reading the backlog takes hundreds of times as long.
  assert.ok(withMillion < 4 * withFew + 5, `${withMillion} ms beside a million, ${withFew} ms beside a thousand`)

  const before = well.received.length
  for (let count = 0; count < 40; count++) await world.notify('pix_cash_out')
  while (await world.fanOut.processNext());
  while (well.received.length < before + 40) await world.delivery.processNext()
  assert.ok(broken.received.length <= limits.webhookInFlight)
  await broken.close()
  await world.delivery.settled()

  await world.handlers.deleteWebhook({
    params: { webhook_id: brokenId },
    query: undefined,
    body: undefined,
    context: requestContext,
  })
  await world.housekeeping.processNext()
  const removed = await claimMs(world, wellId)
  t.diagnostic(`a claim takes ${removed.toFixed(1)} ms while the deliveries of the removed endpoint are cancelled`)
  assert.ok(removed < 4 * withFew + 5, `${removed} ms beside a removed backlog, ${withFew} ms beside a thousand`)
})
