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

/** Texts of refusals in violations. @source BCB, API Pix («Tratamento de erros»), as far as it has them */
const REASONS: Readonly<Record<RefusalCode, string>> = {
  invalid_request: 'A requisição não respeita o schema.',
  unauthorized: 'Requisição de participante autenticado que viola alguma regra de autorização.',
  not_found: 'Entidade não encontrada.',
  already_paid: 'A cobrança não está ATIVA, e a presente requisição busca alterá-la.',
  conflict: 'A presente requisição apresenta um id já utilizado por outra requisição.',
  not_possible: 'A cobrança já existe, não está no status ATIVA, e a presente requisição busca alterá-la.',
  amount_mismatch: 'O valor difere do valor do QR Code.',
  charge_refused: 'A cobrança foi recusada pelo PSP recebedor.',
  exceeds_payment:
    'A presente requisição de devolução, em conjunto com as demais prévias devoluções, se aplicável, excederia o valor do pix originário.',
  insufficient_balance: 'O saldo da conta é insuficiente.',
  payment_not_found: 'Pix não encontrado para o e2eid informado.',
  payout_refused: 'O pagamento foi recusado pelo PSP.',
  pix_code_not_payable:
    'O QR Code não pode ser pago: é desconhecido, expirou, já foi pago ou a cobrança não está ATIVA.',
  refund_refused: 'A devolução foi recusada pelo PSP recebedor.',
  unknown_decoding: 'O QR Code não foi detalhado com este id.',
  internal_error: 'Condição inesperada ao processar requisição.',
}

/** Details of Fastify's own refusals by HTTP status. */
const REQUEST_DETAILS: Readonly<Record<number, string>> = {
  400: 'O corpo da requisição não é um JSON válido.',
  413: 'O corpo da requisição é grande demais.',
  415: 'O Content-Type da requisição não é suportado.',
}

const COMMON: Partial<Record<RefusalCode, ProblemType>> = {
  not_found: 'NaoEncontrado',
  internal_error: 'ErroInternoDoServidor',
}

/** Sends an error response in the format of the standard or of Efí. Unhandled errors are warnings. */
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
  const violations = type === invalid ? [{ razao: REASONS[error.errorCode], propriedade: entity }] : []
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
    return new Problem('RequisicaoInvalida', [], 400, REQUEST_DETAILS[error.statusCode])
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
