import type { Socket } from 'node:net'
import type { Caller } from './handler.ts'

/**
 * Connections on which right credentials were shown: so many of one credential, and so many of all API keys together. Whoever has
 * stolen one shuts nobody out but its owner; the rest is there for the bank and for operators, who take the key away.
 * @source rules#strangers.4
 */
export interface ProvenConnections {
  /**
   * Counts a connection for the first credentials that were shown on it, until it is closed.
   * @returns whether there was a place for it
   */
  prove(socket: Socket, caller: Pick<Caller, 'credential' | 'id'>): boolean
  has(socket: Socket): boolean
}

/** How many connections with right credentials there may be. */
export interface ProvenBounds {
  /** With the same ones. */
  readonly provenOfCredentialMax: number
  /** With API keys, whichever. */
  readonly clientsMax: number
}

/** Begins with none. */
export function createProvenConnections(bounds: ProvenBounds): ProvenConnections {
  const proven = new WeakSet<Socket>()
  const counts = new Map<string, number>()

  const countOf = (name: string) => counts.get(name) ?? 0

  function add(name: string, change: 1 | -1): void {
    const count = countOf(name) + change
    if (count > 0) counts.set(name, count)
    else counts.delete(name)
  }

  return {
    prove: (socket, { credential, id }) => {
      if (proven.has(socket)) return true
      const own = `${credential} ${id}`
      const isClient = credential === 'api-key'
      if (countOf(own) >= bounds.provenOfCredentialMax) return false
      if (isClient && countOf(CLIENTS) >= bounds.clientsMax) return false
      // Of one that was closed meanwhile the end would never be told.
      if (socket.destroyed) return true
      const names = isClient ? [own, CLIENTS] : [own]
      for (const name of names) add(name, 1)
      socket.once('close', () => names.forEach((name) => void add(name, -1)))
      proven.add(socket)
      return true
    },
    has: (socket) => proven.has(socket),
  }
}

/** What all connections with API keys are counted under; the name of one credential has a space in it. */
const CLIENTS = 'clients'
