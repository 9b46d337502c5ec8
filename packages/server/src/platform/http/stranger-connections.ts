import type { Socket } from 'node:net'

export interface ConnectionBounds {
  readonly connectionsMax: number
  /** Connections without credentials. The rest is reserved for those with. */
  readonly strangersMax: number
  readonly strangersOfNetworkMax: number
}

/**
 * Connections that have not shown valid credentials: capped per network and in total. A new connection is never refused
 * while an older one is idle. The oldest idle one of the largest network is closed instead, so that callers with valid
 * credentials get in.
 * @source rules#strangers.1, rules#strangers.2
 */
export class StrangerConnections {
  readonly #bounds: ConnectionBounds
  readonly #isBusy: (socket: Socket) => boolean
  readonly #onClosed: (network: string) => void
  /** Oldest first. */
  readonly #byNetwork = new Map<string, Set<Socket>>()
  readonly #networks = new Map<Socket, string>()
  #open = 0

  /**
   * @param isBusy whether a request on the connection is being handled; such connections are not closed
   * @param onClosed called for each connection closed to make room; must not throw
   */
  constructor(bounds: ConnectionBounds, isBusy: (socket: Socket) => boolean, onClosed: (network: string) => void) {
    this.#bounds = bounds
    this.#isBusy = isBusy
    this.#onClosed = onClosed
  }

  /** Adds an accepted connection. @param network `undefined` for a proxy's connection, which is not counted */
  accept(socket: Socket, network: string | undefined): void {
    this.#open += 1
    socket.once('close', () => {
      this.#open -= 1
      this.release(socket)
    })
    if (network !== undefined) this.attribute(socket, network)
    // Node refuses connections beyond the bound unseen: one place stays free for the next.
    if (this.#open >= this.#bounds.connectionsMax) this.#closeOne(this.#largest())
  }

  /** Counts a connection for a network until it is released; a proxy's only while the network occupies it. */
  attribute(socket: Socket, network: string): void {
    const ofNetwork = this.#byNetwork.get(network) ?? new Set()
    this.#byNetwork.set(network, ofNetwork.add(socket))
    this.#networks.set(socket, network)
    if (ofNetwork.size > this.#bounds.strangersOfNetworkMax) this.#closeOne(ofNetwork, socket)
    else if (this.#networks.size > this.#bounds.strangersMax) this.#closeOne(this.#largest(), socket)
  }

  release(socket: Socket): void {
    const network = this.#networks.get(socket)
    if (network === undefined) return
    this.#networks.delete(socket)
    const ofNetwork = this.#byNetwork.get(network)
    ofNetwork?.delete(socket)
    if (ofNetwork?.size === 0) this.#byNetwork.delete(network)
  }

  /** If all are busy, closes the latest. */
  #closeOne(candidates: ReadonlySet<Socket>, latest?: Socket): void {
    const closed = this.#firstIdle(candidates) ?? latest
    const network = closed && this.#networks.get(closed)
    if (closed === undefined || network === undefined) return
    this.release(closed)
    this.#onClosed(network)
    closed.destroy()
  }

  #firstIdle(candidates: ReadonlySet<Socket>): Socket | undefined {
    for (const socket of candidates) if (!this.#isBusy(socket)) return socket
    return undefined
  }

  /** Connections of the network with the most. */
  #largest(): ReadonlySet<Socket> {
    let most: ReadonlySet<Socket> = new Set()
    for (const ofNetwork of this.#byNetwork.values()) if (ofNetwork.size > most.size) most = ofNetwork
    return most
  }
}
