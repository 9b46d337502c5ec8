import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A notification as a receiver got it. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A merchant's server. */
export interface Receiver {
  readonly url: string
  /** In the order of arrival. */
  readonly received: readonly Received[]
  /** Resolves when so many have arrived. */
  arrived(count: number): Promise<void>
  /** Closes all connections and refuses new ones. */
  close(): Promise<void>
}

/** How a receiver answers; one that never does hangs. */
export type Answering = (response: ServerResponse, received: Received) => void

/** Starts a receiver on loopback; answers 200 unless told otherwise. */
export async function startReceiver(
  t: TestContext,
  answer: Answering = (response) => response.end(),
): Promise<Receiver> {
  const received: Received[] = []
  let waiting: { count: number; resolve: () => void }[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const arrival = { path: request.url ?? '', headers: request.headers, body }
    received.push(arrival)
    answer(response, arrival)
    for (const { count, resolve } of waiting) if (received.length >= count) resolve()
    waiting = waiting.filter(({ count }) => received.length < count)
  })
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  t.after(close)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    arrived: (count) =>
      received.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    close,
  }
}

/** Always answers with this status and these headers. */
export function answering(status: number, headers: Record<string, string> = {}): Answering {
  return (response) => response.writeHead(status, headers).end()
}

/** Never answers. */
export const hanging: Answering = () => undefined
