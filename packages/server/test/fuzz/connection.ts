import { connect, type Socket } from 'node:net'

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  /** By name in lower case; the last one of a header that was sent twice. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** A connection that is kept alive, and opened again when the server closes it. One request at a time. */
export interface Connection {
  /**
   * Sends the bytes of one request.
   * @throws NoAnswer
   */
  exchange(request: Buffer, method: string): Promise<Answer>
  close(): void
}

/** The server closed the connection without a whole answer, said what is no HTTP, or nothing in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Shorter than what the server waits for a head: a request that it has overlooked is to be noticed. */
const TIMEOUT_MS = 9_000

/** A client that sends whatever it is told, right or wrong. */
export function openConnection(port: number): Connection {
  let socket: Socket | undefined
  return {
    exchange: async (request, method) => {
      const reused = socket?.writable ? socket : undefined
      socket = reused ?? (await dial(port))
      let answer: Answer
      try {
        answer = await ask(socket, request, method)
      } catch (error) {
        socket.destroy()
        // The server may close a connection at any time between two requests.
        if (!reused || !(error instanceof NoAnswer) || error.message !== SILENT) throw error
        socket = await dial(port)
        answer = await ask(socket, request, method)
      }
      if (answer.headers.get('connection') === 'close') socket.destroy()
      return answer
    },
    close: () => socket?.destroy(),
  }
}

const SILENT = 'the connection was closed without an answer'

function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

function ask(socket: Socket, request: Buffer, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const settle = (end: () => void) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      // What comes between two requests is nobody's; an error then is seen by the next one as a closed connection.
      socket.on('error', () => undefined)
      end()
    }
    const fail = (message: string) => settle(() => reject(new NoAnswer(message)))
    const timer = setTimeout(() => fail(`no answer within ${TIMEOUT_MS} ms`), TIMEOUT_MS)
    const onGone = () => fail(received.length === 0 ? SILENT : `the answer was cut: ${received.toString('latin1')}`)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      try {
        const found = readAnswer(received, method)
        if (found?.rest.length === 0) settle(() => resolve(found.answer))
        else if (found) fail(`bytes after the answer: ${received.toString('latin1')}`)
      } catch (error) {
        fail(String(error))
      }
    })
    socket.on('error', onGone)
    socket.on('close', onGone)
    socket.write(request)
  })
}

/**
 * Reads one answer from the beginning of some bytes; those that only announce another are skipped.
 * @returns `undefined` where it is not all there yet
 * @throws Error what is no answer
 */
export function readAnswer(
  bytes: Buffer,
  method: string,
): { readonly answer: Answer; readonly rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(first) ?? []
  if (status === undefined) throw new Error(`no answer of HTTP/1.1: ${first}`)
  const headers = new Map(lines.map(headerOf))
  const behind = bytes.subarray(end + 4)
  if (status.startsWith('1')) return readAnswer(behind, method)
  if (headers.get('transfer-encoding') === 'chunked' && method !== 'HEAD') {
    const found = readChunks(behind)
    return found && { answer: { status: Number(status), headers, body: found.body }, rest: found.rest }
  }
  const length = method === 'HEAD' || status === '204' || status === '304' ? '0' : headers.get('content-length')
  if (length === undefined) throw new Error(`an answer without Content-Length: ${first}`)
  const size = Number(length)
  if (behind.length < size) return undefined
  return { answer: { status: Number(status), headers, body: behind.subarray(0, size) }, rest: behind.subarray(size) }
}

/** A body in chunks, up to the empty one; `undefined` where it is not all there yet. @throws Error what is none */
function readChunks(bytes: Buffer): { readonly body: Buffer; readonly rest: Buffer } | undefined {
  const chunks: Buffer[] = []
  for (let rest = bytes; ; ) {
    const end = rest.indexOf('\r\n')
    if (end < 0) return undefined
    const text = rest.toString('latin1', 0, end)
    if (!/^[0-9a-f]+$/i.test(text)) throw new Error(`no chunk: ${text}`)
    const [from, size] = [end + 2, Number.parseInt(text, 16)]
    if (rest.length < from + size + 2) return undefined
    if (size === 0) return { body: Buffer.concat(chunks), rest: rest.subarray(from + 2) }
    chunks.push(rest.subarray(from, from + size))
    rest = rest.subarray(from + size + 2)
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
