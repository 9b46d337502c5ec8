import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { assertBooks } from '../support/books.ts'
import { ADMIN_TOKEN, PARTNER_SECRET, world } from '../support/world.ts'
import { runCampaign } from './campaign.ts'
import { readDocument } from './document.ts'

const CASES = 1_500

test('[http.2] [http.5] [http.7] whatever is sent gets an answer of the OpenAPI document, and what is wrong is refused', async (t) => {
  const pix = await world(t, { PIXGATE_TRUST_PROXY: '127.0.0.1' })
  const document = new URL('../../../../docs/generated/openapi.json', import.meta.url)
  const operations = readDocument(await readFile(document, 'utf8'))
  const { findings } = await runCampaign({
    target: {
      port: Number(new URL(pix.url).port),
      adminToken: ADMIN_TOKEN,
      partnerSecret: PARTNER_SECRET,
      receiverUrl: pix.receiver.url.slice(0, -1),
      secrets: [ADMIN_TOKEN, PARTNER_SECRET, pix.apiKey],
    },
    operations,
    seed: 20_261_121,
    from: 0,
    cases: CASES,
    until: Number.POSITIVE_INFINITY,
  })
  assert.deepEqual(
    [...findings.values()].map(({ text }) => text),
    [],
  )
  await assertBooks(pix.database)
})
