import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { openPartnerLink, type PartnerLink, type PartnerLinkOptions } from '../../../src/banks/link.ts'

/** A request that reached the bank. */
export interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** A bank that answers by script, once it has read the whole request, and a link to it. */
export async function scriptedBank(t: TestContext, script: (response: http.ServerResponse, request: Received) => void) {
  const received: Received[] = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const entry = { method: request.method, path: request.url, headers: request.headers, body }
    received.push(entry)
    script(response, entry)
  })
  const url = await listening(t, server)
  return { url, server, received, link: linkTo(t, url) }
}

/** A bank that is nothing but a TCP listener, and a link to it. */
export async function rawBank(t: TestContext, onConnection: (socket: net.Socket) => void) {
  const server = net.createServer(onConnection)
  const url = await listening(t, server)
  return { url, server, link: linkTo(t, url) }
}

/** A link that closes with the test. */
export function linkTo(t: TestContext, url: string, options: Partial<PartnerLinkOptions> = {}): PartnerLink {
  const link = openPartnerLink({ url, token: 'the token', timeoutMs: 5_000, ...options })
  t.after(() => link.close())
  return link
}

/** An address without a listener. */
export async function closedPort(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = urlOf(server)
  server.close()
  await once(server, 'close')
  return url
}

/** Answers with JSON. */
export function answer(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function listening(t: TestContext, server: net.Server): Promise<string> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return urlOf(server)
}

function urlOf(server: net.Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
