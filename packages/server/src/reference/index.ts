import { createHash } from 'node:crypto'
import { type Endpoint, limits, payCashIn } from '@pixgate/spec'
import { Type } from 'typebox'
import type { BoundEndpoint } from '../platform/http/endpoint-route.ts'
import { type OpenApiServer, openApiDocument } from '../platform/http/openapi.ts'
import { hasCurrent } from '../platform/http/request.ts'
import { collectionOf } from './collection.ts'
import { apiInfo } from './info.ts'
import { llmsText } from './llms.ts'
import { CONTENT_SECURITY_POLICY, ERRORS_PAGES, errorsPage, firstSteps, homePage, referencePage } from './pages.ts'

export interface Described {
  /** Every endpoint of this process, except the reference itself. */
  readonly endpoints: readonly Endpoint[]
  readonly isSandbox: boolean
  /** Local URL of the service once it listens. Never taken from a request. */
  readonly url: () => string | undefined
  /** The same for the operator's endpoints on their own port. */
  readonly operatorUrl?: (() => string | undefined) | undefined
}

const HTML = 'text/html; charset=utf-8'
const JSON_TEXT = 'application/json; charset=utf-8'
const PLAIN = 'text/plain; charset=utf-8'

const PLACES = { reference: '/docs', errors: ERRORS_PAGES.en, openapi: '/openapi.json', collection: '/collection.json' }

/**
 * Public endpoints that describe the service: pages, the OpenAPI document, a collection, llms.txt. Each is rendered at
 * its first request and cached.
 * @source rules#reference.1, rules#reference.2, rules#operators.8
 */
export function createReferenceRoutes({ endpoints, isSandbox, url, operatorUrl }: Described): BoundEndpoint[] {
  const isApart = operatorUrl !== undefined
  const sandboxUrl = () => (isSandbox ? (url() ?? `http://${apiInfo.defaultHost}`) : '')
  // Production does not reveal the operators' address.
  const operatorsAt = () => (isApart ? (isSandbox && operatorUrl()) || '' : undefined)
  const hasControls = endpoints.some(({ id }) => id === payCashIn.id)
  const steps = () => (hasControls ? firstSteps(sandboxUrl(), operatorsAt(), '…') : undefined)
  const openApi = () => {
    const table = Object.fromEntries(endpoints.map((endpoint) => [endpoint.id, endpoint]))
    const servers = [{ url: '/', description: 'This service' }]
    return JSON.stringify({ ...openApiDocument(table, apiInfo, operatorServer(operatorsAt())), servers })
  }
  return [
    route('getHomePage', '/', HTML, () => homePage(isSandbox, steps())),
    route('getReference', PLACES.reference, HTML, () => referencePage(endpoints, steps(), isApart)),
    route('getErrorsPage', ERRORS_PAGES.en, HTML, () => errorsPage(endpoints, 'en')),
    route('getErrorsPageInPortuguese', ERRORS_PAGES['pt-BR'], HTML, () => errorsPage(endpoints, 'pt-BR')),
    route('getOpenApiDocument', PLACES.openapi, JSON_TEXT, openApi),
    route('getCollection', PLACES.collection, JSON_TEXT, () =>
      JSON.stringify(collectionOf(endpoints, sandboxUrl(), operatorsAt())),
    ),
    route('getLlmsText', '/llms.txt', PLAIN, () => llmsText(endpoints, PLACES, isApart)),
  ]
}

/** @param url of the operator's endpoints, or nothing; `undefined`: they have none of their own */
function operatorServer(url: string | undefined): OpenApiServer | undefined {
  if (url === undefined) return undefined
  const description = 'The operator’s port, PIXGATE_OPERATOR_PORT'
  if (url !== '') return { url, description }
  return { url: 'https://{host}', description, variables: { host: { default: 'operators.pixgate.example' } } }
}

/** @param write renders the text; deterministic */
function route(id: string, path: string, contentType: string, write: () => string): BoundEndpoint {
  let kept: { readonly text: string; readonly headers: Readonly<Record<string, string>> } | undefined
  return {
    endpoint: {
      id,
      method: 'GET',
      path,
      auth: 'none',
      tag: 'Reference',
      summary: `Read ${path}`,
      responses: {
        200: { description: 'The document', contentType, schema: Type.String() },
        304: { description: 'Unchanged since the ETag that was sent' },
      },
      errors: [],
    },
    handle: async ({ context }) => {
      kept ??= withHeaders(write())
      const { text, headers } = kept
      if (hasCurrent(String(headers.etag), context.headers['if-none-match'])) return { status: 304, headers }
      return { status: 200, headers, body: text }
    },
  }
}

function withHeaders(text: string) {
  return {
    text,
    headers: {
      etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
      'cache-control': `public, max-age=${limits.publicKeyMaxAgeSeconds}`,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    },
  }
}
