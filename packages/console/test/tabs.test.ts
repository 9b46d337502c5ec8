import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../server/test/support/world.ts'
import { browser, skip } from './support/pages.ts'

test('[console.4] the tabs of a browser show who is logged in, and nothing once nobody is', { skip }, async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const [ana, bruno] = await pix.service.sandboxOperators()
  const context = await browser.newContext({ locale: 'pt-BR' })
  t.after(() => context.close())
  const [first, second] = [await context.newPage(), await context.newPage()]
  await first.goto(`${pix.operatorUrl}/console/#link=${ana?.link}`)
  await first.getByText('Ana Souza').first().waitFor()
  await second.goto(`${pix.operatorUrl}/console/#link=${bruno?.link}`)
  await second.getByText('Bruno Lima').first().waitFor()
  await first.getByText('Bruno Lima').first().waitFor()
  assert.equal(await first.getByText('Ana Souza').count(), 0)
  for (const page of [first, second]) {
    const kept = await page.evaluate<string>(
      'location.href + JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }])',
    )
    assert.doesNotMatch(kept, new RegExp(`${ana?.link}|${bruno?.link}`))
  }
})
