import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { EventLoop } from '../event-loop.ts'
import type { Reading } from '../live-request.ts'

/**
 * The connections of a server, on each of which one request is carried out at a time: when the one before it has been answered.
 * Node by itself hands on all that it has read, also what stands behind an answer that closes the connection, and drops
 * those answers.
 * @source rules#http.17, failure-modes#PL-63
 */
export interface Connections {
  /** What is done about a request, made to wait for its turn. */
  oneAtATime(handle: RequestListener): RequestListener
  /**
   * Lets a connection end behind the last request on it that has arrived whole.
   * @returns whether it is answered, or was before: then there is nothing else to say to whatever came behind it
   */
  endBehindWhole(socket: Socket): boolean
  /** The request that is being carried out on it is its last. */
  endBehindCurrent(socket: Socket): void
  /** Whether a request that has arrived whole is being carried out on it. */
  isAnswering(socket: Socket): boolean
  /** From now on a request that is under way is the last of its connection. */
  beginDrain(): void
}

/** A request, and what is done about it in its turn. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
}

/** The requests of one connection. */
interface Connection {
  readonly socket: Socket
  /** What is carried out, or just being answered. */
  current?: Exchange | undefined
  readonly waiting: Exchange[]
  /** Behind this one nothing is carried out. */
  last?: Exchange
  /** What was answered before it had arrived. */
  unread?: IncomingMessage | undefined
  /** How many have been handed on. */
  count: number
  /** Whether no more is read for now. */
  isHeld: boolean
  /** Whether something came that is no request. */
  isEnding: boolean
  /** Whether nothing is handed on any more. */
  isEnded: boolean
}

/** How many requests a connection carries. @source rules#http.13 */
const REQUESTS_MAX = 1_000

/** Once so many wait on a connection, no more is read from it. */
const WAITING_MAX = 100

/** When those were read that had to wait. */
const readings = new WeakMap<IncomingMessage, Omit<Reading, 'isWhole'>>()

/** When a request was read, where it had to wait for its turn; to be asked when that has come. */
export function readingOf(request: IncomingMessage): Reading | undefined {
  const reading = readings.get(request)
  return reading && { ...reading, isWhole: request.complete }
}

/** Keeps the connections of a server. */
export function createConnections(loop: EventLoop): Connections {
  const open = new Map<Socket, Connection>()
  let isDraining = false

  function connectionOf(socket: Socket): Connection {
    const known = open.get(socket)
    if (known) return known
    const connection = { socket, waiting: [], count: 0, isHeld: false, isEnding: false, isEnded: false }
    open.set(socket, connection)
    socket.once('close', () => open.delete(socket))
    return connection
  }

  function accept(exchange: Exchange): void {
    const connection = connectionOf(exchange.request.socket)
    // A body that nobody reads would hold up what is to be thrown away.
    if (connection.isEnded) exchange.request.resume()
    else if (connection.current) wait(connection, exchange)
    else begin(connection, exchange)
  }

  function wait(connection: Connection, exchange: Exchange): void {
    readings.set(exchange.request, { mark: loop.mark(), at: loop.now() })
    connection.waiting.push(exchange)
    if (connection.waiting.length >= WAITING_MAX) hold(connection)
  }

  function begin(connection: Connection, exchange: Exchange): void {
    const { request, response, handle } = exchange
    connection.current = exchange
    connection.count += 1
    if (isDraining || connection.count === REQUESTS_MAX) makeLast(connection, exchange)
    response.on('close', () => end(connection, exchange))
    // Of a request that Node has nothing to do with any more, which is CONNECT.
    if (!response.socket) response.assignSocket(connection.socket)
    handle(request, response)
  }

  function end(connection: Connection, exchange: Exchange): void {
    const { socket, waiting } = connection
    connection.current = undefined
    connection.unread = exchange.request.complete ? undefined : exchange.request
    // Node has ended a connection by now whose answer said so.
    if (exchange === connection.last || !socket.writable) endConnection(connection)
    const next = waiting.shift()
    if (next) begin(connection, next)
    if (waiting.length < WAITING_MAX) release(connection)
  }

  return {
    oneAtATime: (handle) => (request, response) => accept({ request, response, handle }),
    endBehindWhole: (socket) => endBehindWhole(connectionOf(socket)),
    endBehindCurrent: (socket) => makeCurrentLast(open.get(socket)),
    isAnswering: (socket) => isUnderWay(open.get(socket)?.current),
    beginDrain: () => {
      isDraining = true
      for (const connection of open.values()) makeCurrentLast(connection)
    },
  }
}

function isUnderWay(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded
}

function makeLast(connection: Connection, exchange: Exchange): void {
  connection.last = exchange
  if (!exchange.response.headersSent) exchange.response.setHeader('connection', 'close')
}

function makeCurrentLast(connection: Connection | undefined): void {
  if (connection?.current) makeLast(connection, connection.current)
}

function endConnection(connection: Connection): void {
  connection.isEnded = true
  for (const { request } of connection.waiting.splice(0)) request.resume()
  connection.socket.destroySoon()
}

function endBehindWhole(connection: Connection): boolean {
  // Of what is no HTTP every further packet is another error.
  if (connection.isEnding) return true
  connection.isEnding = true
  const { current, waiting, unread } = connection
  const last = [...(current ? [current] : []), ...waiting].findLast(({ request }) => request.complete)
  if (last) {
    makeLast(connection, last)
    return true
  }
  connection.isEnded = true
  // The bytes belong to a request that was answered before it had arrived, as one without credentials is.
  const wasAnswered = current?.response.headersSent || unread?.complete === false
  if (wasAnswered) connection.socket.destroySoon()
  return wasAnswered
}

function hold(connection: Connection): void {
  if (connection.isHeld) return
  connection.isHeld = true
  // Node's parser reads by itself, past every pause, as long as nobody listens.
  connection.socket.on('data', ignore).off('data', ignore)
  connection.socket.on('resume', stayHeld).pause()
}

function ignore(): void {}

/** Node by itself goes on reading behind each request. */
function stayHeld(this: Socket): void {
  this.pause()
}

function release(connection: Connection): void {
  if (!connection.isHeld) return
  connection.isHeld = false
  connection.socket.off('resume', stayHeld).resume()
}
