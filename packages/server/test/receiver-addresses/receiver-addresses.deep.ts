import assert from 'node:assert/strict'
import test from 'node:test'
import { SEED } from '../support/seed.ts'
import { runCampaign } from './campaign.ts'

test('[webhooks.1] of thousands of made-up addresses none leads inside, at its registration or at its delivery', async () => {
  const { findings, connections, registered, deliveries } = await runCampaign({ seed: SEED, cases: 20_000 })
  assert.deepEqual([findings, connections], [[], 0])
  assert.ok(registered > 1_000, `${registered} were registered, as their names led to public addresses then`)
  assert.deepEqual([...deliveries.keys()], ['address_not_allowed'])
  assert.ok((deliveries.get('address_not_allowed') ?? 0) > 10_000)
})
