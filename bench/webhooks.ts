import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhook } from '@pixgate/spec'
import type { After } from './benchmark.ts'
import { jsonHeaders } from './http-client.ts'
import type { Process } from './pixgate.ts'

export const EVENTS = ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal']

/** Registers a webhook endpoint for all events. */
export async function subscribe({ send, apiKey }: Process, url: string): Promise<void> {
  const body = JSON.stringify({ url, events: EVENTS })
  await send({ method: 'POST', path: createWebhook.path, headers: jsonHeaders(apiKey), body })
}

/** Starts an HTTP server. @returns its address */
export async function startReceiver(after: After, answer: RequestListener<typeof IncomingMessage>): Promise<string> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The id of the operation that a notification is about. */
export async function operationIdOf(request: IncomingMessage): Promise<string> {
  return JSON.parse(Buffer.concat(await request.toArray()).toString()).event.id
}
