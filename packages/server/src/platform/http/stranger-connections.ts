import type { Socket } from 'node:net'

/**
 * Connections on which nobody has shown right credentials yet: so many of one network, and of all together. A new one is
 * never refused while an older one only waits: that one is closed, of the network that has the most of them, so that whoever
 * comes with the right credentials gets in.
 * @source rules#strangers.1, rules#strangers.2
 */
export interface StrangerConnections {
  /** A connection was accepted. @param network whose it is; `undefined`: a proxy's, which is not counted */
  accept(socket: Socket, network: string | undefined): void
  /** Right credentials were shown on it: it is no stranger's any more. */
  release(socket: Socket): void
  /** Counts a proxy's connection for a network, as long as that network holds it up. @returns ends that */
  attribute(socket: Socket, network: string): () => void
}

/** How many connections there may be. */
export interface ConnectionBounds {
  /** Whoever's they are. */
  readonly connectionsMax: number
  /** Without credentials: the others are kept for those who have some. */
  readonly strangersMax: number
  /** Without credentials, of one network. */
  readonly strangersOfNetworkMax: number
}

/** What is known of connections elsewhere. */
export interface ConnectionOptions {
  readonly bounds: ConnectionBounds
  /** Whether a request of it is being carried out, which is not cut off. */
  readonly isBusy: (socket: Socket) => boolean
  /** Is told of each that was closed to make room; throws nothing. */
  readonly onClosed: (network: string) => void
}

/** Begins with none. */
export function createStrangerConnections({ bounds, isBusy, onClosed }: ConnectionOptions): StrangerConnections {
  const strangers = new StrangersByNetwork()
  let open = 0

  function enter(stranger: Stranger): void {
    const ofNetwork = strangers.add(stranger)
    if (ofNetwork.size > bounds.strangersOfNetworkMax) closeOne(ofNetwork, stranger)
    else if (strangers.size > bounds.strangersMax) closeOne(strangers.largest(), stranger)
  }

  /** Where all of them are busy it is the one that came last. */
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
      // Node refuses what is beyond the bound unseen: one place stays free for whoever comes next.
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

/** The oldest first. */
type Strangers = ReadonlySet<Stranger>

const NOBODY: Strangers = new Set()

class StrangersByNetwork {
  readonly #byNetwork = new Map<string, Set<Stranger>>()
  readonly #bySocket = new Map<Socket, Stranger>()

  get size(): number {
    return this.#bySocket.size
  }

  /** @returns all of its network */
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

  /** Those of the network that has the most. */
  largest(): Strangers {
    let most = NOBODY
    for (const ofNetwork of this.#byNetwork.values()) if (ofNetwork.size > most.size) most = ofNetwork
    return most
  }
}
