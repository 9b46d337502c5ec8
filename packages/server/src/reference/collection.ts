import type { Credential, Endpoint, endpoints } from '@pixgate/spec'
import { isForOperators, resourceOfId } from '../platform/http/openapi.ts'
import { apiInfo } from './info.ts'

export interface Step {
  readonly id: keyof typeof endpoints
  /** Name of a repeated operation, instead of its summary. */
  readonly name?: string
  readonly body?: object
  /** Condition on the answer's JSON `body` before the next request. The simulated bank makes it true. */
  readonly until?: string
}

export interface Folder {
  readonly name: string
  readonly description: string
  /** Whether it needs the sandbox. */
  readonly isOfSandbox?: true
  readonly steps: readonly Step[]
}

const TOP_UP_CENTS = 50_000

/** Initial behaviour of the simulated bank. */
const GOOD_BANK = {
  ...{ cashIn: 'answer', cashOut: 'auto', refundIn: 'auto' },
  ...{ latencyMs: 0, eventDelayMs: 0, eventCopies: 1, eventsShuffled: false },
}

const AT_THE_BANK = 'body.transactionId !== null'

function payoutThatWaits(which: string): readonly Step[] {
  return [
    {
      id: 'createCashOut',
      name: `Send a payout that waits: ${which}`,
      body: {
        transaction: { value: 1, externalId: 'payout-waits' },
        recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
      },
    },
    { id: 'getCashOut', name: `Read the payout that waits: ${which}`, until: AT_THE_BANK },
  ]
}

function refundThatWaits(which: string): readonly Step[] {
  return [
    {
      id: 'createRefundIn',
      name: `Send a refund that waits: ${which}`,
      body: { refundValue: 1, externalId: 'refund-waits' },
    },
    { id: 'getRefundIn', name: `Read the refund that waits: ${which}`, until: AT_THE_BANK },
  ]
}

const SIMULATED_BANK: Folder = {
  name: 'At the simulated bank',
  description: 'Controls of the simulated bank; no real bank has them. The last one makes it answer normally again.',
  isOfSandbox: true,
  steps: [
    { id: 'getBankBehavior' },
    { id: 'getBankBook' },
    { id: 'reverseCashOut' },
    { id: 'returnCashIn' },
    {
      id: 'changeBankBehavior',
      name: 'Let payouts and refunds wait at the simulated bank',
      body: { cashOut: 'manual', refundIn: 'manual' },
    },
    ...payoutThatWaits('it will arrive'),
    { id: 'confirmCashOut' },
    ...payoutThatWaits('it will fail'),
    { id: 'failCashOut' },
    ...refundThatWaits('it will arrive'),
    { id: 'confirmRefundIn' },
    ...refundThatWaits('it will fail'),
    { id: 'failRefundIn' },
    { id: 'createCashIn', name: 'Create a charge that will fail' },
    { id: 'failCashIn' },
    { id: 'changeBankBehavior', name: 'Make the simulated bank a good bank again', body: GOOD_BANK },
  ],
}

const SIGNING_KEY: Folder = {
  name: 'Another signing key',
  description: 'Notifications are signed with another key at once, which is not tried where merchants receive them.',
  isOfSandbox: true,
  steps: [
    { id: 'createSigningKey', name: 'Make the signing key that follows' },
    { id: 'promoteSigningKey', body: { reason: 'A rotation by way of trial', force: true } },
  ],
}

/**
 * The requests of the collection, in an order in which each finds its prerequisites. Run as a whole they all succeed
 * and leave the service unchanged except for the payments.
 * @source rules#reference.11
 */
