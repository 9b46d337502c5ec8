import { createServer, type Server } from 'node:http'
import type { EventLoop } from '../event-loop.ts'

/**
 * Node's own server with our limits, in which every request is emitted as one, also those that Node keeps from its listeners.
 * @source rules#http.13
 */
export function createNodeServer(eventLoop: EventLoop): Server {
  const server = createServer(SETTINGS)
  server.setTimeout(SILENCE_MS)
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = MAX_HEADERS
  // Who has sent its request and closes only that direction still waits for the answer; otherwise Node would drop both.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', () => eventLoop.noteConnection())
  // Node itself would answer 417, without a body and without our headers.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

/** Time for headers and bodies to arrive, and for idle connections. */
const SETTINGS = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // We refuse a missing Host ourselves, so that the answer is a problem as well.
  requireHostHeader: false,
} as const

const SILENCE_MS = 20_000
const MAX_CONNECTIONS = 2_000
const MAX_HEADERS = 100
