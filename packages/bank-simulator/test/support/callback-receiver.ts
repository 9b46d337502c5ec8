import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { ApiPix } from '../../src/index.ts'
import { record } from './api-pix-recording.ts'
import type { Answer } from './bank.ts'

/** A callback as it came. */
export interface Callback {
  readonly path: string | undefined
  /** Whether the client certificate is of the bank's CA. */
  readonly isFromBank: boolean
  readonly body: Answer['body']
}

/** Receiver behind a webhook. */
export interface Receiver {
  readonly url: string
  /** In the order of arrival, the test call too. */
  readonly received: readonly Callback[]
  /** Resolves with the callbacks after the first `from`, when there are so many. */
  arrived(count: number, from?: number): Promise<readonly Callback[]>
}

/**
 * Starts a receiver on loopback with mTLS by the bank's CA.
 * @param status HTTP status of the response to callback number `index`
 */
export async function startReceiver(
  t: TestContext,
  { certificates }: Pick<ApiPix, 'certificates'>,
  status: (index: number) => number = () => 200,
): Promise<Receiver> {
  const { authority } = certificates
  const { certificate, key } = await authority.issue({ name: 'receiver', use: 'server', hosts: ['localhost'] })
  const received: Callback[] = []
  let onArrival = Promise.withResolvers<void>()
  const tls = { cert: certificate, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true }
  const server: Server = createServer(tls, async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    received.push({ path: request.url, isFromBank: (request.socket as TLSSocket).authorized, body })
    // Those of sent Pix are Efí's own.
    if (body.pix?.every((it: object) => !('gnExtras' in it))) record({ method: 'CALLBACK', path: '/pix', body })
    response.writeHead(status(received.length - 1)).end()
    onArrival.resolve()
    onArrival = Promise.withResolvers()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/avisos`,
    received,
    arrived: async (count, from = 0) => {
      while (received.length < from + count) await onArrival.promise
      return received.slice(from, from + count)
    },
  }
}
