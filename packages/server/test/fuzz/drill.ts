import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBooks } from '../support/books.ts'
import { ADMIN_TOKEN, PARTNER_SECRET, world } from '../support/world.ts'
import { runCampaign } from './campaign.ts'
import { documentedOperations } from './documented-operations.ts'
import { APPROVED_REAIS } from './prepare.ts'

/** Declares a campaign of so many requests. */
export function fuzzes(seed: number, cases: number): void {
  test('[http.2] [http.5] [http.7] whatever is sent is answered as the document says, and what is wrong is refused', async (t) => {
    // Every request comes from an address of its own: wrong administrative tokens are counted by address.
    const pix = await world(t, {
      PIXGATE_TRUST_PROXY: '127.0.0.1',
      PIXGATE_APPROVAL_FROM_CENTS: String(APPROVED_REAIS * 100),
    })
    const { findings } = await runCampaign({
      target: {
        port: Number(new URL(pix.url).port),
        adminToken: ADMIN_TOKEN,
        partnerSecret: PARTNER_SECRET,
        receiverUrl: new URL(pix.receiver.url).origin,
        secrets: [ADMIN_TOKEN, PARTNER_SECRET, pix.apiKey],
      },
      operations: documentedOperations,
      seed,
      from: 0,
      cases,
      until: Number.POSITIVE_INFINITY,
    })
    assert.deepEqual(
      [...findings.values()].map(({ text }) => text),
      [],
    )
    assert.equal('polluted' in {}, false)
    await assertBooks(pix.database)
  })
}
