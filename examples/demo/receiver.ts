import { verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FindKey } from './public-keys.ts'

/** A notification about a cash-in, with the fields that the demo uses. */
export interface Notification {
  readonly event_type: string
  readonly event: { readonly id: string; readonly status: string; readonly fee_amount_cents: number }
}

/** A merchant's server. */
export interface Receiver {
  readonly url: string
  /** Notifications without duplicates, in order of arrival. */
  readonly notifications: readonly Notification[]
  stop(): Promise<void>
}

/** Starts a receiver that only accepts notifications signed with a key of Pixgate. */
export async function startReceiver(findKey: FindKey): Promise<Receiver> {
  const notifications: Notification[] = []
  const seen = new Set<string>()

  /** @returns the response status */
  async function receive(request: IncomingMessage): Promise<204 | 401> {
    // The signature covers the raw bytes: verify first, then parse.
    const body = Buffer.concat(await request.toArray())
    const signature = Buffer.from(String(request.headers['digital-signature']), 'base64')
    const publicKey = await findKey(String(request.headers['digital-signature-key-id']))
    // Pixgate retries after a 401, so a key that is newer than the last fetch is accepted later.
    if (publicKey === undefined || !verify('sha256', body, publicKey, signature)) return 401

    // Delivery is at least once: a retry has the same webhook-id.
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
