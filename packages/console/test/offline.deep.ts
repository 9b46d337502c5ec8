import { test } from 'node:test'
import { world } from '../../server/test/support/world.ts'
import { ptBR } from '../src/words/pt-BR.ts'
import { browser, skip } from './support/pages.ts'

const OFFLINE_MS = 10 * 60_000

test('[console.10] after ten minutes offline an open payment is right again', {
  skip,
}, async (t) => {
  const pix = await world(t)
  const { id } = await pix.charge('10')
  const [ana] = await pix.service.sandboxOperators()
  const context = await browser.newContext({ locale: 'pt-BR' })
  t.after(() => context.close())
  const page = await context.newPage()
  await page.clock.install()
  await page.goto(`${pix.operatorUrl}/console/payments/${id}#link=${ana?.link}`)
  const state = (status: 'PENDING' | 'PAID') =>
    page.locator('main header').getByText(ptBR.states.cash_in[status], { exact: true })
  await state('PENDING').waitFor()
  await context.setOffline(true)
  await pix.bankAction(`charges/${id}/pay`)
  await pix.becomes(id, 'PAID')
  pix.clock.advance(OFFLINE_MS)
  await page.clock.fastForward(OFFLINE_MS)
  await page.getByText(ptBR.connectionLost).waitFor()
  await state('PENDING').waitFor()
  await context.setOffline(false)
  await state('PAID').waitFor()
  await page.getByText(ptBR.connectionLost).waitFor({ state: 'detached' })
})