const collectionPlan: readonly Folder[] = [
  {
    name: 'Key and webhook endpoint',
    description: 'The first requests of every client.',
    steps: [
      { id: 'generateApiKey' },
      { id: 'listApiKeys' },
      { id: 'createWebhook' },
      { id: 'listWebhooks' },
      { id: 'getWebhook' },
      { id: 'testWebhook' },
      { id: 'getPublicKey' },
      { id: 'listPublicKeys' },
      { id: 'getJwks' },
    ],
  },
  {
    name: 'Money in',
    description: 'A charge, and who pays it.',
    steps: [
      { id: 'createCashIn', name: 'Create a charge to be cancelled' },
      { id: 'cancelCashIn' },
      { id: 'createCashIn' },
      { id: 'getCashInQrCode' },
      { id: 'payCashIn' },
      { id: 'getCashIn', until: "body.status === 'PAID'" },
      { id: 'getCashInReceipt' },
      { id: 'listCashIns' },
      { id: 'listIncomingTransactions' },
      { id: 'listIncomingTransactionsShort', name: 'List incoming transactions under their short path' },
      { id: 'listWebhookDeliveries', until: 'body.data.length > 0' },
      { id: 'getWebhookDelivery' },
      { id: 'resendWebhookDelivery' },
      { id: 'recoverWebhook' },
      { id: 'sendMissedToWebhook' },
    ],
  },
  {
    name: 'Payment page',
    description: 'The page that a payer’s browser opens. Off unless configured.',
    isOfSandbox: true,
    steps: [{ id: 'getPaymentPage' }, { id: 'getPaymentState' }],
  },
  {
    name: 'Money out',
    description: 'Payouts, to a key and to a code.',
    steps: [
      { id: 'createCashOut' },
      { id: 'getCashOut', until: "body.status === 'CONFIRMED'" },
      { id: 'getCashOutReceipt' },
      { id: 'listCashOuts' },
      { id: 'createCashOutFromQrCode' },
    ],
  },
  {
    name: 'Money back',
    description: 'A part of the payment goes back.',
    steps: [
      { id: 'createRefundIn' },
      { id: 'getRefundIn', until: "body.status === 'CONFIRMED'" },
      { id: 'getRefundInReceipt' },
      { id: 'listRefundIns' },
    ],
  },
  {
    name: 'Books',
    description: 'The available balance and its movements.',
    steps: [
      { id: 'getBalance' },
      { id: 'listLedgerEntries' },
      { id: 'getLedgerEntry' },
      { id: 'exportStatement' },
      { id: 'listCloses' },
      { id: 'listEvents' },
    ],
  },
  SIMULATED_BANK,
  {
    name: 'Operator',
    description: 'Actions of operators. Each is undone by the next.',
    steps: [
      { id: 'getCashOutSwitch' },
      { id: 'setCashOutSwitch' },
      {
        id: 'setCashOutSwitch',
        name: 'Resume payouts',
        body: { enabled: true, reason: 'Incident 42 is over' },
      },
      { id: 'createAdjustment', body: { valueCents: TOP_UP_CENTS, reason: 'Opening balance' } },
      {
        id: 'createAdjustment',
        name: 'Take the adjustment back',
        body: { valueCents: -TOP_UP_CENTS, reason: 'Opening balance, taken back' },
      },
      { id: 'listApprovals' },
      { id: 'listCases' },
      { id: 'createSigningKey' },
      { id: 'listSigningKeys' },
      { id: 'retireSigningKey' },
      { id: 'createOperator' },
      { id: 'listOperators' },
      { id: 'deactivateOperator' },
    ],
  },
  SIGNING_KEY,
  {
    name: 'Health',
    description: 'For supervisors, load balancers and Prometheus.',
    steps: [{ id: 'getHealth' }, { id: 'getReadiness' }, { id: 'getMetrics' }],
  },
  {
    name: 'Ends',
    description: 'Last, as they end what the other requests need.',
    steps: [
      { id: 'pauseWebhook' },
      { id: 'resumeWebhook' },
      { id: 'rotateWebhookSecret' },
      { id: 'deleteWebhook' },
      { id: 'createOperatorWebhook' },
      { id: 'deleteWebhook', name: 'Remove the endpoint in your own network' },
      { id: 'deactivateApiKey' },
    ],
  },
]

