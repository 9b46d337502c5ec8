import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { hasBrowser, launchBrowser } from '../../../console/test/support/browser.ts'
import { world } from '../support/world.ts'
import { guessTokens } from './guesses.ts'

const GUESSES = 100_000

test('[payment-page.6] 100,000 guesses find nothing, and few are looked up', async (t) => {
  const pix = await world(t)
  for (let charges = 0; charges < 50; charges++) await pix.charge('1.00')
  const startedAt = performance.now()
  const { found, unknown } = await guessTokens(pix, GUESSES)
  const minutes = (performance.now() - startedAt) / 60_000
  assert.equal(found, 0)
  assert.ok(unknown <= limits.paymentPageBurst + limits.paymentPagePerMinute * (minutes + 0.1), `${unknown} lookups`)
})

test('[payment-page.9] a page shows a payment within two seconds of its commit', { skip: !hasBrowser }, async (t) => {
  const pix = await world(t)
  const browser = await launchBrowser()
  t.after(() => browser.close())
  for (let payment = 0; payment < 10; payment++) {
    const charge = await pix.charge('1.00')
    const page = await browser.newPage()
    await page.goto(charge.paymentUrl)
    const seen = page.locator('body[data-state=paid]').waitFor()
    await pix.bankAction(`charges/${charge.id}/pay`)
    await pix.becomes(charge.id, 'PAID')
    const committedAt = performance.now()
    await seen
    const took = performance.now() - committedAt
    t.diagnostic(`${Math.round(took)} ms`)
    assert.ok(took < 2_000, `${took} ms`)
    await page.close()
  }
})
