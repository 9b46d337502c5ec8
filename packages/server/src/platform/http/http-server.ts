import { Refusal } from '@pixgate/spec'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { DatabaseUnavailable, isRetryableConflict, NoLongerWanted } from '../db/errors.ts'
import type { EventLoop } from '../event-loop.ts'
import type { Heartbeat } from '../heartbeat.ts'
import type { Ids } from '../ids.ts'
import { QueueFull } from '../jobs/batcher.ts'
import type { Pause } from '../jobs/pause.ts'
import type { Logger } from '../log.ts'
import { createClientErrorHandler } from './client-error.ts'
import { type Connections, createConnections } from './connections.ts'
import { CORRELATION_HEADER, correlationIdOf } from './correlation-id.ts'
import { type BoundEndpoint, bindEndpoints, endpointRoute } from './endpoint-route.ts'
import type { Authenticators, EndpointTable, Handlers } from './handler.ts'
import { createNodeServer } from './node-server.ts'
import { sendProblem } from './problem.ts'
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
import { transportFault } from './transport.ts'

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
