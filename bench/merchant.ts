import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhook } from '@pixgate/spec'
import type { After } from './benchmark.ts'
import { jsonHeaders } from './http-client.ts'
import type { Process } from './pixgate.ts'

/** A merchant's server, and when it was told of an operation. */
export interface Merchant {
  /** Resolves with `performance.now()` at the moment; it may have been before. */
  notified(id: string): Promise<number>
}

/** Starts one that is told of what becomes of charges and payouts. */
export async function startMerchant(after: After, pixgate: Process): Promise<Merchant> {
  const moments = new Map<string, PromiseWithResolvers<number>>()
  const momentOf = (id: string) => {
    const moment = moments.get(id) ?? Promise.withResolvers<number>()
    moments.set(id, moment)
    return moment
  }
  const server = createServer(async (request, response) => {
    const { event } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    momentOf(event.id).resolve(performance.now())
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    server.closeAllConnections()
    server.close()
  })
  await subscribe(pixgate, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return {
    notified: async (id) => {
      const at = await momentOf(id).promise
      moments.delete(id)
      return at
    },
  }
}

async function subscribe({ send, apiKey }: Process, url: string): Promise<void> {
  const headers = jsonHeaders(apiKey)
  const body = JSON.stringify({ url, events: ['pix_cash_in', 'pix_cash_out'] })
  await send({ method: 'POST', path: createWebhook.path, headers, body })
}
