import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  type Endpoint,
  type ErrorCode,
  type ExceededLimit,
  type ExistingOperation,
  errors,
  type FieldError,
  type ReadFrom,
  Refusal,
} from '@pixgate/spec'
import type { FastifyReply } from 'fastify'
import type { Ids } from '../ids.ts'
import type { Logger } from '../log.ts'
import { andMore, createLogThrottle } from '../runtime.ts'
import type { Connections } from './server.ts'

/** The body of every error: RFC 9457, extended by a stable code. @source rules#http.1 */
export interface Problem {
  /** Documentation of the code, relative to the service, which has no domain of its own. */
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

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

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

/** Statuses that invite a retry; `Retry-After` always says when. @source rules#http.9 */
export const RETRY_STATUSES: readonly number[] = [429, 503]

const RETRY_AFTER_DEFAULT_SECONDS = 1

/** A suspension lasts until an operator lifts it. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = { cash_out_suspended: 60 }

function retryAfterSeconds({ code, retryAfterSeconds }: Refusal): number {
  return retryAfterSeconds ?? RETRY_AFTER_SECONDS[code] ?? RETRY_AFTER_DEFAULT_SECONDS
}

export function sendProblem(reply: FastifyReply, refusal: Refusal, correlationId: string): void {
  const problem = problemOf(refusal, correlationId)
  if (RETRY_STATUSES.includes(problem.status)) reply.header('retry-after', String(retryAfterSeconds(refusal)))
  // The sender may still be writing the refused body; the next request must not be parsed out of it.
  if (refusal.code === 'body_too_large') reply.header('connection', 'close')
  const challenge = challengeOf(refusal, reply.request.routeOptions.config.endpoint)
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  reply.code(problem.status).type(`${PROBLEM_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify(problem))
}

/** RFC 9110 requires a challenge with every 401. RFC 6750 defines one that names the missing scope. */
function challengeOf({ code }: Refusal, endpoint: Endpoint | undefined): string | undefined {
  if (code === 'unauthorized') return 'Bearer'
  if (code !== 'insufficient_scope') return undefined
  return `Bearer error="insufficient_scope", scope="${endpoint?.scope}"`
}

export interface UnreadableOptions {
  readonly connections: Pick<Connections, 'endBehindWhole'>
  readonly ids: Ids
  readonly logger: Logger
  /** Called for each answer to unreadable bytes; must not throw. */
  readonly onUnreadable?: ((status: number) => void) | undefined
  readonly onUnfinished: (socket: Socket) => void
}

/**
 * Handles bytes that are not an HTTP/1.1 request. Complete requests before them are answered, the last one with
 * `Connection: close`; then the connection ends. Without such a request the bytes themselves are answered. Logs the
 * first answer of a status, then one line a minute, since anyone can provoke them.
 * @source rules#http.15, rules#logs.3, failure-modes#PL-62
 */
export function createClientErrorHandler(options: UnreadableOptions) {
  const { connections, ids, logger, onUnreadable, onUnfinished } = options
  const throttle = createLogThrottle()
  return ({ code: reason = '' }: Error & { code?: string }, socket: Socket): void => {
    if (reason === 'ECONNRESET') return void socket.destroy()
    // An end that was already written may still be in transit.
    if (!socket.writable || connections.endBehindWhole(socket)) return
    const correlationId = ids.uuid()
    const status = STATUSES[reason] ?? 400
    answerUnreadable(socket, status, correlationId)
    onUnreadable?.(status)
    const sentence = 'bytes on a connection cannot be read as a request: answered them and closed the connection'
    throttle.report(String(status), (more) => logger.info({ correlationId, status, reason }, sentence + andMore(more)))
    onUnfinished(socket)
  }
}

/** Node has no request object for these bytes, so the answer is written by hand. */
function answerUnreadable(socket: Socket, status: number, correlationId: string): void {
  const refusal = new Refusal('validation_error', { message: 'the request is not valid HTTP/1.1' })
  const body = status === 400 ? JSON.stringify(problemOf(refusal, correlationId)) : ''
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(body ? [`Content-Type: ${PROBLEM_MEDIA_TYPE}; charset=utf-8`] : []),
    `X-Correlation-ID: ${correlationId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

/** Request too slow and headers too long. Both are answered without a body, since they have no code of their own. */
const STATUSES: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }
