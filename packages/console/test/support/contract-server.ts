import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Endpoint, endpoints, sandboxEndpoints, sandboxForOperators } from '@pixgate/spec'

/** The built pages under the console's policy, with an API that answers with the examples of the contract. */

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/**
 * `empty`: lists without rows; `error`: every read fails; `logged-out`: no session. A function makes the text of each
 * field that has no form of its own, of this length at most.
 */
export type Answers = 'examples' | 'empty' | 'error' | 'logged-out' | ((maxLength: number) => string)

/** The sandbox's controls for the console have paths of their own. */
const ofSandbox = [
  ...Object.values<Endpoint>(sandboxForOperators),
  ...Object.values<Endpoint>(sandboxEndpoints).map((endpoint) => ({ ...endpoint, path: `/operator${endpoint.path}` })),
]

const all: readonly Endpoint[] = [...Object.values(endpoints), ...ofSandbox]

function endpointOf(method: string, path: string): Endpoint | undefined {
  const parts = path.split('/')
  return all.find((endpoint) => {
    const names = endpoint.path.split('/')
    return (
      endpoint.method === method &&
      names.length === parts.length &&
      names.every((name, index) => name.startsWith('{') || name === parts[index])
    )
  })
}

function problem(response: ServerResponse, status: number, code: string): undefined {
  response.writeHead(status, { 'content-type': 'application/problem+json' })
  response.end(JSON.stringify({ code, detail: code, correlationId: 'checkout-77', errors: [] }))
}

function answerApi(response: ServerResponse, method: string, path: string, answers: Answers): undefined {
  if (path === '/operator/changes') return undefined
  const isSession = path === '/console/session'
  if (answers === 'logged-out') return problem(response, 401, 'unauthorized')
  if (answers === 'error' && !isSession) return problem(response, 500, 'internal_error')
  const endpoint = endpointOf(method, path)
  const [status = '404', answer] = Object.entries(endpoint?.responses ?? {})[0] ?? []
  if (answer === undefined) return problem(response, 404, 'not_found')
  const told = isSession ? ofAdmin(answer.example) : answer.example
  const example =
    answers === 'empty'
      ? withoutRows(answer.example)
      : typeof answers === 'function'
        ? withTexts(answer.schema, told, answers)
        : told
  response.writeHead(Number(status), { 'content-type': answer.contentType ?? 'application/json' })
  response.end(typeof example === 'string' ? example : JSON.stringify(example))
}

function withoutRows(example: unknown): unknown {
  if (typeof example !== 'object' || example === null) return example
  const lists = ['data', 'entries'].filter((name) => name in example)
  return { ...example, ...Object.fromEntries(lists.map((name) => [name, []])) }
}

interface Shape {
  readonly type?: string
  readonly enum?: unknown
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly maxLength?: number
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
}

/** Texts that the service itself makes. */
const OWN = ['status', 'statusBefore', 'statusAfter', 'address', 'version', 'node', 'postgres', 'bank']

/** Ids, instants and names of states keep their form; the pages count on it. */
function hasForm({ enum: values, const: only, format = '', pattern }: Shape): boolean {
  if (values !== undefined || only !== undefined || /^(?:uuid|date|date-time)$/.test(format)) return true
  return pattern !== undefined && !new RegExp(pattern, 'v').test('<b onload=a>')
}

/** The example with another text in each field, also in those that it leaves empty. */
function withTexts(shape: Shape = {}, value: unknown, text: (maxLength: number) => string): unknown {
  const { anyOf, type, maxLength = 300, items, properties } = shape
  if (anyOf) return withTexts(anyOf.find((one) => one.type !== 'null') ?? {}, value, text)
  if (typeof value === 'string' || (value === null && type === 'string')) {
    return hasForm(shape) ? value : text(maxLength)
  }
  if (Array.isArray(value)) return value.map((one) => withTexts(items, one, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      OWN.includes(name) && typeof part === 'string' ? part : withTexts(properties?.[name], part, text),
    ]),
  )
}

/** Who may make keys and operators; without rows it is an operator, who may not. */
function ofAdmin(example: unknown): unknown {
  const session = example as { operator: object }
  return { ...session, operator: { ...session.operator, role: 'admin' } }
}

/** @returns the address, what sets the answers, and what ends it */
export async function startContractServer() {
  let answers: Answers = 'examples'
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname.startsWith('/operator/') || pathname === '/console/session') {
      return answerApi(response, request.method ?? 'GET', pathname, answers)
    }
    const asset = join(DIST, pathname.replace(/^\/console/, ''))
    const path = extname(pathname) && existsSync(asset) ? asset : join(DIST, 'index.html')
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? '', 'content-security-policy': POLICY })
    response.end(readFileSync(path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (next: Answers) => {
      answers = next
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
