import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { faultsOf, hasBrowser, launchBrowser } from './browser.ts'
import { type Answers, startContractServer } from './contract-server.ts'

/** Pages in a real browser: violations of the policy, what is not accessible, what is lost on a narrow screen. */

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/index.html', import.meta.url)))
export const skip = hasBrowser ? (isBuilt ? false : 'the console is not built') : 'no browser is installed'

const ID = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
export const PAGES = [
  ...['/', '/payments', `/payments/${ID}`, '/cases', `/cases/${ID}`, '/approvals', '/unknown'],
  ...['/statement', '/ledger', '/closes', '/closes/2026-11-22', '/webhooks', `/webhooks/${ID}`],
]
export const ADMINISTRATION = ['/keys', '/people', '/limits', '/audit', '/system', '/sandbox']

/** The first button that opens a dialog of a page, by its place. */
export const DIALOGS: Readonly<Record<string, string>> = {
  '/keys': 'main header button',
  '/people': 'main header button',
  '/limits': 'main section button',
  '/sandbox': 'main header button',
}

export let server: Awaited<ReturnType<typeof startContractServer>>
export let browser: Browser

before(async () => {
  if (skip) return
  server = await startContractServer()
  browser = await launchBrowser()
})

after(async () => {
  await browser?.close()
  server?.stop()
})

export interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly locale: 'pt-BR' | 'en'
  readonly width: number
}

/** A test that opens each page with these answers of the service, and finds no fault. */
export function testPages(answers: Answers, { colorScheme, locale, width }: Look): void {
  test(`pages with ${answers}, ${colorScheme}, ${locale}, ${width} px`, { skip }, async () => {
    server.answer(answers)
    const context = await browser.newContext({ colorScheme, locale, viewport: { width, height: 800 } })
    for (const path of answers === 'logged-out' ? ['/'] : [...PAGES, ...ADMINISTRATION]) {
      const page = await context.newPage()
      const refused: string[] = []
      page.on('pageerror', (error) => refused.push(String(error)))
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/i.test(message.text())) refused.push(message.text())
      })
      await page.goto(`${server.address}/console${path}`)
      await page.locator('h1, [role=alert], main h2').first().waitFor()
      assert.deepEqual([path, ...refused, ...(await faultsOf(page))], [path])
      const opener = page.locator((answers === 'examples' && DIALOGS[path]) || 'button[data-row]').first()
      if (await opener.isVisible()) {
        await opener.click()
        await page.locator('dialog[open]').waitFor()
        assert.deepEqual([`${path}, dialog`, ...refused, ...(await faultsOf(page))], [`${path}, dialog`])
      }
      await page.close()
    }
    await context.close()
  })
}
