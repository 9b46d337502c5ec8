import type { Socket } from 'node:net'

/**
 * Connections that have not shown valid credentials: capped per network and in total. A new connection is never refused
 * while an older one is idle. The oldest idle one of the largest network is closed instead, so that callers with valid
 * credentials get in.
 * @source rules#strangers.1, rules#strangers.2
 */
export interface StrangerConnections {
  /** Adds an accepted connection. @param network `undefined` for a proxy's connection, which is not counted */
  accept(socket: Socket, network: string | undefined): void
  /** Removes a connection that has shown valid credentials. */
  release(socket: Socket): void
  /** Counts a proxy's connection for a network while that network occupies it. @returns ends the count */
  attribute(socket: Socket, network: string): () => void
}

export interface ConnectionBounds {
  readonly connectionsMax: number
  /** Connections without credentials. The rest is reserved for those with. */
  readonly strangersMax: number
  readonly strangersOfNetworkMax: number
}

export interface ConnectionOptions {
  readonly bounds: ConnectionBounds
  /** Whether a request on the connection is being handled; such connections are not closed. */
  readonly isBusy: (socket: Socket) => boolean
  /** Called for each connection closed to make room; must not throw. */
  readonly onClosed: (network: string) => void
}

export function createStrangerConnections({ bounds, isBusy, onClosed }: ConnectionOptions): StrangerConnections {
  const strangers = new StrangersByNetwork()
  let open = 0

  function enter(stranger: Stranger): void {
    const ofNetwork = strangers.add(stranger)
    if (ofNetwork.size > bounds.strangersOfNetworkMax) closeOne(ofNetwork, stranger)
    else if (strangers.size > bounds.strangersMax) closeOne(strangers.largest(), stranger)
  }

  /** If all are busy, closes the latest. */
  function closeOne(candidates: Strangers, latest?: Stranger): void {
    const closed = firstIdle(candidates) ?? latest
    if (closed === undefined) return
    strangers.remove(closed)
    onClosed(closed.network)
    closed.socket.destroy()
  }

  function firstIdle(candidates: Strangers): Stranger | undefined {
    for (const candidate of candidates) if (!isBusy(candidate.socket)) return candidate
    return undefined
  }

  return {
    accept: (socket, network) => {
      open += 1
      socket.once('close', () => {
        open -= 1
        strangers.removeOf(socket)
      })
      if (network !== undefined) enter({ socket, network })
      // Node refuses connections beyond the bound unseen: one place stays free for the next.
      if (open >= bounds.connectionsMax) closeOne(strangers.largest())
    },
    release: (socket) => strangers.removeOf(socket),
    attribute: (socket, network) => {
      enter({ socket, network })
      return () => strangers.removeOf(socket)
    },
  }
}

interface Stranger {
  readonly socket: Socket
  readonly network: string
}

/** Oldest first. */
type Strangers = ReadonlySet<Stranger>

const NOBODY: Strangers = new Set()

class StrangersByNetwork {
  readonly #byNetwork = new Map<string, Set<Stranger>>()
  readonly #bySocket = new Map<Socket, Stranger>()

  get size(): number {
    return this.#bySocket.size
  }

  /** @returns all connections of the network */
  add(stranger: Stranger): Strangers {
    const ofNetwork = this.#byNetwork.get(stranger.network) ?? new Set()
    this.#byNetwork.set(stranger.network, ofNetwork.add(stranger))
    this.#bySocket.set(stranger.socket, stranger)
    return ofNetwork
  }

  removeOf(socket: Socket): void {
    const stranger = this.#bySocket.get(socket)
    if (stranger) this.remove(stranger)
  }

  remove(stranger: Stranger): void {
    this.#bySocket.delete(stranger.socket)
    const ofNetwork = this.#byNetwork.get(stranger.network)
    ofNetwork?.delete(stranger)
    if (ofNetwork?.size === 0) this.#byNetwork.delete(stranger.network)
  }

  /** Connections of the network with the most. */
  largest(): Strangers {
    let most = NOBODY
    for (const ofNetwork of this.#byNetwork.values()) if (ofNetwork.size > most.size) most = ofNetwork
    return most
  }
}
