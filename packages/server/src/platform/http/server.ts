import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { startTimer } from '../clock.ts'
import { DatabaseUnavailable, isRetryableConflict, NoLongerWanted } from '../db/errors.ts'
import type { Ids } from '../ids.ts'
import { QueueFull } from '../jobs/batcher.ts'
import type { Pause } from '../jobs/pause.ts'
import type { Reading } from '../live-request.ts'
import type { Logger } from '../log.ts'
import type { EventLoop, LogThrottle } from '../runtime.ts'
import { type BoundEndpoint, endpointRoute } from './endpoint-route.ts'
import type { Authenticators } from './handler.ts'
import { createClientErrorHandler, sendProblem, type UnreadableOptions } from './problem.ts'
import { CORRELATION_HEADER, correlationIdOf } from './request.ts'
import { createRefusedThrottle, logFailure, type OnRequest, reportRequest, reportRequests } from './request-log.ts'
import { STRANGER_BOUNDS, type StrangerBounds, type StrangerOutcome, Strangers } from './strangers.ts'

export interface HttpServerOptions {
  readonly endpoints: readonly BoundEndpoint[]
  readonly authenticate: Authenticators
  readonly logger: Logger
  readonly ids: Ids
  /** Recognises requests read after the process was suspended. */
  readonly eventLoop: EventLoop
  /** Addresses or CIDRs of proxies whose `X-Forwarded-For` is trusted; none by default. */
  readonly trustProxy?: readonly string[]
  /** Sends HSTS; for servers behind HTTPS. */
  readonly strictTransportSecurity?: boolean
  readonly onRequest?: OnRequest
  readonly onUnreadable?: UnreadableOptions['onUnreadable']
  readonly onStranger?: (outcome: StrangerOutcome) => void
  /** Limits for callers without valid credentials; {@link STRANGER_BOUNDS} by default. */
  readonly strangerBounds?: StrangerBounds
  readonly pause?: Pick<Pause, 'for'>
  readonly refusedThrottle?: LogThrottle
}

export type HttpServer = FastifyInstance & {
  /** From now on every answer closes its connection. New connections are accepted until `close()`. */
  beginDrain(): void
}

/**
 * Builds the HTTP server without listening: every endpoint bound to its handler, every failure answered as
 * problem+json.
 * @throws Error when an endpoint's schema is invalid
 * @source rules#http.1, rules#http.2
 */
export function createHttpServer(given: HttpServerOptions): HttpServer {
  const options = { ...given, refusedThrottle: given.refusedThrottle ?? createRefusedThrottle() }
  const connections = createConnections(options.eventLoop)
  const { trustProxy: proxies = [], strangerBounds: bounds = STRANGER_BOUNDS, pause, onStranger } = options
  const strangers = new Strangers({ ...options, bounds, connections, proxies, pause, onStranger })
  const app = createApp(options, connections, strangers)
  app.addHook('onRequest', (request, reply, done) => {
    request.readAt = performance.now()
    setStandardHeaders(options, reply)
    const fault = transportFault(request.raw)
    if (fault || request.raw.httpVersion === '1.0') reply.header('connection', 'close')
    done(fault ? new Refusal('validation_error', { message: fault }) : undefined)
  })
  reportRequests(app, options)
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error)
    if (refusal.code === 'internal_error') logFailure(options.logger, request, error)
    sendProblem(reply, refusal, request.id)
  })
  app.setNotFoundHandler((request, reply) => {
    const allowed = allowedMethods(app, request.url)
    if (allowed.length === 0) throw new Refusal('not_found')
    reply.header('allow', allowed.join(', '))
    throw new Refusal('method_not_allowed')
  })

  for (const bound of options.endpoints) app.route(endpointRoute(bound, { ...options, strangers }))
  return Object.assign(app, { beginDrain: connections.beginDrain })
}

type AppOptions = HttpServerOptions & { readonly refusedThrottle: LogThrottle }

/** Fastify without routes and without its own handling of bodies and connections. */
function createApp(options: AppOptions, connections: Connections, strangers: Strangers): FastifyInstance {
  const { ids, trustProxy, eventLoop, strangerBounds = STRANGER_BOUNDS } = options
  const onUnfinished = (socket: Socket) => strangers.unfinished(socket)
  const app = fastify({
    ...FASTIFY_SETTINGS,
    serverFactory: (handle) => {
      const server = createNodeServer(eventLoop, strangerBounds.connectionsMax)
      server.on('connection', (socket) => strangers.accept(socket))
      // A silent connection stays open while its request is handled: a deep page waits for its turn.
      server.on('timeout', (socket) => void (connections.isAnswering(socket) || socket.destroy()))
      return server.on('request', connections.oneAtATime(handle))
    },
    // Fastify would compute the client's address on every access for an empty list.
    trustProxy: trustProxy && trustProxy.length > 0 ? [...trustProxy] : false,
    genReqId: (request) => correlationIdOf(request, ids),
    clientErrorHandler: createClientErrorHandler({ ...options, connections, onUnfinished }),
    frameworkErrors: (_error, request, reply) => {
      setStandardHeaders(options, reply)
      sendProblem(reply, new Refusal('validation_error', { message: 'the path is not valid' }), request.id)
      reportRequest(options, request, reply)
    },
  })
  // Disables Fastify's handling of bodies and content types: each route reads its own body.
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  return app
}

function setStandardHeaders(options: AppOptions, reply: FastifyReply): void {
  reply.header(CORRELATION_HEADER, reply.request.id)
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  if (options.strictTransportSecurity) reply.header('strict-transport-security', ONE_YEAR_OF_HTTPS)
  // After an upgrade that was not accepted, Node ignores bytes that are not HTTP until a time-out.
  if (reply.request.headers.upgrade !== undefined) reply.header('connection', 'close')
}

/** Turns an error into the refusal that the client sees. Unexpected errors reveal nothing. @source rules#http.9 */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  return isPassing(error) ? new Refusal('overloaded', { retryAfterSeconds: 1 }) : new Refusal('internal_error')
}

/** The same request may succeed soon. */
export function isPassing(error: unknown): boolean {
  return PASSING.some((kind) => error instanceof kind) || isRetryableConflict(error)
}

const PASSING = [DatabaseUnavailable, QueueFull, NoLongerWanted] as const

const FASTIFY_SETTINGS = {
  // Requests on open connections are still answered while the server closes, each with `Connection: close`.
  return503OnClosing: false,
  // The parameter's schema limits its length.
  routerOptions: { maxParamLength: 16_384 },
} as const

const ONE_YEAR_OF_HTTPS = 'max-age=31536000; includeSubDomains'

/** The methods of a path. @source rules#http.8 */
function allowedMethods(app: FastifyInstance, url: string): readonly string[] {
  return METHODS.filter((method) => app.findRoute({ method, url }) !== null)
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const

/**
 * Node's server with our limits. It emits every request, including those that Node keeps from listeners.
 * @param connectionsMax further connections are refused before anything is read
 * @source rules#http.13
 */
function createNodeServer(eventLoop: EventLoop, connectionsMax: number): Server {
  const server = createServer(SETTINGS)
  server.setTimeout(SILENCE_MS)
  server.maxConnections = connectionsMax
  server.maxHeadersCount = MAX_HEADERS
  // A client may half-close after its request and still wait for the answer; by default Node drops both directions.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket) => {
    eventLoop.noteConnection()
    socket.destroySoon = endGently
  })
  // Node itself would answer 417 without a body and without our headers.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (request, socket) => emitConnect(server, request, socket as Socket))
  return server
}

/**
 * Ends a connection after its last answer; also called by Node. A connection closed on unread bytes is reset, and a
 * client that is still writing loses answers it has not read. So input is discarded until the client closes, a time-out
 * ends or there is too much of it.
 * @source rules#http.17
 */
function endGently(this: Socket): void {
  if (!this.writable) return
  this.end()
  this.once(
    'close',
    startTimer(LINGER_MS, () => this.destroy()),
  )
  // Only Node's parser can resume paused reading, and it yields to a listener.
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

/** Answers CONNECT. Node would drop the connection with all pending answers; it has already released it. */
function emitConnect(server: Server, request: IncomingMessage, socket: Socket): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.on('finish', () => socket.destroySoon())
  for (const end of ['error', 'timeout']) socket.on(end, () => socket.destroy())
  // Discards bytes meant for another host.
  socket.resume()
  server.emit('request', request, response)
}

const SETTINGS = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // A missing Host is refused by our own code, as a problem.
  requireHostHeader: false,
} as const

const SILENCE_MS = 20_000
const LINGER_MS = 2_000
const LINGER_MAX_BYTES = 16 * 1_024 * 1_024
const MAX_HEADERS = 100

/**
 * Finds what Node's parser accepts but a proxy's parser might read differently: the basis of request smuggling.
 * @returns the fault for the client, or `undefined`
 * @source rules#http.10
 */
function transportFault({ httpVersion, rawHeaders, headers, url = '' }: IncomingMessage): string | undefined {
  // HAProxy's plain check speaks HTTP/1.0 and sends no Host.
  const isPlainCheck = httpVersion === '1.0' && HEALTH_PATHS.includes(url)
  if (httpVersion !== '1.1' && !isPlainCheck) return 'HTTP/1.1 is required'
  if (!url.startsWith('/')) return 'the request target must be a path'
  if (countHeader(rawHeaders, 'host') !== 1 && !isPlainCheck) return 'exactly one Host header is required'
  if (countHeader(rawHeaders, 'transfer-encoding') > 1) return 'Transfer-Encoding was sent twice'
  // Node decodes the chunks and passes on any other encoding as part of the body.
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return undefined
  if (headers['transfer-encoding'] !== undefined) return 'Transfer-Encoding must be chunked, and nothing else'
  return undefined
}

const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz']

/**
 * Counts occurrences of a header. Node itself keeps one of several or joins them.
 * @param rawHeaders alternating names and values
 * @param name in lower case
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at]
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1
  }
  return count
}

/** Local URL of a listener. An unspecified address is reached by loopback. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function listeningUrl(server: Pick<Server, 'address'>): string | undefined {
  const address = server.address()
  if (address === null || typeof address === 'string') return undefined
  return urlOf({ host: address.address, port: address.port })
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
}

interface Connection {
  readonly socket: Socket
  current?: Exchange | undefined
  readonly waiting: Exchange[]
  /** No request after this one is handled. */
  last?: Exchange
  /** A request answered before it had fully arrived. */
  unread?: IncomingMessage | undefined
  count: number
  isHeld: boolean
  /** Whether bytes arrived that are not a request. */
  isEnding: boolean
  /** Whether no more requests are emitted. */
  isEnded: boolean
}

/** Maximum of requests per connection. @source rules#http.13 */
const REQUESTS_MAX = 1_000

/** Reading pauses when this many requests wait on a connection. */
const WAITING_MAX = 100

/** Reading times of requests that had to wait. */
const readings = new WeakMap<IncomingMessage, Omit<Reading, 'isWhole'>>()

/** Reading time of a request that waited for its turn; to be called when it begins. */
export function readingOf(request: IncomingMessage): Reading | undefined {
  const reading = readings.get(request)
  return reading && { ...reading, isWhole: request.complete }
}

export type Connections = ReturnType<typeof createConnections>

/**
 * The connections of a server. Each carries out one request at a time, after the previous answer. Node alone would emit
 * all requests it has read, even those after an answer that closes the connection, and drop their answers.
 * @source rules#http.17, failure-modes#PL-63
 */
function createConnections(loop: EventLoop) {
  const open = new Map<Socket, Connection>()
  let isDraining = false

  function accept(exchange: Exchange): void {
    const connection = connectionOf(open, exchange.request.socket)
    // An unread body would block the bytes that are to be discarded.
    if (connection.isEnded) exchange.request.resume()
    else if (connection.current) wait(loop, connection, exchange)
    else begin(connection, exchange)
  }

  function begin(connection: Connection, exchange: Exchange): void {
    const { request, response, handle } = exchange
    connection.current = exchange
    connection.count += 1
    if (isDraining || connection.count === REQUESTS_MAX) makeLast(connection, exchange)
    response.on('close', () => end(connection, exchange))
    // CONNECT: Node has detached the socket.
    if (!response.socket) response.assignSocket(connection.socket)
    handle(request, response)
  }

  function end(connection: Connection, exchange: Exchange): void {
    const { socket, waiting } = connection
    connection.current = undefined
    connection.unread = exchange.request.complete ? undefined : exchange.request
    // Node has already ended a connection whose answer said so.
    if (exchange === connection.last || !socket.writable) endConnection(connection)
    const next = waiting.shift()
    if (next) begin(connection, next)
    if (waiting.length < WAITING_MAX) release(connection)
  }

  return {
    /** Wraps a handler so that requests wait for their turn. */
    oneAtATime:
      (handle: RequestListener): RequestListener =>
      (request, response) =>
        accept({ request, response, handle }),
    /**
     * Closes a connection after its last complete request.
     * @returns whether that request is or was answered; then the bytes after it get no answer
     */
    endBehindWhole: (socket: Socket): boolean => endBehindWhole(connectionOf(open, socket)),
    /** Makes the current request of a connection its last. */
    endBehindCurrent: (socket: Socket): void => makeCurrentLast(open.get(socket)),
    /** Whether a complete request on the connection is being handled. */
    isAnswering: (socket: Socket): boolean => isUnderWay(open.get(socket)?.current),
    /** Makes each current request the last of its connection. */
    beginDrain: (): void => {
      isDraining = true
      for (const connection of open.values()) makeCurrentLast(connection)
    },
  }
}

function connectionOf(open: Map<Socket, Connection>, socket: Socket): Connection {
  const known = open.get(socket)
  if (known) return known
  const connection = { socket, waiting: [], count: 0, isHeld: false, isEnding: false, isEnded: false }
  open.set(socket, connection)
  socket.once('close', () => open.delete(socket))
  return connection
}

function wait(loop: EventLoop, connection: Connection, exchange: Exchange): void {
  readings.set(exchange.request, { mark: loop.mark(), at: loop.now() })
  connection.waiting.push(exchange)
  if (connection.waiting.length >= WAITING_MAX) hold(connection)
}

function isUnderWay(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded
}

function makeLast(connection: Connection, exchange: Exchange): void {
  connection.last = exchange
  if (!exchange.response.headersSent) exchange.response.setHeader('connection', 'close')
}

function makeCurrentLast(connection: Connection | undefined): void {
  if (connection?.current) makeLast(connection, connection.current)
}

function endConnection(connection: Connection): void {
  connection.isEnded = true
  for (const { request } of connection.waiting.splice(0)) request.resume()
  connection.socket.destroySoon()
}

function endBehindWhole(connection: Connection): boolean {
  // Each further packet of garbage is another error.
  if (connection.isEnding) return true
  connection.isEnding = true
  const { current, waiting, unread } = connection
  const last = [...(current ? [current] : []), ...waiting].findLast(({ request }) => request.complete)
  if (last) {
    makeLast(connection, last)
    return true
  }
  connection.isEnded = true
  // The bytes may belong to a request answered before it fully arrived, for example one without credentials.
  const wasAnswered = current?.response.headersSent || unread?.complete === false
  if (wasAnswered) connection.socket.destroySoon()
  return wasAnswered
}

function hold(connection: Connection): void {
  if (connection.isHeld) return
  connection.isHeld = true
  // Without a listener, Node's parser reads the socket itself and ignores pauses.
  connection.socket.on('data', ignore).off('data', ignore)
  connection.socket.on('resume', stayHeld).pause()
}

function ignore(): void {}

/** Node resumes reading after each request. */
function stayHeld(this: Socket): void {
  this.pause()
}

function release(connection: Connection): void {
  if (!connection.isHeld) return
  connection.isHeld = false
  connection.socket.off('resume', stayHeld).resume()
}
