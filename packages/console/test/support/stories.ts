import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../server/test/support/world.ts'
import { ptBR } from '../../src/words/pt-BR.ts'
import { browser, skip } from './pages.ts'

const { tell, stories } = ptBR.sandbox

/** A test that tells a story of the sandbox with one click, at the whole service, and sees its end. */
export function testStory(name: keyof typeof stories, { opensCase = false } = {}): void {
  test(`the story «${name}» is told to its end`, { skip }, async (t) => {
    const pix = await world(t)
    const [ana] = await pix.service.sandboxOperators()
    const page = await browser.newPage({ locale: 'pt-BR' })
    const refused: string[] = []
    page.on('pageerror', (error) => refused.push(String(error)))
    await page.goto(`${pix.operatorUrl}/console/sandbox#link=${ana?.link}`)
    await page.locator('button', { has: page.getByText(stories[name].title, { exact: true }) }).click()
    const told = page.locator('article', { has: page.getByRole('heading', { name: stories[name].title }) })
    await told.getByText(tell.ended, { exact: true }).waitFor()
    await told.getByText(stories[name].end).waitFor()
    const links = await told.locator('aside a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    assert.ok(links.some((href) => href.startsWith('/console/payments/')))
    assert.equal(
      links.some((href) => href.startsWith('/console/cases/')),
      opensCase,
    )
    assert.deepEqual(refused, [])
    await pix.assertBooksAgree()
    await page.close()
  })
}
