import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import { currentTimes } from './post.ts'

/**
 * An agent that connects only where the gate lets it, with a keep-alive pool of its own for every origin. Three checks
 * at every new connection: the literal address (Node looks none up for it), all addresses of a name (the very ones that
 * are then connected to), and the peer's address once connected, before a byte is written. HTTP/1.1; TLS 1.2 or newer, verified
 * whatever the environment says.
 * @param connectTimeoutMs from the start of the lookup to the connection, and again for the TLS handshake
 * @source rules#webhooks.1, rules#production.6
 */
export function createGuardedAgent(gate: AddressGate, connectTimeoutMs: number): Agent {
  return new Agent({
    connect: guardedConnector(gate, connectTimeoutMs),
    allowH2: false,
    pipelining: 1,
    // The deadline is that of the request's signal; undici's own timeouts start anew with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/**
 * Connects to the host of a URL as such an agent does, and hangs up without having sent anything.
 * @throws NotConnected
 */
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
  const dial = buildConnector({ timeout, autoSelectFamily: true, lookup: gatedLookup(gate) })
  const secure = buildConnector({ timeout, allowH2: false, minVersion: 'TLSv1.2', rejectUnauthorized: true })

  return (options, callback) => {
    const times = currentTimes()
    const isTls = options.protocol === 'https:'
    times?.connecting()
    const fail = (error: NotConnected) => callback(error, null)

    function connected(socket: Socket) {
      const peer = socket.remoteAddress ?? ''
      if (!gate.allows(peer)) {
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
      if (!gate.allows(options.hostname)) return fail(addressNotAllowed(options.hostname))
      times?.enter('connect')
    }
    dial({ ...options, protocol: 'http:', port: options.port || (isTls ? '443' : '80') }, (error, socket) =>
      error ? fail(asNotConnected(error, 'connect')) : connected(socket),
    )
  }
}

function gatedLookup(gate: AddressGate): LookupFunction {
  return (hostname, _options, callback) => {
    const times = currentTimes()
    times?.enter('dns')
    gate.addressesOf(hostname).then(
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

/** Decides which addresses this process connects to. */
export interface AddressGate {
  allows(address: string): boolean
  /**
   * Every address of a name, all of them allowed.
   * @throws NotConnected `dns` where it has none, `address_not_allowed` where any of them is not allowed
   */
  addressesOf(hostname: string): Promise<readonly string[]>
}

/** The name servers did not tell whether a name has addresses; asked again they may. */
export class NoAnswerOfDns extends Error {
  override readonly name = 'NoAnswerOfDns'
}

/**
 * Looks up all addresses of a name; an empty list where there are none.
 * @throws NoAnswerOfDns where nobody tells
 */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/**
 * Public addresses only. One answer that is not public refuses the name, whatever the others are.
 * @source rules#webhooks.1
 */
export function publicAddressGate(resolve: Resolve = resolveByDns): AddressGate {
  return createGate(resolve, isPublicAddress)
}

/** Any address, with names as this machine knows them: for the sandbox. */
export function openGate(): AddressGate {
  return createGate(resolveBySystem, () => true)
}

/** What to throw for an address the gate does not allow. */
function addressNotAllowed(address: string): NotConnected {
  return new NotConnected('address_not_allowed', `${address} is not a public address`)
}

function createGate(resolve: Resolve, allows: AddressGate['allows']): AddressGate {
  return {
    allows,
    addressesOf: async (hostname) => {
      const addresses = await resolve(hostname).catch((error) => {
        throw new NotConnected('dns', `${hostname} cannot be resolved`, error)
      })
      const refused = addresses.find((address) => !allows(address))
      if (refused !== undefined) throw addressNotAllowed(refused)
      if (addresses.length === 0) throw new NotConnected('dns', `${hostname} has no address`)
      return addresses
    },
  }
}

/** Asks the name servers directly: a stalled one holds no thread of the pool, and /etc/hosts has no say. */
async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 500, tries: 2 })
  return addressesIn(await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]))
}

/** What a name server says of a name that has no such address. */
const HAS_NONE: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * The addresses in the answers to several questions about one name.
 * @throws NoAnswerOfDns where there are none, and one of the questions was not answered
 */
export function addressesIn(answers: readonly PromiseSettledResult<readonly string[]>[]): readonly string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const unanswered = answers.find((answer) => answer.status === 'rejected' && !HAS_NONE.has(answer.reason?.code))
  if (addresses.length === 0 && unanswered?.status === 'rejected') {
    throw new NoAnswerOfDns(String(unanswered.reason?.code), { cause: unanswered.reason })
  }
  return addresses
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

/**
 * Whether an IP address is one that anybody on the Internet can reach. IPv6 is allowed only inside 2000::/3, which
 * leaves out loopback, IPv4-mapped, NAT64 (64:ff9b::), unique local, link local, site local and multicast.
 * @param address the text of an IP address; anything else is not public
 * @source rules#webhooks.1
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and a cloud's metadata
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's host
  ['169.254.0.0', 16], // link local, and the clouds' metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const) {
  special.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  ['2001::', 23], // protocol assignments; Teredo carries an IPv4 address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4 carries an IPv4 address
  ['3fff::', 20], // documentation
] as const) {
  special.addSubnet(network, prefix, 'ipv6')
}

/** Why no connection came about. */
export type NotConnectedReason = 'address_not_allowed' | 'dns' | 'connect' | 'tls' | 'timeout'

/** No connection was made, so not a byte of the request left. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
  readonly reason: NotConnectedReason

  constructor(reason: NotConnectedReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}
