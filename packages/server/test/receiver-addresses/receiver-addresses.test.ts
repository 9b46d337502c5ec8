import assert from 'node:assert/strict'
import test from 'node:test'
import { eventTypes, Refusal } from '@pixgate/spec'
import { privateNetworkGate } from '../../src/platform/http-client/agent.ts'
import { chanceOf } from '../fuzz/chance.ts'
import { requestContext, webhookWorld } from '../support/webhook-world.ts'
import { runCampaign } from './campaign.ts'
import { makeAddress } from './made-addresses.ts'

test('[webhooks.1] of a thousand made-up addresses none leads inside, at its registration or at its delivery', async () => {
  const { findings, connections, registered, deliveries } = await runCampaign({ seed: 20_261_122, cases: 1_000 })
  assert.deepEqual([findings, connections], [[], 0])
  assert.ok(registered > 50, `${registered} were registered, as their names led to public addresses then`)
  assert.deepEqual([...deliveries.keys()], ['address_not_allowed'])
})

test('[webhooks.26] with networks allowed, an admin and a delivery still reach nothing else inside', async () => {
  const allowed = [
    { network: '10.20.0.0/16', port: 8_443 },
    { network: '127.0.0.1', port: 2 },
  ]
  const { findings, connections, registered, deliveries } = await runCampaign({
    seed: 20_261_130,
    cases: 1_000,
    gateOf: (resolve) => privateNetworkGate(allowed, resolve),
    urls: 'inside',
  })
  assert.deepEqual([findings, connections], [[], 0])
  assert.ok(registered > 50, `${registered} were registered, as their names led to public addresses then`)
  assert.deepEqual([...deliveries.keys()], ['address_not_allowed'])
})

test('a gate that lets this machine’s own addresses through is found by its canaries, and told with what finds it again', async () => {
  const { findings, connections } = await runCampaign({
    seed: 1,
    cases: 1_000,
    gateOf: () => ({
      allows: (address) => /^127\.|^::1$/.test(address),
      addressesOf: async () => ['127.0.0.1'],
    }),
  })
  assert.ok(connections > 0)
  assert.match(findings.join('\n'), /a canary was reached: seed 1, case \d+, \{"text":/)
})

test('[webhooks.1] the endpoint registers none of the made-up addresses whose names lead inside', async (t) => {
  const { productionHandlers, handlers } = await webhookWorld(t)
  const bare = { params: undefined, query: undefined, context: requestContext }
  for (let index = 0; index < 500; index += 1) {
    const { text, atDelivery } = makeAddress(chanceOf(3, index), [8_443])
    const { createWebhook } = productionHandlers(async () => atDelivery)
    const body = { url: text, events: [...eventTypes] }
    await assert.rejects(createWebhook({ ...bare, body }), Refusal, text)
  }
  const { body } = await handlers.listWebhooks()
  assert.deepEqual(body.data, [])
})