/**
 * Every operation for clients, except emergencies and approvals, which need a waiting object, as a collection of
 * Postman 2.1. Bruno, Insomnia and Hoppscotch read it too. Values from answers are kept in variables for later
 * requests. Only the administrative token must be filled in, and the address if unknown.
 * @param baseUrl of the service, or nothing
 * @param operatorUrl of the operator's endpoints, or nothing; `undefined`: they are at `baseUrl`
 * @source rules#reference.4, rules#reference.11, rules#operators.8
 */
export function collectionOf(endpoints: readonly Endpoint[], baseUrl: string, operatorUrl?: string): object {
  const callable = new Map(
    endpoints.filter(({ auth }) => auth !== 'partner').map((endpoint) => [endpoint.id, endpoint]),
  )
  const hasBank = callable.has('payCashIn')
  const kept = new Set(Object.values(KEPT).flatMap((kept) => [kept].flat().map(({ variable }) => variable)))
  const named = [...callable.values()].flatMap((endpoint) => pathVariables(endpoint).map(({ variable }) => variable))
  const ids = new Set(named.filter((variable) => kept.has(variable)))
  return {
    info: {
      name: apiInfo.title,
      description: apiInfo.description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('apiKey'),
    variable: [
      { key: 'baseUrl', value: baseUrl },
      ...(operatorUrl === undefined ? [] : [{ key: 'operatorUrl', value: operatorUrl }]),
      ...['adminToken', 'apiKey', ...ids, ...(hasBank ? [WAITING_SINCE] : [])].map((key) => ({ key, value: '' })),
    ],
    item: collectionPlan
      .filter(({ isOfSandbox }) => hasBank || !isOfSandbox)
      .map((folder) => folderOf(folder, callable, { hasBank, isApart: operatorUrl !== undefined })),
  }
}

interface Kind {
  readonly hasBank: boolean
  readonly isApart: boolean
}

function folderOf({ name, description, steps }: Folder, endpoints: ReadonlyMap<string, Endpoint>, kind: Kind) {
  const item = steps.flatMap((step) => {
    const endpoint = endpoints.get(step.id)
    return endpoint === undefined ? [] : [requestOf(endpoint, step, kind)]
  })
  return { name, description, item }
}

const KEPT: Readonly<Record<string, Kept | readonly Kept[]>> = {
  generateApiKey: { variable: 'apiKey', from: 'apiKey' },
  listApiKeys: { variable: 'apiKeyId', from: 'data[0]?.id' },
  createOperator: { variable: 'operatorId', from: 'id' },
  listCases: { variable: 'caseId', from: 'data[0]?.id' },
  createCashIn: [
    { variable: 'cashInId', from: 'id' },
    { variable: 'paymentPageId', from: "paymentUrl?.split('/').at(-1)" },
  ],
  createCashOut: { variable: 'cashOutId', from: 'id' },
  createRefundIn: { variable: 'refundInId', from: 'id' },
  listLedgerEntries: { variable: 'ledgerEntryId', from: 'data[0]?.id' },
  createWebhook: { variable: 'webhookId', from: 'webhook_id' },
  createOperatorWebhook: { variable: 'webhookId', from: 'webhook_id' },
  listWebhookDeliveries: { variable: 'webhookDeliveryId', from: 'data[0]?.id' },
  createSigningKey: { variable: 'signingKeyId', from: 'id' },
}

interface Kept {
  readonly variable: string
  readonly from: string
}

function requestOf(endpoint: Endpoint, { name, body: given, until }: Step, { hasBank, isApart }: Kind) {
  const { id, method, summary, description, auth, body, example } = endpoint
  const script = [
    ...asserting(endpoint),
    ...[KEPT[id] ?? []].flat().map(keeping),
    ...(until !== undefined && hasBank ? waiting(until) : []),
  ]
  return {
    name: name ?? summary,
    event: [onAnswer(script)],
    request: {
      method,
      description,
      ...(auth !== 'api-key' && { auth: AUTH[auth] }),
      header: body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }],
      ...(body && { body: { mode: 'raw', raw: bodyText(given ?? example), options: { raw: { language: 'json' } } } }),
      url: urlOf(endpoint, isApart && isForOperators(endpoint) ? '{{operatorUrl}}' : '{{baseUrl}}'),
    },
    response: [],
  }
}

