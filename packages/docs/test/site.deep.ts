import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { faultsOf, hasBrowser, launchBrowser } from '../../console/test/support/browser.ts'
import { world } from '../../server/test/support/world.ts'

/** The documents in a real browser, at the whole service. */

const skip = hasBrowser ? false : 'no browser is installed'

/** Questions of a developer, and the address that answers each. */
const QUESTIONS = [
  ['en', 'how do I verify a signature in Go', '/docs/guides/webhook-receiver#go'],
  ['en', 'what does 422 limit_exceeded mean', '/docs/errors#limit_exceeded'],
  ['en', 'create a charge', '/docs#createCashIn'],
  ['en', 'pix_cash_out_reversal', '/docs#pix_cash_out_reversal'],
  ['en', 'restore a backup', '/docs/guides/operator#backup-and-restore'],
  ['pt-BR', 'como verificar a assinatura em Go', '/docs/guides/webhook-receiver.pt-BR#go'],
  ['pt-BR', 'o que significa limit_exceeded', '/docs/erros#limit_exceeded'],
] as const

const STARTS = { en: '/docs', 'pt-BR': '/docs/guias' }

const LOOKS = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 360 },
] as const

async function opened(t: TestContext, variables = {}) {
  const pix = await world(t, variables)
  const browser = await launchBrowser()
  t.after(() => browser.close())
  return { pix, browser }
}

test('[reference.15] the search answers questions of developers with its first results, and asks no other address', {
  skip,
}, async (t) => {
  const { pix, browser } = await opened(t)
  const page = await browser.newPage()
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  for (const [language, question, answer] of QUESTIONS) {
    await page.goto(pix.url + STARTS[language])
    await page.keyboard.press('/')
    await page.locator('dialog input').fill(question)
    const results = page.locator('dialog li a')
    await results.first().waitFor()
    const found = await results.evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    assert.ok(found.slice(0, 3).includes(answer), `${question}: ${found.join(' ')}`)
  }
  await page.locator('dialog input').press('Enter')
  await page.waitForURL(/limit_exceeded$/)
  assert.deepEqual(
    requested.filter((url) => !url.startsWith(`${pix.url}/docs`) && !url.startsWith('data:')),
    [],
  )
})

test('[reference.14] the first page loads; its time is printed', { skip }, async (t) => {
  const { pix, browser } = await opened(t)
  await fetch(`${pix.url}/docs`)
  const page = await browser.newPage()
  await page.goto(`${pix.url}/docs`, { waitUntil: 'load' })
  const loadedMs = await page.evaluate<number>('performance.getEntriesByType("navigation")[0].duration')
  assert.ok(loadedMs > 0)
  t.diagnostic(`the first page loads in ${Math.round(loadedMs)} ms`)
})

for (const { colorScheme, width } of LOOKS) {
  test(`[reference.16] every page is accessible and fits: ${colorScheme}, ${width} px`, { skip }, async (t) => {
    const { pix, browser } = await opened(t)
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
    const refused: string[] = []
    page.on('pageerror', (error) => refused.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') refused.push(message.text())
    })
    for (const path of [
      ...['/', '/docs', '/docs/guias', '/docs/errors', '/docs/erros', '/docs/rules', '/docs/generated/config'],
      ...['/docs/guides/webhook-receiver', '/docs/guides/operator.pt-BR'],
    ]) {
      await page.goto(pix.url + path)
      assert.deepEqual(refused, [], path)
      assert.deepEqual(await faultsOf(page), [], path)
      // axe styles the page as the policy forbids.
      refused.splice(0)
    }
    await page.keyboard.press('Control+k')
    await page.locator('dialog input').fill('refund')
    await page.locator('dialog li').first().waitFor()
    assert.deepEqual(await faultsOf(page), [])
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'A')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'hidden' })
  })
}

test('[reference.16] a block of code is copied whole, in a page without an origin too', { skip }, async (t) => {
  const { pix, browser } = await opened(t)
  const page = await browser.newPage()
  await page.goto(`${pix.url}/docs`)
  const block = page.locator('.block').first()
  await block.hover()
  await block.locator('button').click()
  await block.locator('button', { hasText: 'Copied' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('Control+v')
  assert.match(await page.locator('dialog input').inputValue(), /^PIXGATE_URL=.*csv/)
})

test('[reference.16] the language of the samples is chosen by keyboard, for all operations, and kept where a page may', {
  skip,
}, async (t) => {
  const { pix, browser } = await opened(t, { PIXGATE_OPERATOR_PORT: '0' })
  const page = await browser.newPage()
  await page.goto(`${pix.url}/docs`)
  const shown = (id: string) => page.locator(`#${id} [data-language]:visible`).getAttribute('data-language')
  assert.equal(await shown('createCashIn'), 'curl')
  await page.locator('#createCashOut .languages button', { hasText: 'TypeScript' }).focus()
  await page.keyboard.press('Enter')
  for (const id of ['createCashIn', 'createCashOut', 'getSystem']) assert.equal(await shown(id), 'TypeScript')
  assert.equal(await shown('startSession'), 'curl')
  await page.reload()
  assert.equal(await shown('createCashIn'), 'TypeScript')
})

test('[reference.2] a script in a page beside the console reads nothing with the operator’s cookie', {
  skip,
}, async (t) => {
  const { pix, browser } = await opened(t)
  const [ana] = await pix.service.sandboxOperators()
  const page = await browser.newPage()
  await page.goto(`${pix.operatorUrl}/console#link=${ana?.link}`)
  await page.locator('nav a').first().waitFor()
  assert.equal((await page.context().cookies()).length, 1)
  await page.goto(`${pix.url}/docs`)
  const read = (path: string) =>
    page.evaluate<string>(
      `fetch('${path}', { credentials: 'include', headers: { 'x-pixgate-console': '1' } }).then(String, () => 'refused')`,
    )
  assert.equal(await read('/console/session'), 'refused')
  assert.equal(await read('/operator/cases'), 'refused')
  assert.equal(await page.evaluate('origin'), 'null')
})
