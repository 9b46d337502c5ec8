import { createHash, timingSafeEqual } from 'node:crypto'
import { limits } from '@pixgate/spec'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import type { Bank } from './bank.ts'
import { controlRoutes } from './control-routes.ts'
import { isInstant } from './instants.ts'
import { partnerRoutes } from './partner-routes.ts'
import { Refused, refusalStatuses } from './refused.ts'

/** Maximum length of an id in a path, with each character percent-encoded. */
const PARAM_MAX_LENGTH = 512

/**
 * Builds the bank's HTTP server; it does not listen yet. Every response waits until the book is on disk, so that a crash
 * cannot undo what was reported. Unhandled errors are warnings.
 */
export function createServer(bank: Bank, token: string, warn: (message: string) => void): FastifyInstance {
  const app = fastify({
    bodyLimit: limits.bodyMaxBytes,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: PARAM_MAX_LENGTH },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false },
      onCreate: (ajv) => ajv.addFormat('date-time', isInstant),
    },
  })
  app.addHook('onRequest', async ({ headers }) => {
    if (!isEqual(headers.authorization ?? '', `Bearer ${token}`)) {
      throw new Refused('unauthorized', 'the bearer token is missing or wrong')
    }
  })
  app.addHook('onSend', () => bank.book.durable())
  app.setNotFoundHandler(async () => {
    throw new Refused('not_found', 'path not found')
  })
  app.setErrorHandler<FastifyError | Refused>((error, _request, reply) => {
    if (error instanceof Refused) return refuse(reply, error)
    // Fastify's own errors: invalid schema, JSON, size or content type.
    const { statusCode = 500, message } = error
    if (statusCode < 500) return reply.code(statusCode).send({ errorCode: 'invalid_request', errorMessage: message })
    warn(`unhandled error: ${error.stack}`)
    return reply.code(500).send({ errorCode: 'internal_error' })
  })
  app.register(async (scope) => partnerRoutes(scope, bank))
  app.register(async (scope) => controlRoutes(scope, bank), { prefix: '/control' })
  return app
}

function refuse(reply: FastifyReply, { errorCode, message, details }: Refused): FastifyReply {
  return reply.code(refusalStatuses[errorCode]).send({ errorCode, errorMessage: message, ...details })
}

/** Compares in constant time, independent of the lengths. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}
