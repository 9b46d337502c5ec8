import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../log.ts'

/**
 * Writes the one line of a request. The route as declared and never the URL, which carries ids; no header, no body.
 * @source rules#logs.1
 */
export function logRequest(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { endpoint } = request.routeOptions.config
  const line = {
    correlationId: request.id,
    method: request.method,
    route: endpoint?.path,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
  }
  if (endpoint?.tag === 'Health') logger.debug(line, 'request')
  else logger.info(line, 'request')
}

/**
 * Is told of every request that was answered; throws nothing. `route` is the path as declared, `unknown` for any other.
 */
export type OnRequest = (method: string, route: string, status: number, durationMs: number) => void

/** Tells an observer of a request that was answered. */
export function reportRequest(onRequest: OnRequest | undefined, request: FastifyRequest, reply: FastifyReply): void {
  const { endpoint } = request.routeOptions.config
  // Of a route that nobody declared not even the method is one of few.
  const [method, route] = endpoint ? [endpoint.method, endpoint.path] : ['any', 'unknown']
  onRequest?.(method, route, reply.statusCode, reply.elapsedTime)
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
