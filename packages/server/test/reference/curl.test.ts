import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { curlOf } from '../../src/platform/http/openapi.ts'
import { KEYS_KNOWN_AFTER_MS } from '../../src/webhooks/breaker.ts'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

type OperationId = keyof typeof endpoints

/** Runs what the reference shows, in a shell that has the variables of its first lines. */
interface Shell {
  readonly variables: Record<string, string>
  /** Runs the command of an operation and returns the body; fails unless the answer is the one without an error. */
  /** @param version of a case, in place of the example's: nobody can know it before */
  run(id: OperationId, version?: string): Promise<Answer['body']>
  readonly used: Set<OperationId>
}

async function shell(t: TestContext, { url }: World): Promise<Shell> {
  const home = await mkdtemp(join(tmpdir(), 'pixgate-curl-'))
  t.after(() => rm(home, { recursive: true }))
  await writeFile(join(home, '.curlrc'), 'write-out = "\\n%{http_code}"')
  const variables: Record<string, string> = { PIXGATE_URL: url, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN }
  const used = new Set<OperationId>()
  const run = async (id: OperationId, version?: string) => {
    used.add(id)
    const endpoint: Endpoint = endpoints[id]
    const env = { ...process.env, ...variables, CURL_HOME: home }
    const shown = curlOf(endpoint) ?? ''
    const command = version === undefined ? shown : shown.replace(/"version":"\d+"/, `"version":"${version}"`)
    const { stdout } = await promisify(execFile)('sh', ['-euc', command], { env, cwd: home })
    const [, body = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? []
    assert.equal(status, Object.keys(endpoint.responses)[0], `${id}: ${stdout}`)
    return body.startsWith('{') || body.startsWith('[') ? JSON.parse(body) : body
  }
  return { variables, run, used }
}

async function prepare({ run, variables }: Shell): Promise<void> {
  const { apiKey } = await run('generateApiKey')
  variables.PIXGATE_API_KEY = apiKey
  await run('createWebhook')
  const { data: receivers } = await run('listWebhooks')
  variables.WEBHOOK_ID = receivers.at(-1).webhook_id
  for (const id of [
    'getWebhook',
    'testWebhook',
    'recoverWebhook',
    'sendMissedToWebhook',
    'pauseWebhook',
    'resumeWebhook',
    'rotateWebhookSecret',
    'deleteWebhook',
  ] as const)
    await run(id)
  for (const id of [
    'getPublicKey',
    'listPublicKeys',
    'getJwks',
    'getHealth',
    'getReadiness',
    'getMetrics',
    'getBankBehavior',
    'getBankBook',
  ] as const) {
    await run(id)
  }
}

async function moneyIn({ run, variables }: Shell, pix: World): Promise<void> {
  variables.CASH_IN_ID = (await pix.charge('10.00', { externalId: 'to-cancel' })).id
  await run('getCashInQrCode')
  await run('cancelCashIn')
  const { id, paymentUrl } = await run('createCashIn')
  variables.CASH_IN_ID = id
  variables.PAYMENT_PAGE_ID = paymentUrl.split('/').at(-1)
  await run('getPaymentPage')
  await run('getPaymentState')
  await run('payCashIn')
  await pix.becomes(String(variables.CASH_IN_ID), 'PAID')
  for (const id of [
    'getCashIn',
    'getCashInReceipt',
    'listCashIns',
    'listIncomingTransactions',
    'listIncomingTransactionsShort',
  ] as const) {
    await run(id)
  }
  const delivered = ({ state }: Answer['body']) => state === 'DELIVERED'
  await pix.until('/webhook-delivery', ({ data }) => data.some(delivered))
  variables.WEBHOOK_DELIVERY_ID = (await run('listWebhookDeliveries')).data.find(delivered).id
  await run('getWebhookDelivery')
  await run('resendWebhookDelivery')
  await run('getBalance')
  const { data: entries } = await run('listLedgerEntries')
  variables.LEDGER_ENTRY_ID = entries[0].id
  await run('getLedgerEntry')
  await run('listEvents')
  variables.REFUND_IN_ID = (await run('createRefundIn')).id
  await run('getRefundIn')
  await pix.until(`/api/pix/refund/${variables.REFUND_IN_ID}`, ({ status }) => status === 'CONFIRMED')
  await run('getRefundInReceipt')
  await run('listRefundIns')
  await run('returnCashIn')
}

async function moneyOut({ run, variables }: Shell, pix: World): Promise<void> {
  variables.CASH_OUT_ID = (await run('createCashOut')).id
  await pix.until(`/api/pix/cash-out/${variables.CASH_OUT_ID}`, ({ status }) => status === 'CONFIRMED')
  await run('getCashOut')
  await run('getCashOutReceipt')
  await run('listCashOuts')
  await run('reverseCashOut')
  await run('createCashOutFromQrCode')
}

/** What the simulated bank settles only when it is told to. */
async function settledByHand({ run, variables }: Shell, pix: World): Promise<void> {
  const atTheBank = (path: string) => pix.until(path, ({ transactionId }) => transactionId !== null)
  await pix.behave({ cashOut: 'manual', refundIn: 'manual' })
  const { id: paid } = await pix.paid('10.00')
  for (const id of ['confirmCashOut', 'failCashOut'] as const) {
    variables.CASH_OUT_ID = (await pix.cashOut({ value: 1 })).id
    await atTheBank(`/api/pix/cash-out/${variables.CASH_OUT_ID}`)
    await run(id)
  }
  for (const id of ['confirmRefundIn', 'failRefundIn'] as const) {
    variables.REFUND_IN_ID = (await pix.refundIn(paid, 1)).id
    await atTheBank(`/api/pix/refund/${variables.REFUND_IN_ID}`)
    await run(id)
  }
  variables.CASH_IN_ID = (await pix.charge('10.00', { externalId: 'to-fail' })).id
  await run('failCashIn')
  await run('changeBankBehavior')
}

/** What the operator does; the key goes last. */
async function operator(sh: Shell, pix: World): Promise<void> {
  const { run, variables } = sh
  await run('createAdjustment')
  await approver(sh, pix)
  const { data: keys } = await run('listSigningKeys')
  variables.SIGNING_KEY_ID = (await run('createSigningKey')).id
  pix.clock.advance(KEYS_KNOWN_AFTER_MS)
  await run('promoteSigningKey')
  variables.SIGNING_KEY_ID = keys[0].id
  pix.clock.advance(KEYS_KNOWN_AFTER_MS)
  await run('retireSigningKey')
  await run('createOperatorWebhook')
  await run('getCashOutSwitch')
  await run('setCashOutSwitch')
  await run('listApprovals')
  await cases(sh, pix)
  variables.OPERATOR_ID = (await run('createOperator')).id
  await run('listOperators')
  await run('deactivateOperator')
  variables.API_KEY_ID = (await run('listApiKeys')).data[0].id
  await run('deactivateApiKey')
  await run('deactivateAllApiKeys')
}

async function closes({ run, variables }: Shell): Promise<void> {
  variables.CLOSE_ID = (await run('closeToday')).id
  for (const id of ['listCloses', 'getClose', 'exportCloseCsv', 'exportCloseOfx', 'exportStatement'] as const) {
    await run(id)
  }
}

/** What is decided about cases: at once, or by two people from an amount on. */
async function cases({ run, variables }: Shell, pix: World): Promise<void> {
  const openCase = async (reais: number) => {
    const { id } = await pix.charge(String(reais), { externalId: `overpaid-${reais}` })
    await pix.bankAction(`charges/${id}/pay`, { valueCents: reais * 100 + 50_00 })
    for (;;) {
      const { data } = await run('listCases')
      const found = data.find(({ operation }: { operation: { id: string } | null }) => operation?.id === id)
      if (found) return found.id
    }
  }
  // What the example accepts.
  variables.CASE_ID = await openCase(100)
  await run('decideCase', (await run('getCase')).version)
  await run('noteCase')
  variables.CASE_ID = await openCase(PROPOSED_REAIS)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const path = `/operator/cases/${variables.CASE_ID}`
  const propose = async () => {
    const { version } = (await pix.call('GET', path, undefined, ana)).body
    const body = { decision: 'accept', amountCents: PROPOSED_REAIS * 100, reason: 'the tests', version }
    variables.PROPOSAL_ID = (await pix.call('POST', `${path}/decisions`, body, ana)).body.proposalId
  }
  await propose()
  variables.PIXGATE_ADMIN_TOKEN = await makeOperator(pix, 'approver', 'Bia')
  await run('decideCaseProposal')
  variables.PIXGATE_ADMIN_TOKEN = ADMIN_TOKEN
}

async function approver({ run, variables }: Shell, pix: World): Promise<void> {
  const { id } = await pix.cashOut({ value: WAITING_REAIS, externalId: 'waits' })
  variables.CASH_OUT_ID = id
  variables.PIXGATE_ADMIN_TOKEN = await makeOperator(pix, 'approver')
  await run('decideApproval')
  variables.PIXGATE_ADMIN_TOKEN = ADMIN_TOKEN
}

const WAITING_REAIS = 90

const PROPOSED_REAIS = 600

test('[reference.5] every command that the reference shows works at the sandbox as it stands there', async (t) => {
  const pix = await world(t, {
    PIXGATE_APPROVAL_FROM_CENTS: String(WAITING_REAIS * 100),
    PIXGATE_DESK_APPROVAL_FROM_CENTS: String(PROPOSED_REAIS * 100),
  })
  const sh = await shell(t, pix)
  await prepare(sh)
  await moneyIn(sh, pix)
  await moneyOut(sh, pix)
  await settledByHand(sh, pix)
  await closes(sh)
  await operator(sh, pix)
  // The console's own tests call its endpoints.
  const shown = Object.values<Endpoint>(endpoints).filter(
    (endpoint) => curlOf(endpoint) !== undefined && endpoint.tag !== 'Console',
  )
  assert.deepEqual(
    shown.map(({ id }) => id).filter((id) => !sh.used.has(id as OperationId)),
    [],
    'these were not tried',
  )
})

test('[reference.5] what the bank calls has no command: nobody else can sign', () => {
  assert.equal(curlOf(endpoints.receiveCashInEvent), undefined)
})

test('[reference.5] a quote in an example stays one in the shell', () => {
  const endpoint: Endpoint = { ...endpoints.createCashOut, example: { name: "Joana d'Arc" } }
  assert.ok(curlOf(endpoint)?.endsWith(`-d '{"name":"Joana d'\\''Arc"}'`))
})
