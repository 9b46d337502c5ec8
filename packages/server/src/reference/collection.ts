import { type Credential, type Endpoint, tags } from '@pixgate/spec'
import { resourceOfId } from '../platform/http/curl.ts'
import { apiInfo } from './info.ts'

/**
 * Every operation that a client may call as a collection of Postman 2.1, which Bruno, Insomnia and Hoppscotch read too. What
 * an answer tells is kept in variables, which the requests after it are made of; only the administrative token is to be filled
 * in, and the address where it is not known.
 * @param baseUrl of the service, or nothing
 * @source rules#reference.4
 */
export function collectionOf(endpoints: readonly Endpoint[], baseUrl: string): object {
  const callable = endpoints.filter(({ auth }) => auth !== 'partner')
  const ids = [...new Set(callable.flatMap((endpoint) => pathVariables(endpoint).map(({ variable }) => variable)))]
  return {
    info: {
      name: apiInfo.title,
      description: apiInfo.description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('apiKey'),
    variable: [
      { key: 'baseUrl', value: baseUrl },
      ...['adminToken', 'apiKey', ...ids].map((key) => ({ key, value: '' })),
    ],
    item: [
      ...Object.entries(tags).map(([name, description]) =>
        folder(
          name,
          description,
          callable.filter(({ id, tag }) => tag === name && !ENDS.includes(id)),
        ),
      ),
      folder(
        'Ends',
        'What the other requests need is ended by these, so that they stand last.',
        ENDS.flatMap((id) => callable.filter((endpoint) => endpoint.id === id)),
      ),
    ].filter(({ item }) => item.length > 0),
  }
}

/** Whoever runs the whole collection has these at its end. */
const ENDS: readonly string[] = ['deleteWebhook', 'setCashOutSwitch', 'deactivateApiKey']

function folder(name: string, description: string, endpoints: readonly Endpoint[]) {
  return { name, description, item: endpoints.map(requestOf) }
}

/** Where an answer tells what later requests need. */
const KEPT: Readonly<Record<string, { readonly variable: string; readonly from: string }>> = {
  generateApiKey: { variable: 'apiKey', from: 'apiKey' },
  listApiKeys: { variable: 'apiKeyId', from: 'data[0].id' },
  createCashIn: { variable: 'cashInId', from: 'id' },
  createCashOut: { variable: 'cashOutId', from: 'id' },
  createRefundIn: { variable: 'refundInId', from: 'id' },
  listLedgerEntries: { variable: 'ledgerEntryId', from: 'data[0].id' },
  createWebhook: { variable: 'webhookId', from: 'webhook_id' },
}

function requestOf(endpoint: Endpoint) {
  const { id, method, summary, description, auth, body, example } = endpoint
  const kept = KEPT[id]
  return {
    name: summary,
    ...(kept && { event: [keeping(kept.variable, kept.from)] }),
    request: {
      method,
      description,
      ...(auth !== 'api-key' && { auth: AUTH[auth] }),
      header: body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }],
      ...(body && { body: { mode: 'raw', raw: bodyText(example), options: { raw: { language: 'json' } } } }),
      url: urlOf(endpoint),
    },
    response: [],
  }
}

/** A script that runs on the answer. */
function keeping(variable: string, from: string) {
  const exec = [`if (pm.response.code < 300) pm.collectionVariables.set('${variable}', pm.response.json().${from})`]
  return { listen: 'test', script: { type: 'text/javascript', exec } }
}

function bearer(variable: string) {
  return { type: 'bearer', bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }] }
}

const AUTH: Readonly<Partial<Record<Credential, object>>> = { admin: bearer('adminToken'), none: { type: 'noauth' } }

/** The example, under a reference that is new each time: the same one again would be a 409. */
function bodyText(example: unknown): string {
  return JSON.stringify(example ?? {}, (key, value) => (key === 'externalId' ? `${value}-{{$timestamp}}` : value), 2)
}

function urlOf(endpoint: Endpoint) {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1')
  const { properties = {} } = (endpoint.query ?? {}) as Parameters
  return {
    raw: `{{baseUrl}}${path}`,
    host: ['{{baseUrl}}'],
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
