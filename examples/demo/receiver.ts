import { verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FindKey } from './public-keys.ts'

/** What Pixgate tells of a cash-in; the parts that the tour looks at. */
export interface Notification {
  readonly event_type: string
  readonly event: { readonly id: string; readonly status: string; readonly fee_amount_cents: number }
}

/** A merchant's server. */
export interface Receiver {
  readonly url: string
  /** Each one once, in the order of arrival. */
  readonly notifications: readonly Notification[]
  stop(): Promise<void>
}

/** Starts a receiver that believes nothing but what a key of Pixgate signed. */
export async function startReceiver(findKey: FindKey): Promise<Receiver> {
  const notifications: Notification[] = []
  const seen = new Set<string>()

  /** @returns the status to answer */
  async function receive(request: IncomingMessage): Promise<204 | 401> {
    // The signature is over the bytes as they came: verify first, parse afterwards.
    const body = Buffer.concat(await request.toArray())
    const signature = Buffer.from(String(request.headers['digital-signature']), 'base64')
    const publicKey = await findKey(String(request.headers['digital-signature-key-id']))
    // A 401 is tried again: the key may be newer than what was fetched a moment ago.
    if (publicKey === undefined || !verify('sha256', body, publicKey, signature)) return 401

    // Delivered at least once: a repetition carries the same webhook-id.
    const id = String(request.headers['webhook-id'])
    if (!seen.has(id)) notifications.push(JSON.parse(body.toString()))
    seen.add(id)
    return 204
  }

  const server = createServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    notifications,
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
