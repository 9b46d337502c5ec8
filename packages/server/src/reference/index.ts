import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Endpoint, limits, payCashIn } from '@pixgate/spec'
import { Type } from 'typebox'
import type { BoundEndpoint } from '../platform/http/endpoint-route.ts'
import { type OpenApiServer, openApiDocument } from '../platform/http/openapi.ts'
import { hasCurrent } from '../platform/http/request.ts'
import { collectionOf } from './collection.ts'
import type { Language } from './frame.ts'
import { contentSecurityPolicy, createFrame, ERRORS_PAGES, type Page, SEARCH_INDEXES, START_PAGES } from './frame.ts'
import { apiInfo } from './info.ts'
import { llmsText } from './llms.ts'
import { errorsPage, firstSteps, guidesPage, homePage, referencePage } from './pages.ts'
import { searchIndex } from './search.ts'
import { builtSite } from './site.ts'

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

const PLACES = {
  reference: START_PAGES.en,
  errors: ERRORS_PAGES.en,
  openapi: '/openapi.json',
  collection: '/collection.json',
}

/** A document of the service: its address, its type and its text, which never changes while the process runs. */
export interface ServedDocument {
  readonly id: string
  readonly path: string
  readonly type: string
  /** Whether the address changes with the text. */
  readonly isHashed?: boolean
  readonly write: () => string
}

/** Everything that describes the service, with the built site. @source rules#reference.1, rules#operators.8 */
export function servedDocuments({ endpoints, isSandbox, url, operatorUrl }: Described): readonly ServedDocument[] {
  const site = builtSite()
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
  const framed = createFrame(endpoints, site, hasControls)
  const page = (id: string, path: string, write: () => Page) => ({ id, path, type: HTML, write: () => framed(write()) })
  const index = (id: string, language: Language) => ({
    ...{ id, path: SEARCH_INDEXES[language], type: JSON_TEXT },
    write: () => JSON.stringify(searchIndex(endpoints, site.pages, language)),
  })
  const collection = () => JSON.stringify(collectionOf(endpoints, sandboxUrl(), operatorsAt()))
  return [
    page('getHomePage', '/', () => homePage(isSandbox, steps())),
    page('getReference', START_PAGES.en, () => referencePage(endpoints, steps(), isApart)),
    page('getGuidesInPortuguese', START_PAGES['pt-BR'], () => guidesPage(site.pages)),
    page('getErrorsPage', ERRORS_PAGES.en, () => errorsPage(endpoints, 'en')),
    page('getErrorsPageInPortuguese', ERRORS_PAGES['pt-BR'], () => errorsPage(endpoints, 'pt-BR')),
    { id: 'getOpenApiDocument', path: PLACES.openapi, type: JSON_TEXT, write: openApi },
    { id: 'getCollection', path: PLACES.collection, type: JSON_TEXT, write: collection },
    { id: 'getLlmsText', path: '/llms.txt', type: PLAIN, write: () => llmsText(endpoints, PLACES, isApart) },
    index('getSearchIndex', 'en'),
    index('getSearchIndexInPortuguese', 'pt-BR'),
    ...site.assets.map(({ path, type, text }) => ({ id: path, path, type, isHashed: true, write: () => text })),
    ...site.pages.map((document) => page(document.path, document.path, () => ({ ...document, body: document }))),
  ]
}

/**
 * Public endpoints that describe the service: pages, the OpenAPI document, a collection, llms.txt. Each is rendered at
 * its first request and cached.
 * @source rules#reference.1, rules#reference.2
 */
export function createReferenceRoutes(described: Described): BoundEndpoint[] {
  // Where operators have no address of their own, the pages stand beside the console.
  const headers = headersOf(described.operatorUrl === undefined)
  return servedDocuments(described).map((document) => route(document, headers))
}

/** @param url of the operator's endpoints, or nothing; `undefined`: they have none of their own */
function operatorServer(url: string | undefined): OpenApiServer | undefined {
  if (url === undefined) return undefined
  const description = 'The operator’s port, PIXGATE_OPERATOR_PORT'
  if (url !== '') return { url, description }
  return { url: 'https://{host}', description, variables: { host: { default: 'operators.pixgate.example' } } }
}

/** @source rules#reference.14 */
function route({ id, path, type, isHashed, write }: ServedDocument, common: Headers): BoundEndpoint {
  let kept: Promise<Readonly<Record<'plain' | 'zipped', Rendered>>> | undefined
  const headers = { ...common, 'cache-control': isHashed ? IMMUTABLE : BRIEFLY, vary: 'accept-encoding' }
  return {
    endpoint: {
      id,
      method: 'GET',
      path,
      auth: 'none',
      tag: 'Reference',
      summary: `Read ${path}`,
      responses: {
        200: { description: 'The document', contentType: type, schema: Type.String() },
        304: { description: 'Unchanged since the ETag that was sent' },
      },
      errors: [],
    },
    handle: async ({ context }) => {
      kept ??= rendered(write())
      const isZipped = /\bgzip\b/.test(String(context.headers['accept-encoding'] ?? ''))
      const { body, own } = (await kept)[isZipped ? 'zipped' : 'plain']
      if (hasCurrent(own.etag, context.headers['if-none-match']))
        return { status: 304, headers: { ...headers, ...own } }
      return { status: 200, headers: { ...headers, ...own, 'content-type': type }, body }
    },
  }
}

type Headers = Readonly<Record<string, string>>

/** Bytes of a document in one encoding, with the headers that belong to them. */
interface Rendered {
  readonly body: Buffer
  readonly own: Headers & { readonly etag: string }
}

async function rendered(text: string): Promise<Readonly<Record<'plain' | 'zipped', Rendered>>> {
  const plain = Buffer.from(text)
  const zipped = await promisify(gzip)(plain)
  return {
    plain: { body: plain, own: { etag: etagOf(plain) } },
    zipped: { body: zipped, own: { etag: etagOf(zipped), 'content-encoding': 'gzip' } },
  }
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}

const BRIEFLY = `public, max-age=${limits.publicKeyMaxAgeSeconds}`
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** A page without an origin of its own loads its files as a stranger. */
function headersOf(isShared: boolean): Headers {
  return {
    'content-security-policy': contentSecurityPolicy(isShared),
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': isShared ? 'cross-origin' : 'same-origin',
    ...(isShared && { 'access-control-allow-origin': '*' }),
  }
}
