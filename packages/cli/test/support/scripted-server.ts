import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface ScriptedServer {
  readonly url: string
  /** `POST /api/pix/cash-in`, in the order of arrival. */
  readonly requests: readonly string[]
}

/** A Pixgate that answers by a script. */
export async function scriptedServer(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ScriptedServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => answer(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** An error as Pixgate answers it. */
export function problem(response: ServerResponse, status: number, code: string, more: object = {}): void {
  const body = { type: 'about:blank', title: code, status, code, detail: code, message: code, errors: [], ...more }
  response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body))
}
