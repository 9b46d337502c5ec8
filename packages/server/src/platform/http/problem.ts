import {
  type Endpoint,
  type ExceededLimit,
  type ExistingOperation,
  errors,
  type FieldError,
  type ReadFrom,
  type Refusal,
} from '@pixgate/spec'
import type { FastifyReply } from 'fastify'

/**
 * The body of every error: RFC 9457, extended by a stable code.
 * @source rules#http.1
 */
export interface Problem {
  /** Where the code is documented, relative to the service, which has no domain of its own. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The same as `detail`. */
  readonly message: string
  readonly correlationId: string
  readonly errors: readonly FieldError[]
  readonly existing?: ExistingOperation
  readonly limit?: Readonly<Record<keyof ExceededLimit, string | number | null>>
  readonly readFrom?: ReadFrom
}

/** Media type of a {@link Problem}. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/** The problem that tells of a refusal. */
export function problemOf(refusal: Refusal, correlationId: string): Problem {
  const { status, title } = errors[refusal.code]
  return {
    type: `/docs/errors#${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    code: refusal.code,
    message: refusal.message,
    correlationId,
    errors: refusal.fields,
    ...(refusal.existing && { existing: refusal.existing }),
    ...(refusal.limit && { limit: limitView(refusal.limit) }),
    ...(refusal.readFrom && { readFrom: refusal.readFrom }),
  }
}

function limitView({ maxCents, usedCents, ...limit }: ExceededLimit): NonNullable<Problem['limit']> {
  return { ...limit, maxCents: Number(maxCents), usedCents: Number(usedCents) }
}

/** Statuses that ask the client to come again; `Retry-After` always says when. @source rules#http.9 */
export const RETRY_STATUSES: readonly number[] = [429, 503]

const RETRY_AFTER_DEFAULT_SECONDS = 1

/** Answers a request with the problem of a refusal. */
export function sendProblem(reply: FastifyReply, refusal: Refusal, correlationId: string): void {
  const problem = problemOf(refusal, correlationId)
  const retryAfterSeconds =
    refusal.retryAfterSeconds ?? (RETRY_STATUSES.includes(problem.status) ? RETRY_AFTER_DEFAULT_SECONDS : undefined)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  // A sender may still be writing a body that was refused; the next request must not be looked for behind it.
  if (refusal.code === 'body_too_large') reply.header('connection', 'close')
  const challenge = challengeOf(refusal, reply.request.routeOptions.config.endpoint)
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  reply.code(problem.status).type(`${PROBLEM_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify(problem))
}

/** RFC 9110 wants a challenge with every 401; RFC 6750 has one that names the scope that is missing. */
function challengeOf({ code }: Refusal, endpoint: Endpoint | undefined): string | undefined {
  if (code === 'unauthorized') return 'Bearer'
  if (code !== 'insufficient_scope') return undefined
  return `Bearer error="insufficient_scope", scope="${endpoint?.scope}"`
}
