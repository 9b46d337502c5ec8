import type { Endpoint } from '@pixgate/spec'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../runtime.ts'
import type { Caller } from './handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isReported: boolean
    /** By the monotonic clock, when it was read; 0: it was no request that a route could be looked for. */
    readAt: number
    /** Whose route took it; `undefined`: none did, or it was refused before. */
    endpoint: Endpoint | undefined
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
  app.decorateRequest('endpoint', undefined)
  app.decorateRequest('readAt', 0)
  // Not by `onResponse`: for that Fastify listens by itself, and stops listening, at each answer.
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply
    const end = () => report(request, reply)
    if (raw.destroyed) end()
    else raw.on('finish', end).on('close', end)
    done(null, payload)
  })
}

/** Reports a request: its line in the log, and whoever counts. */
export function reportRequest(observers: RequestObservers, request: FastifyRequest, reply: FastifyReply): void {
  // Fastify makes its `routeOptions` anew each time.
  const endpoint = request.endpoint ?? request.routeOptions.config.endpoint
  const durationMs = request.readAt ? performance.now() - request.readAt : 0
  const { statusCode: status } = reply.raw
  logRequest(observers, request, { endpoint, status, durationMs })
  // Of a route that nobody declared not even the method is one of few.
  const [method, route] = endpoint ? [endpoint.method, endpoint.path] : ['any', 'unknown']
  observers.onRequest?.(method, route, status, durationMs)
}

/** How a request was answered. */
interface Answered {
  readonly endpoint: Endpoint | undefined
  readonly status: number
  readonly durationMs: number
}

/**
 * Writes the one line of a request. The route as declared and never the URL, which carries ids; no header, no body. Who
 * called, and from where, as far as it is known.
 * @source rules#logs.1, rules#logs.7, rules#logs.8
 */
function logRequest(
  { logger, refusedHeartbeat }: RequestObservers,
  request: FastifyRequest,
  { endpoint, status, durationMs }: Answered,
): void {
  const { caller } = request
  const isProgram = caller?.credential === 'api-key'
  const line = {
    correlationId: request.id,
    method: request.method,
    route: endpoint?.path,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    apiKeyId: isProgram ? caller.id : undefined,
    operatorId: isProgram ? undefined : caller?.id,
    address: caller && request.ip,
  }
  if (REFUSED.has(status)) {
    refusedHeartbeat.report(String(status), (more) => logger.info(line, `request${andMore(more, 'second')}`))
  } else if (endpoint?.tag === 'Health') logger.debug(line, 'request')
  else logger.info(line, 'request')
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
