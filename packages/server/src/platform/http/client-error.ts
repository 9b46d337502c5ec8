import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '@pixgate/spec'
import type { Ids } from '../ids.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

/** What becomes of a connection on which something came that is no HTTP/1.1 request. */
export type ClientErrorHandler = (error: Error & { code?: string }, socket: Socket) => void

/**
 * Handles bytes that are no HTTP/1.1 request. Requests that were whole before them are answered with their outcome, the last
 * one with `Connection: close`; then the connection ends. Where none is under way the bytes themselves are answered.
 * @returns the handler, and a function that makes it follow what a server is about to answer
 * @source rules#http.15, failure-modes#PL-62
 */
export function createClientErrorHandler(ids: Ids): {
  readonly handle: ClientErrorHandler
  readonly follow: (server: Server) => void
} {
  const underWay = new WeakMap<Socket, Set<ServerResponse<IncomingMessage>>>()
  const ending = new WeakSet<Socket>()

  function follow(server: Server): void {
    server.on('request', (request, response) => {
      const responses = underWay.get(request.socket) ?? new Set()
      underWay.set(request.socket, responses.add(response))
      response.on('close', () => responses.delete(response))
    })
  }

  function handle(error: Error & { code?: string }, socket: Socket): void {
    // Of what is no HTTP every further packet is another error.
    if (ending.has(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    ending.add(socket)
    const responses = [...(underWay.get(socket) ?? [])]
    const last = responses.findLast(({ req }) => req.complete)
    if (last) endAfter(last, socket)
    // The bytes belong to a request that was answered before it had arrived, as one without credentials is.
    else if (responses.some(({ headersSent }) => headersSent)) socket.destroySoon()
    else answerMalformedHttp(error, socket, ids)
  }

  return { handle, follow }
}

function endAfter(response: ServerResponse<IncomingMessage>, socket: Socket): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
  response.on('close', () => socket.destroySoon())
}

/** Node could not make a request of the bytes, so the answer is written by hand. */
function answerMalformedHttp(error: Error & { code?: string }, socket: Socket, ids: Ids): void {
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

/** Too slow a request and too long a header: both without a body, as they have no code of their own. */
const STATUSES: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }
