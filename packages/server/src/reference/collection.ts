import type { Credential, Endpoint } from '@pixgate/spec'
import { isForOperators, resourceOfId } from '../platform/http/openapi.ts'
import { collectionPlan, type Folder, type Step } from './collection-plan.ts'
import { apiInfo } from './info.ts'

/**
 * Every operation that a client may call, but for emergencies and approvals, which need something that waits, as a collection of Postman 2.1, which Bruno, Insomnia and Hoppscotch read too. What
 * an answer tells is kept in variables, which the requests after it are made of; only the administrative token is to be filled
 * in, and the address where it is not known.
 * @param baseUrl of the service, or nothing
 * @param operatorUrl of the operator's endpoints, or nothing; `undefined`: they are at `baseUrl`
 * @source rules#reference.4, rules#reference.11, rules#operators.8
 */
export function collectionOf(endpoints: readonly Endpoint[], baseUrl: string, operatorUrl?: string): object {
  const callable = new Map(
    endpoints.filter(({ auth }) => auth !== 'partner').map((endpoint) => [endpoint.id, endpoint]),
  )
  const hasBank = callable.has('payCashIn')
  const kept = new Set(Object.values(KEPT).map(({ variable }) => variable))
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

/** What a service is like. */
interface Kind {
  readonly hasBank: boolean
  /** Whether the operator's endpoints have an address of their own. */
  readonly isApart: boolean
}

function folderOf({ name, description, steps }: Folder, endpoints: ReadonlyMap<string, Endpoint>, kind: Kind) {
  const item = steps.flatMap((step) => {
    const endpoint = endpoints.get(step.id)
    return endpoint === undefined ? [] : [requestOf(endpoint, step, kind)]
  })
  return { name, description, item }
}

/** Where an answer tells what later requests need. */
const KEPT: Readonly<Record<string, { readonly variable: string; readonly from: string }>> = {
  generateApiKey: { variable: 'apiKey', from: 'apiKey' },
  listApiKeys: { variable: 'apiKeyId', from: 'data[0]?.id' },
  createOperator: { variable: 'operatorId', from: 'id' },
  listCases: { variable: 'caseId', from: 'data[0]?.id' },
  createCashIn: { variable: 'cashInId', from: 'id' },
  createCashOut: { variable: 'cashOutId', from: 'id' },
  createRefundIn: { variable: 'refundInId', from: 'id' },
  listLedgerEntries: { variable: 'ledgerEntryId', from: 'data[0]?.id' },
  createWebhook: { variable: 'webhookId', from: 'webhook_id' },
  listWebhookDeliveries: { variable: 'webhookDeliveryId', from: 'data[0]?.id' },
  createSigningKey: { variable: 'signingKeyId', from: 'id' },
}

function requestOf(endpoint: Endpoint, { name, body: given, until }: Step, { hasBank, isApart }: Kind) {
  const { id, method, summary, description, auth, body, example } = endpoint
  const kept = KEPT[id]
  const script = [
    ...(kept ? [keeping(kept.variable, kept.from)] : []),
    ...(until !== undefined && hasBank ? waiting(until) : []),
  ]
  return {
    name: name ?? summary,
    ...(script.length > 0 && { event: [onAnswer(script)] }),
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

/** A script that runs on the answer. */
function onAnswer(exec: readonly string[]) {
  return { listen: 'test', script: { type: 'text/javascript', exec } }
}

function keeping(variable: string, from: string): string {
  return `if (pm.response.code < 300) pm.collectionVariables.set('${variable}', pm.response.json().${from})`
}

/** The variable that says since when a runner waits. */
const WAITING_SINCE = 'waitingSince'

const WAIT_MAX_MS = 20_000
const WAIT_STEP_MS = 250

/** Lets a runner make the request again until this holds. Who sends it by hand sees no difference. */
function waiting(until: string): readonly string[] {
  return [
    "const now = Date.parse(pm.response.headers.get('Date'))",
    `const since = Number(pm.collectionVariables.get('${WAITING_SINCE}')) || now`,
    'const body = pm.response.code === 200 ? pm.response.json() : {}',
    `const isWaiting = pm.response.code === 200 && !(${until}) && now - since < ${WAIT_MAX_MS}`,
    `pm.collectionVariables.set('${WAITING_SINCE}', isWaiting ? since : '')`,
    // A runner goes on when the timers of a script have ended.
    `if (isWaiting) { setTimeout(() => {}, ${WAIT_STEP_MS}); pm.execution.setNextRequest(pm.info.requestName) }`,
  ]
}

function bearer(variable: string) {
  return { type: 'bearer', bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }] }
}

const AUTH: Readonly<Partial<Record<Credential, object>>> = { admin: bearer('adminToken'), none: { type: 'noauth' } }

/** The example, under a reference that is new each time: the same one again would be a 409. */
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

/** The parameters of a path, and the variable that each is read from: `cashInId`. */
function pathVariables({ params }: Endpoint): readonly { readonly name: string; readonly variable: string }[] {
  const { properties = {} } = (params ?? {}) as Parameters
  return Object.entries(properties).map(([name, { description }]) => ({
    name,
    variable: `${resourceOfId(description)}-id`.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  }))
}
