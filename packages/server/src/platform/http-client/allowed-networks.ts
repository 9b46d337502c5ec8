import { isIP } from 'node:net'
import { limits } from '@pixgate/spec'
import { isNetwork, isWithin, networkList, PRIVATE_USE, plainAddress } from '../networks.ts'

/** A private network, and the one port that deliveries may use there. */
export interface AllowedNetwork {
  readonly network: string
  readonly port: number
}

/** `10.20.0.0/16:8443`, `10.20.0.7:8443` or `[fd12:3456::/48]:443`. */
const ENTRY = /^(?:\[([\da-f:.]+(?:\/\d{1,3})?)\]|([\d.]+(?:\/\d{1,2})?)):(\d{1,5})$/i

/** Addresses inside {@link PRIVATE_USE} where clouds answer with credentials of the machine. */
const METADATA = ['100.100.100.200', 'fd00:42::42', 'fd00:c1::a9fe:a9fe', 'fd00:ec2::/32', 'fd20:ce::254']

/**
 * The faults of a list of networks, by the place of the entry: values are not repeated.
 * @source rules#webhooks.26, rules#config.1
 */
export function allowedNetworksFault(text: string): string | undefined {
  const faults = entriesIn(text).flatMap((entry, index) => {
    const fault = faultOf(entry)
    return fault === undefined ? [] : [`entry ${index + 1} ${fault}`]
  })
  return faults.length === 0 ? undefined : faults.join('; ')
}

/** Reads the entries of a list that have the right form; {@link allowedNetworksFault} refuses the others. */
export function allowedNetworksOf(text: string): readonly AllowedNetwork[] {
  return entriesIn(text)
    .map(allowedNetworkOf)
    .filter((entry) => entry !== undefined)
}

function entriesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function allowedNetworkOf(entry: string): AllowedNetwork | undefined {
  const [, bracketed, bare, port] = ENTRY.exec(entry) ?? []
  const network = bracketed ?? bare ?? ''
  return isNetwork(network) ? { network, port: Number(port) } : undefined
}

function faultOf(entry: string): string | undefined {
  const read = allowedNetworkOf(entry)
  if (read === undefined) {
    return 'must be a network or an address, and a port: 10.20.0.0/16:8443 or [fd12:3456::/48]:443'
  }
  const { network, port } = read
  if (port !== 443 && (port < limits.webhookPortMin || port > 65_535)) {
    return `must have port 443 or one from ${limits.webhookPortMin} up`
  }
  if (!PRIVATE_USE.some((wider) => isWithin(network, wider))) {
    return `must be inside one of ${PRIVATE_USE.join(', ')}`
  }
  const metadata = METADATA.find((one) => isWithin(one, network) || isWithin(network, one))
  return metadata && `must leave out ${metadata}, where a cloud answers with credentials`
}

/** Returns whether an address is in one of the networks that have this port. */
export function matcherOf(allowed: readonly AllowedNetwork[]): (address: string, port: number) => boolean {
  const byPort = Map.groupBy(allowed, ({ port }) => port)
  const networksAt = new Map(
    [...byPort].map(([port, those]) => [port, networkList(those.map(({ network }) => network))]),
  )
  return (address, port) => isOneForm(address) && (networksAt.get(port)?.include(address) ?? false)
}

/** IPv4 inside IPv6 is refused, as among public addresses: no name server has a reason to return it. */
function isOneForm(address: string): boolean {
  return isIP(plainAddress(address) ?? '') === isIP(address)
}
