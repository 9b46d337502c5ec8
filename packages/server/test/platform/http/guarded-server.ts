import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { StrangerBounds, StrangerOutcome } from '../../../src/platform/http/strangers.ts'
import { AWAKE } from '../../support/live-request.ts'
import { head, listen, thingServer } from './thing-server.ts'

/** The header that every request has. */
export const HOST = 'Host: x'
/** A client's. */
export const READ = head('GET /things HTTP/1.1', HOST, 'Authorization: Bearer good')
/** A stranger's. */
export const GUESS = head('GET /things HTTP/1.1', HOST, 'Authorization: Bearer wrong')

/** A callback of this body. */
export function event(signature: string, body = '{}', ...headers: string[]): string {
  return (
    head('POST /events HTTP/1.1', HOST, `X-Signature: ${signature}`, `Content-Length: ${body.length}`, ...headers) +
    body
  )
}

const ROOM: StrangerBounds = {
  connectionsMax: 200,
  strangersMax: 200,
  strangersOfNetworkMax: 200,
  wrongPerMinute: 600,
  provenOfCredentialMax: 200,
  clientsMax: 200,
}

/** A server that gives strangers little, lets those who are put off wait until the test says so, and tells what happens. */
export async function guarded(
  t: TestContext,
  bounds: Partial<StrangerBounds>,
  changes: Parameters<typeof thingServer>[1] & { readonly now?: () => number } = {},
) {
  // Registered first, as the server waits for them when it closes.
  const opened: Socket[] = []
  t.after(() => opened.forEach((socket) => void socket.destroy()))
  const outcomes: StrangerOutcome[] = []
  const waiting: (() => void)[] = []
  let whenWaiting = Promise.withResolvers<void>()
  const { now = AWAKE.now, ...rest } = changes
  const { app, log } = thingServer(t, {
    onStranger: (outcome) => outcomes.push(outcome),
    strangerBounds: { ...ROOM, ...bounds },
    eventLoop: { ...AWAKE, now },
    pause: {
      for: (ms) => {
        assert.equal(ms, 1_000)
        return new Promise((resolve) => {
          waiting.push(resolve)
          whenWaiting.resolve()
        })
      },
    },
    ...rest,
  })
  const port = await listen(app)

  /** Connects, and resolves when the server has accepted it. */
  async function open(from = '127.0.0.1'): Promise<Client> {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>
    const socket = connect({ host: '127.0.0.1', port, localAddress: from }).setEncoding('utf8')
    opened.push(socket)
    const closed = new Promise((resolve) => socket.on('error', noop).on('close', resolve))
    const [serverSide] = await accepted
    return { socket, serverSide, closed, ask: (request) => ask(socket, request) }
  }

  return {
    app,
    log,
    port,
    outcomes,
    open,
    /** How many are put off. */
    waiting,
    /** Resolves when somebody is put off. */
    putOff: async () => {
      await whenWaiting.promise
      whenWaiting = Promise.withResolvers()
    },
    release: () => {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

/** A connection, as both sides see it. */
export interface Client {
  readonly socket: Socket
  readonly serverSide: Socket
  readonly closed: Promise<unknown>
  ask(request: string): Promise<string>
}

async function ask(socket: Socket, request: string): Promise<string> {
  socket.write(request)
  const [answer] = await once(socket, 'data')
  return answer
}

function noop(): void {}

/** @returns NaN where it is no answer */
export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])

/** Whether the server keeps it. */
export const isOpen = ({ serverSide }: Client) => !serverSide.destroyed
