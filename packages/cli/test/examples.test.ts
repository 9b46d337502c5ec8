import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { cents, Pixgate } from '../../sdk/src/index.ts'
import { PixgateOperator } from '../../sdk/src/operator.ts'
import { exampleEvent, signTestWebhook } from '../../sdk/src/testing.ts'
import { makeOperator } from '../../server/test/support/operators.ts'
import { ADMIN_TOKEN, type World, world } from '../../server/test/support/world.ts'
import { commands } from '../src/index.ts'
import { assertKeptInProfile } from './support/canaries.ts'
import { folderOf, json, shell } from './support/running.ts'

const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'

/** Values of the words of examples that begin with a dollar. */
async function storyOf(pix: World, folder: string): Promise<Readonly<Record<string, string>>> {
  const pixgate = new Pixgate({ url: pix.url, apiKey: pix.apiKey, maxRetries: 0 })
  const operator = new PixgateOperator({ url: pix.operatorUrl, token: ADMIN_TOKEN, maxRetries: 0 })
  const webhook = await pixgate.webhooks.create({ url: `${pix.receiver.url}pix`, events: ['pix_cash_in'] })
  const charge = await pix.paid('500')
  const recipient = { pixKey: 'ana@example.com', pixKeyType: 'email' }
  const payout = await pixgate.cashOuts.create({ externalId: 'payout-1', value: cents(10_00), recipient })
  const refund = await pixgate.refunds.create(charge.id, { externalId: 'refund-1', refundValue: cents(1_00) })
  await pixgate.cashIns.create({ externalId: 'order-1001', value: cents(150_00) })
  const twice = await pix.paid('10')
  await pix.bankAction(`charges/${twice.id}/pay`)
  const { id: caseId } = await firstItem(() => operator.cases.list({ operation_id: twice.id }))
  const delivery = await firstItem(() => pixgate.deliveries.list())
  const key = await firstItem(() => operator.apiKeys.list())
  await operator.apiKeys.create({ name: 'leaked' })
  const leaked = await firstItem(() => operator.apiKeys.list())
  const person = await operator.operators.create({ name: 'Bia', role: 'viewer' })
  const close = await pixgate.sandbox.closeToday()
  const { data } = await pixgate.events.list({ limit: 1 }).page()
  return {
    CHARGE: charge.id,
    PAYOUT: payout.id,
    REFUND: refund.id,
    CODE: STATIC_CODE,
    DAY: close.id,
    CASE: caseId,
    ENDPOINT: webhook.webhook_id,
    DELIVERY: delivery.id,
    KEY: leaked.id === key.id ? assert.fail('the newest key comes first') : leaked.id,
    OPERATOR: person.id,
    RECEIVER: `${pix.receiver.url}local`,
    CURSOR: data[0]?.cursor ?? assert.fail('the feed has an event'),
    URL: pix.url,
    ...(await filesOf(pix, folder)),
  }
}

/** A decision that another person proposed. */
async function proposed(pix: World, token: string): Promise<Readonly<Record<string, string>>> {
  const { cases } = new PixgateOperator({ url: pix.operatorUrl, token, maxRetries: 0 })
  const charge = await pix.paid('2000')
  await pix.bankAction(`charges/${charge.id}/pay`)
  const { id } = await firstItem(() => cases.list({ operation_id: charge.id }))
  const { version } = await cases.get(id)
  const { proposalId } = await cases.decide(id, { decision: 'write_off', reason: 'Nobody claims it', version })
  return { CASE: id, PROPOSAL: proposalId ?? assert.fail('a second person decides') }
}

async function filesOf(pix: World, folder: string): Promise<Readonly<Record<string, string>>> {
  const secret = 'whsec_AAECAwQFBgcICQoLDA0ODw=='
  const { headers, body } = await signTestWebhook(exampleEvent('pix_cash_in'), { secret })
  const files = {
    SECRET: secret,
    HEADERS: Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(''),
    BODY: body,
    KEYFILE: `${pix.apiKey}\n`,
  }
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => {
      writeFileSync(join(folder, name), text)
      return [name, join(folder, name)]
    }),
  )
}

async function firstItem<Item>(list: () => AsyncIterable<Item>): Promise<Item> {
  for (;;) for await (const item of list()) return item
}

/** `$CHARGE` as in a shell. */
function filled(example: string, story: Readonly<Record<string, string>>): string {
  return example.replaceAll(/\$([A-Z]+)/g, (_, name) => {
    const value = story[name] ?? assert.fail(`${name} is no part of the story`)
    return value.includes(' ') ? `"${value}"` : value
  })
}

/** Programs that other packages bring: installed.deep.ts. */
const ELSEWHERE = ['server', 'dev']

test('[cli.1] [cli.4] [cli.5] the examples of every command run at a sandbox: exit code 0, text for people, JSON for programs', async (t: TestContext) => {
  const pix = await world(t)
  const folder = folderOf(t)
  const shellOf = (token: string) =>
    shell(folder, {
      PIXGATE_URL: pix.url,
      PIXGATE_API_KEY: pix.apiKey,
      PIXGATE_OPERATOR_URL: pix.operatorUrl,
      PIXGATE_ADMIN_TOKEN: token,
    })
  const [approver, proposer] = [await makeOperator(pix, 'approver'), await makeOperator(pix, 'operator')]
  const story = await storyOf(pix, folder)
  const canaries = [pix.apiKey, ADMIN_TOKEN, approver, readFileSync(story.SECRET ?? '', 'utf8')]
  for (const { name, examples } of commands.filter(({ name }) => !ELSEWHERE.includes(name))) {
    assert.ok(examples.length > 0, `${name} has an example`)
    const isOfTwo = ['cases approve', 'cases reject'].includes(name)
    const pixgate = shellOf(isOfTwo ? approver : ADMIN_TOKEN)
    for (const example of examples) {
      const { code, stdout, stderr } = await pixgate(
        filled(example, { ...story, ...(isOfTwo && (await proposed(pix, proposer))) }),
      )
      assert.equal(code, 0, `${example}\n${stderr}`)
      assert.notEqual(stdout, '', example)
      if (example.includes('--json')) json(stdout)
      for (const secret of canaries) assert.ok(!`${stdout}${stderr}`.includes(secret), example)
    }
  }
  assertKeptInProfile(folder, canaries, [story.SECRET ?? '', story.KEYFILE ?? ''])
})
