import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import { type AddressGate, addressNotAllowed } from './address-gate.ts'
import { NotConnected } from './not-connected.ts'
import { currentTimes } from './request-times.ts'

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
