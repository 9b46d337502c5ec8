import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** What becomes of one request and its answer. Numbers are parts of a whole: `at` 0.5 is its middle. */
export type Fate =
  | { readonly kind: 'pass' | 'silence' | 'late' | 'hide' | 'double request' | 'double answer' | 'foreign answer' }
  | { readonly kind: 'cut request' | 'cut answer'; readonly at: number }
  | { readonly kind: 'refuse'; readonly status: 429 | 502 | 503 }

export interface FaultyProxy {
  readonly url: string
  /** Ends when all that was held back has arrived. */
  settled(): Promise<void>
}

/** A proxy that reads whole requests and answers, and loses, doubles, delays or makes up what a judge says. */
export async function faultyProxy(t: TestContext, url: string, judge: (request: string) => Fate): Promise<FaultyProxy> {
  const target = Number(new URL(url).port)
  const held = new Set<Promise<unknown>>()
  const hold = (work: Promise<unknown>) => {
    held.add(work)
    void work.finally(() => held.delete(work))
  }
  const sockets = new Set<Socket>()
  const link: Link = { target, hold, last: undefined }
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    client.on('close', () => sockets.delete(client))
    let order = Promise.resolve()
    void eachMessage(client, (request) => {
      order = order
        .then(() => serve(client, request, judge(request.toString()), link))
        .catch(() => void client.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy listens on no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    settled: async () => {
      while (held.size > 0) await Promise.all(held)
    },
  }
}

interface Link {
  readonly target: number
  readonly hold: (work: Promise<unknown>) => void
  /** The last answer to any request. */
  last: Buffer | undefined
}

async function serve(client: Socket, request: Buffer, fate: Fate, link: Link): Promise<void> {
  const { target, hold, last } = link
  switch (fate.kind) {
    case 'refuse':
      client.write(`HTTP/1.1 ${fate.status} X\r\ncontent-length: 0\r\n\r\n`)
      return
    case 'cut request':
      hold(forward(target, request.subarray(0, Math.floor(fate.at * request.length)), 'cut'))
      client.destroy()
      return
    case 'late':
      if (!client.destroyed) await once(client, 'close')
      hold(forward(target, request))
      return
  }
  const copies = fate.kind === 'double request' ? [forward(target, request), forward(target, request)] : []
  for (const copy of copies) hold(copy)
  const answer = await (copies[1] ?? forward(target, request))
  link.last = answer
  if (fate.kind === 'silence') return
  if (fate.kind === 'hide') client.write('HTTP/1.1 502 X\r\ncontent-length: 0\r\n\r\n')
  else if (fate.kind === 'cut answer') client.end(answer.subarray(0, Math.floor(fate.at * answer.length)))
  else if (fate.kind === 'double answer') client.write(Buffer.concat([answer, answer]))
  else client.write(fate.kind === 'foreign answer' ? (last ?? answer) : answer)
}

/** Sends bytes on a connection of their own. @returns the answer; nothing where it is cut */
async function forward(target: number, bytes: Buffer, end?: 'cut'): Promise<Buffer> {
  const socket = connect(target, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(bytes)
  if (end) {
    socket.resume().end()
    await once(socket, 'close')
    return Buffer.alloc(0)
  }
  const answer = await new Promise<Buffer>((resolve) => {
    void eachMessage(socket, resolve).then(() => resolve(Buffer.alloc(0)))
  })
  socket.destroy()
  return answer
}

/** Calls back with each whole message: a head, and as many bytes as its content-length says. */
async function eachMessage(socket: Socket, use: (message: Buffer) => void): Promise<void> {
  let bytes = Buffer.alloc(0)
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more])
    for (let length = lengthOf(bytes); length > 0 && bytes.length >= length; length = lengthOf(bytes)) {
      use(bytes.subarray(0, length))
      bytes = bytes.subarray(length)
    }
  })
  await once(socket, 'close').catch(() => undefined)
}

/** Of the first message; 0 until its head is there. */
function lengthOf(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return 0
  const [, digits = '0'] = /\r\ncontent-length: *(\d+)/i.exec(bytes.subarray(0, head + 2).toString('latin1')) ?? []
  return head + 4 + Number(digits)
}
