import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { makeOperator } from '../../server/test/support/operators.ts'
import { type World, world } from '../../server/test/support/world.ts'
import { ptBR } from '../src/words/pt-BR.ts'
import { eventually, type Keyboard, keyboardOf } from './support/keyboard.ts'
import { ADMINISTRATION, browser, DIALOGS, PAGES, server, skip } from './support/pages.ts'

/** Everything by keyboard alone: Tab, Enter, arrows, shortcuts and what is typed. */

type Step = (keys: Keyboard, pix: World) => Promise<unknown>

const { nav, payment, payments, approvals, cases, deliveries, webhooks, keys, people, closing, overview } = ptBR
const { work, behavior } = ptBR.sandbox

const press =
  (...names: string[]): Step =>
  (keys) =>
    keys.press(...names)

/** Comes to a button or link and uses it. */
const on =
  (name: string, tag?: string): Step =>
  async (keys) => {
    await keys.to(name, tag)
    await keys.press('Enter')
  }

const shows =
  (text: string | RegExp): Step =>
  ({ page }) =>
    page.getByText(text, { exact: true }).locator('visible=true').first().waitFor()

const isInPage: Step = ({ page }) => page.locator('main:focus, main :focus').waitFor()

const writes =
  (label: string, text: string): Step =>
  async (keys) => {
    await keys.to(label)
    await keys.press('Control+A')
    await keys.type(text)
  }

const chooses =
  (label: string, option: string): Step =>
  async (keys) => {
    await keys.to(label, 'select')
    await keys.press('Home')
    const chosen = async () => (await keys.focus())?.chosen
    for (let now = await chosen(); now !== option; now = await chosen()) {
      await keys.press('ArrowDown')
      await eventually(async () => (await chosen()) !== now, `${label}: nothing comes after ${now}`)
    }
  }

/** One of several radio buttons, of which Tab comes to one. */
const picks =
  (name: string): Step =>
  async (keys) => {
    await keys.to('', 'radio')
    while (!(await keys.focus())?.name.startsWith(name)) await keys.press('ArrowDown')
    if (!(await keys.focus())?.isChecked) await keys.press('Space')
  }

/** A pile of messages would cover the page. */
const showsOneMessage: Step = async ({ page }) =>
  assert.equal(await page.locator('[role=status]:popover-open p').count(), 1)

/** The focus is where it was before the dialog. */
const isBackAt =
  (name: string): Step =>
  async (keys) => {
    await keys.page.locator('dialog').waitFor({ state: 'detached' })
    assert.ok((await keys.focus())?.name.startsWith(name), `${(await keys.focus())?.name} has the focus, not ${name}`)
  }

const isAt =
  (part: string): Step =>
  ({ page }) =>
    page.waitForURL((url) => url.href.includes(part))

/** A file in which the paid charge has the id that the bank gave it. */
const saves =
  (name: string): Step =>
  async (keys, pix) => {
    const download = keys.page.waitForEvent('download')
    await on(name)(keys, pix)
    const text = await readFile(await (await download).path(), 'utf8')
    const { data } = await pix.get('/api/pix/cash-in?status=PAID')
    assert.ok(text.includes(data[0].providerTransactionId))
  }

const opens =
  (name: string): Step =>
  async (keys, pix) => {
    await on(name, 'a')(keys, pix)
    await keys.page.locator('h1', { hasText: name }).waitFor()
    assert.equal(await keys.page.title(), `${name} · Pixgate`)
  }

const REASON = 'Combinado por telefone'
const withReason: readonly Step[] = [writes(ptBR.reason, REASON), press('Enter')]
const approves: readonly Step[] = [
  opens(nav.approvals),
  shows(REASON),
  on(approvals.approve),
  ...withReason,
  shows(approvals.approved),
]

const ENDPOINT = 'http://127.0.0.1:9999/segundo'

