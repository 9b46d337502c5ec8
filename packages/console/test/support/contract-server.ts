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

/** `empty`: lists without rows; `error`: every read fails; `logged-out`: no session. */
export type Answers = 'examples' | 'empty' | 'error' | 'logged-out'

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
  const example =
    answers === 'empty' ? withoutRows(answer.example) : isSession ? ofAdmin(answer.example) : answer.example
  response.writeHead(Number(status), { 'content-type': answer.contentType ?? 'application/json' })
  response.end(typeof example === 'string' ? example : JSON.stringify(example))
}

function withoutRows(example: unknown): unknown {
  if (typeof example !== 'object' || example === null) return example
  const lists = ['data', 'entries'].filter((name) => name in example)
  return { ...example, ...Object.fromEntries(lists.map((name) => [name, []])) }
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
