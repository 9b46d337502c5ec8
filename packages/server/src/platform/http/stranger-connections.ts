import type { Socket } from 'node:net'
import type { Caller } from './handler.ts'

/** Limits of connections. */
export interface ConnectionBounds {
  readonly connectionsMax: number
  /** Connections without credentials. The rest is reserved for those with. */
  readonly strangersMax: number
  readonly strangersOfNetworkMax: number
  /** With valid credentials: per credential, and for all API keys together. */
  readonly provenOfCredentialMax: number
  readonly clientsMax: number
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

/**
 * Connections with valid credentials: capped per credential, and for all API keys together. A stolen key can shut out
 * only its owner. The rest is reserved for the bank and for operators, who can revoke the key.
 * @source rules#strangers.4
 */
export class ProvenConnections {
  readonly #bounds: ConnectionBounds
  readonly #proven = new WeakSet<Socket>()
  readonly #counts = new Map<string, number>()

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
  }

  has(socket: Socket): boolean {
    return this.#proven.has(socket)
  }

  /**
   * Counts a connection for the first valid credentials shown on it, until it closes.
   * @returns whether there was a place
   */
  prove(socket: Socket, { credential, id }: Pick<Caller, 'credential' | 'id'>): boolean {
    if (this.#proven.has(socket)) return true
    const own = `${credential} ${id}`
    const isClient = credential === 'api-key'
    if (this.#countOf(own) >= this.#bounds.provenOfCredentialMax) return false
    if (isClient && this.#countOf(CLIENTS) >= this.#bounds.clientsMax) return false
    // The `close` event of a closed socket would never come.
    if (socket.destroyed) return true
    const names = isClient ? [own, CLIENTS] : [own]
    for (const name of names) this.#counts.set(name, this.#countOf(name) + 1)
    socket.once('close', () => {
      for (const name of names) this.#remove(name)
    })
    this.#proven.add(socket)
    return true
  }

  #countOf(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  #remove(name: string): void {
    const count = this.#countOf(name) - 1
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }
}

/** Key of the count for all API keys. The name of a single credential contains a space. */
const CLIENTS = 'clients'