/** Stories of Carla, an admin, and Bruno, an approver. */
const STORIES: readonly (readonly [story: string, who: 'carla' | 'bruno', ...steps: Step[]])[] = [
  ['skips the navigation', 'carla', press('Tab'), on(ptBR.skip), press('Tab'), isInPage],
  ['creates a charge', 'carla', opens(nav.sandbox), on(work.newCharge), writes(ptBR.amount, '150,00'), press('Enter')],
  [
    'pays it',
    'carla',
    shows(payment.pay),
    on(payment.pay),
    shows(ptBR.states.cash_in.PAID),
    shows(payment.actions.refund),
  ],
  ['looks at a refund', 'carla', on(payment.actions.refund), press('Escape'), isBackAt(payment.actions.refund)],
  [
    'finds it',
    'carla',
    opens(nav.overview),
    press('/'),
    ({ type }) => type('150,00'),
    press('Enter'),
    shows(payment.actions.refund),
  ],
  ['refunds it', 'carla', on(payment.actions.refund), ...withReason, shows(payment.refund.proposed)],
  ['approves the refund', 'bruno', ...approves],
  [
    'decides a case',
    'carla',
    opens(nav.cases),
    shows(ptBR.caseKinds.payment_in_suspense),
    press('j', 'Enter'),
    shows(cases.decide),
    picks(ptBR.decisions.return_to_payer),
    writes(ptBR.reason, REASON),
    shows(cases.preview.ordersRefund),
    on(cases.propose),
    shows(cases.proposed),
  ],
  ['approves the decision', 'bruno', ...approves],
  [
    'resends a delivery',
    'carla',
    opens(nav.webhooks),
    shows(webhooks.deliveries),
    on(webhooks.events.pix_cash_in, 'button'),
    shows(deliveries.resend),
    on(deliveries.resend),
    shows(deliveries.resent),
    press('Escape'),
    isBackAt(webhooks.events.pix_cash_in),
  ],
  [
    'adds an endpoint',
    'carla',
    on(webhooks.add),
    writes(webhooks.url, ENDPOINT),
    press('Enter'),
    shows(ptBR.secrets.stored),
    on(ptBR.secrets.stored),
    isBackAt(webhooks.add),
  ],
  [
    'pauses it',
    'carla',
    shows(ENDPOINT),
    on(ENDPOINT),
    shows(webhooks.pause),
    on(webhooks.pause),
    shows(webhooks.resume),
    isBackAt(webhooks.resume),
  ],
  [
    'makes a key',
    'carla',
    opens(nav.keys),
    on(keys.make),
    writes(keys.name, 'Loja'),
    press('Enter'),
    shows(ptBR.secrets.stored),
    on(ptBR.secrets.stored),
    isBackAt(keys.make),
    on(keys.deactivateTitle('Loja')),
    shows(keys.deactivateHint),
    on(keys.deactivate),
    shows(keys.deactivated),
    isInPage,
  ],
  [
    'makes a person',
    'carla',
    opens(nav.people),
    on(people.make),
    writes(people.name, 'Dora Dias'),
    picks(ptBR.roles.approver),
    on(people.create),
    shows(ptBR.secrets.stored),
    on(ptBR.secrets.stored),
    isBackAt(people.make),
  ],
  [
    'changes the bank',
    'carla',
    opens(nav.sandbox),
    chooses(behavior.cashOut, behavior.answers.reject),
    shows(behavior.changed),
    showsOneMessage,
  ],
  ['makes it good again', 'carla', on(behavior.good), shows(new RegExp(behavior.isGood)), isBackAt(behavior.good)],
  [
    'switches payouts off',
    'carla',
    opens(nav.limits),
    on(overview.switch.suspend),
    ...withReason,
    shows(overview.switch.resume),
    isBackAt(overview.switch.resume),
  ],
  [
    'switches them on',
    'carla',
    on(overview.switch.resume),
    ...withReason,
    shows(overview.switch.suspend),
    isBackAt(overview.switch.suspend),
  ],
  [
    'keeps a view',
    'carla',
    opens(nav.payments),
    chooses(payments.period, payments.week),
    on(payments.views.save),
    writes(payments.views.name, 'A semana'),
    press('Enter'),
    isBackAt(payments.views.delete),
  ],
  ['chooses another', 'carla', chooses(payments.views.label, payments.views.ready.paidToday), isAt('paid_from=')],
  ['closes the day', 'carla', opens(nav.closes), on(closing.closeToday), shows(closing.csv), saves(closing.csv)],
  ['logs out', 'carla', on('C Carla', 'summary'), on(ptBR.logOut), shows(ptBR.login.hint)],
]

async function logIn(page: Keyboard['page'], pix: World, token: string): Promise<Keyboard> {
  await page.goto(`${pix.operatorUrl}/console`)
  await page.locator('input[type=password]').waitFor()
  const keys = keyboardOf(page)
  await keys.type(token)
  await keys.press('Enter')
  await page.locator('h1', { hasText: nav.overview }).waitFor()
  return keys
}

test('every story is walked by keyboard alone', { skip }, async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const [, bruno] = await pix.service.sandboxOperators()
  const page = async () => {
    const context = await browser.newContext({ locale: 'pt-BR', viewport: { width: 1280, height: 800 } })
    t.after(() => context.close())
    return context.newPage()
  }
  const carla = await logIn(await page(), pix, await makeOperator(pix, 'admin', 'Carla'))
  const second = keyboardOf(await page())
  await second.page.goto(`${pix.operatorUrl}/console/#link=${bruno?.link}`)
  await second.page.locator('h1').waitFor()
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  for (const [story, who, ...steps] of STORIES) {
    const keys = who === 'carla' ? carla : second
    for (const step of steps) {
      await step(keys, pix).catch((cause: Error) => {
        throw new Error(`${story}: ${cause.message}`, { cause })
      })
    }
    assert.notEqual(await keys.focus(), null, `${story}: nothing has the focus`)
  }
  await pix.assertBooksAgree()
})

for (const width of [1280, 320]) {
  test(`Tab goes through each page in the order of the screen, ${width} px`, { skip }, async () => {
    server.answer('examples')
    const page = await browser.newPage({ locale: 'pt-BR', viewport: { width, height: 800 } })
    const keys = keyboardOf(page)
    const faults: string[] = []
    for (const path of [...PAGES, ...ADMINISTRATION]) {
      await page.goto(`${server.address}/console${path}`)
      await page.locator('h1, [role=alert], main h2').first().waitFor()
      faults.push(...(await keys.faultsOfRound()).map((fault) => `${path}: ${fault}`))
      const opener = page.locator(DIALOGS[path] ?? 'button[data-row]').first()
      if (!(await opener.isVisible())) continue
      await opener.focus()
      await keys.press('Enter')
      await page.locator('dialog[open]').waitFor()
      await page.locator('dialog').getByText(ptBR.loading).waitFor({ state: 'detached' })
      faults.push(...(await keys.faultsOfRound()).map((fault) => `${path}, dialog: ${fault}`))
      await keys.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      const isBack = await opener.evaluate((element) => element === element.ownerDocument.activeElement)
      if (!isBack) faults.push(`${path}: the focus is not back`)
    }
    assert.deepEqual(faults, [])
    await page.close()
  })
}
