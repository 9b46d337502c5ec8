import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { handlers, head, listen, thingServer } from './thing-server.ts'

/** The header that every request has. */
export const HOST = 'Host: x'
/** Headers of a client's request with a body. */
export const GOOD = ['Authorization: Bearer good', 'Content-Type: application/json']

/** A valid request that makes a thing of this name, as bytes. */
export function creating(name = 'cup', ...headers: string[]): string {
  const body = JSON.stringify({ name })
  return head('POST /things HTTP/1.1', HOST, ...GOOD, `Content-Length: ${body.length}`, ...headers) + body
}

/** The same in chunks; what is given comes where the trailer fields stand. */
export function creatingInChunks(name: string, trailer = '\r\n'): string {
  const body = JSON.stringify({ name })
  const start = head('POST /things HTTP/1.1', HOST, ...GOOD, 'Transfer-Encoding: chunked')
  return `${start}5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n${trailer}`
}

/** A server that notes what it begins to make, and makes it when it is let. */
export async function maker(t: TestContext, changes: Parameters<typeof thingServer>[1] = {}) {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const made: string[] = []
  const { app, log } = thingServer(t, {
    ...changes,
    handlers: {
      createThing: async (input) => {
        made.push(input.body.name)
        begun.resolve()
        await gate.promise
        return handlers.createThing(input)
      },
    },
  })
  const sockets: Socket[] = []
  const port = await listen(app)
  app.server.on('connection', (socket) => sockets.push(socket))
  return { app, log, port, made, sockets, begun: begun.promise, release: () => gate.resolve() }
}

/** The statuses of all answers of a connection. */
export const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)
