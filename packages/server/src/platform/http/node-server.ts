import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { EventLoop } from '../event-loop.ts'
import { startTimer } from '../timer.ts'

/**
 * Node's own server with our limits, in which every request is emitted as one, also those that Node keeps from its listeners.
 * @param connectionsMax one more than these is refused before anything is known of it
 * @source rules#http.13
 */
export function createNodeServer(eventLoop: EventLoop, connectionsMax: number): Server {
  const server = createServer(SETTINGS)
  server.setTimeout(SILENCE_MS)
  server.maxConnections = connectionsMax
  server.maxHeadersCount = MAX_HEADERS
  // Who has sent its request and closes only that direction still waits for the answer; otherwise Node would drop both.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket) => {
    eventLoop.noteConnection()
    socket.destroySoon = endGently
  })
  // Node itself would answer 417, without a body and without our headers.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (request, socket) => emitConnect(server, request, socket as Socket))
  return server
}

/**
 * Ends a connection behind its last answer; Node calls it, too. Closed on bytes that nobody has read a connection is reset, and
 * who is still writing loses the answers that it has not read yet: what comes is thrown away, until the client has closed as
 * well, its time is over or it is too much.
 * @source rules#http.17
 */
function endGently(this: Socket): void {
  if (!this.writable) return
  this.end()
  this.once(
    'close',
    startTimer(LINGER_MS, () => this.destroy()),
  )
  // Where reading was paused, only Node's parser can resume it, and it yields to whoever listens.
  this.resume()
  setImmediate(() => discard(this))
}

function discard(socket: Socket): void {
  let receivedBytes = 0
  socket.removeAllListeners('data').on('data', ({ length }: Buffer) => {
    receivedBytes += length
    if (receivedBytes > LINGER_MAX_BYTES) socket.destroy()
  })
}

/** Node would drop the connection, with all that is not answered on it. It has let go of it before this is called. */
function emitConnect(server: Server, request: IncomingMessage, socket: Socket): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.on('finish', () => socket.destroySoon())
  for (const end of ['error', 'timeout']) socket.on(end, () => socket.destroy())
  // What was meant for another host is thrown away.
  socket.resume()
  server.emit('request', request, response)
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
const LINGER_MS = 2_000
const LINGER_MAX_BYTES = 16 * 1_024 * 1_024
const MAX_HEADERS = 100
