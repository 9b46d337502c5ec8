import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Refusal } from '@pixgate/spec'
import { Type } from 'typebox'
import type { BoundEndpoint } from '../platform/http/endpoint-route.ts'
import type { RequestContext } from '../platform/http/handler.ts'
import { RECEIPT_STYLE } from '../receipts/index.ts'
import { isConsoleHost } from './sessions.ts'

/** The console's built pages: only files that Vite's manifest names, and the page for every other path. */

/** In the npm package beside the sources, in a checkout where Vite writes it. */
const PLACES = ['../../console/', '../../../console/dist/'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
)

/** @source rules#console.16 */
const POLICY = [
  "default-src 'none'",
  ...['script', 'connect', 'img', 'font'].map((kind) => `${kind}-src 'self'`),
  // A receipt, opened from a fetched file, has this policy as well as its own style.
  `style-src 'self' ${RECEIPT_STYLE}`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
}

const COMPRESSED = ['html', 'js', 'css', 'svg']

interface File {
  readonly type: string
  readonly bytes: Buffer
  readonly zipped: Buffer | undefined
  readonly caching: string
}

interface Site {
  /** The page, by '', and the assets by their path. */
  readonly files: ReadonlyMap<string, File>
}

/** One entry of Vite's manifest. */
interface Chunk {
  readonly file: string
  readonly css?: readonly string[]
  readonly assets?: readonly string[]
}

/** @returns `undefined` where the console was not built */
async function readSite(): Promise<Site | undefined> {
  for (const place of PLACES) {
    const manifest = textOf(join(place, '.vite/manifest.json'))
    if (manifest === undefined) continue
    const chunks: readonly Chunk[] = Object.values(JSON.parse(manifest))
    const names = new Set(chunks.flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets]))
    const assets = [...names].map(async (name) => [name, await fileOf(place, name, IMMUTABLE)] as const)
    const page = ['', await fileOf(place, 'index.html', 'no-store')] as const
    return { files: new Map([page, ...(await Promise.all(assets))]) }
  }
  return undefined
}

const IMMUTABLE = 'public, max-age=31536000, immutable'

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function fileOf(place: string, name: string, caching: string): Promise<File> {
  const bytes = readFileSync(join(place, name))
  const extension = name.split('.').at(-1) ?? ''
  const zipped = COMPRESSED.includes(extension) ? await promisify(gzip)(bytes) : undefined
  return { type: TYPES[extension] ?? 'application/octet-stream', bytes, zipped, caching }
}

const NOT_BUILT = Buffer.from('The console is not built. Run: npm run prepare\n')

/** The pages of the console, read at the first request. @source rules#console.2, rules#console.16 */
export function createConsoleRoutes(consoleHosts: readonly string[]): BoundEndpoint[] {
  let reading: Promise<Site | undefined> | undefined
  const answer = async (path: string, context: RequestContext) => {
    if (!isConsoleHost(context.headers.host, consoleHosts)) throw new Refusal('misdirected_request')
    reading ??= readSite()
    const site = await reading
    if (site === undefined) {
      reading = undefined
      return { status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: NOT_BUILT }
    }
    const file = site.files.get(path) ?? (path.startsWith('assets/') ? undefined : site.files.get(''))
    if (file === undefined) throw new Refusal('not_found')
    const isZipped = file.zipped !== undefined && /\bgzip\b/.test(String(context.headers['accept-encoding'] ?? ''))
    return {
      status: 200,
      headers: {
        'content-type': file.type,
        'cache-control': file.caching,
        vary: 'accept-encoding',
        ...(isZipped && { 'content-encoding': 'gzip' }),
      },
      body: isZipped ? file.zipped : file.bytes,
    }
  }
  return [
    route('getConsole', '/console', (context) => answer('', context)),
    route('getConsolePage', '/console/*', (context, path) => answer(path, context)),
  ]
}

function route(
  id: string,
  path: string,
  answer: (context: RequestContext, path: string) => ReturnType<BoundEndpoint['handle']>,
): BoundEndpoint {
  return {
    endpoint: {
      id,
      method: 'GET',
      path,
      auth: 'none',
      tag: 'Console',
      summary: `Read ${path}`,
      params: Type.Object({ '*': Type.Optional(Type.String({ maxLength: 256 })) }),
      responses: { 200: { description: 'A page or an asset' }, 503: { description: 'The console is not built' } },
      errors: ['misdirected_request', 'not_found'],
    },
    headers: HEADERS,
    handle: ({ params, context }) => answer(context, (params as { readonly '*'?: string })['*'] ?? ''),
  }
}
