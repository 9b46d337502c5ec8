import type { Endpoint } from '@pixgate/spec'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../log.ts'
import { andMore, createLogThrottle, type LogThrottle } from '../runtime.ts'
import type { Caller } from './handler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isReported: boolean
    /** Time of reading, by the monotonic clock; 0 when no route could be looked up. */
    readAt: number
    /** Endpoint of the route; `undefined` when none matched or the request was refused earlier. */
    endpoint: Endpoint | undefined
    caller: Caller | undefined
  }
}

export interface RequestObservers {
  readonly logger: Logger
  readonly onRequest?: OnRequest
  /** Keeps refused callers from flooding the log. */
  readonly refusedThrottle: LogThrottle
}

/** For requests that anyone can send without credentials, as fast as a connection carries them. @source rules#logs.8 */
export function createRefusedThrottle(start?: Parameters<typeof createLogThrottle>[0]): LogThrottle {
  return createLogThrottle(start, 1_000)
}

/** Called for every answered request; must not throw. `route` is the declared path, or `unknown`. */
export type OnRequest = (method: string, route: string, status: number, durationMs: number) => void

/**
 * Reports every request once: when it is answered, or when its client has gone before the answer, which Fastify does
 * not notice.
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
  // Avoids `onResponse`, for which Fastify adds and removes a listener with each answer.
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply
    const end = () => report(request, reply)
    if (raw.destroyed) end()
    else raw.on('finish', end).on('close', end)
    done(null, payload)
  })
}

export function reportRequest(observers: RequestObservers, request: FastifyRequest, reply: FastifyReply): void {
  // Fastify builds `routeOptions` on each access.
  const endpoint = request.endpoint ?? request.routeOptions.config.endpoint
  const durationMs = request.readAt ? performance.now() - request.readAt : 0
  const { statusCode: status } = reply.raw
  logRequest(observers, request, { endpoint, status, durationMs })
  // Undeclared routes have arbitrary methods: one label for all.
  const [method, route] = endpoint ? [endpoint.method, endpoint.path] : ['any', 'unknown']
  observers.onRequest?.(method, route, status, durationMs)
}

interface Answered {
  readonly endpoint: Endpoint | undefined
  readonly status: number
  readonly durationMs: number
}

/**
 * Writes the log line of a request: the declared route, never the URL, which contains ids; no headers, no body; caller
 * and address as far as known.
 * @source rules#logs.1, rules#logs.7, rules#logs.8
 */
function logRequest(
  { logger, refusedThrottle }: RequestObservers,
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
    refusedThrottle.report(String(status), (more) => logger.info(line, `request${andMore(more, 'second')}`))
  } else if (endpoint?.tag === 'Health') logger.debug(line, 'request')
  else logger.info(line, 'request')
}

const REFUSED: ReadonlySet<number> = new Set([401, 429])

/**
 * Logs the error that broke a request, without fields beyond type, code, message and stack: a driver's errors contain
 * rows.
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
