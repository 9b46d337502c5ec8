import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { andMore, createHeartbeat, type Heartbeat } from '../heartbeat.ts'
import type { Logger } from '../log.ts'
import type { Caller } from './handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isReported: boolean
    /** Whose token it has; `undefined`: none that is known. */
    caller: Caller | undefined
  }
}

/** Is told of requests. */
export interface RequestObservers {
  readonly logger: Logger
  readonly onRequest?: OnRequest
  /** Keeps those who are let nowhere from flooding the log. */
  readonly refusedHeartbeat: Heartbeat
}

/** Of requests that anybody can send as often as a connection carries them. @source rules#logs.8 */
export function createRefusedHeartbeat(start?: Parameters<typeof createHeartbeat>[0]): Heartbeat {
  return createHeartbeat(start, 1_000)
}

/**
 * Is told of every request that was answered; throws nothing. `route` is the path as declared, `unknown` for any other.
 */
export type OnRequest = (method: string, route: string, status: number, durationMs: number) => void

/**
 * Reports every request of a server, once: when it is answered, or when there is an answer and nobody to take it any more,
 * which Fastify does not notice.
 * @source rules#logs.3
 */
export function reportRequests(app: FastifyInstance, observers: RequestObservers): void {
  const report = (request: FastifyRequest, reply: FastifyReply) => {
    if (request.isReported) return
    request.isReported = true
    reportRequest(observers, request, reply)
  }
  app.decorateRequest('isReported', false)
  app.decorateRequest('caller', undefined)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.raw.destroyed) report(request, reply)
    else reply.raw.on('close', () => report(request, reply))
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    report(request, reply)
    done()
  })
}

/** Reports a request: its line in the log, and whoever counts. */
export function reportRequest(observers: RequestObservers, request: FastifyRequest, reply: FastifyReply): void {
  logRequest(observers, request, reply)
  const { endpoint } = request.routeOptions.config
  // Of a route that nobody declared not even the method is one of few.
  const [method, route] = endpoint ? [endpoint.method, endpoint.path] : ['any', 'unknown']
  observers.onRequest?.(method, route, reply.statusCode, reply.elapsedTime)
}

/**
 * Writes the one line of a request. The route as declared and never the URL, which carries ids; no header, no body. Who
 * called, and from where, as far as it is known.
 * @source rules#logs.1, rules#logs.7, rules#logs.8
 */
function logRequest(
  { logger, refusedHeartbeat }: RequestObservers,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { endpoint } = request.routeOptions.config
  const line = {
    correlationId: request.id,
    method: request.method,
    route: endpoint?.path,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    ...callerFields(request),
  }
  if (REFUSED.has(line.status)) {
    refusedHeartbeat.report(String(line.status), (more) => logger.info(line, `request${andMore(more, 'second')}`))
  } else if (endpoint?.tag === 'Health') logger.debug(line, 'request')
  else logger.info(line, 'request')
}

function callerFields({ caller, ip: address }: FastifyRequest): Readonly<Record<string, string>> {
  if (!caller) return {}
  return caller.credential === 'api-key' ? { apiKeyId: caller.id, address } : { operatorId: caller.id, address }
}
const REFUSED: ReadonlySet<number> = new Set([401, 429])

/** What came on a connection and could not be read as a request. */
export interface Unreadable {
  readonly correlationId: string
  /** How it was answered. */
  readonly status: number
  /** Node's word for what is wrong. */
  readonly reason: string
}

/** Reports what could not be read. */
export type ReportUnreadable = (unreadable: Unreadable) => void

/** Is told of each answer to what could not be read; throws nothing. */
export type OnUnreadable = (status: number) => void

/** Makes the reports: anybody can provoke them, so they are a line at the first of a status, and then one a minute. @source rules#logs.3 */
export function createUnreadableReport(logger: Logger, onUnreadable?: OnUnreadable): ReportUnreadable {
  const heartbeat = createHeartbeat()
  return (unreadable) => {
    onUnreadable?.(unreadable.status)
    const sentence = 'what came on a connection cannot be read as a request: it was answered, and the connection closed'
    heartbeat.report(String(unreadable.status), (more) => logger.info(unreadable, sentence + andMore(more)))
  }
}

/**
 * Writes what broke while a request was answered. Of the error only what is known to be harmless: a driver's errors
 * carry rows.
 */
export function logFailure(logger: Logger, request: FastifyRequest, error: unknown): void {
  const { endpoint } = request.routeOptions.config
  logger.error(
    { correlationId: request.id, method: request.method, route: endpoint?.path, error: describe(error) },
    'request failed',
  )
}

function describe(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error ? error.code : undefined
  return { type: error.name, code, message: error.message, stack: error.stack }
}
