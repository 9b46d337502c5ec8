import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { Ids } from '../ids.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

/**
 * Answers bytes that are no HTTP/1.1 request, and closes their connection. Node could not make a request of them, so
 * the answer is written by hand. Too slow a request is 408 and too long a header 431, both without a body: they have no
 * code of their own.
 */
export function answerMalformedHttp(error: Error & { code?: string }, socket: Socket, ids: Ids): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const correlationId = ids.uuid()
  const status = STATUSES[error.code ?? ''] ?? 400
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
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

const STATUSES: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }
