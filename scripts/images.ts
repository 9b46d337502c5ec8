import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createClient } from '../examples/demo/client.ts'
import { Started, startPixgate } from '../examples/demo/processes.ts'
import { publicKeys } from '../examples/demo/public-keys.ts'
import { startReceiver } from '../examples/demo/receiver.ts'
import { ptBR } from '../packages/console/src/words/pt-BR.ts'
import { launchBrowser } from '../packages/console/test/support/browser.ts'
import { ROOT } from './check/repository.ts'
import { recordDemo } from './images/recording.ts'

/**
 * `npm run images` writes `docs/images`: pictures of the web console, in which the stories of a new sandbox were told, and the
 * recording of `npm run demo`. `npm run images -- console` or `-- demo` writes one of them.
 */
const FOLDER = join(ROOT, 'docs/images')

/** Stories that need nobody else, in the order in which they are told. */
const STORIES = ['paid', 'med', 'payoutFails', 'lostAnswer', 'overpaid', 'paidTwice', 'refund'] as const

const PAGES = {
  overview: '',
  payment: '/payments',
  case: '/cases',
  approvals: '/approvals',
  sandbox: '/sandbox',
  webhooks: '/webhooks',
  ledger: '/ledger',
  closes: '/closes',
} as const

type PageName = keyof typeof PAGES

/** Twenty pictures. A page of one item is opened from the first of its list. */
const LOOKS: readonly { readonly look: string; readonly names: readonly PageName[]; readonly options: object }[] = [
  {
    look: 'light',
    names: ['overview', 'payment', 'case', 'approvals', 'sandbox', 'webhooks', 'ledger', 'closes'],
    options: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  },
  {
    look: 'dark',
    names: ['overview', 'payment', 'case', 'approvals', 'sandbox', 'ledger'],
    options: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  },
  {
    look: 'phone',
    names: ['overview', 'payment', 'case', 'approvals', 'sandbox', 'webhooks'],
    options: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  },
]

/** A PNG of this size has 100 kB, a WebP 30. The browser itself writes it. */
async function webpOf(page: Page, blank: Page): Promise<Buffer> {
  const png = (await page.screenshot()).toString('base64')
  const data = await blank.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.naturalWidth
    canvas.height = image.naturalHeight
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.86).split(',')[1]
  })()`)
  return Buffer.from(data, 'base64')
}

async function loggedIn(browser: Browser, url: string, token: string, options: object, locale = 'en'): Promise<Page> {
  const page = await browser.newPage({ ...options, locale })
  await page.goto(`${url}/console`)
  await page.locator('input[type=password]').fill(token)
  await page.locator('button[type=submit]').click()
  await page.locator('input[type=password]').waitFor({ state: 'detached' })
  return page
}

/** Its content is read and drawn; the console goes on asking for changes, so the network is never idle. */
async function settled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor()
  await page.waitForTimeout(2_000)
}

/** Tells the stories; the last one waits for another person's approval, which is then a picture. */
async function tellStories(page: Page, url: string): Promise<void> {
  for (const name of STORIES) {
    await page.goto(`${url}/console/sandbox`)
    await page.locator('button', { has: page.getByText(ptBR.sandbox.stories[name].title, { exact: true }) }).click()
    const told = page.locator('article', { has: page.getByRole('heading', { name: ptBR.sandbox.stories[name].title }) })
    await told
      .getByText(name === 'refund' ? ptBR.sandbox.tell.approval : ptBR.sandbox.tell.ended, { exact: true })
      .waitFor()
  }
}

async function photographConsole(): Promise<void> {
  const started = new Started()
  started.stopOnSignals()
  try {
    const { url, adminToken } = await startPixgate(started, { PIXGATE_SIMULATOR_PORT: '0' })
    const admin = createClient(url, adminToken)
    const { token } = await admin.post<{ token: string }>('/operator/operators', { name: 'Ana Lima', role: 'admin' })
    const { apiKey } = await admin.post<{ apiKey: string }>('/api-key/generate')
    const pix = createClient(url, apiKey)
    const receiver = await startReceiver(publicKeys(url))
    await pix.post('/webhook', { url: receiver.url, events: ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal'] })
    const browser = await launchBrowser()
    const teller = await loggedIn(browser, url, token, {}, 'pt-BR')
    await tellStories(teller, url)
    await pix.post('/sandbox/close')
    const blank = await browser.newPage()
    for (const { look, names, options } of LOOKS) {
      const page = await loggedIn(browser, url, token, options)
      for (const name of names) {
        await page.goto(url + join('/console', PAGES[name]))
        await settled(page)
        if (name === 'case' || name === 'payment') {
          await page.locator(`main a[href*="/console${PAGES[name]}/"]`).first().click()
          await page.waitForURL(new RegExp(`${PAGES[name]}/.`))
          await settled(page)
        }
        writeFileSync(join(FOLDER, `console-${name}-${look}.webp`), await webpOf(page, blank))
      }
    }
    await browser.close()
    await receiver.stop()
  } finally {
    await started.stop()
  }
}

const [wanted] = process.argv.slice(2)
mkdirSync(FOLDER, { recursive: true })
if (wanted !== 'demo') await photographConsole()
if (wanted !== 'console') writeFileSync(join(FOLDER, 'demo.svg'), await recordDemo())
