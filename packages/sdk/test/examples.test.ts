import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { makeOperator } from '../../server/test/support/operators.ts'
import { type World, world } from '../../server/test/support/world.ts'
import { cents, Pixgate } from '../src/index.ts'
import { PixgateOperator } from '../src/operator.ts'
import { type MerchantStory, merchantExamples } from './merchant-examples.ts'
import { type OperatorStory, operatorExamples } from './operator-examples.ts'

/** Runs every example in its order. What they print is their own. */
async function runAll<Story>(
  t: TestContext,
  examples: Readonly<Record<string, (story: Story) => Promise<void>>>,
  story: Story,
) {
  t.mock.method(console, 'log', () => undefined)
  for (const [name, example] of Object.entries(examples)) {
    await example(story).catch((cause: unknown) => assert.fail(new Error(`${name}: ${cause}`, { cause })))
  }
}

function clientOf(pix: World): Pixgate {
  return new Pixgate({ url: pix.url, apiKey: pix.apiKey, maxRetries: 0 })
}

async function merchantStory(pix: World): Promise<MerchantStory> {
  const pixgate = clientOf(pix)
  let made = 0
  const externalId = () => {
    made += 1
    return `story-${made}`
  }
  const unpaid = async () => {
    const { id } = await pixgate.cashIns.create({ externalId: externalId(), value: cents(10_00) })
    return pixgate.cashIns.get(id)
  }
  const pay = async () => {
    const recipient = { pixKey: 'ana@example.com', pixKeyType: 'email' }
    const { id } = await pixgate.cashOuts.create({ externalId: externalId(), value: cents(10_00), recipient })
    return id
  }
  const giveBack = async () => {
    const order = { externalId: externalId(), refundValue: cents(1_00) }
    return (await pixgate.refunds.create(charge.id, order)).id
  }
  /** At the bank it has the bank's id. */
  const payoutAtBank = async () => pix.until(`/api/pix/cash-out/${await pay()}`, ({ transactionId }) => transactionId)
  const refundAtBank = async () =>
    pix.until(`/api/pix/refund/${await giveBack()}`, ({ transactionId }) => transactionId)

  const webhook = await pixgate.webhooks.create({ url: `${pix.receiver.url}pix`, events: ['pix_cash_out'] })
  const charge = await pix.paid('500')
  const { operation: payout } = await pixgate.cashOuts.waitForEnd(await pay())
  const { operation: refund } = await pixgate.refunds.waitForEnd(await giveBack())
  await pixgate.sandbox.changeBehavior({ cashOut: 'manual', refundIn: 'manual' })
  const waitingPayouts = [await payoutAtBank(), await payoutAtBank()] as const
  const waitingRefunds = [await refundAtBank(), await refundAtBank()] as const
  await pixgate.sandbox.changeBehavior({ cashOut: 'auto', refundIn: 'auto' })
  const charges = [await unpaid(), await unpaid(), await unpaid()] as const
  await pix.receiver.arrived(1)
  const receiverUrl = `${pix.receiver.url}another`
  return { pixgate, charge, unpaid: charges, payout, waitingPayouts, refund, waitingRefunds, webhook, receiverUrl }
}

test('[sdk.1] the example of every method of merchants runs at a sandbox', async (t) => {
  await runAll(t, merchantExamples, await merchantStory(await world(t)))
})

async function operatorStory(pix: World): Promise<OperatorStory> {
  const clientWith = (token: string) => new PixgateOperator({ url: pix.operatorUrl, token, maxRetries: 0 })
  const approver = clientWith(await makeOperator(pix, 'approver', 'Bia'))
  const token = await makeOperator(pix, 'admin', 'Ana')
  const operator = clientWith(token)
  const paidTwice = async (value: string): Promise<{ readonly id: string }> => {
    const { id } = await pix.paid(value)
    await pix.bankAction(`charges/${id}/pay`)
    for (;;) {
      for await (const found of operator.cases.list({ operation_id: id })) return found
    }
  }
  const cases = [await paidTwice('10'), await paidTwice('2000')] as const
  const charge = await pix.paid('100')
  const unpaid = await pix.charge('10')
  const payout = await pix.cashOut({ value: 500 })
  const paidOut = await pix.cashOut({ value: 1, externalId: 'paid-out' })
  const refund = await pix.refundIn(charge.id, 1)
  await pix.until(`/api/pix/cash-out/${paidOut.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.until(`/api/pix/refund/${refund.id}`, ({ status }) => status === 'CONFIRMED')
  const close = await clientOf(pix).sandbox.closeToday()
  const receiverUrl = `${pix.receiver.url}operator`
  return {
    operator,
    approver,
    charge,
    unpaid,
    payout,
    paidOut,
    refund,
    cases,
    close,
    session: await logIn(operator, pix, token),
    receiverUrl,
  }
}

/** Logs in to the console as the operator. */
async function logIn(operator: PixgateOperator, pix: World, token: string): Promise<{ readonly id: string }> {
  const response = await fetch(`${pix.operatorUrl}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-pixgate-console': '1', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token }),
  })
  assert.equal(response.status, 201, await response.text())
  const { data } = await operator.sessions.list()
  return data[0] ?? assert.fail('there is a session')
}

test('[sdk.1] the example of every method of operators runs at a sandbox', async (t) => {
  await runAll(t, operatorExamples, await operatorStory(await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '50000' })))
})