function onAnswer(exec: readonly string[]) {
  return { listen: 'test', script: { type: 'text/javascript', exec } }
}

/** Asserts the status of an answer, and that its JSON has the fields that it always has. */
function asserting({ responses }: Endpoint): readonly string[] {
  const good = Object.keys(responses).filter((status) => /^2/.test(status))
  const schemas = good.flatMap((status) => {
    const { schema, contentType } = responses[Number(status)] ?? {}
    return schema === undefined || contentType !== undefined ? [] : [schema as { required?: readonly string[] }]
  })
  const fields = schemas.length < good.length ? [] : (schemas[0]?.required ?? [])
  const statuses = good.join(' or ')
  return [
    `pm.test('The status is ${statuses}', () => { if (![${good}].includes(pm.response.code)) throw new Error(pm.response.code + ': ' + pm.response.text()) })`,
    ...(fields.length === 0
      ? []
      : [
          `pm.test('The answer has its fields', () => { const answer = pm.response.json(); const missing = ${JSON.stringify(fields)}.filter((field) => !(field in answer)); if (missing.length > 0) throw new Error('missing: ' + missing) })`,
        ]),
  ]
}

function keeping({ variable, from }: Kept): string {
  return `if (pm.response.code < 300) pm.collectionVariables.set('${variable}', pm.response.json().${from})`
}

const WAITING_SINCE = 'waitingSince'

const WAIT_MAX_MS = 20_000
const WAIT_STEP_MS = 250

/** Makes a runner repeat the request until the condition holds. Without a runner it has no effect. */
function waiting(until: string): readonly string[] {
  return [
    "const now = Date.parse(pm.response.headers.get('Date'))",
    `const since = Number(pm.collectionVariables.get('${WAITING_SINCE}')) || now`,
    'const body = pm.response.code === 200 ? pm.response.json() : {}',
    `const isWaiting = pm.response.code === 200 && !(${until}) && now - since < ${WAIT_MAX_MS}`,
    `pm.collectionVariables.set('${WAITING_SINCE}', isWaiting ? since : '')`,
    `if (!isWaiting) pm.test('What was waited for has come', () => { if (!(${until})) throw new Error(pm.response.text()) })`,
    // A runner continues when the timers of a script have ended.
    `if (isWaiting) { setTimeout(() => {}, ${WAIT_STEP_MS}); pm.execution.setNextRequest(pm.info.requestName) }`,
  ]
}

function bearer(variable: string) {
  return { type: 'bearer', bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }] }
}

const AUTH: Readonly<Partial<Record<Credential, object>>> = { admin: bearer('adminToken'), none: { type: 'noauth' } }

/** The example with a fresh reference: a repeated one would get a 409. */
function bodyText(example: unknown): string {
  return JSON.stringify(example ?? {}, (key, value) => (key === 'externalId' ? `${value}-{{$guid}}` : value), 2)
}

function urlOf(endpoint: Endpoint, base: string) {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1')
  const { properties = {} } = (endpoint.query ?? {}) as Parameters
  return {
    raw: `${base}${path}`,
    host: [base],
    path: path.slice(1).split('/'),
    variable: pathVariables(endpoint).map(({ name, variable }) => ({ key: name, value: `{{${variable}}}` })),
    query: Object.entries(properties).map(([key, { description = '' }]) => ({
      key,
      value: '',
      description,
      disabled: true,
    })),
  }
}

interface Parameters {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
}

function pathVariables({ params }: Endpoint): readonly { readonly name: string; readonly variable: string }[] {
  const { properties = {} } = (params ?? {}) as Parameters
  return Object.entries(properties).map(([name, { description }]) => ({
    name,
    variable: `${resourceOfId(description)}-id`.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  }))
}
