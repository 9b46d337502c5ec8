import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { faultsOf, hasBrowser, launchBrowser } from '../../../console/test/support/browser.ts'
import { createPageTokens } from '../../src/payment-page/routes.ts'
import { statement } from '../../src/platform/db/database.ts'
import { type World, world } from '../support/world.ts'

/** Payment pages in a real browser, in a private window of its own each. */

const skip = hasBrowser ? false : 'no browser is installed'

const PHONE = { viewport: { width: 320, height: 640 }, locale: 'pt-BR' } as const

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40" viewBox="0 0 120 40"><rect x="4" y="4" width="32" height="32" rx="8" fill="#0d5c56"/><text x="46" y="27" font-family="sans-serif" font-size="20" fill="#1b1d1b">Loja</text></svg>`

let browser: Browser

before(async () => {
  if (!skip) browser = await launchBrowser()
})

after(() => browser?.close())

/** Opens an address in a private window. `refused`: what the policy or the script complained about. */
async function open(url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ ...PHONE, ...options })
  const page = await context.newPage()
  const refused: string[] = []
  page.on('pageerror', (error) => refused.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) refused.push(message.text())
  })
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  await page.goto(url)
  return { page, context, refused, requested }
}

const installation = statement<[], { id: string }>('test.installation', 'SELECT id FROM installation')

/** The pages of every state by their names. */
async function pagesOf(pix: World): Promise<Readonly<Record<string, string>>> {
  const charge = (more = {}) => pix.charge('1234.50', { description: 'Pedido 1001: camiseta azul, tamanho M', ...more })
  const [waiting, paid, expired, cancelled, overpaid] = [
    await charge(),
    await charge(),
    await charge({ expirationTime: 60 }),
    await charge(),
    await charge(),
  ]
  await pix.bankAction(`charges/${paid.id}/pay`)
  await pix.call('POST', `/api/pix/cash-in/${cancelled.id}/cancel`)
  await pix.bankAction(`charges/${overpaid.id}/pay`, { valueCents: 500 })
  await pix.becomes(paid.id, 'PAID')
  await pix.becomes(overpaid.id, 'RECONCILIATION_REQUIRED')
  const returned = await charge({ externalId: 'returned' })
  await pix.bankAction(`charges/${returned.id}/pay`)
  await pix.becomes(returned.id, 'PAID')
  await pix.refundIn(returned.id, 1234.5)
  await pix.until(`/api/pix/cash-in/${returned.id}`, ({ refundedCents }) => refundedCents === 123450)
  await pix.behave({ cashIn: 'reject' })
  const transaction = { value: 1, externalId: 'refused' }
  const { body: refused } = await pix.call('POST', '/api/pix/cash-in', { transaction })
  await pix.behave({ cashIn: 'timeout' })
  const preparing = await charge({ externalId: 'preparing' })
  pix.clock.advance(61_000)
  const tokens = createPageTokens((await pix.database.rows(installation, []))[0]?.id ?? '')
  return {
    waiting: waiting.paymentUrl,
    paid: paid.paymentUrl,
    expired: expired.paymentUrl,
    cancelled: cancelled.paymentUrl,
    in_review: overpaid.paymentUrl,
    returned: returned.paymentUrl,
    closed: `${pix.url}/pay/${tokens.of(refused.existing.id)}`,
    preparing: preparing.paymentUrl,
    unknown: `${pix.url}/pay/AAAAAAAAAAAAAAAAAAAAAA`,
  }
}

test('[payment-page.9] every state is accessible in both themes, at 320 px, at 1280 px and with a long name', {
  skip,
}, async (t) => {
  const pix = await world(
    t,
    { PIXGATE_MERCHANT_NAME: 'Supermercadounidosdobrasi', PIXGATE_PAYMENT_PAGE_COLOR: '#ffd400' },
    { isStepped: true },
  )
  for (const [name, url] of Object.entries(await pagesOf(pix))) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [320, 1280]) {
        const { page, context, refused } = await open(url, { colorScheme, viewport: { width, height: 800 } })
        assert.deepEqual([name, ...refused, ...(await faultsOf(page, 'best-practice'))], [name])
        await context.close()
      }
    }
  }
})

test('[payment-page.9] one tap copies the code, and the page shows the payment by itself', { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-logo-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const logo = join(directory, 'logo.svg')
  writeFileSync(logo, LOGO)
  const pix = await world(t, { PIXGATE_PAYMENT_PAGE_LOGO: logo })
  const charge = await pix.charge('10.00', { expirationTime: 3_600 })
  const { page, context, refused, requested } = await open(charge.paymentUrl, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  assert.equal(await page.evaluate<number>('document.querySelector("header img").naturalWidth'), 120)
  await page.getByRole('button').click()
  await page.getByText('Código copiado').waitFor()
  assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), charge.pixCode)
  await page.getByText(/Expira em 59:\d\d/).waitFor()
  const seen = page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
  await pix.call('POST', `/sandbox/cash-in/${charge.id}/pay`)
  await seen
  assert.deepEqual(refused, [])
  assert.deepEqual(
    requested.filter((url) => !url.startsWith(pix.url)),
    [],
  )
  assert.deepEqual(await context.cookies(), [])
  await context.close()
})

test('[payment-page.9] where the clipboard is refused the code is selected and copied', { skip }, async (t) => {
  const pix = await world(t)
  const { page, context } = await open((await pix.charge('10.00')).paymentUrl)
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
  await page.getByRole('button').click()
  await page.getByText(/^Código (copiado|selecionado)/).waitFor()
  await context.close()
})

test('[payment-page.9] without script the code is there to be selected, and the page loads itself anew', {
  skip,
}, async (t) => {
  const pix = await world(t)
  const charge = await pix.charge('10.00')
  const { page, context } = await open(charge.paymentUrl, { javaScriptEnabled: false })
  await page.getByText(charge.pixCode).waitFor()
  assert.equal(await page.getByRole('button').isVisible(), false)
  await page.locator('main noscript p').waitFor()
  await pix.call('POST', `/sandbox/cash-in/${charge.id}/pay`)
  await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor()
  await context.close()
})
