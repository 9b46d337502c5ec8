import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type RefusalCode, Refused } from '../refused.ts'
import { EfiError, Problem, type ProblemType, sendEfiError, sendProblem, type Violation } from './problems.ts'
import type { Scope } from './tokens.ts'

/** Required scope and error formats of an endpoint. */
export interface Conventions {
  /** Scope that the token must have. */
  readonly scope: Scope
  /** Problem type for a body that does not match its schema. */
  readonly invalid: ProblemType
  /** Name of the body in violations. */
  readonly entity: string
  /** Problem or Efí error for each refusal of the bank; {@link COMMON} by default. */
  readonly refusals?: Partial<Record<RefusalCode, ProblemType | ((error: Refused) => EfiError)>>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on endpoints that require a token. */
    readonly conventions?: Conventions
  }
}

const COMMON: Partial<Record<RefusalCode, ProblemType>> = {
  not_found: 'NaoEncontrado',
  internal_error: 'ErroInternoDoServidor',
}

/**
 * Sends an error response in the format of the standard or of Efí.
 * @param warn is told of what nobody foresaw
 */
export function sendError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
  warn: (message: string) => void,
): FastifyReply {
  const { conventions } = request.routeOptions.config
  if (error instanceof EfiError) return sendEfiError(reply, error)
  if (error instanceof Refused) return sendRefused(error, conventions, request, reply)
  return sendProblem(reply, problemOf(error, conventions, warn), request.id)
}

function sendRefused(
  error: Refused,
  conventions: Conventions | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { refusals = {}, invalid = 'RequisicaoInvalida', entity = '' } = conventions ?? {}
  const type = refusals[error.errorCode] ?? COMMON[error.errorCode] ?? invalid
  if (typeof type === 'function') return sendEfiError(reply, type(error))
  const violations = type === invalid ? [{ razao: error.message, propriedade: entity }] : []
  return sendProblem(reply, new Problem(type, violations), request.id)
}

function problemOf(
  error: FastifyError | Error,
  conventions: Conventions | undefined,
  warn: (message: string) => void,
): Problem {
  if (error instanceof Problem) return error
  if ('validation' in error && error.validation && conventions) {
    return new Problem(conventions.invalid, violationsOf(error.validation, conventions.entity))
  }
  // Fastify's own errors: invalid JSON, size or content type.
  if ('statusCode' in error && error.statusCode !== undefined && error.statusCode < 500) {
    return new Problem('RequisicaoInvalida', [], 400, error.message)
  }
  warn(`unhandled error: ${error.stack}`)
  return new Problem('ErroInternoDoServidor')
}

function violationsOf(faults: NonNullable<FastifyError['validation']>, entity: string): Violation[] {
  const properties = faults.map(({ instancePath, params }) => {
    const { missingProperty } = params as { readonly missingProperty?: string }
    return [entity, ...instancePath.split('/').slice(1), ...(missingProperty ? [missingProperty] : [])].join('.')
  })
  return [...new Set(properties)].map((propriedade) => ({
    razao: `O campo ${propriedade} não respeita o schema.`,
    propriedade,
  }))
}
