import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { Ids } from '../ids.ts'
import type { Connections } from './connections.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'
import type { ReportUnreadable } from './request-log.ts'

/** What becomes of a connection on which something came that is no HTTP/1.1 request. */
export type ClientErrorHandler = (error: Error & { code?: string }, socket: Socket) => void

/**
 * Handles bytes that are no HTTP/1.1 request. Requests that were whole before them are answered with their outcome, the last
 * one with `Connection: close`; then the connection ends. Where none is under way the bytes themselves are answered.
 * @source rules#http.15, failure-modes#PL-62
 */
export function createClientErrorHandler(
  connections: Connections,
  ids: Ids,
  report: ReportUnreadable,
  onUnfinished: (socket: Socket) => void,
): ClientErrorHandler {
  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET') return void socket.destroy()
    // Where its end is written already, that may still be on its way.
    if (!socket.writable || connections.endBehindWhole(socket)) return
    const correlationId = ids.uuid()
    const status = STATUSES[code] ?? 400
    answerUnreadable(socket, status, correlationId)
    report({ correlationId, status, reason: code })
    onUnfinished(socket)
  }
}

/** Node could not make a request of the bytes, so the answer is written by hand. */
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

/** Too slow a request and too long a header: both without a body, as they have no code of their own. */
const STATUSES: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }
