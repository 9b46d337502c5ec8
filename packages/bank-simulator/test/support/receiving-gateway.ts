import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** An event as the service got it. */
export interface Received {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Of `text`. */
  readonly event: Readonly<Record<string, unknown>>
}

/** Service that receives the bank's events. */
export interface Service {
  readonly url: string
  /** In the order of arrival. */
  readonly received: readonly Received[]
  /** Resolves with the first `count` when so many have arrived. */
  arrived(count: number): Promise<readonly Received[]>
}

/**
 * Starts a service on loopback.
 * @param status HTTP status of the response to event number `index`
 */
export async function startService(
  t: TestContext,
  status: (index: number) => number | Promise<number> = () => 200,
): Promise<Service> {
  const received: Received[] = []
  let onArrival = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    received.push({ path: request.url, headers: request.headers, text, event: eventIn(text) })
    onArrival.resolve()
    onArrival = Promise.withResolvers()
    response.writeHead(await status(received.length - 1)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    arrived: async (count) => {
      while (received.length < count) await onArrival.promise
      return received.slice(0, count)
    },
  }
}

function eventIn(text: string): Received['event'] {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
