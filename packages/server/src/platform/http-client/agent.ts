import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import { isPublicAddress } from '../networks.ts'
import { type AllowedNetwork, matcherOf } from './allowed-networks.ts'
import { currentTimes } from './post.ts'

/**
 * An agent that connects only to addresses the gate allows, with a keep-alive pool per origin. Each new connection is
 * checked three times: a literal address (Node does not look it up), all addresses of a name (the ones then connected
 * to), and the peer's address before a byte is written. HTTP/1.1; TLS 1.2 or newer, verified whatever the environment
 * says.
 * @param connectTimeoutMs from lookup to connection, and again for the TLS handshake
 * @source rules#webhooks.1, rules#webhooks.26, rules#production.6
 */
export function createGuardedAgent(gate: AddressGate, connectTimeoutMs: number): Agent {
  return new Agent({
    connect: guardedConnector(gate, connectTimeoutMs),
    allowH2: false,
    pipelining: 1,
    // The request's signal is the deadline; undici's own time-outs restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** Connects to a URL's host as the agent does, then closes without sending anything. @throws NotConnected */
export function tryConnection(gate: AddressGate, url: URL, connectTimeoutMs: number): Promise<void> {
  const { protocol, host, port } = url
  const hostname = url.hostname.replace(/^\[(.+)\]$/, '$1')
  return new Promise((resolve, reject) => {
    guardedConnector(gate, connectTimeoutMs)({ protocol, host, hostname, port }, (error, socket) => {
      if (error) return reject(error)
      socket?.destroy()
      resolve()
    })
  })
}

function guardedConnector(gate: AddressGate, timeout: number): buildConnector.connector {
  const secure = buildConnector({ timeout, allowH2: false, minVersion: 'TLSv1.2', rejectUnauthorized: true })

  return (options, callback) => {
    const times = currentTimes()
    const isTls = options.protocol === 'https:'
    const port = Number(options.port || (isTls ? 443 : 80))
    // One for each connection: a look-up is not passed the port.
    const dial = buildConnector({ timeout, autoSelectFamily: true, lookup: gatedLookup(gate, port) })
    times?.connecting()
    const fail = (error: NotConnected) => callback(error, null)

    function connected(socket: Socket) {
      const peer = socket.remoteAddress ?? ''
      if (!gate.allows(peer, port)) {
        socket.destroy()
        return fail(addressNotAllowed(peer))
      }
      if (!isTls) return ready(socket)
      times?.enter('tls')
      secure({ ...options, httpSocket: socket }, (error, tlsSocket) =>
        error ? fail(asNotConnected(error, 'tls')) : ready(tlsSocket),
      )
    }

    function ready(socket: Socket) {
      times?.enter('wait')
      callback(null, socket)
    }

    if (isIP(options.hostname) !== 0) {
      if (!gate.allows(options.hostname, port)) return fail(addressNotAllowed(options.hostname))
      times?.enter('connect')
    }
    dial({ ...options, protocol: 'http:', port: String(port) }, (error, socket) =>
      error ? fail(asNotConnected(error, 'connect')) : connected(socket),
    )
  }
}

function gatedLookup(gate: AddressGate, port: number): LookupFunction {
  return (hostname, _options, callback) => {
    const times = currentTimes()
    times?.enter('dns')
    gate.addressesOf(hostname, port).then(
      (addresses) => {
        times?.enter('connect')
        callback(null, addresses.map(withFamily))
      },
      (error) => callback(error, []),
    )
  }
}

function withFamily(address: string): LookupAddress {
  return { address, family: isIP(address) }
}

function asNotConnected(error: Error, reason: 'connect' | 'tls'): NotConnected {
  if (error instanceof NotConnected) return error
  return new NotConnected(error instanceof errors.ConnectTimeoutError ? 'timeout' : reason, error.message, error)
}

export interface AddressGate {
  allows(address: string, port: number): boolean
  /**
   * All addresses of a name, each of them allowed with the port.
   * @throws NotConnected `dns` without an address, `address_not_allowed` if any is not allowed
   */
  addressesOf(hostname: string, port: number): Promise<readonly string[]>
}

/** The name servers did not answer; a retry may succeed. */
export class DnsUnavailable extends Error {
  override readonly name = 'DnsUnavailable'
}

/** Looks up all addresses of a name; empty if there are none. @throws DnsUnavailable when no server answers */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Allows public addresses only. One other address refuses the whole name. @source rules#webhooks.1 */
export function publicAddressGate(resolve: Resolve = resolveByDns): AddressGate {
  return createGate(resolve, isPublicAddress)
}

/** Allows public addresses, and private networks with their port. @source rules#webhooks.26 */
export function privateNetworkGate(allowed: readonly AllowedNetwork[], resolve: Resolve = resolveByDns): AddressGate {
  const isAllowed = matcherOf(allowed)
  return createGate(resolve, (address, port) => isPublicAddress(address) || isAllowed(address, port))
}

/** Allows any address and resolves names as the system does: for the sandbox. */
export function openGate(): AddressGate {
  return createGate(resolveBySystem, () => true)
}

function addressNotAllowed(address: string): NotConnected {
  return new NotConnected('address_not_allowed', `${address} is not a public address`)
}

function createGate(resolve: Resolve, allows: AddressGate['allows']): AddressGate {
  return {
    allows,
    addressesOf: async (hostname, port) => {
      const addresses = await resolve(hostname).catch((error) => {
        throw new NotConnected('dns', `${hostname} cannot be resolved`, error)
      })
      const refused = addresses.find((address) => !allows(address, port))
      if (refused !== undefined) throw addressNotAllowed(refused)
      if (addresses.length === 0) throw new NotConnected('dns', `${hostname} has no address`)
      return addresses
    },
  }
}

/** Queries the name servers directly: a stalled one blocks no thread of the pool, and /etc/hosts does not count. */
async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 500, tries: 2 })
  return addressesIn(await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]))
}

const HAS_NONE: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Combines the answers of several queries about one name.
 * @throws DnsUnavailable when there is no address and a query was not answered
 */
export function addressesIn(answers: readonly PromiseSettledResult<readonly string[]>[]): readonly string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const unanswered = answers.find((answer) => answer.status === 'rejected' && !HAS_NONE.has(answer.reason?.code))
  if (addresses.length === 0 && unanswered?.status === 'rejected') {
    throw new DnsUnavailable(String(unanswered.reason?.code), { cause: unanswered.reason })
  }
  return addresses
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

export type NotConnectedReason = 'address_not_allowed' | 'dns' | 'connect' | 'tls' | 'timeout'

/** No connection was made, so no byte of the request was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
  readonly reason: NotConnectedReason

  constructor(reason: NotConnectedReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}
