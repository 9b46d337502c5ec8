import { connect, type Socket } from 'node:net'

/**
 * Minimal HTTP/1.1 for the merchant's process, which shares the cores with the service: messages with `Content-Length` over
 * keep-alive connections. A request takes half the CPU time of undici.
 */

/** Parses the messages on a connection. @param onMessage gets the first line with the headers, and the body */
export function onMessages(socket: Socket, onMessage: (head: string, body: string) => void): void {
  let pending: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (let bodyAt = pending.indexOf(END_OF_HEAD); bodyAt >= 0; bodyAt = pending.indexOf(END_OF_HEAD)) {
      const head = pending.toString('latin1', 0, bodyAt)
      const from = bodyAt + END_OF_HEAD.length
      const to = from + Number(LENGTH.exec(head)?.[1] ?? 0)
      if (pending.length < to) return
      const body = pending.toString('utf8', from, to)
      pending = pending.subarray(to)
      onMessage(head, body)
    }
  })
}

const END_OF_HEAD = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i

export interface WireRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: string
  readonly body?: string
}

/** Headers of a request with an API key. */
export function wireHeaders(apiKey: string): string {
  return `host: 127.0.0.1\r\nauthorization: Bearer ${apiKey}\r\n`
}

/** Sends a request. @returns the body of the answer @throws Error if it is not successful */
export type WireSend = (request: WireRequest) => Promise<string>

/** Below the server's limit of connections per client. */
const CONNECTIONS_MAX = 400

/** A client of one server with a connection per concurrent request, up to a limit. */
export function openWire(url: string): { readonly send: WireSend; close(): void } {
  const { hostname, port } = new URL(url)
  const idle: Connection[] = []
  const lent = new Set<Connection>()
  const waiting: (() => void)[] = []
  const borrow = async () => {
    if (lent.size >= CONNECTIONS_MAX) await new Promise<void>((resolve) => waiting.push(resolve))
    const last = idle.pop()
    if (last?.isFresh() === false) last.close()
    const connection = last?.isFresh()
      ? last
      : new Connection(connect({ host: hostname, port: Number(port), noDelay: true }))
    lent.add(connection)
    return connection
  }
  const send: WireSend = async (request) => {
    const connection = await borrow()
    const answer = await connection.exchange(request)
    lent.delete(connection)
    idle.push(connection)
    waiting.shift()?.()
    return answer
  }
  return {
    send,
    close: () => {
      for (const connection of [...idle, ...lent]) connection.close()
    },
  }
}

/** Shorter than the keep-alive timeout of every server here. */
const FRESH_MS = 4_000

/** A connection with at most one request in flight. */
class Connection {
  readonly #socket: Socket
  #usedAt = performance.now()
  #waiting: (PromiseWithResolvers<string> & { readonly request: WireRequest }) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    onMessages(socket, (head, body) => this.#answered(head, body))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')))
  }

  exchange(request: WireRequest): Promise<string> {
    const { method, path, headers, body } = request
    const waiting = { ...Promise.withResolvers<string>(), request }
    this.#waiting = waiting
    const rest =
      body === undefined
        ? ''
        : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${headers}${rest || '\r\n'}`)
    return waiting.promise
  }

  /** Whether the server has certainly not closed it. */
  isFresh(): boolean {
    return performance.now() - this.#usedAt < FRESH_MS
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #answered(head: string, body: string): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#usedAt = performance.now()
    const status = head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
    if (status < '300') waiting?.resolve(body)
    else waiting?.reject(new Error(`${waiting.request.method} ${waiting.request.path}: ${status} ${body}`))
  }
}
