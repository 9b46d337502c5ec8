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
import type { EventLoop, Heartbeat } from '../runtime.ts'
import {
  type BoundEndpoint,
  bindEndpoints,
  CORRELATION_HEADER,
  correlationIdOf,
  endpointRoute,
} from './endpoint-route.ts'
import type { Authenticators, Caller, EndpointTable, Handlers } from './handler.ts'
import { createClientErrorHandler, sendProblem } from './problem.ts'
import {
  createRefusedHeartbeat,
  createUnreadableReport,
  logFailure,
  type OnRequest,
  type OnUnreadable,
  reportRequest,
  reportRequests,
} from './request-log.ts'
import { createStrangerReport, type OnStranger } from './stranger-report.ts'
import { createStrangers, STRANGER_BOUNDS, type StrangerBounds, type Strangers } from './strangers.ts'

/** What an HTTP server is made of. */
export interface HttpServerOptions<Table extends EndpointTable> {
  readonly endpoints: Table
  readonly handlers: Handlers<Table>
  readonly authenticate: Authenticators
  readonly logger: Logger
  readonly ids: Ids
  /** Tells what was read after this process had slept. */
  readonly eventLoop: EventLoop
  /** Addresses or CIDRs of the proxies whose `X-Forwarded-For` is believed; nobody's where absent. */
  readonly trustProxy?: readonly string[]
  /** Whether browsers are told to use HTTPS only; for servers that stand behind it. */
  readonly strictTransportSecurity?: boolean
  /** Endpoints besides, such as a sandbox's controls. */
  readonly added?: readonly BoundEndpoint[]
  readonly onRequest?: OnRequest
  readonly onUnreadable?: OnUnreadable
  readonly onStranger?: OnStranger
  /** What those may take who show no right credentials; {@link STRANGER_BOUNDS} where absent. */
  readonly strangerBounds?: StrangerBounds
  readonly pause?: Pick<Pause, 'for'>
  readonly refusedHeartbeat?: Heartbeat
}

/** A server that can be told to empty itself. */
export type HttpServer = FastifyInstance & {
  /** From now on every answer closes its connection; new connections are still taken until `close()`. */
  beginDrain(): void
}

/**
 * Builds the HTTP server: every endpoint bound to its handler, every failure answered as problem+json. It does not
 * listen yet.
 * @throws Error where an endpoint's schema is at fault
 * @source rules#http.1, rules#http.2
 */
export function createHttpServer<const Table extends EndpointTable>(given: HttpServerOptions<Table>): HttpServer {
  const options = { ...given, refusedHeartbeat: given.refusedHeartbeat ?? createRefusedHeartbeat() }
  const connections = createConnections(options.eventLoop)
  const strangers = strangersOf(options, connections)
  const app = createApp(options, connections, strangers)
  app.addHook('onRequest', (request, reply, done) => {
    request.readAt = performance.now()
    setStandardHeaders(options, reply)
    const fault = transportFault(request.raw)
    if (fault) reply.header('connection', 'close')
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

  for (const bound of [...bindEndpoints(options.endpoints, options.handlers), ...(options.added ?? [])]) {
    app.route(endpointRoute(bound, { ...options, strangers }))
  }
  return Object.assign(app, { beginDrain: connections.beginDrain })
}

/** What an answer depends on whatever was asked. */
type AppOptions = Omit<HttpServerOptions<EndpointTable>, 'endpoints' | 'handlers'> & {
  readonly refusedHeartbeat: Heartbeat
}

function strangersOf(options: AppOptions, connections: Connections): Strangers {
  const { eventLoop, logger, onStranger, trustProxy = [], strangerBounds = STRANGER_BOUNDS, pause } = options
  return createStrangers({
    bounds: strangerBounds,
    connections,
    eventLoop,
    proxies: trustProxy,
    pause,
    report: createStrangerReport(logger, onStranger),
  })
}

/** Fastify without routes, and without its own ideas of bodies and connections. */
function createApp(options: AppOptions, connections: Connections, strangers: Strangers): FastifyInstance {
  const { ids, logger, trustProxy, eventLoop, onUnreadable, strangerBounds = STRANGER_BOUNDS } = options
  const reportUnreadable = createUnreadableReport(logger, onUnreadable)
  const app = fastify({
    ...FASTIFY_SETTINGS,
    serverFactory: (handle) => {
      const server = createNodeServer(eventLoop, strangerBounds.connectionsMax)
      strangers.watch(server)
      // What is carried out may last: a deep page waits for its turn.
      server.on('timeout', (socket) => void (connections.isAnswering(socket) || socket.destroy()))
      return server.on('request', connections.oneAtATime(handle))
    },
    // An empty list is believed like any other: whose address it is would be worked out anew each time that it is asked for.
    trustProxy: trustProxy && trustProxy.length > 0 ? [...trustProxy] : false,
    genReqId: (request) => correlationIdOf(request, ids),
    clientErrorHandler: createClientErrorHandler(connections, ids, reportUnreadable, strangers.unfinished),
    frameworkErrors: (_error, request, reply) => {
      setStandardHeaders(options, reply)
      sendProblem(reply, new Refusal('validation_error', { message: 'the path is not valid' }), request.id)
      reportRequest(options, request, reply)
    },
  })
  // Fastify's rules for bodies and content types are not ours: to it no method has a body, each route reads its own.
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  return app
}

function setStandardHeaders(options: AppOptions, reply: FastifyReply): void {
  reply.header(CORRELATION_HEADER, reply.request.id)
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  if (options.strictTransportSecurity) reply.header('strict-transport-security', ONE_YEAR_OF_HTTPS)
  // Behind an upgrade that was not taken up, Node overlooks what is no HTTP until its time is over.
  if (reply.request.headers.upgrade !== undefined) reply.header('connection', 'close')
}

/** What can only be tried again later is one refusal; what nobody foresaw tells the client nothing. @source rules#http.9 */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const isPassing = PASSING.some((kind) => error instanceof kind) || isRetryableConflict(error)
  return isPassing ? new Refusal('overloaded', { retryAfterSeconds: 1 }) : new Refusal('internal_error')
}

const PASSING = [DatabaseUnavailable, QueueFull, NoLongerWanted] as const

const FASTIFY_SETTINGS = {
  // While the server closes, requests on open connections are still answered, each with `Connection: close`.
  return503OnClosing: false,
  // How long a parameter may be is its schema's to say.
  routerOptions: { maxParamLength: 16_384 },
} as const

const ONE_YEAR_OF_HTTPS = 'max-age=31536000; includeSubDomains'

/** The methods that a path answers. @source rules#http.8 */
function allowedMethods(app: FastifyInstance, url: string): readonly string[] {
  return METHODS.filter((method) => app.findRoute({ method, url }) !== null)
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const

/**
 * Node's own server with our limits, in which every request is emitted as one, also those that Node keeps from its listeners.
 * @param connectionsMax one more than these is refused before anything is known of it
 * @source rules#http.13
 */
function createNodeServer(eventLoop: EventLoop, connectionsMax: number): Server {
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

/**
 * What Node's parser lets pass and another parser in front of us might read otherwise: the stuff of request smuggling.
 * @returns what is wrong, for the client to read, or `undefined`
 * @source rules#http.10
 */
function transportFault({ httpVersion, rawHeaders, headers, url = '' }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1') return 'HTTP/1.1 is required'
  if (!url.startsWith('/')) return 'the request target must be a path'
  if (countHeader(rawHeaders, 'host') !== 1) return 'exactly one Host header is required'
  if (countHeader(rawHeaders, 'transfer-encoding') > 1) return 'Transfer-Encoding was sent twice'
  // Node decodes the chunks and hands on what else was done to the body as the body itself.
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return undefined
  if (headers['transfer-encoding'] !== undefined) return 'Transfer-Encoding must be chunked, and nothing else'
  return undefined
}

/**
 * How often a header was sent. Node keeps one of several or joins them.
 * @param rawHeaders names and values in turn
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

/** Where this machine reaches what listens there: every address of the machine is reached by loopback. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Where this machine reaches a server; nothing where it listens on no port. */
export function listeningUrl(server: Pick<Server, 'address'>): string | undefined {
  const address = server.address()
  if (address === null || typeof address === 'string') return undefined
  return urlOf({ host: address.address, port: address.port })
}

/**
 * The connections of a server, on each of which one request is carried out at a time: when the one before it has been answered.
 * Node by itself hands on all that it has read, also what stands behind an answer that closes the connection, and drops
 * those answers.
 * @source rules#http.17, failure-modes#PL-63
 */
export interface Connections {
  /** What is done about a request, made to wait for its turn. */
  oneAtATime(handle: RequestListener): RequestListener
  /**
   * Lets a connection end behind the last request on it that has arrived whole.
   * @returns whether it is answered, or was before: then there is nothing else to say to whatever came behind it
   */
  endBehindWhole(socket: Socket): boolean
  /** The request that is being carried out on it is its last. */
  endBehindCurrent(socket: Socket): void
  /** Whether a request that has arrived whole is being carried out on it. */
  isAnswering(socket: Socket): boolean
  /** From now on a request that is under way is the last of its connection. */
  beginDrain(): void
}

/** A request, and what is done about it in its turn. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
}

/** The requests of one connection. */
interface Connection {
  readonly socket: Socket
  /** What is carried out, or just being answered. */
  current?: Exchange | undefined
  readonly waiting: Exchange[]
  /** Behind this one nothing is carried out. */
  last?: Exchange
  /** What was answered before it had arrived. */
  unread?: IncomingMessage | undefined
  /** How many have been handed on. */
  count: number
  /** Whether no more is read for now. */
  isHeld: boolean
  /** Whether something came that is no request. */
  isEnding: boolean
  /** Whether nothing is handed on any more. */
  isEnded: boolean
}

/** How many requests a connection carries. @source rules#http.13 */
const REQUESTS_MAX = 1_000

/** Once so many wait on a connection, no more is read from it. */
const WAITING_MAX = 100

/** When those were read that had to wait. */
const readings = new WeakMap<IncomingMessage, Omit<Reading, 'isWhole'>>()

/** When a request was read, where it had to wait for its turn; to be asked when that has come. */
export function readingOf(request: IncomingMessage): Reading | undefined {
  const reading = readings.get(request)
  return reading && { ...reading, isWhole: request.complete }
}

/** Keeps the connections of a server. */
function createConnections(loop: EventLoop): Connections {
  const open = new Map<Socket, Connection>()
  let isDraining = false

  function connectionOf(socket: Socket): Connection {
    const known = open.get(socket)
    if (known) return known
    const connection = { socket, waiting: [], count: 0, isHeld: false, isEnding: false, isEnded: false }
    open.set(socket, connection)
    socket.once('close', () => open.delete(socket))
    return connection
  }

  function accept(exchange: Exchange): void {
    const connection = connectionOf(exchange.request.socket)
    // A body that nobody reads would hold up what is to be thrown away.
    if (connection.isEnded) exchange.request.resume()
    else if (connection.current) wait(connection, exchange)
    else begin(connection, exchange)
  }

  function wait(connection: Connection, exchange: Exchange): void {
    readings.set(exchange.request, { mark: loop.mark(), at: loop.now() })
    connection.waiting.push(exchange)
    if (connection.waiting.length >= WAITING_MAX) hold(connection)
  }

  function begin(connection: Connection, exchange: Exchange): void {
    const { request, response, handle } = exchange
    connection.current = exchange
    connection.count += 1
    if (isDraining || connection.count === REQUESTS_MAX) makeLast(connection, exchange)
    response.on('close', () => end(connection, exchange))
    // Of a request that Node has nothing to do with any more, which is CONNECT.
    if (!response.socket) response.assignSocket(connection.socket)
    handle(request, response)
  }

  function end(connection: Connection, exchange: Exchange): void {
    const { socket, waiting } = connection
    connection.current = undefined
    connection.unread = exchange.request.complete ? undefined : exchange.request
    // Node has ended a connection by now whose answer said so.
    if (exchange === connection.last || !socket.writable) endConnection(connection)
    const next = waiting.shift()
    if (next) begin(connection, next)
    if (waiting.length < WAITING_MAX) release(connection)
  }

  return {
    oneAtATime: (handle) => (request, response) => accept({ request, response, handle }),
    endBehindWhole: (socket) => endBehindWhole(connectionOf(socket)),
    endBehindCurrent: (socket) => makeCurrentLast(open.get(socket)),
    isAnswering: (socket) => isUnderWay(open.get(socket)?.current),
    beginDrain: () => {
      isDraining = true
      for (const connection of open.values()) makeCurrentLast(connection)
    },
  }
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
  // Of what is no HTTP every further packet is another error.
  if (connection.isEnding) return true
  connection.isEnding = true
  const { current, waiting, unread } = connection
  const last = [...(current ? [current] : []), ...waiting].findLast(({ request }) => request.complete)
  if (last) {
    makeLast(connection, last)
    return true
  }
  connection.isEnded = true
  // The bytes belong to a request that was answered before it had arrived, as one without credentials is.
  const wasAnswered = current?.response.headersSent || unread?.complete === false
  if (wasAnswered) connection.socket.destroySoon()
  return wasAnswered
}

function hold(connection: Connection): void {
  if (connection.isHeld) return
  connection.isHeld = true
  // Node's parser reads by itself, past every pause, as long as nobody listens.
  connection.socket.on('data', ignore).off('data', ignore)
  connection.socket.on('resume', stayHeld).pause()
}

function ignore(): void {}

/** Node by itself goes on reading behind each request. */
function stayHeld(this: Socket): void {
  this.pause()
}

function release(connection: Connection): void {
  if (!connection.isHeld) return
  connection.isHeld = false
  connection.socket.off('resume', stayHeld).resume()
}

/**
 * Connections on which right credentials were shown: so many of one credential, and so many of all API keys together. Whoever has
 * stolen one shuts nobody out but its owner; the rest is there for the bank and for operators, who take the key away.
 * @source rules#strangers.4
 */
export interface ProvenConnections {
  /**
   * Counts a connection for the first credentials that were shown on it, until it is closed.
   * @returns whether there was a place for it
   */
  prove(socket: Socket, caller: Pick<Caller, 'credential' | 'id'>): boolean
  has(socket: Socket): boolean
}

/** How many connections with right credentials there may be. */
export interface ProvenBounds {
  /** With the same ones. */
  readonly provenOfCredentialMax: number
  /** With API keys, whichever. */
  readonly clientsMax: number
}

/** Begins with none. */
export function createProvenConnections(bounds: ProvenBounds): ProvenConnections {
  const proven = new WeakSet<Socket>()
  const counts = new Map<string, number>()

  const countOf = (name: string) => counts.get(name) ?? 0

  function add(name: string, change: 1 | -1): void {
    const count = countOf(name) + change
    if (count > 0) counts.set(name, count)
    else counts.delete(name)
  }

  return {
    prove: (socket, { credential, id }) => {
      if (proven.has(socket)) return true
      const own = `${credential} ${id}`
      const isClient = credential === 'api-key'
      if (countOf(own) >= bounds.provenOfCredentialMax) return false
      if (isClient && countOf(CLIENTS) >= bounds.clientsMax) return false
      // Of one that was closed meanwhile the end would never be told.
      if (socket.destroyed) return true
      const names = isClient ? [own, CLIENTS] : [own]
      for (const name of names) add(name, 1)
      socket.once('close', () => names.forEach((name) => void add(name, -1)))
      proven.add(socket)
      return true
    },
    has: (socket) => proven.has(socket),
  }
}

/** What all connections with API keys are counted under; the name of one credential has a space in it. */
const CLIENTS = 'clients'
